import json

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

TABLE = pr.datasets.satellite_predictions().filter(fold=1)
TEST, TUNING = (TABLE.filter(pl.col("case") % 2 == part) for part in (1, 0))
COLUMNS = {"truth": "truth", "score": "score"}
WORDS = ["--truth", "truth", "--score", "score"]
BY_COST = ["--measure", "expected_cost", "--over", 0.1, 0.3]


def choose(*arguments: object):
    return CliRunner().invoke(app, ["choose", *map(str, arguments)])


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TEST.write_parquet("test.parquet")
    TUNING.write_csv("tuning.csv")
    return tmp_path


def test_text_and_other_formats_are_tuned_on_as_well(files):
    call = ["test.parquet", "--tuning", "tuning.csv", *WORDS, "--case", "case", *BY_COST, "--json"]
    expected = pr.choose(
        TEST, measure="expected_cost", tuning=TUNING, over=(0.1, 0.3), case="case", **COLUMNS
    )
    assert json.loads(choose(*call).stdout)["answer"] == expected.answer


@pytest.mark.slow
def test_columns_with_obvious_names_are_suggested(tmp_path):
    file = tmp_path / "predictions.parquet"
    pr.datasets.satellite_predictions().filter(fold=1).drop("fold").write_parquet(file)
    refused = choose(file, "--over", 0.05, 0.2)
    said = "name the columns of predictions, --truth truth and --score score"
    assert said in refused.output
    words = [str(word) for word in (file, *WORDS, "--over", 0.05, 0.2)]
    for command, more in (("choose", []), ("report", ["--out", str(tmp_path / "page.html")])):
        result = CliRunner().invoke(app, [command, *words, *more])
        # They have found it.
        assert "--case" not in result.output


@pytest.mark.alike(4)
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (BY_COST, "give --tuning FILE"),
        (["--measure", "expected_cost", "--tuning", "tuning.csv"], "give --over 0.05 0.20"),
        ([*BY_COST, "--tuning", "test.parquet"], "the same cases"),
        ([*BY_COST, "--tuning", "none.csv"], "no file matches"),
        ([*BY_COST, "--tuning", "tuning.csv", "--test-train-ratio", 0.25], "is for folds"),
        ([*BY_COST, "--tuning", "tuning.csv", "--constraint", "recall"], "is no RATE=LIMIT"),
        (["--over", 0.1, 0.3, "--cost-fn", 5], "give --tuning FILE"),
        (["--over", 0.1, 0.3, "--measure", "auprec", "--cost-fn", 5], "measure='expected_cost'"),
        (["--over", 0.1, 0.3, "--measure", "log_loss"], "scores are not probabilities"),
        ([*BY_COST, "--false-negative", 5], "--cost-fn"),
    ],
)
def test_what_does_not_go_together_is_refused(files, words, said):
    result = choose("test.parquet", *WORDS, *words)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_folds_have_no_thresholds_of_their_own(files):
    pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2).write_parquet("folds.parquet")
    call = [*WORDS, *BY_COST, "--tuning", "tuning.csv"]
    result = choose("folds.parquet", *call)
    assert result.exit_code == 2
    assert "keep one of the values" in result.output


def test_an_infinite_loss_is_said_not_clipped(files):
    wrong = (pl.col("truth") == 1) & (pl.col("case") == pl.col("case").filter(truth=1).min())
    scores = pl.when(wrong).then(0.0).otherwise(1 / (1 + (-pl.col("score")).exp()))
    TEST.with_columns(scores.alias("score")).write_parquet("test.parquet")
    words = [*WORDS, "--no-fold", "--prior", "0.1", "--measure", "log_loss"]
    shown = CliRunner().invoke(app, ["evaluate", "test.parquet", *words])
    note = "infinite: a positive has the score 0, or a negative the score 1"
    assert f"Note on 3 estimate(s): {note}" in " ".join(shown.output.split())


@pytest.mark.slow
def test_settings_of_a_project_do_not_stand_in_the_way(files):
    (files / "polaroc.toml").write_text("cost_fn = 5\ntest_train_ratio = 0.25\n")
    range_ = ["--over", 0.1, 0.3]
    assert choose("test.parquet", *WORDS, *range_).exit_code == 0
    result = choose("test.parquet", *WORDS, *BY_COST, "--tuning", "tuning.csv", "--json")
    assert result.exit_code == 0, result.output
    expected = pr.choose(
        TEST, measure="expected_cost", tuning=TUNING, over=(0.1, 0.3), cost_fn=5, **COLUMNS
    )
    assert json.loads(result.stdout)["answer"] == expected.answer
