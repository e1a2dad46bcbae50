import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app

KEYS = ["model", "fold"]
# Two models on three folds of 10 + 30 cases.
CASES = pl.DataFrame(
    [
        {"model": model, "fold": fold, "case": 100 * fold + case, "truth": case < 10,
         "score": (case * 7 + fold + len(model)) % 11 / 10}
        for model in ("A", "BB") for fold in (1, 2, 3) for case in range(40)
    ]
)  # fmt: skip
LACKING = CASES.filter(~((pl.col("model") == "BB") & (pl.col("fold") == 2)))
# Of one model's third fold a case is missing.
UNEQUAL = CASES.filter(~((pl.col("model") == "A") & (pl.col("case") == 305)))
# The third fold of both has a tenth of the cases.
SMALL = CASES.filter((pl.col("fold") < 3) | (pl.col("case") % 10 == 0))
# The third fold of both has 36 of 40 positives, and all folds 56 of 120.
OTHER_SHARE = CASES.with_columns(
    truth=pl.when(pl.col("fold") == 3).then(pl.col("case") < 336).otherwise("truth")
)
SAID = {
    "lacking": (LACKING, "1 of 2 models lack this test set", [("A", 2)]),
    "unequal": (
        UNEQUAL,
        "the models of this test set have different numbers of cases",
        [("A", 3), ("BB", 3)],
    ),
    "small": (SMALL, "4 cases, where 40 are usual", [("A", 3), ("BB", 3)]),
    "other share": (
        OTHER_SHARE,
        "0.9 of the cases are positive, of all test sets 0.47",
        [("A", 3), ("BB", 3)],
    ),
}
every_table = pytest.mark.parametrize(("table", "said", "where"), SAID.values(), ids=SAID)
ASKED = ["--truth", "truth", "--score", "score"]
BY = ["--model", "model", "--fold", "fold"]
OVER = ["--over", "0.3", "0.5"]
RATIO = ["--test-train-ratio", "0.5"]


def polaroc(command, file, *arguments):
    words = [command, *([] if command != "chart" else ["pairs"]), str(file), *ASKED]
    result = CliRunner().invoke(app, [*words, *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.fixture
def saved(tmp_path):
    def save(table):
        table.write_parquet(tmp_path / "predictions.parquet")
        return tmp_path / "predictions.parquet"

    return save


@every_table
@pytest.mark.parametrize("keys", [KEYS, KEYS[::-1]])
def test_check_says_what_is_uneven_and_where(table, said, where, keys):
    report = pr.check(table, truth="truth", score="score", by=keys)
    noted = report.filter(pl.col("note").str.contains(said, literal=True))
    assert noted.select(KEYS).sort(KEYS).rows() == where


def test_nothing_is_said_of_folds_alike():
    assert pr.check(CASES, truth="truth", score="score", by=KEYS)["note"].null_count() == 6
    # A third of 30 cases beside a quarter of 40: such folds are common.
    fewer = CASES.filter(pl.col("case") < 330)
    assert pr.check(fewer, truth="truth", score="score", by=KEYS)["note"].null_count() == 6


def test_keys_that_lie_within_each_other_are_not_uneven():
    patients = CASES.select(
        pl.col("fold").alias("hospital"), pl.col("case").mod(17).add(pl.col("fold") * 100)
        .alias("patient"), "truth", "score",
    )  # fmt: skip
    report = pr.check(patients, truth="truth", score="score", by=["hospital", "patient"])
    assert not report["note"].str.contains("lack|different|usual|blocks").any()


@pytest.mark.parametrize("keys", [[], ["model"]])
def test_without_folds_nothing_is_uneven(keys):
    notes = pr.check(UNEQUAL, truth="truth", score="score", model=None, fold=None, by=keys)[
        "note"
    ].drop_nulls()
    assert not notes.str.contains("lack|different|usual number|blocks").any()


@pytest.mark.slow
@every_table
@pytest.mark.parametrize("command", ["check", "evaluate"])
def test_the_terminal_says_it(saved, command, table, said, where):
    assert said in polaroc(command, saved(table), *BY)


@pytest.mark.parametrize("rows", [1, 5, 6])
def test_check_says_also_what_is_wrong_with_keys_that_are_not_shown(saved, rows):
    told = polaroc("check", saved(SMALL), *BY, "--rows", rows)
    assert ("Note on 2 key(s): 4 cases, where 40 are usual" in told) == (rows < 3)
    assert "4 cases, where 40 are usual" in told


def test_check_says_which_cases_come_twice(saved):
    twice = pl.concat([CASES, CASES.filter(pl.col("case") == 105)])
    told = polaroc("check", saved(twice), *BY, "--case", "case")
    assert told.count("1 rows repeat a case") == 2
    assert "rows repeat" not in polaroc("check", saved(twice), *BY, "--case", "")
    other = twice.with_columns(truth=pl.when(pl.col("case") != 105).then("truth").otherwise(
        pl.col("model") == "A"
    ))  # fmt: skip
    assert "1 cases have two truths" in polaroc("check", saved(other), *BY, "--case", "case")


# How the commands that compare models call what `check` says of a key.
COMPARED = {
    "unequal": "In 1 fold(s) the models were tested on different numbers of cases",
    "small": "1 fold(s) clearly differ from the others, but count as much: fold=3",
    "other share": "1 fold(s) clearly differ from the others, but count as much: fold=3",
}
COMMANDS = {
    "compare": [*OVER, *RATIO],
    "choose": OVER,
    "report": [*OVER, *RATIO],
    "chart": [*OVER, *BY, *RATIO],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "what"),
    [*((command, what) for command in ("compare", "choose") for what in COMPARED),
     ("report", "small")],
)  # fmt: skip
def test_comparisons_say_it(saved, tmp_path, command, what):
    arguments = [] if command in ("compare", "choose") else ["--out", tmp_path / "out.html"]
    if what == "unequal":
        # Where cases are told apart such folds are refused.
        arguments += ["--case", ""]
    told = polaroc(command, saved(SAID[what][0]), *COMMANDS[command], *arguments)
    assert COMPARED[what] in told
    if command == "report":
        assert COMPARED[what] in " ".join((tmp_path / "out.html").read_text().split())


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_model_that_lacks_a_fold_is_refused(saved, tmp_path, command):
    file = saved(LACKING)
    arguments = [*COMMANDS[command], *(
        [] if command in ("compare", "choose") else ["--out", tmp_path / "out.html"]
    )]  # fmt: skip
    words = [command, *([] if command != "chart" else ["pairs"]), str(file), *ASKED]
    refused = CliRunner().invoke(app, [*words, *map(str, arguments)])
    assert refused.exit_code == 2
    assert "1 of 6 cells are missing: model='BB', fold=2" in refused.output
