"""Limits of few clusters: there are none where simulation does not support them."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

ROLES = {"truth": "truth", "score": "score", "cluster": "patient"}
COMPARED = ROLES | {"model": "model", "case": "row"}


def drawn(clusters: int, rows: int = 8) -> pl.DataFrame:
    """So many patients with positives and 15 with negatives, of two models."""
    rng = np.random.default_rng(7)
    patient = np.repeat(np.arange(clusters + 15), rows)
    truth = patient < clusters
    shared = rng.normal(size=clusters + 15)[patient]
    return pl.concat(
        pl.DataFrame({
            "model": model,
            "row": np.arange(truth.size),
            "patient": patient,
            "truth": truth,
            "score": 1 / (1 + np.exp(1 - 1.5 * truth - shared - rng.normal(size=truth.size))),
        })
        for model in "AB"
    )  # fmt: skip


LIMITS = {
    "evaluate": lambda table: pr.evaluate(
        table.filter(model="A"), **ROLES, measure=["auc", "brier"], priors=0.2, intervals=True
    ).select("lower", "upper", "note"),
    "calibration": lambda table: pr.calibration(
        table.filter(model="A"), **ROLES
    ).estimates.select("slope_lower", "observed_over_expected_upper", "note"),
}  # fmt: skip


@pytest.mark.parametrize("function", LIMITS)
@pytest.mark.parametrize("clusters", [2, 4, 5])
def test_limits_take_five_clusters_of_each_class(function, clusters):
    lower, upper, note = LIMITS[function](drawn(clusters))
    if clusters < 5:
        assert lower.is_null().all()
        assert upper.is_null().all()
        assert note.str.contains("fewer than 5 clusters").all()
    else:
        assert lower.is_not_null().all()
        assert upper.is_not_null().all()


@pytest.mark.parametrize("clusters", [2, 4, 5])
def test_so_do_tests_of_models(clusters):
    table = drawn(clusters)
    chosen = pr.choose(table, "iauprec", **COMPARED, over=(0.05, 0.2))
    if clusters < 5:
        with pytest.raises(InvalidPredictions, match="clusters of a class"):
            pr.compare(table, "auc", **COMPARED)
        assert "fewer than 5 clusters" in chosen.summary()
    else:
        pr.compare(table, "auc", **COMPARED)
    assert chosen.models["expected_lower"].is_not_null().all() == (clusters == 5)


def test_clusters_of_one_case_are_cases_however_few():
    table = drawn(3, rows=1).filter(model="A")
    own = {"measure": "auc", "intervals": True, "truth": "truth", "score": "score"}
    alone = pr.evaluate(table.drop("patient"), **own)
    assert alone["lower"].item() is not None
    assert_frame_equal(pr.evaluate(table, **own, cluster="patient"), alone)


def test_where_weights_make_clusters_few_the_weights_are_named():
    # Two of ten patients with positives have nearly all of the weight.
    table = drawn(10).with_columns(weight=pl.when(pl.col("patient") < 2).then(100.0).otherwise(1))
    one, sampled = table.filter(model="A"), {"weight": "weight"}
    found = pr.evaluate(
        one, **ROLES, **sampled, measure=["auc", "brier"], priors=0.2, intervals=True
    )
    assert found["lower"].is_null().all()
    assert found["note"].str.contains("effective number of clusters with positives").all()
    chosen = pr.choose(table, "iauprec", **COMPARED, **sampled, over=(0.05, 0.2))
    assert "because of the weights" in chosen.summary().replace("\n", " ")
    for said in (*found["note"], chosen.summary()):
        assert "fewer than" not in said
    with pytest.raises(InvalidPredictions, match="effective number"):
        pr.compare(table, "auc", **COMPARED, **sampled)
