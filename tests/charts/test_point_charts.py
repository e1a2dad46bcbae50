"""Charts over the prior, the skew and costs: surface, drift, skew, costs, decisions."""

from itertools import pairwise

import polars as pl
import pytest
from chart_cases import CASES
from drawing import curves, predictions, records, svg
from papers.synthetic import highleyman_predictions

import polaroc as pr

PRIORS = pr.prior_grid(0.01, 0.5, 6, "log")


def values(chart) -> list[dict]:
    """Records of single points, wherever the chart keeps them."""

    def found(part):
        if isinstance(part, dict):
            if isinstance(part.get("values"), list) and part["values"]:
                yield from (row for row in part["values"] if isinstance(row, dict))
            for inner in part.values():
                yield from found(inner)
        elif isinstance(part, list):
            for inner in part:
                yield from found(inner)

    return list(found(chart.to_dict()))


def test_surface_shows_the_precision_of_the_table():
    grid = pr.achievable(curves(predictions(400, keys=2)), PRIORS, recall=5)
    cells = [row for row in values(pr.charts.surface(grid)) if row.get("kind") == "cell"]
    assert len(cells) == 2 * 6
    for row in cells:
        mine = grid.filter(model=int(row["panel"]), prior=row["prior"])
        assert row["recall"] == mine["tpr"].to_list()
        assert row["precision"] == pytest.approx(mine["precision"].to_list(), abs=1e-4)
        assert row["y0"] <= row["prior"] <= row["y1"]
        assert row["x0"] == [0, 0.125, 0.375, 0.625, 0.875]
        assert row["x1"] == [0.125, 0.375, 0.625, 0.875, 1]
    # Cells of a panel leave no gap between priors.
    first = sorted((row["y0"], row["y1"]) for row in cells if row["panel"] == "0")
    assert all(a[1] == b[0] for a, b in pairwise(first))


def test_lines_of_a_surface_are_where_precision_is_their_level():
    grid = pr.achievable(curves(predictions(400)), PRIORS, recall=21)
    rates = dict(grid.select("tpr", "fpr").rows())
    lines = [
        row
        for row in values(pr.charts.surface(grid, levels=[0.2, 0.6]))
        if row.get("kind") == "line"
    ]
    assert [row["level"] for row in lines] == ["0.2", "0.6"]
    for row in lines:
        for t, prior in zip(row["x"], row["y"], strict=True):
            precision = prior * t / (prior * t + (1 - prior) * rates[t])
            # Below the axis a line only has to leave it.
            assert precision == pytest.approx(float(row["level"])) or prior == 0.005
        assert row["label_y"] >= 0.01


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (lambda: pr.achievable(curves(predictions(90)), 0.1, recall=5), "one prior"),
        (lambda: pr.achievable(curves(predictions(90)), PRIORS, recall=[0.5]), "one recall"),
        (lambda: pr.achievable(curves(predictions(900, keys=15)), PRIORS, recall=3), "15 panels"),
        (lambda: curves(predictions(90)), "no column"),
    ],
)
def test_surfaces_that_cannot_be_drawn_are_refused(table, said):
    with pytest.raises(pr.errors.PolarocError, match=rf"{said}(?s:.*)Hint:"):
        pr.charts.surface(table())


def test_operating_points_are_those_of_the_table():
    curve = curves(predictions(500, keys=2))
    points = pr.operating_points(curve, priors=[0.1, 0.5, 0.9])
    rows = [row for row in values(pr.charts.operating_drift(points, curve)) if "label" in row]
    shown = [(row["x"], row["y"], row["prior"]) for row in rows]
    # Once for the points, once for the lines between them.
    assert shown == 2 * points.select("fpr", "tpr", "prior").rows()
    assert {row["label"] for row in rows} == {"10 % positives", "50 % positives", "90 % positives"}


def test_keys_without_a_point_are_left_out():
    table = pl.DataFrame({"truth": [1, 1], "score": [0.1, 0.2]})
    points = pr.curve(table, truth="truth", score="score").pipe(pr.operating_points, priors=0.5)
    assert "NaN" not in svg(pr.charts.operating_drift(points))


def test_points_at_too_many_priors_are_refused():
    points = pr.operating_points(curves(predictions(90)), priors=pr.prior_grid(0.1, 0.9, 7))
    with pytest.raises(pr.errors.InvalidArgument, match=r"7 priors(?s:.*)Hint:"):
        pr.charts.operating_drift(points)
    with pytest.raises(pr.errors.InvalidTable, match="Hint:"):
        pr.charts.operating_drift(curves(predictions(90)))


def test_every_name_of_a_rate_has_a_colour():
    table = pl.DataFrame(
        {"model": ["A", "A", "B", "B"], "skew": [1.0, 9.0] * 2, "precision": [0.5, 0.4, None, None],
         "tnr": [None, None, 0.9, 0.9]}
    )  # fmt: skip
    drawn = pr.charts.skew_effect(table, rates=["precision", "tnr"]).to_dict()
    assert drawn["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["A", "B"]


def test_skew_effect_of_the_example_of_the_paper():
    t, f = pl.col("tpr"), pl.col("fpr")
    accuracy = pr.rates.accuracy(t, f, pl.col("skew"))
    skews = [1.0, 10.0, 100.0]
    table = (
        highleyman_predictions()
        .pipe(pr.curve, truth="truth", score="score")
        .pipe(pr.operating_points, "threshold", target=0, priors=[pr.prior(s) for s in skews])
        .with_columns(skew=pr.skew(pl.col("prior")))
        .select("model", "skew", "precision", accuracy=accuracy, tnr=1 - f)
    )
    found = {row["rate"]: row["y"] for row in records(pr.charts.skew_effect(table))}
    # P-ROC Fig. 1, read off.
    assert found["accuracy"] == pytest.approx([0.814, 0.883, 0.897], abs=0.01)
    assert found["precision"] == pytest.approx([0.878, 0.419, 0.067], abs=0.01)
    assert found["true negative rate"] == pytest.approx([0.899] * 3, abs=0.01)


def test_rates_against_the_skew_are_chosen_and_checked():
    table = pl.DataFrame({"skew": [1.0, 9.0], "precision": [0.5, 0.2], "lift": [0.4, 0.3]})
    (record,) = records(pr.charts.skew_effect(table, rates=["lift"]))
    assert record["y"] == [0.4, 0.3]
    with pytest.raises(pr.errors.InvalidTable, match=r"'recall'(?s:.*)Hint:"):
        pr.charts.skew_effect(table, rates=["recall"])
    with pytest.raises(pr.errors.InvalidTable, match=r"several rows(?s:.*)Hint:"):
        pr.charts.skew_effect(pl.concat([table, table]))
    with pytest.raises(pr.errors.InvalidTable, match="Hint:"):
        pr.charts.skew_effect(table.drop("skew"))


def test_cost_curves_are_those_of_the_table():
    costs = pr.cost_curve(curves(predictions(300, keys=2)), 11)
    found = [row for row in records(pr.charts.cost_curves(costs)) if "series" in row]
    for row in found:
        mine = costs.filter(model=int(row["series"]))
        assert row["x"] == mine["probability_cost"].to_list()
        assert row["y"] == mine["cost"].to_list()
    with pytest.raises(pr.errors.InvalidTable, match="Hint:"):
        pr.charts.cost_curves(curves(predictions(90)))


def test_decision_curves_are_those_of_the_table_per_hundred_cases():
    table = predictions(300, keys=2).with_columns(pl.col("score").rank() / 301)
    benefits = pr.decision_curve(curves(table), 10, [0.5, 0.1])
    chart = pr.charts.decision_curves(benefits)
    panels = chart.to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == ["50 % positives", "10 % positives"]
    for panel, prior in zip(panels, (0.5, 0.1), strict=True):
        everyone, _, own = (layer["data"]["values"] for layer in panel["layer"])
        for rows, column in ((everyone, "treat_all"), (own, "net_benefit")):
            for row in rows:
                mine = benefits.filter(model=int(row["series"]), prior=prior)
                assert row["x"] == mine["threshold"].to_list()
                assert row["y"] == pytest.approx((100 * mine[column]).to_list(), abs=1e-6)
        scale = panel["layer"][0]["encoding"]["y"]["scale"]
        assert scale["domain"] == pytest.approx([-20 * prior, 100 * prior])


def test_keys_whose_scores_are_no_probabilities_are_left_out_and_counted():
    table = predictions(300, keys=2).with_columns(pl.col("score").rank() / 301)
    beyond = pl.when(pl.col("model") == 1).then(pl.col("score") * 2).otherwise("score")
    some = curves(table.with_columns(beyond))
    told = pr.charts.decision_curves(pr.decision_curve(some, 10)).to_dict()
    assert told["title"]["subtitle"].endswith("not probabilities: 1 key(s)")
    assert {row["series"] for row in told["concat"][0]["layer"][2]["data"]["values"]} == {"0"}
    with pytest.raises(pr.errors.InvalidTable, match=r"not probabilities[^$]*Hint:"):
        pr.charts.decision_curves(pr.decision_curve(some.filter(model=1), 10))


def test_own_priors_of_folds_share_a_panel():
    table = predictions(300, keys=3).with_columns(pl.col("score").rank() / 301)
    chart = pr.charts.decision_curves(pr.decision_curve(curves(table), 5))
    assert [panel["title"]["text"] for panel in chart.to_dict()["concat"]] == ["share as observed"]
    with pytest.raises(pr.errors.InvalidTable, match="Hint:"):
        pr.charts.decision_curves(curves(table))


EMPTY = {
    "surface": lambda: pr.achievable(nothing(), PRIORS),
    "operating_drift": lambda: pr.operating_points(nothing(), priors=0.5),
    "cost_curves": lambda: pr.cost_curve(nothing()),
    "decision_curves": lambda: pr.decision_curve(nothing()),
    "explorer": lambda: nothing(),
    "roc": lambda: nothing(),
}


def nothing() -> pl.DataFrame:
    schema = {"model": pl.String, "truth": pl.Boolean, "score": pl.Float64}
    return curves(pl.DataFrame(schema=schema))


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_table_is_an_empty_chart(name):
    assert getattr(pr.charts, name)(EMPTY[name]()).to_dict()["title"]


def test_every_chart_has_a_case():
    drawn = set(pr.charts.__all__) - {"export", "palette", "save"}
    assert {name.split(" ")[0].strip(",") for name in CASES} >= drawn
