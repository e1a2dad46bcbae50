import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.warehouse import evaluation

COLUMNS = {"truth": "truth", "score": "score", "over": (0.05, 0.2)}


def there(table, **asked) -> pl.DataFrame:
    return pr.warehouse.collected(pr.warehouse.evaluate(table, **asked))


def assert_alike(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    assert found.schema == expected.schema
    order = ["model", "fold", "measure", "prior"]
    assert_frame_equal(found.sort(order), expected.sort(order), rel_tol=0, abs_tol=1e-9)


# One table for every method, with single and counted cases: keys tell them apart.
def test_intervals_are_those_of_polars(engine: Engine):
    table = pl.concat(
        [
            predictions(31).with_columns(n=pl.lit(1)),
            predictions(33, 60).with_columns(
                model=pl.lit("counted"), n=pl.when(pl.int_range(pl.len()) > 0).then(2)
            ),
        ]
    )
    uploaded = engine.table(table)
    asked = COLUMNS | {"count": "n", "nulls": "drop", "priors": ["observed", 0.1]}
    # All of them are finished here, from the same cells.
    how = {"intervals": True, "level": 0.9}
    expected = pr.evaluate(table, **asked, **how)
    assert_alike(there(uploaded, **asked, **how), expected)
    assert expected["lower"].is_not_null().any()


@pytest.mark.parametrize(("ranges", "count"), [(None, None), ([-0.5, 0.5], "weight")], ids=str)
def test_intervals_of_one_curve_are_those_of_polars(engine: Engine, ranges, count):
    table = predictions(34).with_columns(weight=pl.lit(3.0))
    asked = {"truth": "truth", "score": "score", "count": count, "intervals": True}
    found = there(engine.table(table), **asked, ranges=ranges)
    expected = pr.evaluate(table, **asked)
    assert_same(found.drop("std_error"), expected.drop("std_error"))


@pytest.mark.elsewhere
def test_counts_may_be_large(engine: Engine):
    table = predictions(37).with_columns(weight=pl.lit(2.0**40))
    asked = {"truth": "truth", "score": "score", "count": "weight", "intervals": True}
    found, expected = there(engine.table(table), **asked), pr.evaluate(table, **asked)
    assert_same(found.drop("std_error"), expected.drop("std_error"))


@pytest.mark.long
def test_rows_that_cannot_be_ranked_have_no_interval(engine: Engine):
    table = predictions(35).with_columns(
        pl.when(pl.col("model") == "a").then(None).otherwise("score").alias("score")
    )
    asked = COLUMNS | {"intervals": True}
    found = there(engine.table(table), **asked)
    is_missing = pl.col("model") == "a"
    assert_alike(found.filter(~is_missing), pr.evaluate(table.filter(~is_missing), **asked))
    missing = found.filter(is_missing)
    assert missing.select("estimate", "lower", "upper").null_count().row(0) == (missing.height,) * 3
    assert missing["note"].str.contains("null score").all()


def test_more_cells_than_fit_are_refused(monkeypatch):
    import ibis

    monkeypatch.setattr(evaluation, "MAX_CELLS", 5)
    table = ibis.memtable(predictions(36, 40))
    with pytest.raises(InvalidArgument, match="more than 5 different scores"):
        pr.warehouse.evaluate(table, **COLUMNS, intervals=True)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"intervals": "normal"}, "intervals is 'normal', allowed are True and False"),
        ({"intervals": True, "level": 95}, "level is 95"),
        ({"intervals": True, "interpolation": "hull"}, "no interval"),
        ({"intervals": True}, "no connection"),
    ],
)
def test_intervals_that_cannot_be_are_refused(asked, said):
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises((InvalidArgument, InvalidPredictions), match=said):
        pr.warehouse.evaluate(table, truth="truth", score="score", **asked)
