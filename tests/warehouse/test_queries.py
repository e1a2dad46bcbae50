import polars as pl
import pytest
import sqlglot
from comparison import assert_same, predictions
from engines import Engine
from packaging import version

import polaroc as pr
from polaroc.errors import InvalidArgument
from polaroc.warehouse.queries import DIALECTS

COLUMNS = ["model", "fold", "truth", "score", "weight"]
ODD = '"; drop table x; --'


def query(dialect: str, name: str = "predictions", **kwargs) -> str:
    asked = {"truth": "truth", "score": "score"} | kwargs
    table = pr.warehouse.unseen(name, [*COLUMNS, ODD, "`"])
    return pr.warehouse.sql(pr.warehouse.evaluate(table, **asked), dialect)


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "more",
    [{"weight": "weight", "over": (0.05, 0.2)}, {"positive": "a", "measures": "auc"}],
    ids=["all measures", "labels"],
)
def test_text_is_one_query_of_its_dialect(dialect, more):
    statements = sqlglot.parse(query(dialect, **more), dialect=dialect)
    assert len(statements) == 1
    assert isinstance(statements[0], sqlglot.exp.Query)
    tables = [table.name for table in statements[0].find_all(sqlglot.exp.Table)]
    assert tables.count("predictions") == 1


# In BigQuery no column can have such a name.
@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "bigquery"])
@pytest.mark.parametrize("name", [ODD, "`", "' or 1 = 1"])
def test_names_are_quoted(dialect, name):
    asked = {"by": ["`"], "score": ODD, "positive": "it's", "measures": "auc"}
    text = query(dialect, name=name, **asked)
    (statement,) = sqlglot.parse(text, dialect=dialect)
    assert name in {table.name for table in statement.find_all(sqlglot.exp.Table)}
    columns = {column.name for column in statement.find_all(sqlglot.exp.Column)}
    assert {ODD, "`"} <= columns
    literals = {literal.this for literal in statement.find_all(sqlglot.exp.Literal)}
    assert "it's" in literals


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sales.predictions", "lake.sales.predictions"])
def test_a_table_may_have_a_schema_and_a_catalog(name):
    (statement,) = sqlglot.parse(query("trino", name=name, measures="auc"), dialect="trino")
    (table,) = statement.find_all(sqlglot.exp.Table)
    assert ".".join(part.name for part in table.parts) == name


@pytest.mark.alike
@pytest.mark.parametrize(
    ("labels", "measures"), [(pl.Boolean, None), (pl.Int64, "auc"), (pl.Float64, "auc")]
)
def test_the_text_gives_the_same_numbers(engine: Engine, labels, measures):
    table = predictions(3, weights=True).with_columns(pl.col("truth").cast(pl.Int64).cast(labels))
    name = engine.table(table).get_name()
    asked = {"truth": "truth", "score": "score", "weight": "weight"}
    asked["measures"] = measures
    text = query(engine.dialect, name=name, **asked)
    expected = pr.evaluate(table, **asked)
    assert_same(pl.DataFrame(engine.rows(text), expected.schema, orient="row"), expected)


@pytest.mark.parametrize(
    ("labels", "positive"),
    [([1.0, 2.0, 0.5, 2.0], 2), ([True, False, True, True], False), ([1, 2, 0, 2], 2.0)],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::polaroc.errors.PolarocWarning")
def test_labels_are_found_in_text_of_any_type(engine: Engine, labels, positive):
    table = pl.DataFrame({"truth": labels, "score": [0.1, 0.2, 0.3, 0.4]})
    asked = {"measures": "auc", "positive": positive, "by": [], "model": None, "fold": None}
    text = query(engine.dialect, name=engine.table(table).get_name(), **asked)
    expected = pr.evaluate(table, truth="truth", score="score", **asked)
    assert_same(pl.DataFrame(engine.rows(text), expected.schema, orient="row"), expected)


def test_duckdb_of_the_extra_does_all_that_ibis_asks_of_it():
    import duckdb
    import ibis

    if version.parse(duckdb.__version__).major > 1 or version.parse(sqlglot.__version__).major > 29:
        pytest.skip("these are not the versions that the extra warehouse installs")
    connection = ibis.duckdb.connect()
    table = predictions(1, 20)
    created = connection.create_table("predictions", table)
    assert_same(created, table)
    assert "predictions" in connection.list_tables()
    connection.insert("predictions", table)
    assert (
        pr.warehouse.collected(created.aggregate(rows=created.count())).item() == 2 * table.height
    )
    connection.drop_table("predictions")
    assert "predictions" not in connection.list_tables()


@pytest.mark.parametrize("name", ["", "a..b", "a.b.c.d"])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(InvalidArgument, match="schema"):
        pr.warehouse.unseen(name, COLUMNS)


def test_another_dialect_is_refused():
    with pytest.raises(InvalidArgument, match="dialect"):
        query("oracle")
