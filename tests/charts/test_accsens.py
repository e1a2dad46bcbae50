from math import isclose, sqrt

import polars as pl
import pytest
from chart_cases import measures
from model_tables import near, predictions

import polaroc as pr
from polaroc.measures.sensitivity import accsens_arcs


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return measures(predictions())


@pytest.mark.parametrize("weights", [(1, 1), (2, 0.5), (0, 1), (3, 0)])
def test_arcs_have_their_accsens(weights):
    arcs = accsens_arcs([0.1, 0.3], weights)
    by_error, by_sens = weights
    for level, error, sens in arcs.rows():
        value = sqrt(by_error * error**2 + by_sens * sens**2) / sqrt(2)
        assert isclose(value, level, rel_tol=1e-12)
    for axis, weight in zip(("error", "sens"), weights, strict=True):
        if weight:
            assert arcs[axis].min() == (
                0 if all(weights) else pytest.approx(0.1 * sqrt(2 / weight))
            )


@pytest.mark.parametrize("weights", [(0, 0), (-1, 1), (1, float("nan")), (1,)])
def test_weights_that_weigh_nothing_are_refused(table, weights):
    with pytest.raises(pr.errors.InvalidArgument, match=r"(?s)weights.*Hint:"):
        pr.charts.accsens_plane(table, weights=weights)


def test_points_of_the_plane_are_error_and_sens(table):
    spec = pr.charts.accsens_plane(table).to_dict()
    arcs, folds, _, _, means = (layer["data"]["values"] for layer in spec["layer"])
    named = [
        table.filter(measure=one).select("model", "fold", pl.col("estimate").alias(one))
        for one in ("auc_range", "sens")
    ]
    wide = named[0].join(named[1], on=["model", "fold"]).sort("model", "fold")
    assert [point["x"] for point in folds] == near(1 - wide["auc_range"])
    assert [point["y"] for point in folds] == near(wide["sens"])
    mean = wide.group_by("model").mean().sort("model")
    assert [point["x"] for point in means] == near(1 - mean["auc_range"])
    assert [point["y"] for point in means] == near(mean["sens"])
    lo, hi = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert lo == 0
    assert max(point[axis] for point in folds for axis in "xy") <= hi <= 1
    for arc in arcs:
        if arc["label_x"] is not None:
            level = sqrt((arc["label_x"] ** 2 + arc["label_y"] ** 2) / 2)
            assert level == pytest.approx(float(arc["label"]))


def test_a_point_without_both_measures_is_left_out(table):
    lacking = (pl.col("fold") == 1) & (pl.col("measure") == "sens") & (pl.col("model") == "A")
    gone = table.with_columns(pl.when(~lacking).then("estimate").alias("estimate"))
    spec = pr.charts.accsens_plane(gone).to_dict()
    assert len(spec["layer"][1]["data"]["values"]) == 11


@pytest.mark.parametrize(("count", "shapes"), [(8, None), (9, 2), (20, 3)])
def test_no_two_models_share_colour_and_shape(count, shapes):
    names = [f"model {i:02d}" for i in range(count)]
    table = measures(predictions(models=names, folds=2))
    (*_, means) = pr.charts.accsens_plane(table).to_dict()["layer"]
    colour = means["encoding"]["color"]["scale"]["range"]
    if shapes is None:
        assert "shape" not in means["encoding"]
        assert len(set(colour)) == count
    else:
        shape = means["encoding"]["shape"]["scale"]["range"]
        assert len(set(shape)) == shapes
        assert len(set(zip(colour, shape, strict=True))) == count
