from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.base.private_columns import KEY_INDEX
from polaroc.curves import keys as numbering
from polaroc.curves.keys import MAX_KEY_INDEX, attach_key_index, build_key_index
from polaroc.predictions.cases import keyed
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
    asked = NAMES | {"by": by, "priors": [0.1, "observed"], "over": (0.05, 0.2)} | arguments
    found = pr.evaluate(table, **asked)
    assert_frame_equal(found, pr.evaluate(table.lazy(), **asked).collect(), rel_tol=1e-12)
    del asked["priors"], asked["over"]
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
    table = rows(data.draw(st.integers(0, 99)), keys).with_row_index("row")
    names = list(keys)
    predictions = read(keyed(table, truth="truth", score="row", by=names))
    numbers = build_key_index(predictions, eager=True)
    by_row = attach_key_index(predictions, numbers).sort("threshold").collect()[KEY_INDEX]
    with_numbers = table.with_columns(by_row.alias(KEY_INDEX))
    in_order = with_numbers.sort(*names, nulls_last=True).select(*names, KEY_INDEX)
    expected = in_order.select(pl.struct(names).rle_id()).to_series()
    assert in_order[KEY_INDEX].rank("dense").cast(pl.UInt32).to_list() == (expected + 1).to_list()
    assert_frame_equal(
        numbers.totals.select(*names, KEY_INDEX).collect(),
        with_numbers.select(*names, KEY_INDEX).unique(),
        check_row_order=False,
    )


@pytest.mark.alike(3)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("values", "calculated"),
    [
        ([5, -5], True),
        ([0, MAX_KEY_INDEX - 1], True),
        ([0, MAX_KEY_INDEX], False),
        (["a", "b"], True),
        (pl.Series([None], dtype=pl.Int64), True),
        (pl.Series([None], dtype=pl.String), True),
        ([None], False),
        ([date(2024, 1, 1)], False),
        ([1.0, 2.0], False),
    ],
)
def test_numbers_are_calculated_where_there_are_not_too_many(values, calculated):
    # So small and so large that they need 128 bits anyhow.
    far = pl.when(pl.int_range(pl.len()) % 2 == 0).then(1e-300).otherwise(1e300)
    table = rows(2, {"key": pl.Series(values)}).with_columns(pl.col("score") * far)
    found = build_key_index(read(keyed(table, by="key", **NAMES)), eager=True)
    assert (found.index is not None) == calculated
    same_as_the_plan(table, "key")


def test_many_words_are_looked_up(monkeypatch):
    table = rows(2, {"key": pl.Series(["a", "b", "c"])})
    for most, calculated in ((3, True), (2, False)):
        monkeypatch.setattr(numbering, "MAX_CATEGORIES", most)
        found = build_key_index(read(keyed(table, by="key", **NAMES)), eager=True)
        assert (found.index is not None) == calculated
        same_as_the_plan(table, "key")


def test_few_keys_far_apart_are_looked_up_where_that_saves_bits():
    table = rows(2, {"key": pl.Series([0, 10**6])}).with_columns(pl.col("score").abs() + 0.5)
    found = build_key_index(read(keyed(table, by="key", **NAMES)), eager=True)
    assert found.index is None
    assert found.packing.kind == pl.UInt64()
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


def test_a_plan_looks_up_its_keys():
    table = rows(3, {"key": pl.Series([1, 2])}).lazy()
    assert build_key_index(read(keyed(table, by="key", **NAMES)), eager=False).index is None


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
