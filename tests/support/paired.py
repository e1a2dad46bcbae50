"""The paired test of any measure, as `delong` is that of the AUC."""

import polaroc as pr
from polaroc.comparison.fitted import paired_tests, single_measure


def paired_test(table, measure="auc", prior="observed", over=None, level=0.95, **roles):
    cases = pr.cases(table, **roles)
    one = single_measure(measure, prior, over, cases.score_prior)
    return paired_tests(cases, one, level).collect()
