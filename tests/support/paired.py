"""Tests of the differences of fitted models on one test set."""

import polaroc as pr


def paired_test(table, measure="auc", **asked):
    return pr.compare(table, measure, **{"fold": None, "target": "trained"} | asked).pairs
