"""The text of queries: one query of its dialect, with the same numbers where it is run."""

import itertools
import os
from collections.abc import Callable, Iterator

import polars as pl
import pytest
import sqlglot
from comparison import ODD_ROWS, assert_same, evaluated, lazily, odd, predictions
from engines import Engine
from programs import only_if_asked, package

import polaroc as pr

COLUMNS = ["model", "fold", "truth", "score", "weight"]
DIALECTS = ["duckdb", "postgres", "spark", "bigquery", "snowflake", "trino", "clickhouse"]
ODD = '"; drop table x; --'
NAMES = {"truth": "truth", "score": "score"}
Run = Callable[..., pl.DataFrame]


def query(dialect: str, name: str = "predictions", **asked) -> str:
    table = pr.warehouse.unseen(name, [*COLUMNS, ODD, "`"])
    return pr.warehouse.sql(pr.warehouse.evaluate(table, **NAMES | asked), dialect)


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
@pytest.mark.parametrize("name", [ODD, "' or 1 = 1"])
def test_names_are_quoted(dialect, name):
    asked = {"by": ["`"], "score": ODD, "positive": "it's", "measure": "auc"}
    (statement,) = sqlglot.parse(query(dialect, name=name, **asked), dialect=dialect)
    assert name in {table.name for table in statement.find_all(sqlglot.exp.Table)}
    assert {ODD, "`"} <= {column.name for column in statement.find_all(sqlglot.exp.Column)}
    assert "it's" in {literal.this for literal in statement.find_all(sqlglot.exp.Literal)}


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
        (pl.Boolean, {"measure": "auc", "positive": False, "ranges": [-0.5, 0.5]}),
    ],
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_the_text_gives_the_same_numbers(engine: Engine, labels, asked):
    table = predictions(3, weights=True).with_columns(pl.col("truth").cast(pl.Int64).cast(labels))
    text = query(engine.dialect, name=engine.table(table).get_name(), **asked)
    asked = {role: value for role, value in asked.items() if role != "ranges"}
    expected = pr.evaluate(table, **NAMES, **asked)
    assert_same(pl.DataFrame(engine.rows(text), expected.schema, orient="row"), expected)


# ClickHouse, in this process


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    only_if_asked("ClickHouse")
    session_of = package("chdb.session", "test-all").Session
    import pyarrow as pa

    folder = tmp_path_factory.mktemp("clickhouse")
    session, numbers = session_of(str(folder / "server")), itertools.count()
    session.query("CREATE DATABASE lab")

    def of(table: pl.DataFrame, function=pr.warehouse.evaluate, **asked) -> pl.DataFrame:
        """What the text gives, with the columns in the order they have there."""
        name = f"t{next(numbers)}"
        table.write_parquet(folder / f"{name}.parquet")
        source = f"file('{os.fspath(folder)}/{name}.parquet')"
        session.query(f"CREATE TABLE lab.{name} ENGINE = Memory AS SELECT * FROM {source}")
        unseen = pr.warehouse.unseen(f"lab.{name}", table.columns)
        query = pr.warehouse.sql(function(unseen, **asked), "clickhouse")
        found = pl.from_arrow(pa.ipc.open_file(session.query(query, "Arrow").bytes()).read_all())
        assert isinstance(found, pl.DataFrame)
        return found

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
    assert_same(run(table, **asked), pr.evaluate(table, **asked))


@pytest.mark.slow
@pytest.mark.parametrize(("weight", "nulls"), [(None, "drop"), ("weight", "raise")])
def test_clickhouse_treats_odd_rows_as_polars_does(run: Run, weight, nulls):
    table = pl.concat(odd(name).with_columns(pl.lit(name).alias("part")) for name in ODD_ROWS)
    asked = NAMES | {"by": "part", "weight": weight, "nulls": nulls}
    assert_same(run(table, pr.warehouse.curve, **asked), lazily(pr.curve, table, **asked))
    asked |= {"over": (0.1, 0.4), "priors": ["observed", 0.1, 0.005]}
    assert_same(run(table, **asked), evaluated(table, **asked))


@pytest.mark.engine
def test_clickhouse_knows_names_that_need_quotes(run: Run):
    table = predictions(5, 40).rename({"score": "`", "truth": '"; drop', "model": "it's"})
    asked = {"truth": '"; drop', "score": "`", "by": ["it's"], "measure": "auc"}
    assert_same(run(table, **asked), pr.evaluate(table, **asked))
