import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine
from polars.testing import assert_frame_equal
from sizes import ALL_CASES

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


# One table for every method and for counted and fractional weights: keys tell them apart. Here
# fractional ones are refused, there their estimates have a note.
def test_intervals_are_those_of_polars(engine: Engine):
    table = pl.concat(
        [
            predictions(31).with_columns(weight=pl.lit(1.0)),
            predictions(32, weights=True).with_columns(
                model=pl.lit("fractional"), weight=pl.col("weight").replace(0.1, None)
            ),
            predictions(33, 60).with_columns(model=pl.lit("counted"), weight=pl.lit(2.0)),
        ]
    )
    uploaded = engine.table(table)
    asked = COLUMNS | {"weight": "weight", "nulls": "drop", "priors": ["observed", 0.1]}
    # All of them are finished here, from the same cells.
    every = ALL_CASES and engine.name == "duckdb"
    methods = ("percentile", "wald", "logit") if every else ("logit",)
    for method in methods:
        how = {"intervals": method, "level": 0.9}
        if method == "percentile":
            how["measures"] = ["auc"]
        found = there(uploaded, **asked, **how)
        counts = pl.col("model") != "fractional"
        expected = pr.evaluate(table.filter(counts), **asked, **how)
        assert_alike(found.filter(counts), expected)
        without = found.filter(~counts)
        estimates = pr.evaluate(table.filter(~counts), **asked, measures=how.get("measures"))
        assert_alike(without.select(estimates.columns).drop("note"), estimates.drop("note"))
        assert without.select("lower", "upper", "std_error").null_count().row(0) == (
            (without.height,) * 3
        )
        assert without["note"].str.contains("not counts").all()
    assert expected["lower"].is_not_null().any()


@pytest.mark.parametrize(("ranges", "weight"), [(None, None), ([-0.5, 0.5], "weight")], ids=str)
def test_intervals_of_one_curve_are_those_of_polars(engine: Engine, ranges, weight):
    table = predictions(34).with_columns(weight=pl.lit(3.0))
    asked = {"truth": "truth", "score": "score", "weight": weight, "intervals": "logit"}
    found = there(engine.table(table), **asked, ranges=ranges)
    expected = pr.evaluate(table, **asked)
    assert_same(found.drop("std_error"), expected.drop("std_error"))


@pytest.mark.elsewhere
def test_weights_may_exceed_whole_numbers_of_64_bits(engine: Engine):
    table = predictions(37).with_columns(weight=pl.lit(2.0**100))
    asked = {"truth": "truth", "score": "score", "weight": "weight", "intervals": "logit"}
    found, expected = there(engine.table(table), **asked), pr.evaluate(table, **asked)
    assert_same(found.drop("std_error"), expected.drop("std_error"))


@pytest.mark.long
def test_rows_that_cannot_be_ranked_have_no_interval(engine: Engine):
    table = predictions(35).with_columns(
        pl.when(pl.col("model") == "a").then(None).otherwise("score").alias("score")
    )
    asked = COLUMNS | {"intervals": "wald"}
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
        pr.warehouse.evaluate(table, **COLUMNS, intervals="logit")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"intervals": "normal"}, "intervals is 'normal'"),
        ({"intervals": "logit", "level": 95}, "level is 95"),
        ({"intervals": "logit", "interpolation": "hull"}, "no interval"),
        ({"intervals": "logit", "bins": 10, "measures": "auc"}, "bins are given"),
        ({"intervals": "logit"}, "no connection"),
    ],
)
def test_intervals_that_cannot_be_are_refused(asked, said):
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises((InvalidArgument, InvalidPredictions), match=said):
        pr.warehouse.evaluate(table, truth="truth", score="score", **asked)
