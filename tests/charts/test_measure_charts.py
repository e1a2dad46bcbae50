"""Charts of measures, pairs and calibration show the values of their tables."""

from dataclasses import replace
from math import sqrt

import numpy as np
import polars as pl
import pytest
from chart_cases import PRIORS, measures
from drawing import records
from model_tables import MODELS, grid, near, predictions, values

import polaroc as pr


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return measures(predictions())


def lines(table: pl.DataFrame) -> list[list[dict]]:
    return values(pr.charts.auprec_by_prior(table).to_dict())


# By prior.


def test_bands_are_the_limits_of_the_table_and_broken_where_there_are_none():
    table = measures(predictions(), fold=None, over=None, intervals=True)
    (drawn,) = lines(table)
    for model, record in zip(MODELS, drawn, strict=True):
        rows = table.filter(model=model, measure="auprec").sort("prior")
        assert record["x"] == list(PRIORS)
        for name, column in {"y": "estimate", "lower": "lower", "upper": "upper"}.items():
            assert record[name] == near(rows[column])
    gone = pl.when(pl.col("prior") != 0.1).then(pl.col("lower", "upper"))
    (drawn,) = lines(table.with_columns(gone))
    assert [value is None for value in drawn[0]["upper"]] == [False, True, False]
    assert None not in drawn[0]["y"]


def test_folds_are_drawn_with_their_mean_and_without_limits():
    limits = measures(predictions(), over=None, intervals=True)
    folds, means = lines(limits)
    for place, (model, record) in enumerate(zip(MODELS, means, strict=True)):
        estimates = grid(limits)[:, place]
        assert record["y"] == near(estimates.mean(axis=0))
        of_folds = [one["y"] for one in folds if one["series"] == model]
        assert np.sort(of_folds, axis=0) == pytest.approx(np.sort(estimates, axis=0), rel=5.1e-5)
    assert not any("upper" in record for record in folds + means)


def test_a_mean_needs_every_fold(table):
    is_gone = (pl.col("model") == "A") & (pl.col("fold") == 2) & (pl.col("prior") == 0.1)
    _, means = lines(table.filter(pl.col("measure") == "auprec", ~is_gone))
    assert [record["x"] for record in means] == [[0.05, 0.2], [*PRIORS], [*PRIORS]]


def test_priors_that_differ_by_rounding_are_one(table):
    noise = pl.when(pl.col("fold") == 1).then(pl.col("prior") * (1 + 4e-16))
    noisy = table.with_columns(noise.otherwise("prior").alias("prior"))
    assert noisy["prior"].n_unique() > table["prior"].n_unique()
    assert lines(noisy) == lines(table)


def test_a_table_without_keys_is_one_line():
    one = predictions(["A"]).drop("model", "fold")
    found = pr.evaluate(one, truth="truth", score="score", priors=[0.5, 0.1])
    (record,) = records(pr.charts.auprec_by_prior(found))
    assert record["x"] == [0.1, 0.5]


# Area and sensitivity.


def test_points_of_the_plane_are_error_and_sens(table):
    spec = pr.charts.accsens_plane(table).to_dict()
    arcs, folds, labels, means = (layer["data"]["values"] for layer in spec["layer"])
    named = [
        table.filter(measure=one).select("model", "fold", pl.col("estimate").alias(one))
        for one in ("auc_range", "sens")
    ]
    wide = named[0].join(named[1], on=["model", "fold"]).sort("model", "fold")
    mean = wide.group_by("model").mean().sort("model")
    for points, rows in ((folds, wide), (means, mean)):
        assert [point["x"] for point in points] == near(1 - rows["auc_range"])
        assert [point["y"] for point in points] == near(rows["sens"])
    lo, hi = spec["layer"][1]["encoding"]["x"]["scale"]["domain"]
    assert lo == 0
    assert max(point[axis] for point in folds for axis in "xy") <= hi <= 1
    assert {label["label"] for label in labels} <= {f"{float(arc['line']):g}" for arc in arcs}
    for label in labels:
        level = sqrt((label["x"] ** 2 + label["y"] ** 2) / 2)
        assert level == pytest.approx(float(label["label"]))


@pytest.mark.parametrize("weights", [(2, 0.5), (0, 1), (3, 0)])
def test_labels_of_arcs_are_the_weighted_distance_from_perfect(table, weights):
    labels = pr.charts.accsens_plane(table, weights=weights).to_dict()["layer"][2]["data"]["values"]
    by_error, by_sens = weights
    assert labels
    for label in labels:
        squares = by_error * label["x"] ** 2 + by_sens * label["y"] ** 2
        assert sqrt(squares / 2) == pytest.approx(float(label["label"]))


def test_a_point_without_both_measures_is_left_out(table):
    lacking = (pl.col("fold") == 1) & (pl.col("measure") == "sens") & (pl.col("model") == "A")
    gone = table.with_columns(pl.when(~lacking).then("estimate").alias("estimate"))
    spec = pr.charts.accsens_plane(gone).to_dict()
    assert len(spec["layer"][1]["data"]["values"]) == 11


# Pairs.


def forest(comparison) -> list[dict]:
    return pr.charts.pairs(comparison).to_dict()["vconcat"][1]["layer"][1]["data"]["values"]


def test_pairs_are_drawn_as_they_are_tested(table):
    found = pr.compare(table, test_train_ratio=0.5, level=0.8)
    models = pr.charts.pairs(found).to_dict()["vconcat"][0]["data"]["values"]
    assert [record["series"] for record in models] == found.models["model"].to_list()
    for name, column in {"x": "estimate", "low": "lower", "high": "upper"}.items():
        assert [record[name] for record in models] == found.models[column].to_list()
    drawn = {record["series"]: {*record["letters"]} for record in models}
    for a, b, p in found.pairs.select("model_a", "model_b", "p_adjusted").iter_rows():
        assert bool(drawn[a] & drawn[b]) == (p >= 0.2)
    drawn = forest(found)
    assert [record["series"] for record in drawn] == ["A − B", "A − C", "B − C"]
    ends = {"x": "difference", "low": "adjusted_lower", "high": "adjusted_upper"}
    for name, column in ends.items():
        assert [record[name] for record in drawn] == found.pairs[column].to_list()
    apart = [record["apart"] for record in drawn]
    assert apart == [bool(p < 0.2) for p in found.pairs["p_adjusted"]]
    assert set(apart) == {True, False}
    assert "an adjusted 80 % interval" in str(pr.charts.pairs(found).to_dict()["title"])


def test_of_many_pairs_those_of_the_best_model_and_the_likeliest_are_drawn():
    many = measures(predictions([f"m{i:02}" for i in range(11)], folds=3), over=None)
    found = pr.compare(many, "auc", test_train_ratio=0.5)
    drawn, best = forest(found), found.models["model"][0]
    assert "45 of 55" in str(pr.charts.pairs(found).to_dict()["title"])
    of_best = [best in record["series"].split(" − ") for record in drawn]
    assert of_best == [True] * 10 + [False] * 35
    others = found.pairs.filter(pl.col("model_a") != best, pl.col("model_b") != best)
    assert max(record["p"] for record in drawn[10:]) <= others["p_adjusted"].sort()[35]


def test_pairs_whose_names_look_alike_are_told_apart():
    names = ["A", "A − B", "B", "B − A"]
    found = pr.compare(measures(predictions(names), over=None), "auc", test_train_ratio=0)
    assert len({record["series"] for record in forest(found)}) == 6


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf")])
def test_limits_that_have_no_place_are_not_drawn(table, bad):
    found = pr.compare(table, "auc", test_train_ratio=0.5)
    limits = found.pairs.with_columns(adjusted_upper=pl.lit(bad, pl.Float64))
    drawn = forest(replace(found, pairs=limits))
    assert [record["high"] for record in drawn] == [None] * 3


# Calibration.


def test_reliability_draws_the_calibration_curves():
    random = np.random.default_rng(1)
    logit = random.normal(size=400) * 1.5 - 1
    scores = {name: 1 / (1 + np.exp(-slope * logit)) for name, slope in (("a", 1), ("b", 3))}
    cases = {"truth": random.random(400) < 1 / (1 + np.exp(-logit)), **scores}
    table = pr.calibration(cases, [0.3, 0.05], truth="truth", score=[*scores], draws=100).curve
    found = [
        record
        for record in records(pr.charts.reliability(table))
        if "lower" in record and "line" in record
    ]
    keys = {(record["line"], round(record["prior"], 9)) for record in found}
    assert keys == {(name, prior) for name in "ab" for prior in (0.3, 0.05)}
    for record in found:
        is_of = (pl.col("model") == record["line"]) & (
            (pl.col("prior") - record["prior"]).abs() < 1e-12
        )
        part = table.filter(is_of).sort("score")
        names = {"x": "score", "y": "probability", "lower": "lower", "upper": "upper"}
        for name, column in names.items():
            assert record[name] == near(part[column])


def test_keys_without_probabilities_are_left_out_and_counted():
    table = pl.DataFrame({"truth": [1, 0, 1], "p": [0.5, 0.2, 0.9], "margin": [2.0, -3.0, 0.1]})
    curve = pr.calibration(table, truth="truth", score=["p", "margin"]).curve
    spec = pr.charts.reliability(curve).to_dict()
    assert "not probabilities: 1 key(s)" in spec["title"]["subtitle"][-1]
    assert {record["line"] for record in records(spec) if "line" in record} == {"p"}
