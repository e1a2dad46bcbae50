"""The text of queries: one query of its dialect, with the same numbers where it is run."""

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest
import sqlglot
from comparison import ODD_ROWS, assert_same, odd, predictions
from engines import Engine
from programs import only_if_asked, package

import polaroc as pr
from polaroc.predictions.row_checks import UNRANKED

DIALECTS = ["duckdb", "postgres", "spark", "bigquery", "snowflake", "trino", "clickhouse"]
ODD = '"; drop table x; --'
NAMES = {"truth": "truth", "score": "score"}
KEYS = {"model": "model", "fold": "fold"}
AREAS = ("auc", "auprec", "iauprec")
Run = Callable[..., list[tuple[Any, ...]]]


def query(dialect: str, name: str = "predictions", **asked) -> str:
    return pr.warehouse.sql(name, dialect, **KEYS | NAMES | asked)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_is_one_query_of_its_dialect(dialect):
    for more in ({"weight": "weight", "over": (0.05, 0.2)}, {"positive": "a", "measure": "auc"}):
        (statement,) = sqlglot.parse(query(dialect, **more), dialect=dialect)
        assert isinstance(statement, sqlglot.exp.Query)
        tables = [table.name for table in statement.find_all(sqlglot.exp.Table)]
        assert tables.count("predictions") == 1


# In BigQuery no column can have such a name.
@pytest.mark.parametrize(
    "dialect",
    ["spark", *(pytest.param(name, marks=pytest.mark.slow) for name in DIALECTS
                if name not in ("spark", "bigquery"))],
)  # fmt: skip
def test_names_are_quoted(dialect):
    name, asked = "or 1 = 1; --", {"by": ["`"], "score": ODD, "positive": "it's", "measure": "auc"}
    (statement,) = sqlglot.parse(query(dialect, name=name, **asked), dialect=dialect)
    assert name in {table.name for table in statement.find_all(sqlglot.exp.Table)}
    assert {ODD, "`"} <= {column.name for column in statement.find_all(sqlglot.exp.Column)}
    assert "it's" in {literal.this for literal in statement.find_all(sqlglot.exp.Literal)}


def assert_same_areas(rows: list[tuple[Any, ...]], expected: pl.DataFrame) -> None:
    """The rows of a query are the areas, but for notes and types of totals."""
    kinds = expected.schema | dict.fromkeys(("positives", "negatives"), pl.Float64)
    found = pl.DataFrame(rows, kinds, orient="row")
    assert_same(found.drop("note"), expected.cast(kinds).drop("note"))


def test_a_table_may_have_a_schema_and_a_catalog():
    name = "lake.sales.predictions"
    (statement,) = sqlglot.parse(query("trino", name=name, measure="auc"), dialect="trino")
    (table,) = statement.find_all(sqlglot.exp.Table)
    assert ".".join(part.name for part in table.parts) == name


@pytest.mark.parametrize(
    ("labels", "asked"),
    [
        (pl.Boolean, {"weight": "weight"}),
        (pl.Int64, {"measure": "auc", "positive": 1.0}),
        (pl.Float64, {"measure": "auc", "positive": 0}),
        (pl.Boolean, {"over": (0.1, 0.3), "positive": False, "interpolation": "step"}),
    ],
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_the_text_gives_the_same_numbers(engine: Engine, labels, asked):
    table = predictions(3, weights=True).with_columns(pl.col("truth").cast(pl.Int64).cast(labels))
    text = query(engine.dialect, name=engine.table(table).get_name(), **asked)
    asked |= {"measure": asked.get("measure", AREAS[: 3 if "over" in asked else 2])}
    assert_same_areas(engine.rows(text), pr.evaluate(table, **NAMES, **asked))


def test_the_text_has_no_areas_of_rows_that_cannot_be_ranked(engine: Engine):
    rows = {"truth": [True, False, True, None, False], "score": [0.5, None, 0.2, 0.3, 0.1]}
    name = engine.table(pl.DataFrame(rows)).get_name()
    for nulls, expected in (("raise", None), ("drop", 1)):
        text = pr.warehouse.sql(name, engine.dialect, **NAMES, measure="auc", nulls=nulls)
        (found,) = engine.rows(text)
        note = UNRANKED if expected is None else None
        assert found == ("auc", None, expected, 2, 1, note), nulls


def test_the_text_drops_missing_values_where_no_other_row_can_be_wrong(engine: Engine):
    rows = {"truth": [True, False, True, None], "score": [0.5, None, 0.2, 0.3]}
    table = engine.table(pl.DataFrame(rows))
    asked = NAMES | {"measure": ["auc", "auprec"], "priors": "observed", "nulls": "drop"}
    text = pr.warehouse.sql(table, engine.dialect, **asked)
    # Without negatives there is no observed prior.
    expected = [("auc", None, None, 2, 0, None), ("auprec", None, None, 2, 0, None)]
    assert sorted(engine.rows(text)) == expected


# ClickHouse, in this process


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    only_if_asked("ClickHouse")
    session_of = package("chdb.session", "test-all").Session
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("clickhouse")
    session, numbers = session_of(str(folder / "server")), itertools.count()
    session.query("CREATE DATABASE lab")

    def of(table: pl.DataFrame, **asked) -> list[tuple[Any, ...]]:
        """The rows of the query."""
        name = f"t{next(numbers)}"
        table.write_parquet(folder / f"{name}.parquet")
        source = f"file('{os.fspath(folder)}/{name}.parquet')"
        session.query(f"CREATE TABLE lab.{name} ENGINE = Memory AS SELECT * FROM {source}")
        query = pr.warehouse.sql(f"lab.{name}", "clickhouse", **asked)
        found = pl.from_arrow(pa.ipc.open_file(session.query(query, "Arrow").bytes()).read_all())
        assert isinstance(found, pl.DataFrame)
        return found.rows()

    yield of
    session.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "weighted", "interpolation", "priors"),
    [
        (0, True, "exact", [0.5, 0.01, 1e-6]),
        (1, False, "linear", ["observed", 0.1]),
        (2, True, "step", 0.2),
    ],
    ids=["exact", "linear", "step"],
)
def test_clickhouse_gives_the_measures_of_polars(run: Run, keys, weighted, interpolation, priors):
    table = predictions(keys, weights=weighted)
    asked = NAMES | {
        "model": "model" if keys else None, "fold": "fold" if keys > 1 else None,
        "weight": "weight" if weighted else None, "over": (0.05, 0.2),
        "interpolation": interpolation, "priors": priors,
    }  # fmt: skip
    expected = pr.evaluate(table, **asked, measure=AREAS)
    assert_same_areas(run(table, **asked), expected)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
def test_clickhouse_treats_odd_rows_as_polars_does(run: Run, weight):
    table = pl.concat(odd(name).with_columns(pl.lit(name).alias("part")) for name in ODD_ROWS)
    asked = NAMES | {"by": "part", "model": "model", "weight": weight, "nulls": "drop"}
    asked |= {"over": (0.1, 0.4), "priors": [0.1, 0.005]}
    table = table.filter(pl.col("part") != "bad weight")
    assert_same_areas(run(table, **asked), pr.evaluate(table, **asked, measure=AREAS))


@pytest.mark.engine
def test_clickhouse_knows_names_that_need_quotes(run: Run):
    table = predictions(5, 40).rename({"score": "`", "truth": '"; drop', "model": "it's"})
    asked = {"truth": '"; drop', "score": "`", "by": ["it's"], "measure": "auc"}
    asked |= {"fold": "fold"}
    assert_same_areas(run(table, **asked), pr.evaluate(table, **asked))
