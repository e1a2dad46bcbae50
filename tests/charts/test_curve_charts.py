import numpy as np
import polars as pl
import pytest
from drawing import HALF_A_PIXEL, curves, distance_to_line, drawn, predictions, records, svg

import polaroc as pr
from polaroc.charts.theme import COLOURS, DASHES


def folded(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    table = predictions(rows, keys=3, decimals=1, seed=seed)
    table = table.with_columns(fold=pl.int_range(pl.len()) % 4)
    return curves(table, fold="fold")


def test_bands_of_roc_are_those_of_the_table():
    means = pr.mean_curve(folded())
    chart = pr.charts.roc(folded(), band="fold")
    found = [record for record in records(chart) if "lower" in record][:3]
    for record, (_, mine) in zip(found, means.group_by("model", maintain_order=True), strict=True):
        for name, column in (("x", "fpr"), ("y", "tpr"), ("lower", "lower"), ("upper", "upper")):
            np.testing.assert_allclose(record[name], mine[column], atol=5.1e-5)
    assert chart.to_dict()["title"]["subtitle"] == "mean of 4 curves ± 1 SD"


def test_bands_of_precision_recall_are_those_of_the_table():
    surface = folded().pipe(pr.surface, [0.5, 0.1])
    means = pr.mean_curve(surface).sort("prior", descending=True, maintain_order=True)
    found = [
        record for record in records(pr.charts.pr(surface, band=["fold"])) if "lower" in record
    ]
    assert len(found) == 6
    parts = means.partition_by("model", "prior", maintain_order=True)
    for record, mine in zip(found, parts, strict=True):
        assert record["panel"] == f"{100 * mine['prior'][0]:.3g} % positives"
        for name, column in (("x", "tpr"), ("y", "precision"), ("upper", "upper")):
            np.testing.assert_allclose(record[name], mine[column], atol=5.1e-5)


def test_other_bands_come_as_a_table():
    means = pr.mean_curve(folded(), interval="t", test_train_ratio=0.25)
    chart = pr.charts.roc(folded(), band=means.lazy())
    said = (
        "mean of 4 curves with its pointwise 95 % t-interval, corrected for shared training cases"
    )
    assert chart.to_dict()["title"]["subtitle"] == said
    surface = folded().pipe(pr.surface, 0.1)
    chart = pr.charts.pr(surface, band=pr.mean_curve(surface, interval="t"))
    assert "pointwise 95 % t-interval" in chart.to_dict()["title"]["subtitle"]


def test_single_curves_have_no_band():
    curve = folded().filter(fold=0)
    assert "NaN" not in svg(pr.charts.roc(curve, band="fold"))


def test_bands_over_what_is_not_shared_are_refused():
    with pytest.raises(pr.errors.InvalidArgument, match=r"same priors(?s:.*)Hint:"):
        pr.charts.pr(folded().pipe(pr.surface, "observed"), band="fold")
    with pytest.raises(pr.errors.InvalidArgument, match=r"fold is 'day'(?s:.*)Hint:"):
        pr.charts.roc(folded(), band="day")


def test_hull_is_drawn_over_its_curve():
    curve = curves(predictions(400, keys=2, decimals=1))
    hull = pr.hull(curve)
    chart = pr.charts.roc(curve, hull=hull)
    found = records(chart)
    assert len(found) == 4
    for record, mine in zip(
        found[2:], hull.partition_by("model", maintain_order=True), strict=True
    ):
        points = mine.select("fpr", "tpr").to_numpy()
        assert distance_to_line(points, drawn(record)).max() <= HALF_A_PIXEL
    assert chart.to_dict()["title"]["subtitle"] == "dashed: convex hull"


def test_achievable_curves_are_in_the_panel_of_their_prior():
    curve = curves(predictions(400, keys=2, decimals=1))
    best = pr.achievable(curve, [0.5, 0.1])
    chart = pr.charts.pr(curve.pipe(pr.surface, [0.5, 0.1, 0.01]), achievable=best)
    found = [record for record in records(chart) if record["kind"] == "overlay"]
    for record in found:
        mine = best.filter(
            pl.col("prior") == record["prior"], pl.col("model") == int(record["series"])
        )
        points = mine.select("tpr", "precision").to_numpy()
        assert distance_to_line(points, drawn(record)).max() <= HALF_A_PIXEL
    assert (
        sorted(record["panel"] for record in found)
        == ["10 % positives"] * 2 + ["50 % positives"] * 2
    )


def test_achievable_curves_without_a_panel_are_refused():
    curve = curves(predictions(200))
    with pytest.raises(pr.errors.InvalidArgument, match=r"20 % positives; the panels(?s:.*)Hint:"):
        pr.charts.pr(curve.pipe(pr.surface, 0.1), achievable=pr.achievable(curve, 0.2))
    with pytest.raises(pr.errors.InvalidTable, match="Hint:"):
        pr.charts.pr(curve.pipe(pr.surface, 0.1), achievable=curve)


def scales(part: object) -> list[dict]:
    """The colours and dashes of all layers of a chart."""
    if isinstance(part, list):
        return [found for inner in part for found in scales(inner)]
    if not isinstance(part, dict):
        return []
    channels = {name: part.get(name) for name in ("color", "strokeDash")}
    own = [
        {name: dict(zip(channel["scale"]["domain"], channel["scale"]["range"], strict=True))}
        for name, channel in channels.items()
        if isinstance(channel, dict) and "scale" in channel
    ]
    return own + [found for inner in part.values() for found in scales(inner)]


def named(curve: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    return curve.with_columns(pl.col("model").replace_strict(dict(enumerate(names))))


CHARTS = {
    "roc": pr.charts.roc,
    "pr": lambda curve, **options: pr.charts.pr(curve.pipe(pr.surface, 0.1), **options),
    "explorer": pr.charts.explorer,
}


@pytest.mark.alike
@pytest.mark.parametrize("chart", CHARTS)
def test_a_model_has_one_colour_in_charts_of_different_models(chart):
    names = ["C", "A", "B"]
    table = named(predictions(300, keys=3), names)
    palette = dict(zip("ABC", COLOURS, strict=False))
    for some in (["A", "B", "C"], ["B", "C"], ["C"]):
        made = CHARTS[chart](curves(table.filter(pl.col("model").is_in(some))), colours=palette)
        found = scales(made.to_dict())
        assert found
        assert all(scale == {"color": {name: palette[name] for name in some}} for scale in found)


def test_many_models_are_told_apart_by_colour_and_dash():
    models = range(20)
    palette = {str(model): COLOURS[model % len(COLOURS)] for model in models}
    table = predictions(2_000, keys=20)
    found = scales(pr.charts.roc(curves(table), colours=palette).to_dict())
    looks = {name: [] for name in map(str, models)}
    for scale in found[:2]:
        for values in scale.values():
            for name, value in values.items():
                looks[name].append(tuple(value) if isinstance(value, list) else value)
    assert len(set(map(tuple, looks.values()))) == 20
    # Also where only some are drawn: the same dash.
    some = scales(pr.charts.roc(curves(table.filter(model=17)), colours=palette).to_dict())
    assert {"strokeDash": {"17": list(DASHES[2])}} in some


def test_models_without_a_colour_are_refused():
    with pytest.raises(pr.errors.InvalidArgument, match=r"none for '2'(?s:.*)Hint:.*colour"):
        pr.charts.roc(curves(predictions(300, keys=3)), colours={"0": "red", "1": "blue"})


DRAWN_FROM_CURVES = {
    "roc": lambda many: pr.charts.roc(many),
    "pr": lambda many: pr.charts.pr(many),
    "surface": lambda many: pr.charts.pr(many.pipe(pr.surface, [0.1, 0.5])),
    "explorer": lambda many: pr.charts.explorer(many),
}


def with_both(table: pl.DataFrame) -> int:
    return table.group_by("model").agg(both=pl.col("truth").n_unique() == 2)["both"].sum()


@pytest.mark.parametrize("name", DRAWN_FROM_CURVES)
@pytest.mark.parametrize("lazy", [False, True])
def test_more_curves_than_are_drawn_are_refused_before_their_points_are(monkeypatch, name, lazy):
    table = predictions(8_000, keys=400)
    many, count = curves(table), with_both(table)
    count *= 2 if name == "surface" else 1

    def thinner(*_args, **_options):
        raise AssertionError("points were taken from curves that are not drawn")

    for module in ("lines", "precision_recall", "prior_slider"):
        monkeypatch.setattr(f"polaroc.charts.{module}.straightened", thinner)
    if not lazy:
        monkeypatch.setattr(pl, "collect_all", thinner)
    with pytest.raises(pr.errors.InvalidArgument, match=rf"there are {count} curves(?s:.*)Hint:"):
        DRAWN_FROM_CURVES[name](many.lazy() if lazy else many)


def test_curves_that_lack_a_class_do_not_count():
    table = predictions(3_000, keys=300)
    lacking = pl.DataFrame({"model": [-1], "truth": [False], "score": [0.5]}, schema=table.schema)
    every = pl.concat([table, lacking])
    assert with_both(every) < 301
    assert len(records(pr.charts.roc(curves(every)))) == with_both(every)
