"""Rows, labels, scores and names that are odd are treated as on this machine."""

from typing import Any

import polars as pl
import pytest
from comparison import INFINITE, NAN, ODD_ROWS, assert_same, lazily, odd, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidPredictions

COLUMNS = {"truth": "truth", "score": "score"}


def outcome(evaluate: Any, table: Any, asked: dict) -> pl.DataFrame | str:
    """The measures, or why the rows are refused."""
    try:
        return evaluate(table, **asked)
    except InvalidPredictions as error:
        return str(error)


def assert_same_or_refused(engine: Engine, table: pl.DataFrame, **asked) -> None:
    """The engine's measures, or its refusal, are those of the frame."""
    expected = outcome(pr.evaluate, table, asked)
    found = outcome(pr.warehouse.evaluate, engine.table(table), asked)
    if isinstance(expected, str):
        assert found == expected
    else:
        assert_same(found, expected)


@pytest.mark.parametrize(
    ("weight", "nulls"),
    [(None, "drop"), pytest.param("weight", "raise", marks=pytest.mark.slow)],
)
def test_odd_rows(engine: Engine, weight, nulls):
    # One key per name: what is wrong with one must not touch another.
    tables = {name: odd(name).with_columns(pl.lit(name).alias("part")) for name in ODD_ROWS}
    table = pl.concat(tables.values())
    asked = COLUMNS | {"by": "part", "weight": weight, "nulls": nulls}
    assert_same(pr.warehouse.curve(engine.table(table), **asked), lazily(pr.curve, table, **asked))
    asked |= {"over": (0.1, 0.4), "priors": ["observed", 0.1, 0.005]}
    assert_same_or_refused(engine, table, **asked)
    wrong = [
        name for name in tables if nulls == "raise" and {"null", "NaN", "bad"} & {*name.split()}
    ]
    ranked = [name for name in tables if name not in (*wrong, "several troubles", "one class")]
    assert_same_or_refused(engine, table.filter(pl.col("part").is_in(ranked)), **asked)


@pytest.mark.parametrize("intervals", [False, True])
def test_keys_may_have_names_of_intermediate_columns(engine: Engine, intervals):
    table = predictions(3).rename({"model": "dropped", "fold": "len"})
    asked = COLUMNS | {"by": ["dropped", "len"], "model": None, "fold": None}
    asked |= {"intervals": intervals, "measure": "auc"}
    assert_same_or_refused(engine, table, **asked)


def test_the_range_may_be_a_list(engine: Engine):
    assert_same_or_refused(engine, predictions(3), **COLUMNS, over=[0.1, 0.4])


def test_hulls_of_odd_rows(engine: Engine):
    table = pl.concat(odd(name).with_columns(pl.lit(name).alias("part")) for name in ODD_ROWS)
    asked = COLUMNS | {"by": "part", "interpolation": "hull", "nulls": "drop", "weight": "weight"}
    assert_same_or_refused(engine, table.filter(pl.col("part") != "bad weight"), **asked)


@pytest.mark.parametrize("name", ["empty", "null truth", "one class", "sound"])
def test_a_table_without_keys(engine: Engine, name):
    table, asked = odd(name).drop("model"), COLUMNS | {"nulls": "drop"}
    assert_same(pr.warehouse.curve(engine.table(table), **asked), lazily(pr.curve, table, **asked))
    assert_same_or_refused(engine, table, **asked)


def test_few_scores(engine: Engine):
    few = {
        "constant": [0.5] * 6, "infinite": [INFINITE, -INFINITE] * 3,
        "zeros": [0.0, -0.0, 0.0, 1.0, 1.0, 1.0], "ties": [1.0, 2.0, 3.0] * 2,
    }  # fmt: skip
    table = pl.concat(
        pl.DataFrame({"key": [name] * 6, "truth": [True, False, True, True, False, False],
                      "score": scores})
        for name, scores in few.items()
    )  # fmt: skip
    assert_same_or_refused(engine, table, **COLUMNS, by="key", priors=[0.2])


def assert_areas_same(engine: Engine, parts, **more) -> None:
    table = pl.concat(one.with_columns(part=pl.lit(i, pl.Int64)) for i, one in enumerate(parts))
    asked = COLUMNS | {"by": "part", "measure": "auc"} | more
    assert_same_or_refused(engine, table, **asked)


@pytest.mark.parametrize(
    ("dtype", "cases"),
    [
        (pl.Int64, [[2**53 + 1, 2**53, 3, -4], [2**63 - 1, -(2**63), 2**60, 1]]),
        (pl.Float32, [[0.1, 0.2, 0.1, -0.0]]),
        (pl.Decimal(20, 4), [["0.1", "0.2", "12345678.25", "3"],
                             ["1234567890123456.7891", "0.2", "0.1", "3"]]),
    ],
)  # fmt: skip
def test_scores_of_every_type_rank_alike(engine: Engine, dtype, cases):
    scores = (pl.Series(one).cast(dtype) for one in cases)
    assert_areas_same(
        engine, [pl.DataFrame({"truth": [True, False] * 2, "score": one}) for one in scores]
    )


@pytest.mark.parametrize(
    ("dtype", "cases", "positive"),
    [
        (pl.Boolean, [[True, False, None, True], [True, False, False, True]], None),
        (pl.Boolean, [[True, False, False, True]], False),
        (pl.Int64, [[1, 0, 0, 1], [1, 0, 2, 1]], None),
        (pl.Int64, [[7, 0, 2, 7]], [7, 2]),
        (pl.Float64, [[1.0, 0.0, NAN, None], [1.0, 0.0, 0.5, 1.0]], None),
        (pl.Float32, [[0.1, 0.2, 0.5, 0.3]], 0.1),
        (pl.String, [["TRUE", "0", "1", "false"], ["yes", "0", "1", None]], None),
        (pl.String, [["it's", "no", "NO", None]], "it's"),
        (pl.String, [["yes", "no", "NA", " nan "], ["None", "none", "yes", "no"]], "yes"),
        (pl.String, [["NA", "no", "null", "NA"]], "NA"),
    ],
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_of_every_type_are_read_alike(engine: Engine, dtype, cases, positive):
    labels = (pl.Series(one, dtype=dtype) for one in cases)
    score = [0.1, 0.2, 0.3, 0.4]
    assert_areas_same(
        engine, [pl.DataFrame({"truth": one, "score": score}) for one in labels], positive=positive
    )


def test_the_table_may_have_columns_with_our_names(engine: Engine):
    table = predictions(6, 40).rename({"score": "Threshold", "truth": "tp", "fold": "note"})
    table = table.with_columns(pl.lit(1.0).alias("POS"), pl.lit(2.0).alias("estimate"))
    asked = {"truth": "tp", "score": "Threshold"}
    assert_same(pr.warehouse.evaluate(engine.table(table), **asked), pr.evaluate(table, **asked))


def test_a_log_loss_that_is_infinite_or_of_one_class_has_a_note(engine: Engine):
    # A score of 1 and no negatives, or of 0 and no positives: terms that are logarithms of zero.
    table = pl.DataFrame({
        "model": ["a", "a", "b", "b", "c", "c", "d", "d", "d"],
        "truth": [True, False, True, True, False, False, True, False, True],
        "score": [0.7, 0.2, 1.0, 0.5, 0.0, 0.5, 0.0, 0.2, 0.9],
    })  # fmt: skip
    asked = COLUMNS | {
        "priors": 0.1,
        "over": (0.1, 0.2),
        "measure": ["log_loss", "log_loss_range"],
    }
    assert_same(pr.warehouse.evaluate(engine.table(table), **asked), pr.evaluate(table, **asked))


def test_notes_tell_doubts_of_every_size(engine: Engine):
    # λ/N from 0.02 to 8·10¹⁴, some of them halfway between two of two digits.
    priors = [1 / (1 + skew) for skew in (0.25, 0.5, 1, 1.5, 10, 99.5, 150, 12345, 1e9, 6.4e15)]
    table = pl.DataFrame({"truth": [True] * 4 + [False] * 8, "score": range(12)}).cast(
        {"score": pl.Float64}
    )
    asked = COLUMNS | {"priors": priors, "measure": "auprec"}
    uploaded = engine.table(table)
    assert_same(pr.warehouse.evaluate(uploaded, **asked), pr.evaluate(table, **asked))


def test_counts_may_be_large():
    import ibis

    table = predictions(37).with_columns(n=pl.lit(2.0**40))
    asked = COLUMNS | {"count": "n", "intervals": True}
    found = pr.warehouse.evaluate(ibis.memtable(table), **asked)
    expected = pr.evaluate(table, **asked)
    assert_same(found.drop("std_error"), expected.drop("std_error"))


def test_rows_that_are_dropped_have_a_note_beside_intervals(engine: Engine):
    table = predictions(35).with_columns(score=pl.when(pl.col("model") != "a").then("score"))
    assert_same_or_refused(engine, table, **COLUMNS, priors=0.1, intervals=True)
    asked = COLUMNS | {"priors": 0.1, "intervals": True, "nulls": "drop"}
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    missing = found.filter(model="a")
    assert missing.select("estimate", "lower", "upper").null_count().row(0) == (missing.height,) * 3
    assert missing["note"].str.contains("dropped .* null score").all()
    assert found.filter(pl.col("model") != "a")["lower"].is_not_null().any()


def test_nan_is_fetched_as_nan(engine: Engine):
    scores = pl.DataFrame({"score": [1.0, NAN, None, INFINITE]})
    found = pr.warehouse.collected(engine.table(scores))
    if engine.name != "postgres":
        assert_frame_equal(found.sort("score"), scores.sort("score"))
