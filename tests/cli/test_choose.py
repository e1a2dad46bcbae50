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


def wide_table(table):
    by_model = table.sort("model", "case").partition_by("model", maintain_order=True)
    scores = {one["model"][0]: one["score"] for one in by_model}
    return by_model[0].select("case", "truth").with_columns(**scores)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TEST.write_parquet("test.parquet")
    TUNING.write_csv("tuning.csv")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
def test_model_and_threshold_by_cost_as_in_python(files, wide):
    tables, words, columns = [TEST, TUNING], [*WORDS, "--case", "case"], {**COLUMNS, "case": "case"}
    if wide:
        tables = [wide_table(one) for one in tables]
        words = ["--truth", "truth", *(word for model in "ABC" for word in ("--score", model))]
        columns = {"truth": "truth", "score": ["A", "B", "C"]}
    for table, name in zip(tables, ("test.parquet", "tuning.parquet"), strict=True):
        table.write_parquet(name)
    limits = ["--constraint", "precision=0.25", "--constraint", "recall=0.5", "--confidence", 0.95]
    call = ["test.parquet", "--tuning", "tuning.parquet", *words, *BY_COST, "--cost-fn", 5, *limits]
    expected = pr.choose(
        tables[0], measure="expected_cost", tuning=tables[1], over=(0.1, 0.3), cost_fn=5,
        constraints={"precision": 0.25, "recall": 0.5}, confidence=0.95, **columns,
    )  # fmt: skip
    result = choose(*call, "--json")
    assert result.exit_code == 0, result.output
    read = json.loads(result.stdout)
    assert (read["answer"], read["promise"]) == (expected.answer, expected.promise)
    assert read["threshold"] == expected.threshold
    assert [one["threshold"] for one in read["models"]] == expected.models["threshold"].to_list()
    shown = " ".join(choose(*call).stdout.split())
    assert expected.answer in shown
    assert expected.promise in shown


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
        (["--over", 0.1, 0.3, "--cost-fn", 5], "measure='expected_cost'"),
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


@pytest.mark.long
@pytest.mark.slow
def test_other_measures_are_chosen_by_as_in_python(files):
    scores = (pl.col("score").rank() / pl.len()).over("model")
    TEST.with_columns(scores).write_parquet("test.parquet")
    call = ["test.parquet", *WORDS, "--over", 0.1, 0.3, "--measure", "brier_skill", "--json"]
    read = json.loads(choose(*call).stdout)
    expected = pr.choose(TEST.with_columns(scores), "brier_skill", over=(0.1, 0.3), **COLUMNS)
    assert (read["measure"], read["answer"]) == ("brier_skill", expected.answer)


@pytest.mark.long
@pytest.mark.slow
def test_scores_are_right_at_the_prior_given(files):
    scores = 1 / (1 + (-pl.col("score")).exp())
    table = TEST.with_columns(score=scores)
    table.write_parquet("test.parquet")
    asked = {"measure": "log_loss", "case": "case", "score_prior": 0.5, **COLUMNS}
    words = [*WORDS, "--measure", "log_loss", "--case", "case", "--score-prior", 0.5, "--json"]
    chosen = json.loads(choose("test.parquet", *words, "--over", 0.1, 0.3).stdout)
    assert chosen["answer"] == pr.choose(table, over=(0.1, 0.3), **asked).answer
    run = CliRunner().invoke
    models = {"champion": "A", "challenger": "C"}
    words = ["test.parquet", *map(str, words), "--prior", "0.1"]
    gated = json.loads(run(app, ["gate", *words, "--champion", "A", "--challenger", "C"]).stdout)
    difference = pr.gate(table, prior=0.1, **asked, **models).difference
    assert gated["difference"] == pytest.approx(difference, rel=1e-12)
    compared = json.loads(run(app, ["compare", *words, "--target", "trained"]).stdout)
    expected = pr.compare(table, prior=0.1, target="trained", **asked)
    difference = expected.pairs["difference"][0]
    assert compared["pairs"][0]["difference"] == pytest.approx(difference, rel=1e-12)
    pr.evaluate(table, **COLUMNS, by="model", priors=0.1).write_parquet("measures.parquet")
    refused = choose("measures.parquet", "--no-blocks", "--score-prior", 0.5)
    assert "'score_prior' is for predictions" in " ".join(refused.output.split())


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


@pytest.mark.long
@pytest.mark.slow
def test_one_test_set_without_cases_is_as_sure_as_in_python(tmp_path):
    table = pr.datasets.satellite_predictions().filter(fold=1).select("model", "truth", "score")
    file = tmp_path / "predictions.parquet"
    table.write_parquet(file)
    result = CliRunner().invoke(
        app,
        ["choose", str(file), "--truth", "truth", "--score", "score", "--over", "0.05", "0.2",
         "--json"],
    )  # fmt: skip
    choice = pr.choose(table, truth="truth", score="score", over=(0.05, 0.2))
    assert json.loads(result.stdout)["answer"] == choice.answer


def test_with_dropped_nulls_the_command_answers_as_the_function(tmp_path):
    lost = (pl.col("model") == "B") & (pl.col("case").rank("dense") <= 16)
    table = TABLE.with_columns(score=pl.when(~lost).then("score"))
    table.write_parquet(tmp_path / "lost.parquet")
    expected = pr.choose(table, **COLUMNS, case="case", over=(0.05, 0.2), nulls="drop")
    asked = ["--case", "case", "--over", 0.05, 0.2, "--nulls", "drop", "--json"]
    found = json.loads(choose(tmp_path / "lost.parquet", *WORDS, *asked).stdout)
    assert found["answer"] == expected.answer
