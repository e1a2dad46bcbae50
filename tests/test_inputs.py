import subprocess
import sys
from datetime import date
from functools import cache, partial
from importlib import import_module

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from agreement import assert_same_numbers
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.base.tables import as_polars
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

CASES = 48
RNG = np.random.default_rng(3)
WIDE = pl.DataFrame(
    {
        "id": np.arange(CASES),
        "truth": ["yes" if i % 3 == 0 else "no" for i in range(CASES)],
        "kind": ["a" if i % 3 == 0 else "b" for i in range(CASES)],
        "fold": np.arange(CASES) % 2,
        "patient": np.arange(CASES) // 2,
        "weight": RNG.integers(1, 4, CASES),
        "a": RNG.random(CASES).round(2),
        "b": RNG.random(CASES).round(2),
    }
)
MODELS = ["a", "b"]
LONG = WIDE.unpivot(["a", "b"], index=["id", "truth", "fold", "patient", "weight"]).rename(
    {"variable": "model", "value": "score"}
)
TRUTH = {"truth": "truth", "positive": "yes"}


class Stream:
    """An object of another library."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def arrays(convert):
    return lambda table: {column.name: convert(column) for column in table}


def reversed_index(column):
    return pd.Series(column.to_numpy(), index=range(column.len(), 0, -1), name="other")


def two_levels(table):
    index = pd.MultiIndex.from_arrays([[1] * table.height, range(table.height)])
    return table.to_pandas().set_index(index)


KINDS = {
    "LazyFrame": pl.DataFrame.lazy,
    "pandas": pl.DataFrame.to_pandas,
    "pandas, nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas, string": lambda table: table.to_pandas().astype(
        {name: "string[python]" for name, kind in table.schema.items() if kind == pl.String}
    ),
    "pandas, categorical": lambda table: table.to_pandas().astype(
        {name: "category" for name, kind in table.schema.items() if kind == pl.String}
    ),
    "pandas, object": lambda table: table.to_pandas().astype(object),
    "pandas, ArrowDtype": lambda table: table.to_pandas(use_pyarrow_extension_array=True),
    "pandas, two levels of rows": two_levels,
    "pyarrow.Table": pl.DataFrame.to_arrow,
    "pyarrow.RecordBatch": lambda table: table.rechunk().to_arrow().to_batches()[0],
    "pyarrow.RecordBatchReader": lambda table: table.to_arrow().to_reader(),
    "pyarrow.dataset": lambda table: pyarrow.dataset.dataset(table.to_arrow()),
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
    "__arrow_c_stream__": Stream,
    "NumPy": arrays(pl.Series.to_numpy),
    "NumPy, object": arrays(lambda column: np.array(column.to_list(), dtype=object)),
    "lists": arrays(pl.Series.to_list),
    "tuples": arrays(lambda column: tuple(column.to_list())),
    "pl.Series": arrays(lambda column: column.alias("other")),
    "pd.Series": arrays(reversed_index),
    "pyarrow arrays": arrays(lambda column: pa.array(column.to_list())),
}


@cache
def points():
    other = LONG.with_columns(score=1 - pl.col("score"))
    return pr.curve(other, **TRUTH, score="score").pipe(pr.operating_points)


def trained(table, **columns):
    # A stream is read once.
    cases = pr.cases(table, **columns)
    case = "id" if "id" in cases.table.lazy().collect_schema() else None
    return pr.compare(cases, "auc", target="trained", case=case).pairs


# Functions that take one score per row with the model of each, or several scores.
STEPS = {
    "curve": pr.curve,
    "evaluate": partial(pr.evaluate, over=(0.1, 0.3), priors=0.1),
    "evaluate, weighted": partial(pr.evaluate, weight="weight", priors="observed"),
    "evaluate, within memory": partial(pr.evaluate, memory="600MB"),
    "evaluate, with intervals": partial(pr.evaluate, intervals=True, measures="auc"),
    "check": lambda table, **columns: pr.check(table, case="id", **columns),
    "apply_thresholds": lambda table, **columns: pr.apply_thresholds(table, points(), **columns),
    "estimate_prior": lambda table, **columns: pr.estimate_prior(
        table, WIDE if "model" not in columns else LONG, method="confusion", **columns
    ),
    "estimate_prior, deployed": lambda table, **columns: pr.estimate_prior(
        WIDE if "model" not in columns else LONG, table, method="confusion", **columns
    ),
    "monitor": lambda table, **columns: (
        pr.monitor(
            table,
            (WIDE if "model" not in columns else LONG).with_columns(day=1),
            points=0.5,
            time="day",
            **columns,
        ).table
    ),
}
PAIRED = {"compare": trained}
WIDE_KINDS = ["LazyFrame", "pandas", "pyarrow.RecordBatchReader", "pyarrow.dataset", "NumPy"]
NAMES = [*STEPS, *PAIRED]


def given(name, table):
    """A table for a step; folds that are no keys are refused where fitted models are compared."""
    return table.drop("fold") if name in PAIRED else table


def call(name, table, **columns):
    model = {"model": "model"} if name in STEPS and columns["score"] == "score" else {}
    return (STEPS | PAIRED)[name](table, **TRUTH, **columns, **model)


@cache
def expected(name):
    return call(name, given(name, LONG), score="score")


def check_like(table, result, frame):
    """The kind of frame and its values, where Polars and pandas may name text types otherwise."""
    if isinstance(result, pl.LazyFrame):
        assert isinstance(table, pl.LazyFrame)
        result = result.collect()
    assert_frame_equal(
        result.cast({pl.Categorical: pl.String}), frame, rel_tol=1e-12, abs_tol=1e-12
    )


@pytest.mark.alike(8)
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_any_kind_gives_what_its_polars_frame_gives(name, kind):
    table = KINDS[kind](given(name, LONG))
    check_like(table, call(name, table, score="score"), expected(name))


@pytest.mark.alike(5)
@pytest.mark.slow
@pytest.mark.parametrize("kind", WIDE_KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_wide_table_gives_what_its_rows_by_model_give(name, kind):
    table = KINDS[kind](given(name, WIDE))
    check_like(table, call(name, table, score=MODELS), expected(name))


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_a_table_of_any_kind(kind):
    one_vs_rest = partial(
        pr.one_vs_rest, truth="kind", scores=["a", "b"], by="fold", weight="weight"
    )
    table = KINDS[kind](WIDE)
    rows, expected_rows = (one_vs_rest(one).table.sort(pl.all()) for one in (table, WIDE))
    check_like(table, rows, expected_rows)


@pytest.mark.alike(7)
@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_points_of_any_kind(kind):
    columns = {**TRUTH, "score": "score", "model": "model"}
    result = pr.apply_thresholds(LONG, KINDS[kind](points()), **columns)
    check_like(LONG, result, expected("apply_thresholds"))


@cache
def curves():
    return pr.curve(LONG, **TRUTH, score="score")


@cache
def measures():
    return pr.evaluate(LONG, **TRUTH, score="score", priors=[0.1, 0.2], over=(0.1, 0.2))


OF_CURVES = {
    "auc": pr.auc,
    "auprec": partial(pr.auprec, priors=0.1),
    "hull": pr.hull,
    "surface": partial(pr.surface, priors=0.1),
    "operating_points": pr.operating_points,
    "cost_curve": partial(pr.cost_curve, probability_cost=5),
    "decision_curve": partial(pr.decision_curve, thresholds=5),
    "charts.roc": lambda table: pl.DataFrame({"chart": str(pr.charts.roc(table).to_dict())}),
}
OF_MEASURES = {
    "compare": lambda table: pr.compare(table, test_train_ratio=0).pairs,
    "choose": lambda table: pr.choose(table, over=(0.1, 0.2)).models,
    "anova": lambda table: pr.anova(table, "auc", ["model", "fold"]).table,
}


@pytest.mark.alike(5)
@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["pandas", "pyarrow.RecordBatchReader", "pyarrow.dataset", "lists"]
)
@pytest.mark.parametrize(
    ("step", "make"),
    [
        pytest.param(step, make, id=name)
        for make, steps in ((curves, OF_CURVES), (measures, OF_MEASURES))
        for name, step in steps.items()
    ],
)
def test_tables_of_curves_and_measures(step, make, kind):
    table = KINDS[kind](make())
    check_like(table, step(table), step(make()))


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("kind", WIDE_KINDS)
@pytest.mark.usefixtures("words_only")
def test_a_report_of_any_table(kind, tmp_path, monkeypatch):
    pages = []
    monkeypatch.setattr(import_module("polaroc.reports.report"), "page", pages_of(pages))
    convert = KINDS[kind]
    for name, table, score in (("long", LONG, "score"), ("wide", WIDE, MODELS)):
        pr.report(
            convert(table), **TRUTH, score=score, over=(0.1, 0.3), path=tmp_path / f"{name}.html"
        )
    long, wide = pages
    assert_frame_equal(long.measures, wide.measures, rel_tol=1e-12, abs_tol=1e-12)
    assert_frame_equal(long.audit, wide.audit)
    assert long.measures["model"].unique().sort().to_list() == [*MODELS]


def pages_of(pages):
    return lambda evidence, *_, **__: pages.append(evidence) or ""


# --- what a table must be -----------------------------------------------------------------------

ARRAYS = {"truth": [1, 0, 1], "score": np.array([0.9, 0.8, 0.3])}
evaluate = partial(pr.evaluate, truth="truth", score="score")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ARRAYS | {"score": np.ones((3, 2))}, r"(?s)'score' has the shape \(3, 2\).*\[:, 1\]"),
        (ARRAYS | {"score": np.float64(0.5)}, r"'score' has the shape \(\)"),
        (ARRAYS | {"score": [[0.1, 0.9]] * 3}, r"(?s)'score' has lists.*\[:, 1\]"),
        (ARRAYS | {"score": [0.1, 0.9]}, "'truth' 3, 'score' 2"),
        (ARRAYS | {"score": [0.1, "b", 2]}, "values of different types"),
        (ARRAYS | {"model": "forest"}, "'model' is of type str"),
        ({0: [1, 0, 1]}, "the column 0"),
        (pd.DataFrame([[1, 2]], columns=[["a", "a"], ["b", "c"]]), "columns of 2 levels"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column 'a'"),
        (pd.Series([0.1]), "is no table"),
        (pl.Series([0.1]), "got a polars"),
        (np.ones((3, 2)), "got a numpy"),
        (pa.chunked_array([[1]]), "no table"),
        (pl.DataFrame, "got a"),
    ],
)
def test_what_is_no_table_is_refused(table, message):
    with pytest.raises(InvalidTable, match=message):
        evaluate(table)


def test_a_stream_that_was_read_is_refused():
    stream = LONG.to_arrow().to_reader()
    pr.curve(stream, **TRUTH, score="score")
    with pytest.raises(InvalidTable, match="read before"):
        pr.curve(stream, **TRUTH, score="score")


def test_arrays_are_not_copied():
    scores = np.linspace(0, 1, 9)
    for table in ({"s": scores}, pd.DataFrame({"s": scores}, copy=False), pa.table({"s": scores})):
        column = as_polars(table)["s"]
        assert np.shares_memory(column.to_numpy(allow_copy=False), scores)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "LazyFrame"])
def test_rows_of_any_table_are_audited(kind):
    table = KINDS[kind](LONG.with_columns(score=pl.when(pl.col("id") > 1).then("score")))
    with pytest.raises(InvalidPredictions, match=r"4 (null|NaN) scores"):
        pr.curve(table, **TRUTH, score="score")


def test_columns_that_are_not_used_may_hold_anything():
    table = LONG.to_pandas().assign(other=[1, "a"] * CASES)
    assert call("curve", table, score="score").equals(expected("curve"))
    with pytest.raises(InvalidPredictions, match="score column 'other' is Object"):
        call("curve", table, score="other")


def test_whole_numbers_and_fractions_in_a_list():
    found = evaluate({"truth": [1, 0, 1, 0], "score": [1, 0.5, None, 0]}, nulls="drop")
    assert found["positives"].to_list() == [1] * found.height


# --- wide tables --------------------------------------------------------------------------------


BIG = 2**53 + 1


@pytest.mark.parametrize(
    "values", [[BIG, BIG - 1, 0.5], [0.5, BIG, None], np.array([BIG, 0.5, np.nan], dtype=object)],
    ids=["whole first", "fraction first", "object array"],
)  # fmt: skip
def test_whole_numbers_that_no_float_holds_beside_fractions_are_refused(values):
    with pytest.raises(InvalidTable, match=r"no 64-bit float holds\.\nHint: give whole[^H]*$"):
        as_polars({"score": values})


NULLABLE = {
    "whole": (pd.array([BIG, None], dtype="Int64"), pl.Series([BIG, None])),
    "boolean": (pd.array([True, None], dtype="boolean"), pl.Series([True, None])),
    "text": (pd.array(["p", None], dtype="string"), pl.Series(["p", None])),
    "category": (pd.Categorical(["p", None]), pl.Series(["p", None])),
}


@pytest.mark.parametrize(("values", "expected"), NULLABLE.values(), ids=NULLABLE)
def test_arrays_of_pandas_columns_in_a_mapping(values, expected):
    column = as_polars({"a": values})["a"]
    plain = column.cast(pl.String) if column.dtype == pl.Categorical else column
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
        pr.evaluate(WIDE, **TRUTH, **arguments)


@pytest.mark.parametrize("name", ["truth", "score"])
def test_what_an_array_masks_is_missing(name):
    table = {"truth": np.array([1, 0, 1, 0]), "score": np.array([0.9, 0.8, 0.3, 0.1])}
    masked = table | {name: np.ma.masked_array(table[name], mask=[False, True, False, False])}
    with pytest.raises(InvalidPredictions, match=f"1 null {name}"):
        pr.evaluate(masked, truth="truth", score="score")
    found = pr.evaluate(masked, truth="truth", score="score", nulls="drop", measures="auc")
    assert found.select("estimate", "positives", "negatives").row(0) == (1.0, 2, 1)


def test_a_column_model_beside_several_scores_is_refused():
    with pytest.raises(InvalidArgument, match=r"(?s)the table has one, too.*rename"):
        pr.evaluate(WIDE.rename({"fold": "model"}), **TRUTH, score=MODELS)
    with pytest.raises(InvalidArgument, match="one column per model, and model is"):
        trained(WIDE, **TRUTH, score=MODELS, model="fold")


def test_rows_of_a_wide_table_are_cases():
    table = WIDE.drop("id", "fold", "patient")
    assert_same_numbers(trained(table, **TRUTH, score=MODELS), expected("compare"))


# --- without PyArrow ----------------------------------------------------------------------------

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


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("hidden", [NOT_INSTALLED, NOT_IMPORTED], ids=["no package", "no import"])
def test_pandas_without_pyarrow(hidden):
    subprocess.run([sys.executable, "-W", "error", "-c", hidden + WITHOUT_PYARROW], check=True)


def test_periods_of_pandas_are_keys():
    table = pd.DataFrame({
        "y": [1, 0] * 4, "s": np.arange(8.0),
        "month": pd.PeriodIndex(["2026-01"] * 4 + ["2026-02"] * 4, freq="M"),
    })  # fmt: skip
    found = pr.evaluate(table, truth="y", score="s", by="month", measures="auc")
    assert found["month"].cast(pl.Date).to_list() == [date(2026, 1, 1), date(2026, 2, 1)]
