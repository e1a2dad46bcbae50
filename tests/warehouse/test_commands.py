from pathlib import Path

import duckdb
import polars as pl
import pytest
from command_line import polaroc
from comparison import assert_same, predictions
from engines import Engine
from polars.testing import assert_frame_equal

import polaroc as pr

BASE = ["--truth", "truth", "--score", "score"]
KEYS = ["--model", "model", "--fold", "fold"]
COLUMNS = {"truth": "truth", "score": "score"}
TABLE = predictions(21)


def place(engine: Engine, table: pl.DataFrame, folder: Path) -> tuple[str, str]:
    """The address and the name of a table."""
    if engine.address is not None:
        return engine.address, engine.shared(table)
    file = folder / "scores.duckdb"
    with duckdb.connect(file) as connection:
        connection.register("uploaded", table.to_arrow())
        connection.execute("CREATE TABLE predictions AS FROM uploaded")
    return f"duckdb://{file}", "predictions"


def test_evaluate_at_an_address_writes_what_the_function_returns(engine: Engine, tmp_path):
    address, name = place(engine, TABLE, tmp_path)
    out = tmp_path / "out"
    asked = ["--prior", 0.5, "--prior", "observed", "--prior", 0.1, "--over", 0.05, 0.2]
    result = polaroc("evaluate", address, "--table", name, *BASE, *KEYS, *asked, "--out", out)
    assert result.exit_code == 0, result.output
    expected = pr.evaluate(TABLE, **COLUMNS, priors=[0.5, "observed", 0.1], over=(0.05, 0.2))
    assert_frame_equal(pl.read_parquet(out / "measures.parquet"), expected, abs_tol=1e-9)
    assert {path.name for path in out.iterdir()} == {"measures.parquet", "measures.csv", ".polaroc"}
    assert "Measures, mean (SD) over fold" in result.output


def test_evaluate_at_an_address_prints_what_it_prints_of_files(engine: Engine, tmp_path):
    address, name = place(engine, TABLE, tmp_path)
    file = tmp_path / "predictions.parquet"
    TABLE.write_parquet(file)
    expected = polaroc("evaluate", file, *BASE, *KEYS).output
    assert polaroc("evaluate", address, "--table", name, *BASE, *KEYS).output == expected


def test_rows_that_cannot_be_ranked_are_refused(engine: Engine, tmp_path):
    rows = {"model": ["a", "a", "b"], "truth": [True, False, None], "score": [None, 0.1, 0.2]}
    address, name = place(engine, pl.DataFrame(rows), tmp_path)
    asked = ["evaluate", address, "--table", name, *BASE, "--fold", ""]
    result = polaroc(*asked)
    assert result.exit_code == 2
    found = "1 null score, 1 null truth in 2 key(s): model='a'; model='b'"
    assert f"Error: {found}." in result.output
    assert "--nulls drop" in result.output
    assert polaroc(*asked, "--nulls", "drop").exit_code == 0


def test_an_empty_table_is_refused(engine: Engine, tmp_path):
    address, name = place(engine, TABLE.head(0), tmp_path)
    result = polaroc("evaluate", address, "--table", name, *BASE)
    assert result.exit_code == 2
    assert "no rows" in result.output


def test_a_table_that_is_not_there_is_refused_beside_those_that_are_and_without_the_password(
    engine: Engine, tmp_path
):
    address, name = place(engine, TABLE, tmp_path)
    result = polaroc("evaluate", address, "--table", "nowhere", *BASE)
    assert result.exit_code == 2
    assert "has no table 'nowhere'" in result.output
    # The tables of a session of Spark or Sail end with it.
    assert name in result.output or engine.name in ("sail", "spark")
    if "@" in address:
        assert address.split("@")[0].split(":")[2] not in result.output


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("duckdb://nowhere.duckdb", "no file 'nowhere.duckdb'"),
        ("mysql://me:secret@host/lab", "allowed are duckdb://, postgres://"),
        ("postgres://me:secret@127.0.0.1:1/lab", "no connection to postgres://me:***@127.0.0.1:1"),
    ],
)
def test_what_cannot_be_connected_to_is_refused(address, said):
    result = polaroc("evaluate", address, "--table", "predictions", *BASE)
    assert result.exit_code == 2
    assert said in result.output
    assert "secret" not in result.output
    assert "Traceback" not in result.output
    assert not Path("nowhere.duckdb").exists()


@pytest.mark.parametrize("more", [[], ["more.parquet", "--table", "predictions"]])
def test_an_address_needs_one_table_and_nothing_else(more):
    result = polaroc("evaluate", "duckdb://scores.duckdb", *more, *BASE)
    assert result.exit_code == 2
    assert "Hint:" in result.output


def test_sql_prints_a_query_that_gives_the_measures(engine: Engine):
    name = engine.table(TABLE).get_name()
    asked = ["--dialect", engine.dialect, "--table", name, *BASE, *KEYS]
    result = polaroc("sql", *asked, "--prior", 0.05, "--measure", "auprec")
    assert result.exit_code == 0, result.output
    expected = pr.evaluate(TABLE, **COLUMNS, priors=0.05, measure="auprec")
    kinds = expected.schema | dict.fromkeys(("positives", "negatives"), pl.Float64)
    found = pl.DataFrame(engine.rows(result.output), kinds, orient="row")
    assert_same(found.drop("note"), expected.cast(kinds).drop("note"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dialect", "oracle"], "'oracle' is not one of"),
        (["--interpolation", "hull"], "'hull' is not one of"),
        (["--prior", "2"], "prior is 2.0"),
        (["--table", "a.b.c.d"], "catalog.schema.name"),
    ],
)
def test_sql_says_what_it_cannot_do(arguments, said):
    named = [] if "--table" in arguments else ["--table", "predictions"]
    result = polaroc("sql", *named, *BASE, *arguments)
    assert result.exit_code == 2
    assert said in result.output
