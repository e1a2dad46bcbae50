import json

import numpy as np
import polars as pl
import pytest
from drawing import (
    HALF_A_PIXEL,
    curves,
    distance_to_line,
    drawn,
    predictions,
    records,
    svg,
)
from hypothesis import given
from hypothesis import strategies as st

import polaroc as pr
from polaroc import rates

ROW_LIMIT = 5000


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(("rows", "decimals"), [(50, 1), (2_000, 6), (100_000, 6), (100_000, 1)])
def test_no_point_of_a_roc_curve_is_half_a_pixel_from_its_line(rows, decimals):
    curve = curves(predictions(rows, decimals=decimals), model=None)
    (record,) = records(pr.charts.roc(curve))
    points = curve.select("fpr", "tpr").to_numpy()
    assert distance_to_line(points, drawn(record)).max() <= HALF_A_PIXEL
    assert len(record["x"]) <= 2_500


@pytest.mark.slow
def test_of_many_roc_curves_no_point_is_a_pixel_from_its_line():
    few, many = (curves(predictions(keys * 1_000, keys=keys)) for keys in (40, 41))
    drawn_few, drawn_many = (records(pr.charts.roc(curve)) for curve in (few, many))
    for record, curve in zip(
        drawn_many, many.partition_by("model", maintain_order=True), strict=True
    ):
        points = curve.select("fpr", "tpr").to_numpy()
        assert distance_to_line(points, drawn(record)).max() <= 2 * HALF_A_PIXEL
    points_drawn = [sum(len(record["x"]) for record in of) for of in (drawn_few, drawn_many)]
    assert points_drawn[1] < points_drawn[0]


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.5, 0.01])
@pytest.mark.parametrize(("rows", "decimals"), [(50, 1), (2_000, 6), (50_000, 6)])
def test_no_point_of_a_precision_recall_curve_is_half_a_pixel_from_its_line(rows, decimals, prior):
    surface = curves(predictions(rows, decimals=decimals), model=None).pipe(pr.surface, prior)
    (record,) = records(pr.charts.pr(surface))
    points = surface.select("tpr", "precision").drop_nulls().to_numpy()
    assert distance_to_line(points, drawn(record)).max() <= HALF_A_PIXEL


@pytest.mark.slow
@given(st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.sampled_from([0.5, 0.1, 0.01]))
def test_precision_recall_lines_follow_the_straight_roc_segment(tpr, fpr, prior):
    n = 1000
    called = [int(tpr * n), n - int(tpr * n), int(fpr * n), n - int(fpr * n)]
    table = pl.DataFrame(
        {"truth": [1, 1, 0, 0], "score": [1, 0, 1, 0], "weight": called}
    ).with_columns(pl.col("weight").cast(pl.Float64))
    curve = pr.curve(table, truth="truth", score="score", weight="weight")
    (record,) = records(pr.charts.pr(curve.pipe(pr.surface, prior)))
    t1, f1 = called[0] / n, called[2] / n
    share = np.linspace(0, 1, 200)[1:]
    recall = np.concatenate([share * t1, t1 + share * (1 - t1)])
    false = np.concatenate([share * f1, f1 + share * (1 - f1)])
    exact = np.column_stack([recall, rates.precision(recall, false, (1 - prior) / prior)])
    assert distance_to_line(exact, drawn(record)).max() <= HALF_A_PIXEL


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("chart", ["roc", "pr", "auprec_by_prior"])
def test_rows_stay_below_the_limit_of_altair(chart):
    table = predictions(60_000, keys=60)
    curve = curves(table)
    made = {
        "roc": lambda: pr.charts.roc(curve),
        "pr": lambda: pr.charts.pr(curve.pipe(pr.surface, [0.5, 0.1])),
        "auprec_by_prior": lambda: pr.charts.auprec_by_prior(
            curve.pipe(pr.auprec, pr.prior_grid(0.01, 0.5, 20))
        ),
    }[chart]()
    assert 60 <= len(records(made)) < ROW_LIMIT


def test_row_order_does_not_matter():
    curve = curves(predictions(2_000, keys=3))
    shuffled = curve.sample(fraction=1, shuffle=True, seed=1)
    assert records(pr.charts.roc(curve)) == records(pr.charts.roc(shuffled))


def test_panels_are_the_priors():
    surface = curves(predictions(500)).pipe(pr.surface, [0.01, 0.5, 0.1])
    spec = pr.charts.pr(surface).to_dict()
    assert spec["facet"]["sort"] == ["50 % positives", "10 % positives", "1 % positives"]
    assert {record["chance"] for record in records(pr.charts.pr(surface))} == {0.5, 0.1, 0.01}


@pytest.mark.parametrize(("panels", "axes"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 5)])
def test_axes_stand_below_panels_only(panels, axes):
    surface = curves(predictions(500)).pipe(pr.surface, [0.5, 0.2, 0.1, 0.05, 0.01][:panels])
    assert svg(pr.charts.pr(surface)).count(">recall</text>") == axes


def test_further_rates_of_a_surface_are_not_keys():
    curve = curves(predictions(500))
    plain = curve.pipe(pr.surface, 0.1)
    more = curve.pipe(pr.surface, 0.1, rates=["precision", "accuracy"])
    assert records(pr.charts.pr(plain)) == records(pr.charts.pr(more))


def test_auprec_by_prior_draws_folds_and_their_mean():
    measures = pl.DataFrame(
        {
            "model": ["A"] * 4,
            "fold": [1, 1, 2, 2],
            "measure": ["auprec"] * 4,
            "prior": [0.1, 0.5] * 2,
            "estimate": [0.2, 0.6, 0.4, 0.8],
            "positives": [9] * 4,
            "negatives": [9] * 4,
            "note": [None] * 4,
        },
        schema_overrides={"note": pl.String},
    )
    found = records(pr.charts.auprec_by_prior(measures))
    assert [record["y"] for record in found] == [
        [0.2, 0.6],
        [0.4, 0.8],
        pytest.approx([0.3, 0.7]),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["json", "html", "svg", "png", "pdf"])
def test_charts_save_themselves(kind, tmp_path):
    chart = pr.charts.roc(curves(predictions(500, keys=2)))
    file = tmp_path / f"roc.{kind}"
    chart.save(file, **({"inline": True} if kind == "html" else {}))
    written = file.read_bytes()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE"}
    assert written.startswith(starts.get(kind, b"{"))
    if kind == "json":
        assert json.loads(written) == chart.to_dict()
    if kind == "svg":
        assert b'stroke="#0072B2"' in written
    if kind == "html":
        assert b"https://cdn" not in written


def test_a_table_without_keys_is_one_line():
    table = predictions(300).drop("model")
    measures = pr.evaluate(table, truth="truth", score="score", priors=[0.5, 0.1])
    (record,) = records(pr.charts.auprec_by_prior(measures))
    assert record["x"] == [0.1, 0.5]


@pytest.mark.parametrize("chart", ["roc", "pr", "auprec_by_prior"])
def test_the_wrong_table_is_refused(chart):
    with pytest.raises(pr.errors.InvalidTable, match="Hint:"):
        getattr(pr.charts, chart)(predictions(10))


def test_too_many_curves_are_refused():
    table = pl.DataFrame({"model": list(range(400)) * 2, "truth": [1] * 400 + [0] * 400})
    with pytest.raises(pr.errors.InvalidArgument, match="400 curves"):
        pr.charts.roc(pr.curve(table, truth="truth", score=pl.col("model") * 1.0, by="model"))


@pytest.mark.parametrize("truth", [[1, 1], [0, 0]])
def test_a_key_of_one_class_has_no_curve(truth):
    curve = pr.curve(
        pl.DataFrame({"truth": truth, "score": [0.1, 0.2]}), truth="truth", score="score"
    )
    assert records(pr.charts.roc(curve)) == []
    assert records(pr.charts.pr(curve.pipe(pr.surface, 0.1))) == []


SCRATCH = ["step", "stage", "row", "along", "start", "panel", "chance", "size", "cell_fpr", "tpr_0"]


@pytest.mark.alike(4)
@pytest.mark.slow
@pytest.mark.parametrize("key", [*SCRATCH, "loss", "auc", "x", "mean"])
def test_keys_of_any_name_are_drawn(key):
    curve = curves(predictions(300, keys=2)).rename({"model": key})
    surface = curve.pipe(pr.surface, 0.1)
    plain = curves(predictions(300, keys=2))
    assert records(pr.charts.roc(curve)) == records(pr.charts.roc(plain))
    assert records(pr.charts.pr(surface)) == records(pr.charts.pr(plain.pipe(pr.surface, 0.1)))
    measures = curve.pipe(pr.auprec, [0.5, 0.1])
    assert len(records(pr.charts.auprec_by_prior(measures))) == 2


def test_own_priors_of_keys_share_one_panel():
    curve = curves(predictions(900, keys=9))
    surface = curve.pipe(pr.surface, ["observed", 0.1])
    found = records(pr.charts.pr(surface))
    assert {record["panel"] for record in found} == {"share as observed", "10 % positives"}
    assert len(found) == 18


def test_rates_of_any_name_are_not_keys():
    curve = curves(predictions(300))
    surface = curve.pipe(pr.surface, 0.1, rates={"precision": rates.precision, "f2": rates.lift})
    assert len(records(pr.charts.pr(surface))) == 1
