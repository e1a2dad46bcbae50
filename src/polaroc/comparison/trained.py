"""Comparison of fitted models on the cases of one test set."""

from dataclasses import replace
from math import isinf

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.names import noted_by_kind
from polaroc.comparison import caveats, omnibus
from polaroc.comparison.checks import check_estimates, too_few_cases
from polaroc.comparison.compared import Compared
from polaroc.comparison.delong import single_measure
from polaroc.comparison.design import Plan
from polaroc.comparison.letters import check_result_name, letter_frame
from polaroc.comparison.measure_rows import below_chance
from polaroc.comparison.measured_rates import trained_rates
from polaroc.comparison.result import Comparison, pair_frame
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, higher_is_better
from polaroc.predictions.row_checks import DROP_ROWS
from polaroc.priors.beliefs import Belief
from polaroc.typing import Prior
from polaroc.uncertainty.adjusted import by_holm
from polaroc.uncertainty.evidence import Evidence, all_pairs
from polaroc.uncertainty.scored_cases import ComparedCases, read_cases
from polaroc.uncertainty.test_sets import of_test_set

UNMEASURED = "How often the test errs was not measured for models with test sets of their own."
OF_CLUSTERS = "How often the test errs depends on the clusters, and was not measured for these."


def compare_trained(
    given: Compared,
    measure: str,
    plan: Plan,
    *,
    prior: Prior | None,
    over: tuple[float, float] | Belief | None,
) -> Comparison:
    """The comparison of the models as they are, paired by case; see `compare`."""
    check_result_name(given.model)
    at: Prior = "observed" if prior is None else prior
    cases = read_cases(given.cases, DROP_ROWS)
    measured = evaluate(
        given.cases, measures=sorted({measure, "auc"}), priors=at, over=over, intervals="wald"
    )
    at_prior = f" at prior {at}" if measure in CATALOG and CATALOG[measure].at_priors else ""
    one = single_measure(measure, at, over, "exact", given.cases.score_prior)
    result = of_cases(
        cases, of_test_set(cases.only, [one]), measured, measure, plan,
        label=f"{measure}{at_prior}", descending=higher_is_better(measure),
    )  # fmt: skip
    left_out = () if given.left_out is None else (given.left_out,)
    return replace(result, warnings=(*left_out, *result.warnings))


def of_cases(
    cases: ComparedCases,
    evidence: Evidence,
    measured: pl.DataFrame,
    measure: str,
    plan: Plan,
    *,
    label: str,
    descending: bool = True,
) -> Comparison:
    """The comparison from evidence on the measure, and the measures with their errors."""
    model = cases.model
    estimates = measured.filter(measure=measure)
    check_estimates(estimates, model, measure)
    pairs = all_pairs(evidence)
    if np.isnan(pairs.std_error).any() or pairs.constant.any():
        raise too_few_cases()
    # They differ where a pair does, adjusted for the number of pairs.
    adjusted = by_holm(pairs, plan.level)
    test = "largest |z|, Holm" if isinf(evidence.freedom) else "largest |t|, Holm"
    return Comparison(
        omnibus=omnibus.frame([omnibus.of_pairs(test, pairs, adjusted)]),
        pairs=pair_frame(pairs, adjusted, estimates[model], plan.level),
        letters=letter_frame(
            estimates[model], estimates["estimate"].to_numpy(), estimates["std_error"].to_numpy(),
            pairs.apart(adjusted.p_value, plan.level), descending=descending,
        ),
        warnings=(
            caveats.trained(evidence),
            _how_often_wrong(evidence, cases, measure),
            *noted_by_kind(estimates.drop_nulls("note").select(model, "note").rows()),
            *below_chance(measured, measure),
        ),
        measure=label,
        model=model,
        fold=(),
        case=cases.case,
        size=cases.only.size,
        plan=plan,
        higher_is_better=descending,
    )  # fmt: skip


def _how_often_wrong(evidence: Evidence, cases: ComparedCases, measure: str) -> str:
    """How often the test errs, as far as that was measured."""
    if cases.case is None:
        return UNMEASURED
    return trained_rates(measure) if isinf(evidence.freedom) else OF_CLUSTERS
