"""Rows that are not independent: clusters, rows without one, and rows that share a case."""

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
from polaroc.errors import InvalidPredictions

RNG = np.random.default_rng(5)
ROWS = 400
TRUTH = RNG.random(ROWS) < 0.4
FOLD = np.arange(ROWS) % 4
# Each cluster is within a fold.
TABLE = pl.DataFrame({
    "truth": TRUTH, "a": RNG.normal(TRUTH), "b": RNG.normal(TRUTH), "row": np.arange(ROWS),
    "part": FOLD, "patient": 100.0 * FOLD + RNG.integers(0, 15, ROWS),
})  # fmt: skip
TUNING = TABLE.with_columns(pl.col("a", "b") + pl.col("a", "b").shuffle(seed=1) / 100)
IN_USE = TUNING.select("a", "patient", day="part")
ONE = {"truth": "truth", "score": "a", "cluster": "patient"}
TWO = {"truth": "truth", "score": ["a", "b"], "cluster": "patient"}
FOLDS = {"fold": "part", "case": "row"}
OVER = {"over": (0.1, 0.3)}
CALLS = {
    "evaluate": lambda table: pr.evaluate(table, **ONE, intervals=True),
    "evaluate, lazy": lambda table: pr.evaluate(table.lazy(), **ONE, intervals=True).collect(),
    "compare, folds": lambda table: pr.compare(table, "auc", **TWO, **FOLDS),
    "choose, cost": lambda table: pr.choose(table, **OVER, cost_fn=5, tuning=TUNING, **TWO),
    "choose, cost, folds": lambda table: pr.choose(table, **OVER, cost_fn=5, **TWO, **FOLDS),
    "monitor": lambda table: pr.monitor(table, IN_USE, points=0.5, time="day", **ONE),
}


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("name", CALLS)
def test_rows_without_a_cluster_are_refused(name, missing):
    patient = pl.when(pl.col("row") < 30).then(pl.lit(missing)).otherwise("patient")
    for kind in (pl.Float32, pl.Float64):
        with pytest.raises(InvalidPredictions, match=r"\d+ (cases have no cluster|rows have no)"):
            CALLS[name](TABLE.with_columns(patient=patient.cast(kind)))


def test_a_cluster_may_have_another_role_and_estimates_do_not_depend_on_it():
    plain = pr.evaluate(TABLE, truth="truth", score="a", measure="auc", by="part")
    clustered = pr.evaluate(TABLE, **ONE, measure="auc", by="part", intervals=True)
    assert_same_numbers(clustered.select(plain.columns), plain)
    cases = pr.evaluate(
        TABLE.rename({"patient": "case"}), truth="truth", score="a", cluster="case",
        measure="auc", by="part", intervals=True,
    )  # fmt: skip
    assert_same_numbers(cases, clustered)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", ["evaluate", "apply_thresholds"])
def test_a_row_that_counts_several_times_in_a_cluster_is_as_many_rows(name, size):
    # Too few clusters of each class for limits; of as many cases there would be some.
    table = pl.DataFrame(
        {"truth": [1, 0] * 4, "score": [4, 1, 6, 2, 3, 5, 8, 7], "patient": range(8), "n": size}
    )
    call = {
        "evaluate": lambda rows, **roles: pr.evaluate(
            rows, cluster="patient", measure="auc", intervals=True, **roles
        ),
        "apply_thresholds": lambda rows, **roles: pr.apply_thresholds(
            rows, 4.0, cluster="patient", intervals=True, **roles
        ),
    }[name]  # fmt: skip
    found, expected = call(table, count="n"), call(pl.concat([table] * size))
    assert_same_numbers(found, expected)
    assert "clusters" in found["note"].item()


# --- rows that share a case ---------------------------------------------------------------------

CASE = np.arange(240) // 4
POSITIVE = CASE % 3 == 0
ODDS = RNG.normal(size=60)[CASE] + RNG.normal(size=240) + 1.5 * POSITIVE - 1
SHARED = pl.DataFrame(
    {"case": CASE, "row": range(240), "truth": POSITIVE, "day": 1, "score": 1 / (1 + np.exp(-ODDS))}
)
OTHER = SHARED.with_columns(pl.col("case", "row") + 240, score=pl.col("score") ** 1.1)
WORDS = "not independent (60 values on 240 rows)"


def notes(table):
    return table["note"].drop_nulls().to_list()


def auc(table, **roles):
    return notes(pr.evaluate(table, measure="auc", intervals=True, **roles).lazy().collect())


def test_a_plan_and_the_warnings_of_monitor_have_the_note():
    assert any(WORDS in note for note in auc(SHARED))
    reference = OTHER.with_columns(case="row")
    for table, noted in ((SHARED, True), (SHARED.with_columns(case="row"), False)):
        warnings = pr.monitor(reference, table, time="day", points=0.5).warnings
        assert any(WORDS in warning for warning in warnings) == noted
        found = notes(pr.estimate_prior(reference, table))
        assert any(WORDS in note for note in found) == noted
    assert auc(SHARED.lazy()) == auc(SHARED) != []


def test_only_rows_of_one_key_share_a_case():
    place = pl.col("row") % 4
    table = SHARED.with_columns(fold=place % 2, repeat=place // 2)
    assert auc(table, fold=["repeat", "fold"]) == []
    assert any(WORDS in note for note in auc(table, fold=None))
    # A column of so few values divides the cases.
    for values, noted in ((9, False), (10, True)):
        assert bool(auc(SHARED.with_columns(case=pl.col("row") % values))) == noted
    # The note counts the rows of the key in which most are shared.
    few = pl.concat([SHARED.head(48), SHARED]).with_columns(model=pl.lit("A"))
    few = pl.concat([few.with_columns(model=pl.lit("B"), case="row"), few])
    assert any("(60 values on 288 rows)" in note for note in auc(few))


def test_named_clusters_and_estimates_without_limits_have_no_note():
    assert auc(SHARED, cluster="case") == []
    assert notes(pr.evaluate(SHARED, measure="auc")) == []
    table = pr.datasets.sonar_predictions()
    assert not any("independent" in note for note in auc(table))


@pytest.mark.parametrize("are_scattered", [False, True])
def test_values_of_many_rows_are_counted(are_scattered):
    table = pl.concat(
        pl.DataFrame({"model": name, "case": np.arange(60_000) // 2,
                      "truth": np.arange(60_000) % 5 == 0, "score": RNG.random(60_000)})
        for name in "AB"
    ).sample(fraction=1, shuffle=are_scattered, seed=3)  # fmt: skip
    (note,) = set(auc(table))
    assert "(30,000 values on 60,000 rows)" in note
    assert auc(table.drop("case")) == []
