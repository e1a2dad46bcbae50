from dataclasses import replace

import polars as pl
import pytest
from chart_cases import measures
from model_tables import predictions

import polaroc as pr


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return measures(predictions())


def test_pairs_are_drawn_as_they_are_tested(table):
    found = pr.compare(table, test_train_ratio=0.5, level=0.8)
    models, letters, zero, forest = (
        layer["data"]["values"]
        for panel in pr.charts.pairs(found).to_dict()["vconcat"]
        for layer in panel["layer"]
        if layer["mark"]["type"] != "point"
    )
    assert [record["series"] for record in models] == found.letters["model"].to_list()
    assert [record["x"] for record in models] == found.letters["mean"].to_list()
    assert [record["high"] - record["x"] for record in models] == pytest.approx(
        found.letters["sd"].to_list()
    )
    assert [record["letters"] for record in letters] == found.letters["letters"].to_list()
    assert zero == [{"x": 0}]
    assert [record["pair"] for record in forest] == ["A − B", "A − C", "B − C"]
    for name, column in {
        "x": "difference",
        "low": "adjusted_lower",
        "high": "adjusted_upper",
    }.items():
        assert [record[name] for record in forest] == found.pairs[column].to_list()
    apart = [record["apart"] for record in forest]
    assert apart == [bool(p < 0.2) for p in found.pairs["p_adjusted"]]
    assert set(apart) == {True, False}


def test_pairs_say_their_level(table):
    found = pr.compare(table, "auc", test_train_ratio=0.5, level=0.9)
    said = " ".join(pr.charts.pairs(found).to_dict()["title"]["subtitle"])
    assert "an adjusted 90 % interval leaves out 0 only where the pair is told apart" in said
    assert "SD over folds" in said


def test_of_many_pairs_those_of_the_best_model_and_the_likeliest_are_drawn():
    many = measures(predictions([f"m{i:02}" for i in range(11)], folds=3), over=None)
    found = pr.compare(many, "auc", test_train_ratio=0.5)
    spec = pr.charts.pairs(found).to_dict()
    (forest,) = {len(layer["data"]["values"]) for layer in spec["vconcat"][1]["layer"][1:]}
    assert forest == 45
    assert spec["title"]["subtitle"][-1].startswith("45 of 55: the best model and those next to it")
    drawn = spec["vconcat"][1]["layer"][1]["data"]["values"]
    best = found.letters["model"][0]
    of_best = [best in r["pair"].split(" − ") for r in drawn]
    assert of_best == [True] * 10 + [False] * 35
    others = found.pairs.filter(pl.col("model_a") != best, pl.col("model_b") != best)
    assert max(r["p"] for r in drawn[10:]) <= others["p_adjusted"].sort()[35]
    gaps = [abs(r["x"]) for r in drawn[:10]]
    assert gaps == sorted(gaps)


def test_pairs_whose_names_look_alike_are_quoted():
    names = ["A", "A − B", "B", "B − A"]
    found = pr.compare(measures(predictions(names), over=None), "auc", test_train_ratio=0)
    forest = pr.charts.pairs(found).to_dict()["vconcat"][1]["layer"][1]
    pairs = [record["pair"] for record in forest["data"]["values"]]
    assert len(set(pairs)) == 6


def test_differences_that_never_vary_are_points(table):
    values = {"A": 0.9, "B": 0.8, "C": 0.7}
    same = table.with_columns(
        estimate=pl.col("model").replace_strict(values, return_dtype=pl.Float64)
    )
    found = pr.compare(same, "auc", test_train_ratio=0.5)
    forest = pr.charts.pairs(found).to_dict()["vconcat"][1]["layer"][1]["data"]["values"]
    for name in ("x", "low", "high"):
        assert [record[name] for record in forest] == pytest.approx([0.1, 0.2, 0.1])


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_limits_that_have_no_place_are_not_drawn(table, bad):
    found = pr.compare(table, "auc", test_train_ratio=0.5)
    limits = found.pairs.with_columns(adjusted_upper=pl.lit(bad, pl.Float64))
    forest = pr.charts.pairs(replace(found, pairs=limits)).to_dict()["vconcat"][1]["layer"][1]
    assert [record["high"] for record in forest["data"]["values"]] == [None] * 3
