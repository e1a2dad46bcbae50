import polars as pl
import pytest
from command_line import polaroc
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr

BASE = ["--truth", "truth", "--score", "score"]
KEYS = ["--model", "model", "--fold", "fold"]
COLUMNS = {"truth": "truth", "score": "score"}
TABLE = predictions(21)


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
        (["--table", "read_parquet('x.parquet')"], "make a view of a file"),
    ],
)
def test_sql_says_what_it_cannot_do(arguments, said):
    named = [] if "--table" in arguments else ["--table", "predictions"]
    result = polaroc("sql", *named, *BASE, *arguments)
    assert result.exit_code == 2
    assert said in result.output
