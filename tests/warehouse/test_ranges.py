import numpy as np
import polars as pl
import pytest
from comparison import INFINITE, assert_same, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.warehouse.collecting import collected

ASKED = {"truth": "truth", "score": "score", "priors": ["observed", 0.1], "over": (0.05, 0.2)}
SPLITS = [7, [0.0], [-1.0, 0.5, 1.5], [-1e300, 1e300]]


@pytest.mark.parametrize("ranges", SPLITS, ids=str)
@pytest.mark.parametrize("by", [[], ["model", "fold"]])
def test_ranges_do_not_change_the_measures(engine: Engine, by, ranges):
    table = predictions(len(by))
    found = pr.warehouse.evaluate(engine.table(table), **ASKED, by=by, ranges=ranges)
    assert_same(found, pr.evaluate(table, **ASKED, by=by))


def test_ranges_do_not_change_the_measures_of_weighted_cases(engine: Engine):
    table = predictions(3, weights=True)
    asked = ASKED | {"by": ["model"], "weight": "weight"}
    found = pr.warehouse.evaluate(engine.table(table), **asked, ranges=[-0.5, 0.5, 1.0])
    assert_same(found, pr.evaluate(table, **asked))


def test_ranges_do_not_change_the_curve(engine: Engine):
    table = predictions(4)
    asked = {"truth": "truth", "score": "score", "by": "model"}
    found = pr.warehouse.curve(engine.table(table), **asked, ranges=[-0.5, 0.0, 1.0])
    assert_same(found, pr.curve(table, **asked))


@pytest.mark.parametrize(
    "scores",
    [[0.5] * 6, [INFINITE, -INFINITE] * 3, [0.0, -0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0] * 2],
    ids=str,
)
def test_few_scores_and_edges_that_are_scores(engine: Engine, scores):
    table = pl.DataFrame({"truth": [True, False, True, True, False, False], "score": scores})
    asked = {"truth": "truth", "score": "score", "priors": [0.2]}
    warehouse = engine.table(table)
    expected = pr.evaluate(table, **asked)
    for ranges in (3, [0.0, 0.5, 1.0, 2.0]):
        assert_same(pr.warehouse.evaluate(warehouse, **asked, ranges=ranges), expected)


def test_a_key_that_cannot_be_ranked_has_no_measures_in_any_range(engine: Engine):
    table = pl.DataFrame(
        {
            "key": ["bad"] * 4 + ["good"] * 4,
            "truth": [True, False] * 4,
            "score": [0.1, float("nan"), None, 0.9, 0.1, 0.2, 0.3, 0.4],
        }
    )
    asked = {"truth": "truth", "score": "score", "by": "key", "priors": [0.5]}
    found = pr.warehouse.evaluate(engine.table(table), **asked, ranges=[0.2, 0.3])
    assert_same(found, pr.evaluate(table.lazy(), **asked).collect())


def test_no_range_holds_much_more_than_its_share(engine: Engine):
    scores = np.sort(np.random.default_rng(5).exponential(size=20_000) ** 4)
    table = pl.DataFrame({"truth": scores > 0, "score": scores})
    read = pr.warehouse.predictions.read(engine.table(table), truth="truth", score="score")
    edges = pr.warehouse.ranges.edges_of(read, 8)
    sizes = np.diff([0, *np.searchsorted(scores, edges), len(scores)])
    assert len(sizes) == 8
    assert max(sizes) < 1.5 * len(scores) / 8


def test_ranges_are_as_many_as_the_largest_key_needs(engine: Engine, monkeypatch):
    monkeypatch.setattr(pr.warehouse.ranges, "ROWS_EACH", 20)
    table = predictions(8, 200)
    uploaded = engine.table(table)
    asked = {"truth": "truth", "score": "score", "by": ["model"]}
    largest = table.group_by("model").len()["len"].max()
    read = pr.warehouse.predictions.read(uploaded, **asked)
    assert pr.warehouse.ranges.needed(read) == -(-largest // 20)
    found = pr.warehouse.evaluate(uploaded, **asked, priors=0.1, ranges="auto")
    assert_same(found, pr.evaluate(table, **asked, priors=0.1))


def test_a_small_table_has_one_range_and_the_same_query():
    import ibis

    for rows in (0, 200):
        table = ibis.memtable(predictions(8, 200).head(rows))
        read = pr.warehouse.predictions.read(table, truth="truth", score="score")
        assert pr.warehouse.ranges.edges_of(read, "auto") == []


def test_ranges_of_a_table_without_a_connection_are_given():
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidArgument, match="no connection"):
        pr.warehouse.curve(table, truth="truth", score="score", ranges="auto")


def test_a_plan_with_edges_asks_the_engine_nothing():
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    measures = pr.warehouse.evaluate(table, truth="truth", score="score", ranges=[0.25, 0.75])
    text = pr.warehouse.sql(measures, "spark")
    assert "0.25" in text
    assert "0.75" in text


@pytest.mark.parametrize("ranges", [0, 257, True, "64", [0.5, None], [INFINITE]], ids=str)
def test_what_are_no_ranges_is_refused(ranges):
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidArgument, match="Hint:"):
        pr.warehouse.curve(table, truth="truth", score="score", ranges=ranges)


def test_nan_is_fetched_as_nan(engine: Engine):
    scores = pl.DataFrame({"score": [1.0, float("nan"), None, INFINITE]})
    found = collected(engine.table(scores))
    if engine.name != "postgres":
        assert_frame_equal(found.sort("score"), scores.sort("score"))
