import re

import numpy as np
import polars as pl
import pytest
from chromium import visit

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable


def calibration(priors=(0.3, 0.05), **scores: float) -> pl.DataFrame:
    """Calibration curves of scores with these slopes."""
    random = np.random.default_rng(1)
    logit = random.normal(size=400) * 1.5 - 1
    table = {"truth": random.random(400) < 1 / (1 + np.exp(-logit))}
    table |= {name: 1 / (1 + np.exp(-slope * logit)) for name, slope in scores.items()}
    curves = pr.curve(table, truth="truth", score=list(scores))
    return pr.calibration_curve(curves, list(priors), draws=100)


def lines_of(spec: dict) -> list[dict]:
    panels = spec.get("concat", [spec])
    layers = [layer for panel in panels for layer in panel["layer"]]
    values = [layer["data"]["values"] for layer in layers if layer["mark"]["type"] == "line"]
    return [record for records in values for record in records if "lower" in record]


def test_it_draws_what_the_table_says():
    table = calibration(right=1.0, extreme=3.0)
    spec = pr.charts.reliability(table).to_dict()
    drawn = {(record["line"], record["prior"]): record for record in lines_of(spec)}
    assert len(drawn) == 4
    for (model, prior), record in drawn.items():
        part = table.filter(pl.col("model") == model, (pl.col("prior") - prior).abs() < 1e-12).sort(
            "score"
        )
        for name, column in (
            ("x", "score"),
            ("y", "probability"),
            ("lower", "lower"),
            ("upper", "upper"),
        ):
            assert record[name] == pytest.approx(part[column].to_list(), abs=1e-6)


def test_the_slider_moves_scores_and_shares():
    table = calibration(right=1.0)
    spec = pr.charts.reliability(table, over=(0.01, 0.5)).to_dict()
    assert [param["name"] for param in spec["params"]] == ["log_odds", "prior", "skew"]
    (drawn,) = lines_of(spec)
    at_other = table.filter((pl.col("prior") - drawn["prior"]).abs() > 1e-12).sort("score")
    # The formula of the chart, at the other prior of the table.
    skew = (1 - at_other["prior"][0]) / at_other["prior"][0]
    for name, column in (("x", "score"), ("y", "probability"), ("upper", "upper")):
        values = np.array(drawn[name])
        up = values * (1 - drawn["prior"]) / drawn["prior"]
        moved = up / (up + (1 - values) * skew)
        assert moved == pytest.approx(at_other[column].to_numpy(), abs=1e-4)
        calculated = str(spec["layer"])
        assert f"datum.{name} * (1 - datum.prior) / datum.prior" in calculated
        assert f"(1 - datum.{name}) * skew" in calculated


def calculated(spec: dict) -> list[tuple[str, str]]:
    """The fields that a chart works out, with their formulas."""
    steps = [step for layer in spec["layer"] for step in layer.get("transform", [])]
    return [(step["as"], step["calculate"]) for step in steps if "calculate" in step]


def test_no_field_replaces_its_own_source():
    spec = pr.charts.reliability(calibration(right=1.0), over=(0.01, 0.5)).to_dict()
    assert len(calculated(spec)) == 8
    assert [name for name, formula in calculated(spec) if f"datum.{name} " in formula] == []


def test_it_is_a_panel_of_the_explorer():
    table = pl.DataFrame(
        {"truth": [1, 0, 1, 0], "B": [0.5, 0.2, 0.9, 0.6], "A": [2.0, -3.0, 0.1, 1.0]}
    )
    curves = pr.curve(table, truth="truth", score=["A", "B"])
    scores = pr.calibration_curve(curves, 0.2)
    *_, panel = pr.charts.explorer(curves, calibration=scores).to_dict()["hconcat"]
    alone = pr.charts.reliability(scores, over=(0.01, 0.5)).to_dict()
    assert [record["x"] for record in lines_of(panel)] == [r["x"] for r in lines_of(alone)]
    assert calculated(panel) == calculated(alone)
    # A has no probabilities: B keeps the colour that it has in the other panels.
    (hue,) = {str(layer["encoding"]["color"]["scale"]) for layer in panel["layer"][1:]}
    assert hue == str({"domain": ["B"], "range": [pr.charts.palette(["A", "B"])["B"]]})
    assert len(pr.charts.explorer(curves).to_dict()["hconcat"]) == 2


def test_the_slider_moves_lines_there_and_back(browser, tmp_path):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    chart = pr.charts.explorer(curves, calibration=pr.calibration_curve(curves))
    page = pr.charts.save(chart, tmp_path / "explorer.html")
    path = (
        "const lines = document.querySelectorAll('.concat_2_group .mark-line path');"
        "return lines.length ? lines[lines.length - 1].getAttribute('d') : ''"
    )
    visit(browser, page)
    wait = WebDriverWait(browser, 10)

    def drawn() -> list[float]:
        return [float(one) for one in re.findall(r"[0-9.]+", browser.execute_script(path))]

    at_first = wait.until(lambda _: drawn())
    slider = browser.find_element(By.CSS_SELECTOR, ".vega-bind input")
    slider.send_keys(*[Keys.ARROW_LEFT] * 200)
    wait.until(lambda _: drawn() != pytest.approx(at_first, abs=1))
    slider.send_keys(*[Keys.ARROW_RIGHT] * 200)
    # A slider stops at full steps from its end.
    wait.until(lambda _: drawn() == pytest.approx(at_first, abs=0.1))


def test_keys_without_probabilities_are_left_out():
    table = pl.DataFrame({"truth": [1, 0, 1], "p": [0.5, 0.2, 0.9], "margin": [2.0, -3.0, 0.1]})
    curves = pr.curve(table, truth="truth", score=["p", "margin"])
    spec = pr.charts.reliability(pr.calibration_curve(curves)).to_dict()
    assert "left out, scores are not probabilities: 1 key(s)" in spec["title"]["subtitle"]
    with pytest.raises(InvalidTable, match="no key has scores that are probabilities"):
        pr.charts.reliability(pr.calibration_curve(curves.filter(model="margin")))


def test_wrong_arguments_are_refused():
    with pytest.raises(InvalidTable, match="has no column"):
        pr.charts.reliability(pl.DataFrame({"prior": [0.1]}))
    with pytest.raises(InvalidArgument, match="lower end first"):
        pr.charts.reliability(calibration(right=1.0), over=(0.5, 0.1))
    curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    with pytest.raises(InvalidArgument, match="none for 'right'"):
        pr.charts.explorer(curves, calibration=calibration(right=1.0))
