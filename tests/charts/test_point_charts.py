"""Charts of operating points and costs."""

import polars as pl
import pytest
from drawing import curves, predictions, records, svg

import polaroc as pr


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


def test_operating_points_are_those_of_the_table():
    curve = curves(predictions(500, keys=2))
    points = pr.operating_points(curve, priors=[0.1, 0.5, 0.9])
    rows = [row for row in values(pr.charts.operating_drift(points, curve)) if "label" in row]
    shown = [(row["fpr"], row["tpr"], row["prior"]) for row in rows]
    # Once for the points, once for the lines between them.
    assert shown == 2 * points.select("fpr", "tpr", "prior").rows()
    assert {row["label"] for row in rows} == {"10 % positives", "50 % positives", "90 % positives"}


def test_keys_without_a_point_are_left_out():
    table = pl.DataFrame({"truth": [1, 1], "score": [0.1, 0.2]})
    points = pr.curve(table, truth="truth", score="score").pipe(pr.operating_points, priors=0.5)
    assert "NaN" not in svg(pr.charts.operating_drift(points))


def test_cost_curves_are_those_of_the_table():
    costs = pr.cost_curve(curves(predictions(300, keys=2)), 11)
    found = [row for row in records(pr.charts.cost_curves(costs)) if "series" in row]
    for row in found:
        mine = costs.filter(model=int(row["series"]))
        assert row["x"] == pytest.approx(mine["probability_cost"].to_list(), rel=5.1e-5)
        assert row["y"] == pytest.approx(mine["cost"].to_list(), rel=5.1e-5)


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
                assert row["y"] == pytest.approx((100 * mine[column]).to_list(), rel=5.1e-5)
        scale = panel["layer"][0]["encoding"]["y"]["scale"]
        assert scale["domain"] == pytest.approx([-20 * prior, 100 * prior])


def test_keys_whose_scores_are_no_probabilities_are_left_out_and_counted():
    table = predictions(300, keys=2).with_columns(pl.col("score").rank() / 301)
    beyond = pl.when(pl.col("model") == 1).then(pl.col("score") * 2).otherwise("score")
    some = curves(table.with_columns(beyond))
    told = pr.charts.decision_curves(pr.decision_curve(some, 10)).to_dict()
    assert told["title"]["subtitle"][-1].endswith("not probabilities: 1 key(s)")
    assert {row["series"] for row in told["concat"][0]["layer"][2]["data"]["values"]} == {"0"}


def test_own_priors_of_folds_share_a_panel():
    table = predictions(300, keys=3).with_columns(pl.col("score").rank() / 301)
    chart = pr.charts.decision_curves(pr.decision_curve(curves(table), 5))
    assert [panel["title"]["text"] for panel in chart.to_dict()["concat"]] == ["share as observed"]
