"""Promises where the rows of a cluster are alike."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
ASKED = {
    "precision": {"constraints": {"precision": 0.5}, "priors": 0.2},
    "recall": {"rule": "recall", "target": 0.7},
    "alarms": {"constraints": {"fpr": 0.2}},
    "capacity": {"rule": "capacity", "target": 0.3, "priors": 0.3},
    "over": {"constraints": {"precision": 0.3, "recall": 0.4}, "over": (0.1, 0.3)},
}


def patients(rng, positive=20, negative=80, rows=10, alike=0.5, lead=2.2):
    """Patients of one class each, whose rows share a part of the variance of their scores."""
    patient = np.repeat(np.arange(positive + negative), rows)
    truth = patient < positive
    shared, own = rng.normal(size=positive + negative)[patient], rng.normal(size=patient.size)
    score = lead * truth + alike**0.5 * shared + (1 - alike) ** 0.5 * own
    return pl.DataFrame({"patient": patient, "truth": truth, "score": score}).with_row_index("row")


TABLE = patients(np.random.default_rng(3))


def points(table, cluster=None, **asked):
    return pr.operating_points(table, **NAMES, confidence=0.95, cluster=cluster, **asked)


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_clusters_of_one_row_and_copies_promise_what_the_rows_do(asked):
    of_rows = pr.operating_points(pr.curve(TABLE, **NAMES), confidence=0.95, **asked)
    assert of_rows["promise"].is_not_null().all()
    assert_frame_equal(points(TABLE, "row", **asked), of_rows)
    counts = ("positives", "negatives")
    copied = points(pl.concat([TABLE] * 3), "row", **asked)
    assert_frame_equal(copied.drop(counts), of_rows.drop(counts))
    # As many cases of their own say more.
    assert not points(pl.concat([TABLE] * 3), **asked).drop(counts).equals(of_rows.drop(counts))


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_rows_that_are_alike_promise_less(asked):
    of_rows, of_patients = points(TABLE, **asked), points(TABLE, "patient", **asked)
    tighter = -1 if asked.get("rule") == "recall" else 1
    assert (tighter * (of_patients["threshold"] - of_rows["threshold"]) > 0).all()


def test_each_key_has_the_effect_of_its_own_clusters():
    other = patients(np.random.default_rng(4), alike=0.9)
    both = pl.concat([TABLE.with_columns(site=pl.lit("a")), other.with_columns(site=pl.lit("b"))])
    asked = ASKED["precision"]
    found = points(both, "patient", by="site", **asked)
    alone = [points(table, "patient", **asked) for table in (TABLE, other)]
    assert_frame_equal(found.drop("site"), pl.concat(alone))
    lazy = points(both.lazy(), "patient", by="site", **asked)
    assert_frame_equal(lazy.collect(), found)


def test_too_few_clusters_promise_nothing():
    few = TABLE.with_columns(pl.col("patient") // 5)
    found = points(few, "patient", **ASKED["precision"])
    assert found["threshold"].item() is None
    assert "too few to know how alike" in found["note"].item()


def test_rows_without_a_cluster_are_refused():
    gap = TABLE.with_columns(patient=pl.when(pl.col("row") > 2).then("patient"))
    for table in (gap, gap.lazy()):
        with pytest.raises((InvalidPredictions, pl.exceptions.ComputeError),
                           match="3 cases have no cluster"):  # fmt: skip
            points(table, "patient", **ASKED["precision"]).lazy().collect()


def test_limits_of_rates_count_clusters_and_not_their_rows():
    at = pr.operating_points(pr.curve(TABLE, **NAMES), "recall", target=0.7, priors=0.2)

    def limits(table, cluster=None):
        found = pr.apply_thresholds(
            table, at, **NAMES, cluster=cluster, intervals=True, same_table=True
        )
        return found.select(pl.col("^.*_(lower|upper)$"))

    of_rows, of_patients = limits(TABLE), limits(TABLE, "patient")
    assert_frame_equal(limits(TABLE, "row"), of_rows)
    assert_frame_equal(limits(pl.concat([TABLE] * 3), "row"), of_rows)
    for name in of_rows.columns:
        wider = 1 if name.endswith("upper") else -1
        assert (wider * (of_patients[name] - of_rows[name]) > 0).all()


@pytest.mark.slow
@pytest.mark.usefixtures("no_cases_needed")
def test_promises_of_clusters_are_kept():
    # Every threshold of the curve t = 4f is just short of the precision at this prior.
    rng, broken = np.random.default_rng(11), {"row": 0, "patient": 0}
    samples = 40
    for _ in range(samples):
        table = patients(rng, 20, 40, 10, alike=0.8, lead=0)
        # Recall of thresholds above 0 is one half.
        for cluster in broken:
            found = points(table, cluster, rule="recall", target=0.5)
            broken[cluster] += found["threshold"].item() > 0
    # Three standard errors above 0.05; clusters matter, else the test shows nothing.
    assert broken["patient"] <= samples * 0.05 + 3 * (samples * 0.05 * 0.95) ** 0.5
    assert broken["row"] > samples * 0.2


def test_clusters_of_rows_that_are_not_alike_cost_little():
    # A rate varies between clusters as it is at some thresholds, not as if rows were copies.
    few = patients(np.random.default_rng(4), positive=200, negative=200, rows=5, alike=0.0)
    asked = {"constraints": {"precision": 0.8}, "priors": 0.3}
    (alone,), (clustered,) = (points(few, name, **asked)["tpr"] for name in (None, "patient"))
    (of_a_fifth,) = points(few.gather_every(5), **asked)["tpr"]
    assert 0 <= alone - clustered < (alone - of_a_fifth) / 4
