"""Tables of other libraries, those that break off, lie or change, and wide tables."""

import subprocess
import sys
from datetime import date
from functools import partial

import duckdb
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

NAMES = {"truth": "truth", "score": "score"}
TABLE = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.1]})
TEXT = {"truth": "truth", "score": "score", "positive": "yes"}
ROWS = pl.DataFrame(
    {
        "id": range(12),
        "truth": ["yes", "no", "no"] * 4,
        "score": np.arange(12) * 7 % 12 / 12,
        "model": ["a", "b"] * 6,
    }
)


class Stream:
    """An object of another library."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def as_type(kind):
    return lambda table: table.to_pandas().astype(
        {name: kind for name, type_ in table.schema.items() if type_ == pl.String}
    )


def arrays(convert):
    return lambda table: {column.name: convert(column) for column in table}


def two_levels(table):
    index = pd.MultiIndex.from_arrays([[1] * table.height, range(table.height)])
    return table.to_pandas().set_index(index)


def reversed_index(column):
    return pd.Series(column.to_numpy(), index=range(column.len(), 0, -1), name="other")


KINDS = {
    "pandas, nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas, string": as_type("string[python]"),
    "pandas, categorical": as_type("category"),
    "pandas, object": lambda table: table.to_pandas().astype(object),
    "pandas, ArrowDtype": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
    "pandas, two levels of rows": two_levels,
    "pyarrow.RecordBatch": lambda table: table.rechunk().to_arrow().to_batches()[0],
    "pyarrow.RecordBatchReader": lambda table: table.to_arrow().to_reader(),
    "narwhals": lambda table: nw.from_native(table.to_pandas()),
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
    "__arrow_c_stream__": Stream,
    "NumPy, object": arrays(lambda column: np.array(column.to_list(), dtype=object)),
    "lists": arrays(pl.Series.to_list),
    "tuples": arrays(lambda column: tuple(column.to_list())),
    "pl.Series": arrays(lambda column: column.alias("other")),
    "pd.Series": arrays(reversed_index),
    "pyarrow arrays": arrays(lambda column: pa.array(column.to_list())),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_any_kind_gives_what_its_polars_frame_gives(kind):
    found = pr.curve(KINDS[kind](ROWS), **TEXT).cast({pl.Categorical: pl.String})
    assert_frame_equal(found, pr.curve(ROWS, **TEXT))
    lacking = KINDS[kind](ROWS.with_columns(score=pl.when(pl.col("id") > 1).then("score")))
    with pytest.raises(InvalidPredictions, match=r"2 (null|NaN) scores"):
        pr.curve(lacking, **TEXT)


CURVES = pr.curve(ROWS, **TEXT)
MEASURES = pr.evaluate(
    ROWS.with_columns(fold=pl.col("id") // 6), **TEXT, priors=[0.1, 0.2], over=(0.1, 0.2)
)
POINTS = pr.operating_points(CURVES)
OF_RESULTS = {
    "auc": (CURVES, pr.auc),
    "auprec": (CURVES, partial(pr.auprec, priors=0.1)),
    "hull": (CURVES, pr.hull),
    "surface": (CURVES, partial(pr.surface, priors=0.1)),
    "operating_points": (CURVES, pr.operating_points),
    "cost_curve": (CURVES, partial(pr.cost_curve, probability_cost=5)),
    "roc": (CURVES, lambda table: pl.DataFrame({"chart": str(pr.charts.roc(table).to_dict())})),
    "apply_thresholds": (
        POINTS,
        lambda table: pr.apply_thresholds(ROWS, table, **TEXT, same_table=True),
    ),
    "compare": (MEASURES, lambda table: pr.compare(table, test_train_ratio=0).pairs),
    "choose": (MEASURES, lambda table: pr.choose(table, over=(0.1, 0.2)).models),
    "anova": (MEASURES, lambda table: pr.anova(table, "auc", ["model", "fold"]).table),
}


@pytest.mark.parametrize("kind", ["pandas, ArrowDtype", "pyarrow.RecordBatchReader", "lists"])
@pytest.mark.parametrize("name", OF_RESULTS)
def test_tables_of_results_of_any_kind(name, kind):
    table, step = OF_RESULTS[name]
    assert_same_numbers(step(KINDS[kind](table)), step(table))


class Broken:
    """A table of another library whose stream is not what it should be."""

    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream()


def batches_that_end_early():
    yield from TABLE.to_arrow().to_batches()
    raise OSError("connection lost")


def stream_of(schema, batches):
    return pa.RecordBatchReader.from_batches(schema, batches).__arrow_c_stream__()


def fails():
    raise RuntimeError("no rows for you")


BROKEN = {
    "connection lost": lambda: stream_of(TABLE.to_arrow().schema, batches_that_end_early()),
    "ArrowArray of type Utf8": lambda: stream_of(
        pa.schema([("truth", pa.int64()), ("score", pa.string())]),
        iter(TABLE.to_arrow().to_batches()),
    ),
    "no rows for you": fails,
    "'str' object is not": lambda: "no stream",
    "'None' is not": lambda: None,
}


@pytest.mark.parametrize(("reason", "stream"), BROKEN.items(), ids=BROKEN)
def test_streams_that_break_off_or_lie_are_refused_in_one_line(reason, stream):
    with pytest.raises(InvalidTable, match=rf"is no table: .*{reason}") as refused:
        pr.evaluate(Broken(stream), **NAMES)
    message, hint = str(refused.value).split("\n")
    assert "Traceback" not in message
    assert hint.startswith("Hint: ")


def test_a_stream_that_was_read_is_refused():
    stream = TABLE.to_arrow().to_reader()
    pr.curve(stream, **NAMES)
    with pytest.raises(InvalidTable, match="read before"):
        pr.curve(stream, **NAMES)


def test_a_relation_is_read_as_it_is_when_asked():
    connection = duckdb.connect()
    connection.register("table_of_python", TABLE.to_arrow())
    connection.sql("create table predictions as select * from table_of_python")
    relation = connection.table("predictions")
    assert_frame_equal(pr.evaluate(relation, **NAMES), pr.evaluate(TABLE, **NAMES))
    connection.sql("delete from predictions where score > 0.85")
    assert_frame_equal(pr.evaluate(relation, **NAMES), pr.evaluate(TABLE[1:], **NAMES))
    connection.sql("drop table predictions")
    with pytest.raises(InvalidTable, match="predictions does not exist"):
        pr.evaluate(relation, **NAMES)
    connection.close()
    with pytest.raises(InvalidTable, match="closed"):
        pr.evaluate(relation, **NAMES)


class AlwaysEqual(str):
    """A name that claims to be any other."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return True


def test_pandas_tables_with_evil_names():
    plain = TABLE.to_pandas()
    evil = plain.assign(
        **{"\x1b[31mred": [1, 1, 2, 2], "__polaroc_index": 1, "mixed": [1, "a"] * 2}
    )
    evil[5], evil["a", "b"], evil[None] = 1, 2, 3
    assert_frame_equal(pr.evaluate(evil, **NAMES), pr.evaluate(TABLE, **NAMES))
    assert pr.evaluate(evil, **NAMES, by="\x1b[31mred")["\x1b[31mred"].n_unique() == 2
    equal = plain.set_axis([AlwaysEqual(name) for name in plain.columns], axis=1)
    assert_frame_equal(pr.evaluate(equal, **NAMES), pr.evaluate(TABLE, **NAMES))
    twice = pd.DataFrame([[1, 0.9, 1.0], [0, 0.2, 1.0]], columns=["truth", "score", "score"])
    with pytest.raises(InvalidTable, match="'score' has more than one occurrence"):
        pr.evaluate(twice, **NAMES)


ARRAYS = {"truth": [1, 0, 1], "score": np.array([0.9, 0.8, 0.3])}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ARRAYS | {"score": np.ones((3, 2))}, r"(?s)'score' has values of type Array.*\[:, 1\]"),
        (ARRAYS | {"score": np.float64(0.5)}, "unsupported type 'float64'"),
        (ARRAYS | {"score": [[0.1, 0.9]] * 3}, r"(?s)'score' has values of type List.*\[:, 1\]"),
        (ARRAYS | {"score": [0.1, 0.9]}, r"height of column 'score' \(2\) .*'truth' \(3\)"),
        (ARRAYS | {"model": "forest"}, "'model' is a text"),
        ({0: [1, 0, 1]}, "name must be a string"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' has more than one occurrence"),
        (pd.Series([0.1]), "is no table"),
        (pl.Series([0.1]), "a polars.*Series is no table"),
        (np.ones((3, 2)), "a numpy.ndarray is no table"),
        (pa.chunked_array([[1]]), "no table"),
        (pl.DataFrame, "a type is no table"),
        ("scores.csv", r"(?s)'scores\.csv'.*pl\.scan_csv"),
        (ibis.memtable(ROWS), r"(?s)ibis.*polaroc\.warehouse"),
    ],
)
def test_what_is_no_table_is_refused(table, message):
    with pytest.raises(InvalidTable, match=message):
        pr.evaluate(table, **NAMES)


def test_arrays_are_not_copied():
    scores = np.linspace(0, 1, 9)
    for table in ({"s": scores}, pd.DataFrame({"s": scores}, copy=False), pa.table({"s": scores})):
        column = pr.cases(table, score="s").rows["score"]
        assert np.shares_memory(column.to_numpy(allow_copy=False), scores)


def test_columns_that_are_not_used_may_hold_anything():
    table = ROWS.to_pandas().assign(other=[1, "a"] * 6)
    assert pr.curve(table, **TEXT).equals(CURVES)
    with pytest.raises(InvalidPredictions, match="score column 'other' is Object"):
        pr.curve(table, **TEXT | {"score": "other"})


def test_whole_numbers_and_fractions_in_a_list():
    found = pr.evaluate({"truth": [1, 0, 1, 0], "score": [1, 0.5, None, 0]}, nulls="drop")
    assert found["positives"].to_list() == [1] * found.height


def test_values_of_different_types_in_a_list_are_no_scores():
    with pytest.raises(InvalidPredictions, match="score column 'score' is Object"):
        pr.evaluate(ARRAYS | {"score": [0.1, "b", 2]}, **NAMES)


BIG = 2**53 + 1
NULLABLE = {
    "whole": (pd.array([BIG, None], dtype="Int64"), pl.Series([BIG, None])),
    "boolean": (pd.array([True, None], dtype="boolean"), pl.Series([True, None])),
    "text": (pd.array(["p", None], dtype="string"), pl.Series(["p", None])),
    "category": (pd.Categorical(["p", None]), pl.Series(["p", None])),
}


@pytest.mark.parametrize(("values", "expected"), NULLABLE.values(), ids=NULLABLE)
def test_arrays_of_pandas_columns_in_a_mapping(values, expected):
    key = pr.cases({"score": [1, 2], "key": values}, by="key").rows["key"]
    plain = key.cast(pl.String) if key.dtype == pl.Categorical else key
    assert plain.to_list() == expected.to_list()


@pytest.mark.parametrize("step", [pr.evaluate, pr.curve, pr.check])
def test_keys_of_different_types_are_refused(step):
    mixed = pd.DataFrame({"truth": [1, 0] * 2, "score": range(4), "model": [1, "b"] * 2})
    with pytest.raises(InvalidPredictions, match="'model' has values of different types"):
        step(mixed, truth="truth", score="score", model="model")


@pytest.mark.parametrize(
    ("types", "wrong"),
    [
        ([pl.Float32, pl.Float64], 0), ([pl.Int8, pl.Float32], 0), ([pl.Int64, pl.Float64], 1),
        ([pl.Int64, pl.UInt64], 1), ([pl.Int64, pl.Int64], 1), ([pl.Decimal(20, 1), pl.Int16], 0),
    ],
)  # fmt: skip
def test_scores_of_different_types_lose_nothing(types, wrong):
    large = 2**53 + 1 if wrong else 3
    table = pl.DataFrame(
        {"truth": [1, 0, 1, 0], "a": [large, 2, 1, 0], "b": [3, 0, 1, 2]},
        schema_overrides=dict(zip("ab", types, strict=True)),
    )
    if wrong:
        with pytest.raises(InvalidPredictions, match=r"1 inexact score in 1 key.*model='a'"):
            pr.curve(table, truth="truth", score=["a", "b"])
    else:
        found = pr.curve(table, truth="truth", score=["a", "b"]).drop_nulls()
        assert found["threshold"].to_list() == [3, 2, 1, 0] * 2


WIDE = ROWS.rename({"model": "kind"}).with_columns(a="score", b=1 - pl.col("score"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"score": []}, "has no column"),
        ({"score": ["a", "a"]}, "names a column twice"),
        ({"score": {"one": "a"}}, r"score is a column name \(str\), found dict"),
        ({"score": ["a", 3]}, r"score is a column name \(str\), found int"),
        ({"score": [0.1, 0.2]}, r"score is a column name \(str\), found float"),
        ({"score": ["a", "nope"]}, "no column 'nope'"),
        ({"score": ["a", "kind"]}, "the score column 'kind' is String"),
    ],
)
def test_scores_that_name_no_models_are_refused(arguments, message):
    with pytest.raises((InvalidArgument, InvalidPredictions), match=message):
        pr.evaluate(WIDE, **TEXT | arguments)


@pytest.mark.parametrize("name", ["truth", "score"])
def test_what_an_array_masks_is_missing(name):
    table = {"truth": np.array([1, 0, 1, 0]), "score": np.array([0.9, 0.8, 0.3, 0.1])}
    masked = table | {name: np.ma.masked_array(table[name], mask=[False, True, False, False])}
    with pytest.raises(InvalidPredictions, match=f"1 null {name}"):
        pr.evaluate(masked, truth="truth", score="score")
    found = pr.evaluate(masked, truth="truth", score="score", nulls="drop", measure="auc")
    assert found.select("estimate", "positives", "negatives").row(0) == (1.0, 2, 1)


def test_models_beside_several_scores_are_refused():
    wide = TEXT | {"score": ["a", "b"]}
    with pytest.raises(InvalidArgument, match="one column per model, and model is"):
        pr.evaluate(WIDE, **wide, model="kind")


def test_rows_of_a_wide_table_are_cases():
    found = pr.compare(WIDE.drop("kind", "id"), "auc", **TEXT | {"score": ["a", "b"]})
    long = WIDE.drop("kind", "score").unpivot(["a", "b"], index=["id", "truth"])
    long = long.rename({"variable": "model", "value": "score"})
    assert_same_numbers(found.pairs, pr.compare(long, "auc", **TEXT, case="id").pairs)


NOT_INSTALLED = """
import sys
from importlib.machinery import PathFinder

class WithoutPyArrow(PathFinder):
    @classmethod
    def find_spec(cls, name, *rest):
        return None if name.partition(".")[0] == "pyarrow" else super().find_spec(name, *rest)

sys.meta_path = [WithoutPyArrow if one is PathFinder else one for one in sys.meta_path]
"""
NOT_IMPORTED = """
import sys
sys.modules["pyarrow"] = None
"""
WITHOUT_PYARROW = """
import numpy as np, pandas as pd, polaroc as pr
from polars.testing import assert_frame_equal
truth = ["yes", "no", "yes", "no", "no"]
score = [0.9, 0.8, 0.7, 0.2, None]
kinds = [
    {},
    {"truth": "category"},
    {"truth": object, "score": object},
    {"truth": "string", "score": "Float64"},
]
expected = pr.evaluate(
    {"truth": truth, "score": score}, truth="truth", score="score", positive="yes", nulls="drop"
)
assert expected["positives"][0] == 2
for types in kinds:
    table = pd.DataFrame({"truth": truth, "score": score, "other": [1, "a", None, [], 2.5]})
    table = table.astype(types).set_index(pd.Index([3, 3, 1, 0, 2]))
    for given in (table, {name: table[name] for name in ("truth", "score")}):
        found = pr.evaluate(given, truth="truth", score="score", positive="yes", nulls="drop")
        assert_frame_equal(found, expected, rel_tol=1e-12)
for types in ("Int64", "boolean", "int8", bool):
    table = pd.DataFrame({"truth": pd.Series([1, 0, 1, 0]).astype(types), "score": [4, 3, 2, 1]})
    assert pr.check(table, truth="truth", score="score")["positives"].item() == 2
for days in (pd.period_range("2026", periods=4), pd.date_range("2026", periods=4, tz="UTC")):
    table = pd.DataFrame({"truth": [1, 0, 1, 0], "score": [4, 3, 2, 1], "day": days})
    assert pr.check(table, truth="truth", score="score")["rows"].item() == 4
assert sys.modules.get("pyarrow") is None
"""


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [NOT_INSTALLED, NOT_IMPORTED], ids=["no package", "no import"])
def test_pandas_without_pyarrow(hidden):
    subprocess.run([sys.executable, "-W", "error", "-c", hidden + WITHOUT_PYARROW], check=True)


def test_periods_of_pandas_are_keys():
    table = pd.DataFrame({
        "y": [1, 0] * 4, "s": np.arange(8.0),
        "month": pd.PeriodIndex(["2026-01"] * 4 + ["2026-02"] * 4, freq="M"),
    })  # fmt: skip
    found = pr.evaluate(table, truth="y", score="s", by="month", measure="auc")
    assert found["month"].cast(pl.Date).to_list() == [date(2026, 1, 1), date(2026, 2, 1)]
