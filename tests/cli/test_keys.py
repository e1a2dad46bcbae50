import json
import re

import duckdb
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.predictions.usual_keys import usual_keys, usual_name

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
def test_usual_names_are_keys_and_are_said(named, command):
    file, names = named
    result = polaroc(command, file, *BASE, "--json")
    assert rows(result, names) == set(TABLE.select("model", "fold").unique().rows())
    said = f"Note: no --by is given: keys are '{names[0]}', '{names[1]}' (--no-by takes none)."
    assert said in result.stderr


@pytest.mark.long
@pytest.mark.slow
def test_the_same_keys_choose_compare_and_draw(named, tmp_path):
    file, (model, fold) = named
    keys = ["--between", model, "--block", fold]
    for command in (["choose", file, *OVER], ["compare", file, *OVER, "--test-train-ratio", 0.25]):
        found = polaroc(*command, *BASE)
        assert found.exit_code == 0, found.output
        assert found.stdout == polaroc(*command, *BASE, *keys).stdout
        assert f"Note: models are told apart by '{model}', folds by '{fold}'" in found.stderr
    drawn = polaroc("chart", "roc", file, *BASE, "--out", "-")
    expected = polaroc("chart", "roc", file, *BASE, "--by", model, "--by", fold, "--out", "-")
    assert drawn.stdout == expected.stdout
    assert f"keys are '{model}', '{fold}'" in drawn.stderr


# A report takes seconds, and what its keys are is found as for the other commands.
odd_names = pytest.mark.parametrize("named", NAMES[-1:], indirect=True, ids=" and ".join)


@pytest.mark.slow
@odd_names
def test_a_report_pools_no_models(named):
    file, names = named
    result = polaroc("report", file, *BASE, *OVER, "--out", "-")
    assert result.exit_code == 0, result.output
    assert f"keys are '{names[0]}', '{names[1]}'" in result.stderr
    assert "folds won" in result.stdout
    one = {name: pl.read_csv(file)[name].n_unique() for name in names}
    assert one == {names[0]: 3, names[1]: 2}
    assert re.search(r"of the 2 folds|2 folds \(", result.stdout)


@pytest.mark.slow
@odd_names
def test_the_function_report_has_the_same_keys(named, tmp_path):
    file, (model, fold) = named
    table = pl.read_csv(file)
    asked = {"truth": "truth", "score": "score", "over": (0.05, 0.2)}
    pages = []
    for by in (None, [model, fold]):
        where = pr.report(table, path=tmp_path / f"{by is None}.html", by=by, **asked)
        pages.append(where.read_text())
    assert pages[0] == pages[1]


@pytest.mark.long
@pytest.mark.slow
def test_folds_alone_are_of_one_model(tmp_path):
    file = tmp_path / "predictions.parquet"
    TABLE.filter(model="A").drop("model").write_parquet(file)
    result = polaroc("report", file, *BASE, *OVER, "--out", "-")
    assert result.exit_code == 0, result.output
    assert "<span>Set the threshold of the final model" in result.stdout
    said = []
    asked = {"truth": "truth", "score": "score", "over": (0.05, 0.2), "tell": said.append}
    pr.report(pl.read_parquet(file), path=tmp_path / "page.html", **asked)
    assert said[0].startswith("Set the threshold of the final model")
    shown = said[0].splitlines()[0].replace(" %", "\N{NO-BREAK SPACE}%")
    assert f"<span>{shown}</span>" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_columns_that_may_be_keys_are_named(tmp_path, command):
    file = tmp_path / "predictions.parquet"
    table = TABLE.rename({"model": "variant", "fold": "day"}).with_columns(
        day=pl.int_range(pl.len()) % 7, label=pl.col("truth").cast(pl.Int8), note_text=pl.lit("x")
    )
    table.write_parquet(file)
    result = polaroc(command, file, *BASE, "--json")
    assert "not used, so" in result.stderr.lower()
    assert "'variant' (3 values), 'day' (7 values); if one tells models or folds apart: " in (
        result.stderr
    )
    assert "--by variant" in result.stderr
    # The audit says in its own note that rows of models taken together share a case.
    unused = result.stderr.partition("Note on")[0]
    assert "label" not in unused
    assert "case" not in unused
    assert result.stderr.count("Note: Not used") == 1


@pytest.mark.alike(2)
@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_rows_are_pooled_where_that_is_asked(named, command):
    file, names = named
    result = polaroc(command, file, *BASE, "--no-model", "--no-fold", "--json")
    assert names[0] not in json.loads(result.stdout)[0]
    assert "--by" not in result.stderr
    refused = polaroc(command, file, *BASE, "--no-model", "--no-fold", "--by", names[0])
    assert refused.exit_code == 2
    assert "both --by and --no-by" in refused.stderr


def test_a_fold_that_is_no_key_is_said(named):
    file, (model, fold) = named
    result = polaroc("evaluate", file, *BASE, "--by", model)
    assert f"Note: '{fold}' is no key, so its rows are taken together." in result.stderr
    assert "is no key" not in polaroc("evaluate", file, *BASE, "--by", model, "--by", fold).stderr


@pytest.mark.slow
def test_a_table_at_an_address_has_the_same_keys(tmp_path):
    file = tmp_path / "scores.duckdb"
    with duckdb.connect(file) as connection:
        connection.register("uploaded", TABLE.rename({"model": "clf"}).to_arrow())
        connection.execute("CREATE TABLE predictions AS FROM uploaded")
    asked = ["evaluate", f"duckdb://{file}", "--table", "predictions", *BASE, "--json"]
    result = polaroc(*asked)
    assert rows(result, ["clf", "fold"]) == set(TABLE.select("model", "fold").unique().rows())
    assert "keys are 'clf', 'fold'" in result.stderr
    assert "clf" not in json.loads(polaroc(*asked, "--no-model", "--no-fold").stdout)[0]


@pytest.mark.slow
def test_sql_says_that_it_looked_at_no_table():
    asked = ["sql", "--table", "predictions", *BASE]
    assert "Note: no --by is given" in polaroc(*asked).stderr
    assert polaroc(*asked, "--no-model", "--no-fold").stderr == ""
    assert polaroc(*asked, "--no-model", "--no-fold").stdout == polaroc(*asked).stdout


def test_measures_need_no_usual_names(tmp_path):
    table = TABLE.rename({"model": "variant", "fold": "day"})
    columns = {"truth": "truth", "score": "score", "by": ["variant", "day"]}
    measures = pr.evaluate(table, **columns, priors=[0.05, 0.1, 0.2])
    measures.write_parquet(tmp_path / "measures.parquet")
    result = polaroc("choose", tmp_path / "measures.parquet", "--json")
    expected = pr.choose(measures, "variant", "day")
    assert json.loads(result.stdout)["answer"] == expected.answer
    assert "models are told apart by 'variant', folds by 'day'" in result.stderr


def test_models_without_a_usual_name_are_asked_for(tmp_path):
    TABLE.rename({"model": "variant"}).write_parquet(tmp_path / "predictions.parquet")
    result = polaroc("choose", tmp_path / "predictions.parquet", *BASE, *OVER)
    assert result.exit_code == 2
    assert "no column tells the models apart" in result.stderr
    assert "'variant' (3 values)" in result.stderr
    assert "--between" in result.stderr


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "model") for name in ("model", "Model", "MODEL_ID", "modelName", "Classifier",
                                       "clf_name", "estimator", "Algorithm", "method", "models")),
        *((name, "block") for name in ("fold", "Fold No.", "cv_fold", "cvFold", "CV", "outer split",
                                       "repeat", "resample_id", "hold-out", "seed", "test_fold")),
        *((name, None) for name in ("score", "id", "case", "payment method", "model score", "cv2x",
                                    "run time", "", "λ", "index", "folder", "remodel")),
    ],
)  # fmt: skip
def test_names_that_are_usual(name, kind):
    assert usual_name(name) == kind


@pytest.mark.parametrize(
    ("column", "is_key"),
    [
        ([1, 2] * 50, True),
        ([1.0, 2.0] * 50, True),
        ([1.0, 2.5] * 50, False),
        (["test"] * 100, False),
        ([None, "test"] * 50, True),
        ([[1], [2]] * 50, False),
    ],
)
def test_folds_are_told_by_what_they_hold(column, is_key):
    table = pl.DataFrame({"fold": column, "truth": [1, 0] * 50, "score": range(100)})
    found = usual_keys(table.lazy(), ["truth", "score"])
    assert found.blocks == (["fold"] if is_key else [])


def test_columns_with_another_part_are_no_keys():
    table = pl.LazyFrame({"model": ["a", "b"] * 9, "fold": [1, 2] * 9, "truth": [1, 0] * 9})
    assert usual_keys(table, ["model", "fold", "truth"]).keys == []


def test_keys_by_default_do_not_change_the_measures(named, tmp_path):
    file, (model, fold) = named
    result = polaroc("evaluate", file, *BASE, "--no-charts", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = pl.read_parquet(tmp_path / "out" / "measures.parquet")
    expected = pr.evaluate(TABLE, truth="truth", score="score", by=["model", "fold"])
    assert_frame_equal(found.rename({model: "model", fold: "fold"}), expected)
