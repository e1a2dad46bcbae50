import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable

WIDE = pl.DataFrame({
    "y": [1, 1, 0, 0, 0],
    "tree": [0.9, 0.4, 0.6, 0.2, 0.1],
    "forest": [0.8, 0.7, 0.3, 0.2, 0.1],
})  # fmt: skip
NAMES = {"truth": "y", "score": ["tree", "forest"]}


@pytest.mark.parametrize("points", [0.5, {"tree": 0.5, "forest": 0.5}], ids=["one", "by model"])
def test_a_threshold_in_use_is_judged(points):
    judged = pr.apply_thresholds(WIDE, points, **NAMES)
    # 2 of 5 are positive; of them and of the 3 negatives these are called positive at 0.5.
    assert judged.select("model", "prior", "threshold", "tpr", "fpr").rows() == [
        ("forest", 0.4, 0.5, 1.0, 0.0), ("tree", 0.4, 0.5, 0.5, 1 / 3),
    ]  # fmt: skip
    assert judged["precision"].to_list() == pytest.approx([1, 0.5])
    assert not judged["note"].count()
    # All cases at the threshold are called positive.
    assert judged["share"].to_list() == [1.0, 1.0]


def test_each_model_has_its_number_and_its_prior():
    priors = [0.1, 0.5]
    judged = pr.apply_thresholds(WIDE, {"tree": 0.15}, **NAMES, priors=priors, intervals=True)
    tree = judged.filter(model="tree")
    assert tree["fpr"].to_list() == pytest.approx([2 / 3, 2 / 3])
    assert tree["precision"].to_list() == pytest.approx([0.1 / (0.1 + 0.9 * 2 / 3), 0.6])
    assert tree.select(
        (pl.col("precision_lower") < pl.col("precision"))
        & (pl.col("precision") < pl.col("precision_upper"))
    ).to_series().all()  # fmt: skip
    assert judged.filter(model="forest")["note"].unique().to_list() == [
        "there is no point for this key"
    ]
    lazy = pr.apply_thresholds(WIDE.lazy(), 0.5, **NAMES)
    assert lazy.collect_schema() == lazy.collect().schema


def test_a_single_key_of_any_name_is_that_of_the_models():
    rows = {"truth": "y", "score": "s", "by": "maker"}
    long = WIDE.unpivot(["tree", "forest"], index="y", variable_name="maker", value_name="s")
    judged = pr.apply_thresholds(long, {"tree": 0.5, "forest": 0.25}, **rows)
    assert judged.select("maker", "threshold").rows() == [("forest", 0.25), ("tree", 0.5)]


def test_numbers_by_model_need_a_key_of_models():
    one = {"truth": "y", "score": "tree"}
    with pytest.raises(InvalidArgument, match="no key tells models apart"):
        pr.apply_thresholds(WIDE, {"tree": 0.5}, **one)
    with pytest.raises(InvalidArgument, match="points is nan"):
        pr.apply_thresholds(WIDE, float("nan"), **one)


def test_a_monitor_takes_a_number_by_model():
    used = WIDE.drop("y").with_columns(day=1)
    both = {"truth": "y", "score": ["tree", "forest"], "time": "day"}
    apart = pr.monitor(WIDE, used, points={"tree": 0.5, "forest": 0.25}, **both)
    for model, threshold in (("tree", 0.5), ("forest", 0.25)):
        called = apart.table.filter(model=model, quantity="posfrac")["estimate"].item()
        assert called == pytest.approx(used.select((pl.col(model) >= threshold).mean()).item())


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({}, "no column 'rule'"),
        ({"threshold": [0.5]}, "no column 'rule'"),
    ],
)
def test_a_mapping_that_does_not_hold_numbers_is_read_as_a_table(points, message):
    with pytest.raises(InvalidTable, match=message):
        pr.apply_thresholds(WIDE, points, **NAMES)


def test_a_threshold_by_name_of_one_model_is_told_to_be_a_number():
    rows = pr.datasets.twenty_scores()
    with pytest.raises(InvalidArgument, match=r"give its number, points=0\.5"):
        pr.apply_thresholds(rows, {"gbm": 0.5}, truth="truth", score="score")


def used():
    return WIDE.drop("y").with_columns(day=1)


OF_MODELS = {
    "apply_thresholds": lambda points: pr.apply_thresholds(WIDE, points, **NAMES),
    "lazy": lambda points: pr.apply_thresholds(WIDE.lazy(), points, **NAMES).collect(),
    "monitor": lambda points: pr.monitor(WIDE, used(), points=points, time="day", **NAMES),
}


@pytest.mark.parametrize("judged", OF_MODELS.values(), ids=OF_MODELS)
def test_a_threshold_of_no_model_is_refused_by_name(judged):
    known = {"tree": 0.5, "forest": 0.5}
    with pytest.raises(InvalidArgument, match=r"'Tree', and the models(.|\n)*did you mean 'tree'"):
        judged(known | {"Tree": 0.1})
    with pytest.raises(InvalidArgument, match="points is None for 'tree', allowed are numbers"):
        judged(known | {"tree": None})
    with pytest.raises(InvalidArgument, match=r"points is \[0\.5\], allowed are a number"):
        judged([0.5])
