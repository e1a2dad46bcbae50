import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidTable


def calibration(priors=(0.3, 0.05), **scores: float) -> pl.DataFrame:
    """Calibration curves of scores with these slopes."""
    random = np.random.default_rng(1)
    logit = random.normal(size=400) * 1.5 - 1
    table = {"truth": random.random(400) < 1 / (1 + np.exp(-logit))}
    table |= {name: 1 / (1 + np.exp(-slope * logit)) for name, slope in scores.items()}
    return pr.calibration(table, priors, truth="truth", score=list(scores), draws=100).curve


def lines_of(spec: dict) -> list[dict]:
    panels = spec["concat"]
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


def test_keys_without_probabilities_are_left_out():
    table = pl.DataFrame({"truth": [1, 0, 1], "p": [0.5, 0.2, 0.9], "margin": [2.0, -3.0, 0.1]})
    curve = pr.calibration(table, truth="truth", score=["p", "margin"]).curve
    spec = pr.charts.reliability(curve).to_dict()
    assert "left out, scores are not probabilities: 1 key(s)" in spec["title"]["subtitle"]
    with pytest.raises(InvalidTable, match="no key has scores that are probabilities"):
        pr.charts.reliability(curve.filter(model="margin"))


def test_wrong_arguments_are_refused():
    with pytest.raises(InvalidTable, match="has no column"):
        pr.charts.reliability(pl.DataFrame({"prior": [0.1]}))
