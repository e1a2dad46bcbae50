import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
PREDICTIONS = ["--truth", "truth", "--score", "score"]
OVER = ["--over", 0.05, 0.2]
ON_CASES = [*PREDICTIONS, "--case", "case"]
ON_FOLDS = ["--test-train-ratio", 0.25]


def gate(*arguments: object):
    return CliRunner().invoke(app, ["gate", *map(str, arguments)])


def of(champion: str, challenger: str) -> list[str]:
    return ["--champion", champion, "--challenger", challenger]


CASES = TABLE.filter(fold=1).drop("fold")


@pytest.fixture
def files(tmp_path):
    measures = pr.evaluate(
        TABLE, truth="truth", score="score", by=["model", "fold"], over=(0.05, 0.2)
    )
    measures.write_parquet(tmp_path / "measures.parquet")
    TABLE.write_parquet(tmp_path / "folds.parquet")
    TABLE.filter(fold=1).drop("fold").write_csv(tmp_path / "cases.csv")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([*of("C", "A"), *OVER], 0),
        ([*of("A", "C"), *OVER], 1),
        ([*of("A", "C"), *OVER, "--margin", 0.05], 3),
        ([*of("A", "C"), *OVER, "--margin", 0.2], 0),
        ([*of("A", "svm"), *OVER], 2),
    ],
)
def test_the_exit_code_is_the_verdict(files, arguments, code):
    assert gate(files / "cases.csv", *ON_CASES, *arguments).exit_code == code


def test_folds_of_predictions_and_of_measures_are_read(files):
    arguments = [*of("A", "C"), *OVER, *ON_FOLDS, "--margin", 0.01]
    stored = gate(files / "measures.parquet", *arguments)
    assert stored.exit_code == 3
    assert stored.stdout.startswith("Undecided: C may or may not be worse than A by more than 0.01")
    assert "On 4 folds" in stored.stdout
    read = gate(files / "folds.parquet", *PREDICTIONS, *arguments)
    first, numbers = stored.stdout.splitlines()[:2]
    assert read.stdout.splitlines()[:2] == [first, numbers]
    # Measures do not tell the bias of few negatives.
    assert "With few negatives" in read.stdout
    assert "With few negatives" not in stored.stdout


def test_models_are_told_apart_by_numbers_too(files):
    numbered = pl.col("model").replace_strict({"A": 1, "B": 2, "C": 3})
    TABLE.filter(fold=1).with_columns(numbered).write_parquet(files / "numbered.parquet")
    result = gate(files / "numbered.parquet", *ON_CASES, *of("1", "3"), *OVER)
    assert result.exit_code == 1
    assert result.stdout.startswith("Fail: 3 is worse than 1 in IAUPREC")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("file", "arguments", "message"),
    [
        ("cases.csv", [*ON_CASES], "give --over 0.05 0.20, or --prior 0.1"),
        ("cases.csv", [*ON_CASES, *OVER, "--margin", -1], "for example --margin 0.01"),
        ("cases.csv", [*ON_CASES, *OVER, "--model", "clf"], "'clf'"),
        ("cases.csv", [*OVER], "--truth truth and --score score"),
        ("measures.parquet", [*ON_FOLDS, "--over", 0.1, 0.3], "name one of these as --over"),
    ],
)
def test_wrong_arguments_have_a_hint_with_options(files, file, arguments, message):
    result = gate(files / file, *arguments, *of("A", "C"))
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert "Hint: " in result.output


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        (
            CASES.with_columns(score=pl.when(pl.col("case") > 9).then("score")),
            "drop such rows with --nulls drop, or correct them before.",
        ),
        (
            pl.concat([CASES, CASES.head(5)]),
            "keep one row per case and model, or say that no column tells cases apart",
        ),
    ],
    ids=["missing", "twice"],
)
def test_hints_at_cases_name_options_that_the_gate_has(files, rows, hint):
    rows.write_parquet(files / "wrong.parquet")
    result = gate(files / "wrong.parquet", *ON_CASES, *of("C", "A"), *OVER)
    assert result.exit_code == 2
    (said,) = (line for line in result.output.splitlines() if line.startswith("Hint: "))
    assert said.startswith(f"Hint: {hint}")
    assert "--by" not in said
    assert "pr." not in said


def test_models_that_are_not_named_are_asked_for(files):
    lacking = gate(files / "cases.csv", *ON_CASES, *OVER)
    assert lacking.exit_code == 2
    assert "Hint: give --champion MODEL, --challenger MODEL" in lacking.output
