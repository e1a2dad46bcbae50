"""Rows of a key that share a case are no independent cases, which a note says."""

import numpy as np
import polars as pl
import pytest

import polaroc as pr

RNG = np.random.default_rng(8)
CASE = np.arange(240) // 4
TRUTH = CASE % 3 == 0
ODDS = RNG.normal(size=60)[CASE] + RNG.normal(size=240) + 1.5 * TRUTH - 1
TABLE = pl.DataFrame(
    {"case": CASE, "row": range(240), "truth": TRUTH, "day": 1, "score": 1 / (1 + np.exp(-ODDS))}
)
OTHER = TABLE.with_columns(pl.col("case", "row") + 240, score=pl.col("score") ** 1.1)
POINTS = pr.operating_points(pr.curve(OTHER), "cost", priors=0.1)
SAID = "rows with the same 'case' are not independent (60 values on 240 rows)"


def notes(table):
    return table["note"].drop_nulls().to_list()


CALLS = {
    "evaluate": lambda table: notes(pr.evaluate(table, measures="auc", intervals=True)),
    "apply_thresholds": lambda table: notes(pr.apply_thresholds(table, POINTS, intervals=True)),
    "operating_points": lambda table: notes(
        pr.operating_points(table, "recall", target=0.5, confidence=0.9)
    ),
    "decision_curve": lambda table: notes(pr.decision_curve(table, [0.2], intervals=True)),
    "expected_cost": lambda table: notes(pr.expected_cost(table, over=(0.1, 0.2), intervals=True)),
    "calibration": lambda table: notes(pr.calibration(table).table),
    "estimate_prior": lambda table: notes(
        pr.estimate_prior(OTHER.with_columns(case="row"), table, method="confusion")
    ),
    "monitor": lambda table: (
        pr.monitor(OTHER.with_columns(case="row"), table, time="day", points=0.5).warnings
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_rows_that_share_a_case_are_said_by_what_says_how_sure(call):
    assert any(SAID in note for note in call(TABLE))
    assert not any("not independent" in note for note in call(TABLE.with_columns(case="row")))
    assert not any("not independent" in note for note in call(TABLE.drop("case")))


def test_rows_of_a_plan_have_the_note_of_those_of_a_frame():
    found = notes(pr.evaluate(TABLE.lazy(), measures="auc", intervals=True).collect())
    assert found == notes(pr.evaluate(TABLE, measures="auc", intervals=True)) != []


def test_a_case_may_be_in_several_folds():
    place = pl.col("row") % 4
    table = TABLE.with_columns(fold=place % 2, repeat=place // 2)
    found = pr.evaluate(table, fold=["repeat", "fold"], measures="auc", intervals=True)
    assert notes(found) == []
    assert any(SAID in note for note in notes(
        pr.evaluate(table, fold=None, measures="auc", intervals=True)
    ))  # fmt: skip


@pytest.mark.parametrize("are_scattered", [False, True])
def test_of_many_rows_values_are_counted_roughly(are_scattered):
    table = pl.concat(
        pl.DataFrame({"model": name, "case": np.arange(60_000) // 2,
                      "truth": np.arange(60_000) % 5 == 0, "score": RNG.random(60_000)})
        for name in "AB"
    ).sample(fraction=1, shuffle=are_scattered, seed=3)  # fmt: skip
    (note,) = set(notes(pr.evaluate(table, measures="auc", intervals=True)))
    assert note.startswith("rows with the same 'case' are not independent (about ")
    values, rows = note.partition("about ")[2].partition(" rows")[0].split(" values on ")
    assert int(values.replace(",", "")) == pytest.approx(30_000, rel=0.05)
    assert rows == "60,000"
    assert notes(pr.evaluate(table.drop("case"), measures="auc", intervals=True)) == []


def test_named_clusters_and_estimates_without_limits_have_no_note():
    clustered = pr.evaluate(TABLE, cluster="case", measures="auc", intervals=True)
    assert notes(clustered) == notes(pr.evaluate(TABLE, measures="auc")) == []


@pytest.mark.parametrize(
    "table",
    [
        pr.datasets.satellite_predictions(), pr.datasets.sonar_predictions(),
        pr.datasets.ionosphere_predictions(),
    ],
    ids=["satellite", "sonar", "ionosphere"],
)  # fmt: skip
def test_the_data_of_the_package_have_no_note(table):
    found = pr.evaluate(table, measures="auc", intervals=True)
    assert not any("independent" in note for note in notes(found))
