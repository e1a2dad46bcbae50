import json

import numpy as np
import polars as pl
import pytest
from drawing import curves, predictions, records

import polaroc as pr
from polaroc import rates
from polaroc.charts.tooltips import IN_ALL, PER_CURVE

PRIORS = [0.5, 0.1]


def of_roc(table: pl.DataFrame):
    return pr.charts.roc(curves(table))


def of_pr(table: pl.DataFrame, priors=PRIORS):
    return pr.charts.pr(curves(table).pipe(pr.surface, priors))


def told(chart) -> list[dict]:
    """The records of what a pointer finds, wherever the chart keeps them."""
    return records(chart, ("threshold",))


@pytest.mark.parametrize("decimals", [1, 5])
@pytest.mark.parametrize(("draw", "priors"), [(of_roc, [None]), (of_pr, sorted(PRIORS))])
def test_what_is_told_are_rows_of_the_curve(draw, priors, decimals):
    table = predictions(3_000, keys=2, decimals=decimals)
    records = told(draw(table))
    keys = [(record["line"], record.get("prior")) for record in records]
    assert keys == [(model, prior) for model in "01" for prior in priors]
    for record in records:
        curve = curves(table).filter(pl.col("model") == int(record["line"]))
        given = {f"{row['threshold']:.6g}": row for row in curve.to_dicts()[1:]}
        rows = pl.DataFrame([given[f"{at:.6g}"] for at in record["threshold"]])
        for rate in ("tpr", "fpr"):
            assert record[rate] == pytest.approx(rows[rate].to_list(), rel=1e-3)
        if record.get("prior"):
            exact = rates.precision(rows["tpr"], rows["fpr"], pr.skew(record["prior"]))
            assert record["precision"] == pytest.approx(exact.to_list(), rel=1e-3)


def test_points_are_spread_along_the_line():
    (record,) = told(of_roc(predictions(20_000)))
    assert PER_CURVE - 2 <= len(record["fpr"]) <= PER_CURVE
    steps = np.hypot(np.diff(record["fpr"]), np.diff(record["tpr"]))
    # A curve from corner to corner is at most 2 long.
    assert steps.max() <= 1.5 * 2 / PER_CURVE


@pytest.mark.slow
@pytest.mark.parametrize("draw", [of_roc, lambda table: of_pr(table, 0.1)])
def test_many_curves_are_told_of_in_little_space(draw):
    records = told(draw(predictions(30_000, keys=60)))
    assert len(records) == 60
    assert 1_000 <= sum(len(record["fpr"]) for record in records) <= IN_ALL
    assert len(json.dumps(records)) <= 60_000


@pytest.mark.slow
def test_every_one_of_the_most_curves_is_told_of():
    table = predictions(30_000, keys=300)
    assert all(record["threshold"] for record in told(of_roc(table)))


def test_infinite_scores_are_told():
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [np.inf, 1.0, 0.0, -np.inf]})
    (record,) = told(pr.charts.roc(curves(table, model=None)))
    assert record["threshold"] == ["∞", 1.0, 0.0, "−∞"]


def test_bands_tell_means_without_a_table_of_their_own():
    folds = predictions(600).with_columns(pl.int_range(pl.len()).mod(3).alias("fold"))
    curve = curves(folds, fold="fold")
    surface = curve.pipe(pr.surface, 0.1)
    for chart in (pr.charts.roc(curve, band="fold"), pr.charts.pr(surface, band="fold")):
        assert told(chart) == []
        said = json.dumps(chart.to_dict())
        assert "mean of" in said
        assert "band from" in said
