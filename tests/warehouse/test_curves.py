import math

import polars as pl
import pytest
from comparison import ODD_ROWS, assert_same, evaluated, lazily, odd, predictions
from engines import Engine

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

NAN = math.nan
COLUMNS = {"truth": "truth", "score": "score"}
ODD_NAMES = ["'; drop table x; --", "Größe", '"; drop table x; --', "it's", "`", "select", "pos "]


@pytest.mark.parametrize(
    ("by", "weight"), [([], "weight"), (["model"], None), (["fold", "model"], "weight")], ids=str
)
def test_curves_are_those_of_polars(engine: Engine, by, weight):
    table = predictions(7, weights=True)
    asked = COLUMNS | {"by": by, "weight": weight}
    assert_same(pr.warehouse.curve(engine.table(table), **asked), pr.curve(table, **asked))


@pytest.mark.alike
@pytest.mark.parametrize(("weight", "nulls"), [(None, "drop"), ("weight", "raise")])
def test_odd_rows_are_treated_as_polars_does(engine: Engine, weight, nulls):
    # One key per case: what is wrong with one must not touch another.
    table = pl.concat(odd(name).with_columns(pl.lit(name).alias("case")) for name in ODD_ROWS)
    uploaded = engine.table(table)
    asked = COLUMNS | {"by": ["case", "model"], "weight": weight, "nulls": nulls}
    assert_same(pr.warehouse.curve(uploaded, **asked), lazily(pr.curve, table, **asked))
    asked |= {"over": (0.1, 0.4), "priors": ["observed", 0.1, 0.005]}
    assert_same(pr.warehouse.evaluate(uploaded, **asked), evaluated(table, **asked))


@pytest.mark.alike
@pytest.mark.parametrize("name", ["empty", "null truth", "one class"])
def test_a_table_without_keys_is_treated_as_polars_does(engine: Engine, name):
    table, asked = odd(name), COLUMNS | {"by": None}
    uploaded = engine.table(table)
    if name == "empty":
        assert_same(pr.warehouse.curve(uploaded, **asked), lazily(pr.curve, table, **asked))
    assert_same(pr.warehouse.evaluate(uploaded, **asked), evaluated(table, **asked))


def test_hulls_of_odd_rows_are_those_of_polars(engine: Engine):
    table = pl.concat(odd(name).with_columns(pl.lit(name).alias("case")) for name in ODD_ROWS)
    asked = COLUMNS | {"by": ["case"], "interpolation": "hull", "nulls": "drop"}
    asked["weight"] = "weight"
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, evaluated(table, **asked))


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("dtype", "cases"),
    [
        (pl.Int64, [[2**53 + 1, 2**53, 3, -4], [2**63 - 1, -(2**63), 2**60, 1]]),
        (pl.Int32, [[3, 2, 2, -4]]),
        (pl.Float32, [[0.1, 0.2, 0.1, -0.0]]),
        (
            pl.Decimal(20, 4),
            [["0.1", "0.2", "12345678.25", "3"], ["1234567890123456.7891", "0.2", "0.1", "3"]],
        ),
    ],
)
def test_scores_of_every_type_rank_as_in_polars(engine: Engine, dtype, cases):
    parts = [
        pl.DataFrame(
            {"case": i, "truth": [True, False] * 2, "score": pl.Series(scores).cast(dtype)}
        )
        for i, scores in enumerate(cases)
    ]
    assert_areas_same(engine, pl.concat(parts))


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("dtype", "cases", "positive"),
    [
        (pl.Boolean, [[True, False, None, True], [True, False, False, True]], None),
        (pl.Boolean, [[True, False, False, True]], False),
        (pl.Int64, [[1, 0, 0, 1], [1, 0, 2, 1]], None),
        (pl.Int64, [[7, 0, 2, 7]], 7),
        (pl.Int64, [[7, 0, 2, 7]], [7, 2]),
        (pl.Float64, [[1.0, 0.0, NAN, None], [1.0, 0.0, 0.5, 1.0]], None),
        (pl.String, [["TRUE", "0", "1", "false"], ["yes", "0", "1", None]], None),
        (pl.String, [["it's", "no", "NO", None]], "it's"),
        (pl.String, [["a", "b", "c", "d"]], ["a", "d"]),
        (pl.String, [["yes", "no", "NA", " nan "], ["None", "none", "yes", "no"]], "yes"),
        (pl.String, [["1", "0", "", "null"], ["1", "0", "1", "N/A"]], None),
        (pl.String, [["NA", "no", "null", "NA"]], "NA"),
    ],
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_of_every_type_are_read_as_in_polars(engine: Engine, dtype, cases, positive):
    parts = [
        pl.DataFrame(
            {"case": i, "truth": pl.Series(labels, dtype=dtype), "score": [0.1, 0.2, 0.3, 0.4]}
        )
        for i, labels in enumerate(cases)
    ]
    assert_areas_same(engine, pl.concat(parts), positive=positive)


@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_of_32_bits_are_found_by_those_of_64(engine: Engine):
    truth = pl.Series([0.1, 0.2, 0.5, 0.3], dtype=pl.Float32)
    table = pl.DataFrame({"case": 0, "truth": truth, "score": [0.1, 0.2, 0.3, 0.4]})
    assert_areas_same(engine, table, positive=0.1)


def assert_areas_same(engine: Engine, table: pl.DataFrame, **more) -> None:
    table = table.with_columns(pl.col("case").cast(pl.Int64))
    asked = COLUMNS | {"by": "case", "measures": "auc"} | more
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, evaluated(table, **asked))


def test_columns_may_have_any_name(engine: Engine):
    score, truth, *keys = ODD_NAMES
    table = predictions(5, 40).rename({"score": score, "truth": truth, "model": keys[0]})
    table = table.with_columns(pl.col(keys[0]).alias(key) for key in keys[1:])
    asked = {"truth": truth, "score": score, "by": keys}
    points = pr.warehouse.curve(engine.table(table), **asked)
    assert_same(points, pr.curve(table, **asked))


def test_the_table_may_have_columns_with_our_names(engine: Engine):
    table = predictions(6, 40).rename({"score": "Threshold", "truth": "tp", "fold": "note"})
    table = table.with_columns(pl.lit(1.0).alias("POS"), pl.lit(2.0).alias("estimate"))
    asked = {"truth": "tp", "score": "Threshold"}
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, pr.evaluate(table, **asked))


# --- what is refused, before anything runs ---------------------------------------------------


@pytest.mark.parametrize("key", ["Threshold", "POS", "__POLAROC_truth", "tp"])
def test_keys_that_an_engine_takes_for_ours_are_refused(key):
    table = pr.warehouse.unseen("predictions", ["truth", "score", key])
    with pytest.raises(InvalidArgument, match="rename"):
        pr.warehouse.curve(table, **COLUMNS, by=key)


def test_unknown_columns_are_refused():
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidArgument, match="did you mean 'score'"):
        pr.warehouse.curve(table, truth="truth", score="scores")


def test_text_is_no_score():
    import ibis

    table = ibis.table({"truth": "boolean", "score": "string"}, name="predictions")
    with pytest.raises(InvalidPredictions, match="numbers"):
        pr.warehouse.curve(table, **COLUMNS)


def test_a_time_is_no_truth():
    import ibis

    table = ibis.table({"truth": "timestamp", "score": "float64"}, name="predictions")
    with pytest.raises(InvalidPredictions, match="truth values"):
        pr.warehouse.curve(table, **COLUMNS)


def test_only_ibis_tables_are_taken():
    with pytest.raises(InvalidTable, match="ibis table"):
        pr.warehouse.curve(predictions(1), **COLUMNS)
    with pytest.raises(InvalidTable, match="ibis table"):
        pr.warehouse.hull(pr.curve(predictions(1), **COLUMNS))


def test_a_table_that_is_no_curve_is_refused():
    table = pr.warehouse.unseen("predictions", ["truth", "score"])
    with pytest.raises(InvalidTable, match="no curve"):
        pr.warehouse.hull(table)
    points = pr.warehouse.curve(table, **COLUMNS)
    with pytest.raises(InvalidTable, match="no curve"):
        pr.warehouse.hull(points.mutate(prior=0.1))
