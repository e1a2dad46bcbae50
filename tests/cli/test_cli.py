import json
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import polaroc as pr
from polaroc import __main__ as program
from polaroc.cli import app
from polaroc.cli.commands import Call

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
CHARTS = {
    f"{name}.{kind}"
    for name in ("roc", "pr", "auprec_by_prior")
    for kind in ("json", "html", "svg", "png")
}
BASE = ["--truth", "truth", "--score", "score"]
KEYS = ["--model", "model", "--fold", "fold"]


def polaroc(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "predictions.parquet"
    TABLE.write_parquet(path)
    return path


@pytest.mark.slow
def test_demo_says_what_it_found_and_writes_it(tmp_path):
    result = polaroc("demo", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "report.html").read_text()
    for start in (
        "Take A, and set the threshold of the final model to find at least 90 % of",
        "Set it on cases that this model was not trained on",
        "A is the best of the",
    ):
        (said,) = [line for line in result.output.splitlines() if line.startswith(start)]
        assert said.replace(" %", "\N{NO-BREAK SPACE}%") in page
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {"report.html", "measures.parquet", "measures.csv", ".polaroc"}


@pytest.mark.slow
def test_evaluate_writes_what_the_function_returns(file, tmp_path):
    options = ["--prior", 0.5, "--prior", "observed", "--over", 0.05, 0.2]
    out = tmp_path / "out"
    result = polaroc("evaluate", file, *BASE, *KEYS, *options, "--out", out)
    assert result.exit_code == 0, result.output
    expected = pr.evaluate(
        TABLE,
        truth="truth",
        score="score",
        by=["model", "fold"],
        priors=[0.5, "observed"],
        over=(0.05, 0.2),
    )
    assert_frame_equal(pl.read_parquet(out / "measures.parquet"), expected)
    csv = pl.read_csv(out / "measures.csv", schema_overrides={"note": pl.String})
    assert_frame_equal(csv, expected)
    assert {path.name for path in out.iterdir()} >= CHARTS


def test_evaluate_prints_mean_and_sd_over_folds(file):
    result = polaroc("evaluate", file, *BASE, *KEYS, "--prior", 0.1)
    measures = pr.evaluate(TABLE, truth="truth", score="score", by=["model", "fold"], priors=0.1)
    auc = measures.filter(measure="auc", model="B")["estimate"]
    assert f"{auc.mean():.3f} ({auc.std():.3f})" in result.output


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["no", "yes"], "yes"), ([1, 2], "2"), ([False, True], "true"), ([0.0, 1.0], "1")],
)
def test_positive_labels_of_every_type(tmp_path, labels, positive):
    table = TABLE.select(
        pl.col("truth").replace_strict({False: labels[0], True: labels[1]}), "score"
    )
    table.write_parquet(tmp_path / "table.parquet")
    result = polaroc("check", tmp_path / "table.parquet", *BASE, "--positive", positive)
    assert result.exit_code == 0, result.output
    assert str(TABLE["truth"].sum()) in result.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.parquet", *BASE], "no file matches"),
        (["FILE", "--truth", "label", "--score", "score"], "no column 'label'"),
        (["FILE", "--truth", "truth", "--score", "model"], "allowed are numbers"),
        (["FILE", *BASE, "--by", "nope"], "no column 'nope'"),
        (["FILE", *BASE, "--by", "model", "--by", "model"], "names a column twice"),
        (["FILE", *BASE, "--prior", "5%"], "--prior is '5%'"),
        (["FILE", *BASE, "--prior", "1.5"], "prior is 1.5"),
        (["FILE", *BASE, "--over", "0.2", "0.1"], "lo < hi"),
        (["FILE", *BASE, "--positive", "maybe"], "--positive is maybe"),
        (["FILE", "--truth", "fold", "--score", "score"], "unclear truth label"),
        (["FILE", *BASE, "--weight", "model"], "allowed are numbers"),
        (["BROKEN", *BASE], "Hint:"),
    ],
)
def test_bad_input_is_one_message_and_leaves_nothing(tmp_path, file, arguments, said):
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(file.read_bytes()[:2000])
    places = {"FILE": str(file), "BROKEN": str(broken)}
    out = tmp_path / "out"
    filled = [places.get(argument, argument) for argument in arguments]
    result = polaroc("evaluate", *filled, "--out", out)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert "Hint:" in result.output
    assert "Traceback" not in result.output
    assert {path.name for path in tmp_path.iterdir()} == {"predictions.parquet", "broken.parquet"}


def test_hints_are_in_the_words_of_the_command_line(tmp_path):
    table = TABLE.with_columns(pl.lit(None, pl.Float64).alias("score"))
    table.write_parquet(tmp_path / "table.parquet")
    result = polaroc("evaluate", tmp_path / "table.parquet", *BASE)
    assert "--nulls drop" in result.output
    assert "nulls=" not in result.output


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "evaluate"])
def test_an_empty_table_is_refused(tmp_path, command):
    TABLE.clear().write_parquet(tmp_path / "table.parquet")
    result = polaroc(command, tmp_path / "table.parquet", *BASE)
    assert result.exit_code == 2
    assert "no rows" in result.output


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "ndjson"])
def test_a_damaged_file_is_named(tmp_path, file, suffix):
    (tmp_path / f"damaged.{suffix}").write_bytes(b"\x00\xff" * 40)
    result = polaroc("evaluate", file, tmp_path / f"damaged.{suffix}", *BASE)
    assert result.exit_code == 2
    assert "Hint:" in result.output
    assert f"damaged.{suffix}" in result.output


def test_means_say_how_many_they_lack(tmp_path):
    key = pl.col("fold") == 1
    table = TABLE.with_columns(truth=pl.col("truth") & ~key)
    table.write_parquet(tmp_path / "table.parquet")
    result = polaroc("evaluate", tmp_path / "table.parquet", *BASE, *KEYS, "--prior", "0.5")
    assert "without 1" in result.output
    assert "no positives" in result.output


def test_many_keys_leave_a_chart_out_and_say_so(tmp_path):
    table = pl.DataFrame({"model": list(range(310)) * 2, "truth": [1] * 310 + [0] * 310})
    table.with_columns(score=pl.col("truth") * 1.0).write_parquet(tmp_path / "table.parquet")
    result = polaroc(
        "evaluate", tmp_path / "table.parquet", *BASE, "--no-fold", "--out", tmp_path / "out"
    )
    assert result.exit_code == 0, result.output
    assert "Chart roc left out: there are 310 curves" in result.output
    assert (tmp_path / "out" / "measures.parquet").exists()


def test_version():
    assert polaroc("--version").output.strip() == version("polaroc")


@pytest.mark.slow
def test_the_command_is_installed():
    run = subprocess.run(
        [sys.executable, "-m", "polaroc", "evaluate", "none.csv", *BASE],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert run.stderr.startswith("Error: no file matches 'none.csv'.")
    assert run.stdout == ""


@pytest.mark.parametrize("command", ["check", "evaluate"])
def test_labels_that_may_be_misspelt_are_told(tmp_path, command):
    file = tmp_path / "labels.csv"
    file.write_text("label,p\nyes,0.9\nno,0.2\nno,0.1\nYes,0.5\n")
    asked = [command, file, "--truth", "label", "--score", "p", "--positive", "yes"]
    result = polaroc(*asked)
    assert result.exit_code == 0, result.output
    said = "Note: 2 labels of the truth column 'label' count as negative: 'Yes', 'no'."
    assert result.output.count(said) == 1
    assert "count as" not in polaroc(*asked, "--positive", "Yes").output
    assert "count as" not in polaroc(*asked, "--quiet").output
    result = polaroc(*asked, "--positive", "Yes", "--positive", "sure")
    said = "Note: No row has the positive label 'sure'; the truth column 'label' has the labels "
    assert said + "'Yes', 'no', 'yes'." in result.output


def test_a_text_of_a_missing_truth_is_no_negative(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text('label,p\nyes,0.9\nno,0.2\n"",0.3\nNA,0.4\nno,0.1\nyes,0.15\n')
    asked = ["evaluate", file, "--truth", "label", "--score", "p", "--positive", "yes"]
    result = polaroc(*asked)
    assert result.exit_code == 2
    assert "2 null truths (texts of missing values in the truth column" in result.output
    assert "--nulls drop" in result.output
    found = polaroc(*asked, "--nulls", "drop", "--measure", "auc", "--json").stdout
    assert json.loads(found)[0]["estimate"] == 0.75
    assert json.loads(found)[0]["note"] == "dropped 2 null truths"


@pytest.mark.parametrize(("mark", "named"), [(";", "';'"), ("|", "'|'"), ("\t", r"'\t'")])
def test_another_separator_is_guessed(tmp_path, mark, named):
    file = tmp_path / "p.csv"
    file.write_text(f"label{mark}p\n1{mark}0.9\n0{mark}0.1\n")
    result = polaroc("check", file, "--truth", "label", "--score", "p")
    assert result.exit_code == 2
    assert f"is its separator {named}?" in result.output
    file.write_text(f"label{mark}p,n\n1{mark}0.9,2\n0{mark}0.1,3\n")
    result = polaroc("check", file, "--truth", "label", "--score", "p")
    assert f"is its separator {named}?" in result.output


@pytest.mark.parametrize(
    ("command", "twice"),
    [
        ("evaluate", ["--weight", "score", "--weight", "other"]),
        ("check", ["--truth", "truth", "--truth", "other"]),
        ("evaluate", ["--over", "0.1", "0.2", "--over", "0.2", "0.3"]),
        ("choose", ["--level=0.8", "--level=0.9"]),
        ("report", ["--out", "a.html", "--out", "b.html"]),
        ("sql", ["--table", "a", "--table", "b"]),
    ],
)
def test_an_option_with_one_value_is_not_given_twice(file, command, twice):
    given = [word for word in BASE if twice[0] not in (word, BASE[BASE.index(word) - 1])]
    place = [] if command == "sql" else [file]
    result = polaroc(command, *place, *given, *twice)
    assert result.exit_code == 2
    name = twice[0].partition("=")[0]
    assert f"{name} is given 2 times, allowed is once." in result.output


def test_options_with_several_values_and_flags_may_be_repeated(file):
    repeated = [
        "--prior",
        0.1,
        "--prior",
        0.2,
        "--model",
        "model",
        "--fold",
        "fold",
        "--json",
        "--json",
    ]
    assert polaroc("evaluate", file, *BASE, *repeated).exit_code == 0


LABELS = {
    "labels": (pl.col("truth") ^ (pl.col("case") % 7 == 0), "scores are 0 and 1 only"),
    "the truth": (pl.col("truth"), "the score is the truth itself"),
}


@pytest.mark.parametrize(("score", "said"), LABELS.values(), ids=LABELS)
def test_scores_that_are_labels_are_said(tmp_path, score, said):
    place = tmp_path / "labels.parquet"
    of_a = pl.when(model="A").then(score.cast(pl.Float64)).otherwise("score")
    TABLE.with_columns(score=of_a).write_parquet(place)
    over = ["--over", 0.05, 0.2]
    for command in (
        ["evaluate", place], ["choose", place, *over], ["chart", "roc", place, "--out", "-"],
    ):  # fmt: skip
        result = polaroc(*command, *BASE)
        assert result.exit_code == 0, result.output
        # `evaluate` shows its notes by estimate, of which each of the two keys has five.
        of = "10 estimate(s)" if command[0] == "evaluate" else "2 key(s)"
        # Of a choice they are those of 2 of the 6 folds of all models.
        words = f"2 of 6 estimates carry a note: {said}"
        words = words if command[0] == "choose" else f"Note on {of}: {said}"
        assert " ".join(result.output.split()).count(words) == 1
    checked = pr.check(pl.read_parquet(place), truth="truth", score="score")
    assert checked.filter(model="A")["note"].str.starts_with(said).all()
    assert checked.filter(pl.col("model") != "A")["note"].null_count() == 4


def test_scores_that_only_begin_like_labels_are_none(tmp_path):
    table = pl.DataFrame({"truth": [1, 0, 1], "score": [1.0, 0.0, 0.5]})
    assert pr.check(table, truth="truth", score="score")["note"].to_list() == [None]
    constant = table.with_columns(score=pl.lit(1))
    assert pr.check(constant, truth="truth", score="score")["note"].to_list() == ["constant score"]


def test_a_key_that_csv_has_no_form_for_is_written_in_words(tmp_path):
    for key, written in (([1, 2], "[1, 2]"), (b"a\xff", "a\\xff"), ({"a": 1}, "{'a': 1}")):
        table = TABLE.filter(model="A", fold=1).drop("model", "fold")
        table.with_columns(k=pl.lit(pl.Series([key]).first())).write_parquet(tmp_path / "t.parquet")
        out = ["--by", "k", "--no-charts", "--out", tmp_path / "out"]
        result = polaroc("evaluate", tmp_path / "t.parquet", *BASE, *out)
        assert result.exit_code == 0, result.output
        csv = pl.read_csv(tmp_path / "out" / "measures.csv", infer_schema=False)
        assert set(csv["k"]) == {written}


OTHER = b"n\xffme".decode(errors="surrogateescape")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", OTHER, *BASE],
        ["check", "FILE", *BASE, "--by", OTHER],
        ["evaluate", "FILE", *BASE, "--out", OTHER],
        ["evaluate", "FILE", "--truth", OTHER, "--score", "score"],
        ["chart", "roc", "FILE", *BASE, "--out", f"{OTHER}.svg"],
        ["chart", "roc", "FILE", *BASE, "--title", OTHER],
        ["report", "FILE", *BASE, "--over", "0.05", "0.2", "--out", f"{OTHER}.html"],
    ],
)
def test_words_that_are_not_utf8_are_refused(file, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    result = polaroc(*(file if word == "FILE" else word for word in arguments))
    assert result.exit_code == 2, result.exception
    assert "is not UTF-8" in result.output
    assert r"n\xffme" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.parquet"]


def test_output_below_a_folder_that_is_not_utf8_is_refused(file, tmp_path, monkeypatch):
    place = tmp_path / OTHER
    place.mkdir()
    monkeypatch.chdir(place)
    result = polaroc("evaluate", file, *BASE, "--out", "out")
    assert result.exit_code == 2
    assert "is not UTF-8" in result.output
    assert not list(place.iterdir())


@pytest.mark.alike(2)
@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.05, 0.1, 0.2, 0.3, 0.5])
def test_an_interrupt_during_the_imports_is_no_traceback(moment):
    # The command says when its first line has run.
    words = "import sys; from polaroc.__main__ import main; print('begun', flush=True); main()"
    with subprocess.Popen(
        [sys.executable, "-c", words, "demo", "--help"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "begun\n"
        time.sleep(moment)
        process.send_signal(signal.SIGINT)
        shown, said = process.communicate(timeout=60)
    if "Usage" in shown:
        # Python that has run everything and is ending heeds no handler any more.
        return
    assert process.returncode == 130
    # Typer, while it reads the arguments, ends without a word.
    assert said in ("", "Interrupted: nothing was written.\n")


@pytest.fixture
def command(monkeypatch):
    def ended(*words):
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        monkeypatch.setattr(sys, "argv", ["polaroc", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            program.main()
        return end.value.code

    return ended


@pytest.mark.parametrize("error", [KeyError("x"), EOFError(), RecursionError(), ValueError("y")])
def test_an_unexpected_error_has_an_exit_code_of_its_own(file, command, monkeypatch, capsys, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(Call, "__call__", fail)
    words = ["gate", file, *BASE, "--champion", "A", "--challenger", "B"]
    assert command(*words) == 70
    said = capsys.readouterr().err
    assert type(error).__name__ in said
    assert "This is a bug in polaroc" in said
    assert "Hint: send the lines above, the command and this line" in said
    assert f"polars {pl.__version__}" in said
    # Errors on purpose, and those of the system, are none.
    for foreseen in (pr.errors.MissingExtra("x is missing.", hint="install it."), OSError("full")):
        error = foreseen
        assert command(*words) == 2
    assert command("gate", "--nonsense") == 2
    assert command("--version") == 0


def test_a_damaged_installation_is_no_verdict(command, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "polaroc.cli", None)
    assert command("--version") == 70
    assert "ModuleNotFoundError" in capsys.readouterr().err
