import numpy as np
import polars as pl
import pytest
from comparison import INFINITE, assert_same, evaluated, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.warehouse import predictions as there
from polaroc.warehouse.connections import collected

ASKED = {"truth": "truth", "score": "score", "priors": ["observed", 0.1], "over": (0.05, 0.2)}
SPLITS = [([], 7), (["model"], [0.0]), (["model", "fold"], [-1.0, 0.5, 1.5]), ([], [-1e300, 1e300])]


def read(table, **roles):
    return there.read(there.described(table, roles))


@pytest.mark.alike
@pytest.mark.elsewhere("[]-7", "['model', 'fold']-[-1.0, 0.5, 1.5]")
@pytest.mark.parametrize(("by", "ranges"), SPLITS, ids=str)
def test_ranges_do_not_change_the_measures(engine: Engine, by, ranges):
    table = predictions(len(by))
    found = pr.warehouse.evaluate(engine.table(table), **ASKED, by=by, ranges=ranges)
    assert_same(found, pr.evaluate(table, **ASKED, by=by))


def test_ranges_where_no_row_can_be_wrong(engine: Engine):
    table = predictions(5).with_columns(score=pl.when(pl.col("score") < 2).then("score"))
    asked = ASKED | {"nulls": "drop"}
    found = pr.warehouse.evaluate(engine.table(table), **asked, ranges=[-0.5, 0.5])
    assert_same(found, pr.evaluate(table, **asked))


def test_ranges_do_not_change_the_curve(engine: Engine):
    table = predictions(4)
    asked = {"truth": "truth", "score": "score"}
    found = pr.warehouse.curve(engine.table(table), **asked, ranges=[-0.5, 0.0, 1.0])
    assert_same(found, pr.curve(table, **asked))


FEW_SCORES = {
    "constant": [0.5] * 6,
    "infinite": [INFINITE, -INFINITE] * 3,
    "zeros": [0.0, -0.0, 0.0, 1.0, 1.0, 1.0],
    "ties": [1.0, 2.0, 3.0] * 2,
}
TRUTH = [True, False, True, True, False, False]


def test_few_scores_and_edges_that_are_scores(engine: Engine):
    table = pl.concat(
        pl.DataFrame({"key": [name] * 6, "truth": TRUTH, "score": scores})
        for name, scores in FEW_SCORES.items()
    )
    asked = {"truth": "truth", "score": "score", "by": "key", "priors": [0.2]}
    found = pr.warehouse.evaluate(engine.table(table), **asked, ranges=[0.0, 0.5, 1.0, 2.0])
    assert_same(found, pr.evaluate(table, **asked))


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("scores", FEW_SCORES.values(), ids=FEW_SCORES)
def test_more_ranges_than_scores(scores):
    import ibis

    table = pl.DataFrame({"truth": TRUTH, "score": scores})
    asked = {"truth": "truth", "score": "score", "priors": [0.2]}
    found = pr.warehouse.evaluate(ibis.memtable(table), **asked, ranges=3)
    assert_same(found, pr.evaluate(table, **asked))


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
    assert_same(found, evaluated(table, **asked))


def test_no_range_holds_much_more_than_its_share(engine: Engine):
    scores = np.sort(np.random.default_rng(5).exponential(size=20_000) ** 4)
    table = pl.DataFrame({"truth": scores > 0, "score": scores})
    rows = read(engine.table(table), truth="truth", score="score")
    edges = pr.warehouse.cells.edges_of(rows, 8)
    sizes = np.diff([0, *np.searchsorted(scores, edges), len(scores)])
    assert len(sizes) == 8
    assert max(sizes) < 1.5 * len(scores) / 8


@pytest.mark.long
def test_ranges_are_made_for_the_keys_that_need_them(engine: Engine, monkeypatch):
    monkeypatch.setattr(pr.warehouse.cells, "ROWS_EACH", 50)
    random = np.random.default_rng(8)
    # The largest key is null, and the small ones have other scores, and more of them.
    large = pl.DataFrame({"key": [None] * 400, "score": random.exponential(size=400) ** 4})
    small = pl.DataFrame({"key": np.arange(1000) % 100, "score": random.uniform(1e6, 2e6, 1000)})
    table = pl.concat([large.cast({"key": pl.Int64}), small])
    table = table.with_columns(truth=pl.Series(random.random(1400) < 0.3))
    asked = {"truth": "truth", "score": "score", "by": "key"}
    uploaded = engine.table(table)
    rows = read(uploaded, **asked)
    edges = pr.warehouse.cells.edges_of(rows, "auto")
    sizes = np.diff([0, *np.searchsorted(np.sort(large["score"]), edges), 400])
    assert list(sizes) == [50] * 8
    found = pr.warehouse.evaluate(uploaded, **asked, priors=0.1, ranges="auto")
    fixed = pr.warehouse.evaluate(uploaded, **asked, priors=0.1, ranges=[0.01, 0.1, 1.0, 1.5e6])
    assert_same(found, collected(fixed), tolerance=1e-12)
    assert_same(found, pr.evaluate(table, **asked, priors=0.1))


@pytest.mark.parametrize(("rows", "by"), [(0, None), (50, None), (0, "key"), (5000, "key")])
def test_small_tables_and_many_small_keys_have_one_range(monkeypatch, rows, by):
    import ibis

    monkeypatch.setattr(pr.warehouse.cells, "ROWS_EACH", 50)
    score = pl.Series("score", range(rows), pl.Float64)
    table = ibis.memtable(pl.select(score, truth=score > 9, key=score // 50))
    rows = read(table, truth="truth", score="score", by=by)
    assert pr.warehouse.cells.edges_of(rows, "auto") == []


def test_ranges_of_a_table_without_a_connection_are_given():
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidArgument, match="no connection"):
        pr.warehouse.curve(table, truth="truth", score="score", ranges="auto")


@pytest.mark.slow
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
