from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plans import of_arrays, of_plan
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.curves import keys as numbering
from polaroc.curves.keys import MAX_KEY_INDEX
from polaroc.curves.ranking import ranked_cells
from polaroc.predictions.resolved import keyed
from polaroc.predictions.table import read

ROWS = 400
ENUM = pl.Enum(["late", "early", "never used", "middle"])
VALUES = {
    pl.Boolean: [True, False],
    pl.Int8: [-128, 127, 0],
    pl.Int16: [-32768, 32767],
    pl.Int32: [-(2**31), 2**31 - 1, 0],
    pl.Int64: [-(2**63), 2**63 - 1],
    pl.Int128: [-(2**100), 2**100, 7],
    pl.UInt8: [255, 0],
    pl.UInt16: [65535, 3],
    pl.UInt32: [2**32 - 1, 2**32 - 5],
    pl.UInt64: [2**64 - 1, 0],
    pl.UInt128: [2**127, 0],
    pl.Float32: [0.5, -1.5, float("inf")],
    pl.Float64: [0.5, -1.5, float("nan")],
    pl.Decimal(10, 2): [Decimal("1.25"), Decimal("-3.00")],
    pl.String: ["b", "a", "", "ä", "B", "a longer name that is not held in place"],
    pl.Categorical: ["b", "a", "ä"],
    ENUM: ["late", "early", "middle"],
    pl.Binary: [b"\x00", b"\xff"],
    pl.Date: [date(2024, 2, 29), date(1969, 1, 1)],
    pl.Datetime("us"): [datetime(2024, 1, 1, 12), datetime(1960, 1, 1)],
    pl.Time: [time(1), time(2)],
    pl.Duration("ms"): [timedelta(1), timedelta(-1)],
}
NAMES = {"truth": "truth", "score": "score"}


def rows(seed: int, keys: dict[str, pl.Series]) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    score = rng.normal(size=ROWS).round(1)
    truth = rng.random(ROWS) < 0.3
    drawn = {name: rng.integers(0, len(values), ROWS) for name, values in keys.items()}
    return pl.DataFrame(
        {"truth": truth, "score": score} | {k: keys[k].gather(of) for k, of in drawn.items()}
    )


def same_as_the_plan(table: pl.DataFrame, by, **arguments) -> None:
    asked = NAMES | {"by": by} | arguments
    expected = of_plan(table, **asked)
    assert_frame_equal(of_arrays(table, **asked), expected, rel_tol=1e-12, abs_tol=1e-14)
    assert_frame_equal(pr.curve(table, **asked), pr.curve(table.lazy(), **asked).collect())


@pytest.mark.alike(8)
@pytest.mark.slow
@pytest.mark.parametrize("nulls", [[], [None]], ids=["", "with null"])
@pytest.mark.parametrize("kind", VALUES, ids=str)
def test_a_key_of_any_type_gives_what_its_plan_does(kind, nulls):
    key = pl.Series([*VALUES[kind], *nulls], dtype=kind)
    same_as_the_plan(rows(1, {"key": key}), "key")


@pytest.mark.slow
@given(st.data())
def test_numbers_go_by_key(data):
    kinds = data.draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    keys = {
        f"key {i}": pl.Series([*VALUES[kind], None], dtype=kind) for i, kind in enumerate(kinds)
    }
    table = rows(data.draw(st.integers(0, 99)), keys)
    names = list(keys)
    found = ranked_cells(read(keyed(table, by=names, **NAMES))).totals
    counts = table.group_by(names).agg(positives=pl.col("truth").cast(pl.Int64).sum())
    expected = counts.sort(*names, nulls_last=True)
    assert_frame_equal(found.select(*names, "positives"), expected)


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        [5, -5],
        [0, MAX_KEY_INDEX - 1],
        [0, MAX_KEY_INDEX],
        ["a", "b"],
        pl.Series([None], dtype=pl.Int64),
        pl.Series([None], dtype=pl.String),
        [None],
        [date(2024, 1, 1)],
        [1.0, 2.0],
    ],
)
def test_keys_are_numbered_however_many_there_may_be(values):
    # So small and so large that they need 128 bits anyhow.
    far = pl.when(pl.int_range(pl.len()) % 2 == 0).then(1e-300).otherwise(1e300)
    table = rows(2, {"key": pl.Series(values)}).with_columns(pl.col("score") * far)
    same_as_the_plan(table, "key")


def test_many_words_are_looked_up(monkeypatch):
    table = rows(2, {"key": pl.Series(["a", "b", "c"])})
    for most in (3, 2):
        monkeypatch.setattr(numbering, "MAX_CATEGORIES", most)
        same_as_the_plan(table, "key")


def test_what_is_computed_of_a_table_is_computed_once():
    drawn, rng = [], np.random.default_rng(6)

    def draw(scores: pl.Series) -> pl.Series:
        drawn.append(pl.Series(rng.random(scores.len())))
        return drawn[-1]

    table = rows(7, {"key": pl.Series(["a", "b"])})
    score = pl.col("score").map_batches(draw, return_dtype=pl.Float64)
    found = pr.evaluate(table, truth="truth", score=score, by="key", measures="auc")
    (scores,) = drawn
    expected = pr.evaluate(table.with_columns(score=scores), **NAMES, by="key", measures="auc")
    assert_frame_equal(found, expected, rel_tol=1e-12)


@pytest.mark.parametrize("drop", ["score", "truth"])
@pytest.mark.parametrize("missing", [None, float("nan")], ids=["null", "NaN"])
def test_rows_that_are_dropped_are_not_ranked(drop, missing):
    table = rows(4, {"key": pl.Series(["a", "b"])})
    out = pl.int_range(pl.len()) % 7 == 0
    lacking = None if drop == "truth" else missing
    table = table.with_columns(pl.when(out).then(lacking).otherwise(drop).alias(drop))
    same_as_the_plan(table, "key", nulls="drop")
    kept = pr.evaluate(table.filter(~out), by="key", **NAMES)
    found = pr.evaluate(table, by="key", nulls="drop", **NAMES)
    assert_frame_equal(found.drop("note"), kept.drop("note"), rel_tol=1e-12)


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        pl.col("score").cast(pl.Float32),
        (pl.col("score") * 10).round().cast(pl.Int8),
        pl.col("score").abs(),
        pl.col("score") * 1e300,
        pl.col("score") * 5e-324,
        pl.lit(0.0).alias("score"),
        pl.lit(-0.0).alias("score"),
        pl.when(pl.col("score") > 1).then(float("inf")).otherwise("score").alias("score"),
        pl.when(pl.col("score") < 0).then(-pl.col("score") * 0).otherwise("score").alias("score"),
    ],
    ids=["Float32", "Int8", "not negative", "large", "subnormal", "0", "−0", "+inf", "with −0"],
)
def test_scores_of_any_reach_give_what_their_plan_does(change):
    table = rows(5, {"model": pl.Series(["a", "b"]), "fold": pl.Series([0, 1, 2])})
    same_as_the_plan(table.with_columns(change), ["model", "fold"])
    weights = table.with_columns(change, weight=pl.int_range(pl.len()) % 3 / 2)
    same_as_the_plan(weights, ["model", "fold"], weight="weight")


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(allow_nan=False), st.booleans()), min_size=1, max_size=30))
def test_any_scores_give_what_their_plan_does(found):
    schema = {"score": pl.Float64, "truth": pl.Boolean}
    same_as_the_plan(pl.DataFrame(found, schema=schema, orient="row"), ())
