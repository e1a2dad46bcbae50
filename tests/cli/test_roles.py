import json
import re

import duckdb
import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

pytestmark = pytest.mark.usefixtures("words_only")

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
BASE = ["--truth", "truth", "--score", "score"]
OVER = ["--over", "0.05", "0.2"]
NAMES = [("model", "fold"), ("clf", "split"), ("Model Name", "CV split")]


def polaroc(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(params=NAMES, ids=" and ".join)
def named(request, tmp_path):
    file = tmp_path / "predictions.csv"
    TABLE.rename(dict(zip(("model", "fold"), request.param, strict=True))).write_csv(file)
    return file, request.param


def rows(result, names):
    assert result.exit_code == 0, result.output
    return {tuple(row[name] for name in names) for row in json.loads(result.stdout)}


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_usual_names_have_roles_and_are_said(named, command):
    file, (model, fold) = named
    result = polaroc(command, file, *BASE, "--json")
    assert rows(result, (model, fold)) == set(TABLE.select("model", "fold").unique().rows())
    # The audit looks for cases that are in a key twice; areas do not depend on them.
    cases = ", case 'case'" if command == "check" else ""
    said = f"Note: Found by name: model '{model}', fold '{fold}'{cases} (--no-model, --no-fold"
    assert said in result.stderr
    asked = ["--model", model, "--fold", fold, "--case", "case"]
    explicit = polaroc(command, file, *BASE, *asked, "--json")
    assert explicit.stdout == result.stdout
    assert "Found" not in explicit.stderr


# A report takes seconds, and what its keys are is found as for the other commands.
odd_names = pytest.mark.parametrize("named", NAMES[-1:], indirect=True, ids=" and ".join)


@pytest.mark.slow
@odd_names
def test_a_report_pools_no_models(named):
    file, names = named
    result = polaroc("report", file, *BASE, *OVER, "--out", "-")
    assert result.exit_code == 0, result.output
    assert f"Found by name: model '{names[0]}', fold '{names[1]}'" in result.stderr
    one = {name: pl.read_csv(file)[name].n_unique() for name in names}
    assert one == {names[0]: 3, names[1]: 2}
    assert re.search(r"of the 2 folds|2 folds \(", result.stdout)


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_columns_without_a_role_are_named(tmp_path, command):
    file = tmp_path / "predictions.parquet"
    TABLE.rename({"model": "variant", "fold": "day"}).write_parquet(file)
    result = polaroc(command, file, *BASE, "--json")
    assert "Without a role: 'variant', 'day'." in result.stderr
    assert "Without a role: 'day'." in polaroc(command, file, *BASE, "--model", "variant").stderr
    both = polaroc(command, file, *BASE, "--model", "variant", "--cluster", "day")
    assert "Without a role" not in both.stderr


@pytest.mark.alike(2)
@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_rows_are_pooled_where_that_is_asked(named, command):
    file, (model, fold) = named
    result = polaroc(command, file, *BASE, "--no-model", "--no-fold", "--json")
    assert not {model, fold} & json.loads(result.stdout)[0].keys()
    only = polaroc(command, file, *BASE, "--no-fold", "--json")
    assert rows(only, [model]) == {("A",), ("B",), ("C",)}
    refused = polaroc(command, file, *BASE, "--no-model", "--model", model)
    assert refused.exit_code == 2
    assert "both --model and --no-model" in refused.stderr


@pytest.mark.slow
def test_a_table_at_an_address_has_the_same_keys(tmp_path):
    file = tmp_path / "scores.duckdb"
    with duckdb.connect(file) as connection:
        connection.register("uploaded", TABLE.rename({"model": "clf"}).to_arrow())
        connection.execute("CREATE TABLE predictions AS FROM uploaded")
    asked = ["evaluate", f"duckdb://{file}", "--table", "predictions", *BASE, "--json"]
    result = polaroc(*asked)
    assert rows(result, ["clf", "fold"]) == set(TABLE.select("model", "fold").unique().rows())
    assert "Found by name: model 'clf', fold 'fold'" in result.stderr
    assert "clf" not in json.loads(polaroc(*asked, "--no-model", "--no-fold").stdout)[0]


@pytest.mark.slow
def test_sql_says_that_it_looked_at_no_table():
    asked = ["sql", "--table", "predictions", *BASE]
    assert "Note: neither --model nor --fold is given" in polaroc(*asked).stderr
    assert polaroc(*asked, "--no-model", "--no-fold").stderr == ""
    assert polaroc(*asked, "--no-model", "--no-fold").stdout == polaroc(*asked).stdout


def test_models_without_a_usual_name_are_asked_for(tmp_path):
    TABLE.rename({"model": "variant"}).write_parquet(tmp_path / "predictions.parquet")
    result = polaroc("choose", tmp_path / "predictions.parquet", *BASE, *OVER)
    assert result.exit_code == 2
    assert "nothing tells the models apart" in result.stderr
    assert "'variant'" in result.stderr
    assert "--model" in result.stderr
