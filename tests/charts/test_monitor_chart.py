import polars as pl
import pytest

import polaroc as pr

REFERENCE = pl.DataFrame({"truth": [1, 0] * 200, "score": ([0.9, 0.1] * 9 + [0.1, 0.9]) * 20})
USED = pl.DataFrame(
    {"day": [1] * 900 + [2] * 900, "score": [0.9, 0.1, 0.1] * 300 + [0.9] * 800 + [0.1] * 100}
)
MONITOR = pr.monitor(
    REFERENCE, USED, truth="truth", score="score", time="day", points=0.9, over=(0.05, 0.3)
)
WATCHED = MONITOR.table


def panels(table):
    return pr.charts.monitor(table).to_dict()["vconcat"]


def test_each_quantity_has_a_panel_with_its_rows():
    drawn = panels(WATCHED)
    axes = [[layer["encoding"]["y"].get("title") for layer in panel["layer"]] for panel in drawn]
    titles = [next(filter(None, of_panel)) for of_panel in axes]
    assert titles == ["prior", "precision", "share called positive", "cost per case"]
    for panel, name in zip(drawn, ("prior", "precision", "posfrac", "cost"), strict=True):
        rows = panel.get("data", panel["layer"][0].get("data"))["values"]
        expected = WATCHED.filter(quantity=name)
        assert [row["x"] for row in rows] == expected["day"].to_list() == [1, 2]
        assert [row["alarm"] for row in rows] == expected["alarm"].to_list()
        assert [row["estimate"] for row in rows] == pytest.approx(
            expected["estimate"].to_list(), rel=1e-5
        )
    assert WATCHED["alarm"].drop_nulls().len() >= 1


def test_the_result_of_monitor_is_drawn_as_its_table():
    assert panels(MONITOR) == panels(WATCHED)


@pytest.mark.parametrize(
    ("times", "kind"),
    [
        (pl.col("day"), "quantitative"),
        (pl.date(2026, 3, pl.col("day")), "temporal"),
    ],
)
def test_times_have_an_axis_of_their_kind(times, kind):
    (first, *_) = panels(WATCHED.with_columns(times.alias("day")))
    assert {layer["encoding"]["x"]["type"] for layer in first["layer"]} == {kind}
    # Dates are the same in every time zone.
    scales = {layer["encoding"]["x"].get("scale", {}).get("type") for layer in first["layer"]}
    assert scales == {"utc" if kind == "temporal" else None}


def test_a_quantity_without_an_estimate_has_no_panel():
    labelled = WATCHED.filter(quantity="precision").with_columns(
        pl.lit(None, pl.Float64).alias("estimate"), pl.lit(None, pl.Float64).alias("lower"),
        pl.lit(None, pl.Float64).alias("upper"), pl.lit(None, pl.String).alias("alarm"),
        pl.lit("tpr_labelled").alias("quantity"),
    )  # fmt: skip
    assert len(panels(pl.concat([WATCHED, labelled]))) == len(panels(WATCHED)) == 4


def test_the_range_is_drawn_where_priors_are():
    drawn = pr.charts.monitor(WATCHED, over=(0.05, 0.3)).to_dict()["vconcat"]
    ends = [
        [
            layer["encoding"]["y"]["datum"]
            for layer in panel["layer"]
            if layer["mark"].get("strokeDash") is not None
        ]
        for panel in drawn
    ]
    assert ends == [[0.05, 0.3], [], [], []]


def test_an_alarm_without_an_estimate_is_drawn_too():
    # More than the prior has shifted: of that time alone there is no estimate.
    drifted = WATCHED.with_columns(
        pl.when(pl.col("alarm").is_null()).then("estimate").alias("estimate")
    )
    alarmed = drifted.drop_nulls("alarm")
    assert alarmed.height > 0
    assert alarmed["estimate"].null_count() == alarmed.height
    lines = [
        layer
        for panel in panels(drifted)
        for layer in panel["layer"]
        if "isValid(datum.alarm) && !isValid(datum.estimate)" in str(layer.get("transform"))
    ]
    assert lines
    assert {layer["encoding"]["y"]["value"] for layer in lines} == {"height"}
