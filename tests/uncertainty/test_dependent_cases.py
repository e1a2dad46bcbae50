"""Small versions of the simulation of clusters and of sampling weights."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from sizes import replicates

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SCRIPT = runpy.run_path(str(BENCHMARKS / "dependent_cases.py"))
CLUSTERS = runpy.run_path(str(BENCHMARKS / "clusters.py"))
SAMPLES = replicates(40, 20)


def counts(limits):
    return {
        (found["method"][0], measure): round(of * coverage)
        for found in limits
        for measure, of, coverage, *_ in SCRIPT["held"](found).iter_rows()
    }


def few(share):
    """Fewer than 99.9 % of samples have at this coverage."""
    return binom.ppf(1e-3, SAMPLES, share)


@pytest.mark.long
@pytest.mark.slow
def test_few_clusters_are_held_where_cases_are_not():
    kind = SCRIPT["Clusters"](5, 15)
    held = counts(SCRIPT["cluster_limits"](kind, SAMPLES, 3))
    for (method, _), count in held.items():
        if method != "clusters neglected":
            assert count >= few(0.93)
    assert held["clusters neglected", "auc"] < few(0.9)


@pytest.mark.long
@pytest.mark.slow
def test_sampling_weights_are_held_where_counts_are_not():
    held = counts(SCRIPT["weight_limits"]("by score", SAMPLES, 3))
    for (method, _), count in held.items():
        if method != "taken for counts":
            assert count >= few(0.93)
    assert held["taken for counts", "auc"] < few(0.9)


def test_sizes_and_classes_of_clusters_are_those_asked_for():
    rng = np.random.default_rng(0)
    whole = SCRIPT["in_clusters"](rng, SCRIPT["Clusters"](5, 15))
    assert whole.group_by("cluster", "truth").len()["len"].to_list() == [10] * 20
    mixed = SCRIPT["in_clusters"](rng, SCRIPT["Clusters"](20))
    assert mixed.group_by("cluster", "truth").len().height > 20
    uneven = SCRIPT["in_clusters"](rng, SCRIPT["Clusters"](20, uneven=True))
    assert uneven["cluster"].value_counts()["count"].n_unique() > 5


@pytest.mark.slow
def test_tests_of_clustered_cases_err_as_rarely_as_promised():
    kind, samples = CLUSTERS["Patients"](10, 30, uneven=True), replicates(48, 24)
    found = {
        (row["cluster"], row["what"]): (row["count"], row["of"])
        for row in CLUSTERS["counted"](kind, 0.5, samples, 0)
    }
    for what in ("compare auc", "compare iauprec"):
        count, of = found["patient", what]
        assert count <= binom.ppf(0.999, of, 0.05)
        count, of = found["rows", what]
        assert count > binom.ppf(0.99, of, 0.05)
    count, of = found["patient", "gate"]
    assert count <= binom.ppf(0.999, of, 0.025)
    for what in ("auc", "iauprec"):
        count, of = found["patient", what]
        assert count >= binom.ppf(0.001, of, 0.95)
