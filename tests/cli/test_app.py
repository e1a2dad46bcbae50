"""Refusals, exit codes, notes and signals of all commands."""

import json
import runpy
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import polars as pl
import pytest
from command_line import polaroc

import polaroc as pr

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
BASE = ["--truth", "truth", "--score", "score"]
RANGE = ["--over", 0.05, 0.2]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_parquet("p.parquet")
    pr.evaluate(TABLE, truth="truth", score="score").write_parquet("m.parquet")
    TABLE.filter(model="A", fold=1).select("truth", "score").write_csv("one.csv")
    (tmp_path / "broken.parquet").write_bytes((tmp_path / "p.parquet").read_bytes()[:2000])
    (tmp_path / "words.csv").write_text("truth,score\n1,0.9\n0,none\n")
    return tmp_path


READ = ["evaluate", "p.parquet", *BASE]
ONE = ["one.csv", *BASE]
MODELS = ["--champion", "A", "--challenger", "B"]
# A command line, and words of its refusal.
REFUSED = [
    (["evaluate"], "Missing argument"),
    ([*READ, "--thruth", "x"], "No such option: --thruth"),
    ([*READ, "--interpolation", "spline"], "is not one of 'exact', 'linear', 'step', 'hull'"),
    ([*READ, "--over", "0.1"], "requires 2 arguments"),
    (["evaluate", "none.parquet", *BASE], "no file matches 'none.parquet'"),
    (["evaluate", *ONE, "other"], "repeat the option, --score A --score B"),
    (["evaluate", "broken.parquet", *BASE], "broken.parquet"),
    (["evaluate", "words.csv", *BASE], "'none' in row 2 is none"),
    (["evaluate", "p.parquet", "--truth", "label", "--score", "score"], "no column 'label'"),
    (["evaluate", "p.parquet", "--truth", "truth", "--score", "model"], "allowed are numbers"),
    ([*READ, "--by", "nope"], "no column 'nope'"),
    ([*READ, "--prior", "5%"], "'5%' is neither a share"),
    ([*READ, "--prior", "20"], "5 % positives is 0.05"),
    ([*READ, "--over", "0.2", "0.1"], "lo < hi"),
    ([*READ, "--positive", "maybe"], "--positive is maybe"),
    ([*READ, "--grid", "5"], "give --over 0.05 0.20"),
    ([*READ, "--measure", "nope"], "measure is 'nope'"),
    ([*READ, "--out", "x.html"], "name a folder, or a table"),
    ([*READ, "--out", "p.parquet", "--force"], "is an input"),
    ([*READ, "--out", "one.csv"], "choose another path; on the command line --force replaces it"),
    ([*READ, "--memory", "much"], "memory is 'much'"),
    (["evaluate", "one.csv", *BASE, "--score", "score"], "score names a column twice"),
    (["evaluate", "-", "-", *BASE], "a pipe can be read once"),
    (["compare", "m.parquet", "--measure", "auc"], "--test-train-ratio 0.25"),
    (["compare", "p.parquet", "--test-train-ratio", "0.25"], "over is None"),
    (["compare", "p.parquet", *BASE, "--test-train-ratio", "0.25"], "for example --over 0.05"),
    (["compare", "m.parquet", "--weight", "w"], "for predictions alone is --weight"),
    (["choose", "m.parquet", "--model", "m", "--fold", ""], "alone is --model, --fold"),
    (["chart", "pairs", "m.parquet", "--by", "x"], "for predictions alone is --by"),
    (["choose", "p.parquet", *BASE], "give --over 0.05 0.20"),
    (["choose", "m.parquet", *RANGE], "--over 0.05 0.2 --grid 16 --out FOLDER"),
    (["gate", "p.parquet", *BASE, *RANGE], "Missing option '--champion'"),
    (["threshold", *ONE, "--rule", "best"], "is not one of"),
    (["threshold", *ONE, "--rule", "fewest_alarms"], "needs constraints"),
    (["threshold", *ONE, "--cost-fn", "0"], "cost_fn is 0"),
    (["threshold", *ONE, "--min-precision", "50"], "--min-precision"),
    (["threshold", *ONE, *RANGE, "--prior", "0.1"], "one of the two"),
    (["threshold", *ONE, *RANGE], "such as --cost-fn 5"),
    (["threshold", *ONE, "--min-precision", "0.5", "--confidence", "95"], "confidence"),
    (["threshold", *ONE, "--apply", "none.json"], "there is no such file"),
    (["threshold", *ONE, "--apply", "one.csv"], "has no digest"),
    (["threshold", *ONE, "--apply", "0.3", "--min-recall", "0.9"], "--apply judges"),
    (["threshold", *ONE, "--out", "one.csv", "--force"], "is an input"),
    (["monitor", "one.csv", *ONE, "--time", "day"], "Missing option '--threshold'"),
    (["monitor", "one.csv", *ONE, "--time", "day", "--threshold", "x"], "no such file"),
    (["monitor", "one.csv", *ONE, "--time", "day", "--threshold", "1"], "'day'"),
    (["report", "p.parquet", *BASE, *RANGE, "--out", "r.pdf"], "for example --out report.html"),
    (["report", "p.parquet", *BASE, *RANGE, "--out", "one.csv"], "an HTML page or JSON"),
    (["report", "p.parquet", *BASE, *RANGE, "--min-recall", "0.9", "--cost-fn", "5"], "recall"),
    (["chart", "pie", "p.parquet", *BASE], "is not one of"),
    (["chart", "roc", "m.parquet"], "is drawn from predictions"),
    (["chart", "roc", "p.parquet", *BASE, "--out", "roc.doc"], "for example --out roc.html"),
    (["chart", "accsens_plane", "p.parquet", *BASE], "--over 0.05 0.20"),
    (["sql", "--table", "a.b.c.d", *BASE], "allowed are name, schema.name"),
    (["sql", "--table", "t", *BASE, "--dialect", "dbase"], "is not one of"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_refused_command_lines(here, words, said):
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    result = polaroc(*words)
    assert result.exit_code == 2, result.output
    assert said in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert "Traceback" not in result.output
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize("command", ["check", "evaluate"])
def test_an_empty_table_is_refused(tmp_path, command):
    TABLE.clear().write_parquet(tmp_path / "table.parquet")
    result = polaroc(command, tmp_path / "table.parquet", *BASE)
    assert result.exit_code == 2
    assert "no rows" in result.output


OTHER = b"n\xffme".decode(errors="surrogateescape")


@pytest.mark.parametrize(
    "words",
    [
        ["check", OTHER, *BASE],
        ["evaluate", "p.parquet", *BASE, "--out", OTHER],
        ["chart", "roc", "p.parquet", *BASE, "--title", OTHER],
    ],
)
def test_words_that_are_not_utf8_are_refused(here, words):
    result = polaroc(*words)
    assert result.exit_code == 2, result.exception
    assert r"'n\xffme' is not UTF-8" in result.output


def test_columns_that_are_used_or_not_are_named(here):
    TABLE.with_columns(extra=1).write_parquet("p.parquet")
    said = "Note: Used by name: model 'model', fold 'fold', case 'case'. Not used: 'extra'."
    assert said in polaroc("check", "p.parquet", *BASE).stderr
    assert "case" not in polaroc(*READ, "--json").stderr
    result = polaroc("check", "p.parquet", *BASE, "--model", "", "--fold", "", "--case", "")
    assert "Not used: 'model', 'fold', 'case', 'extra'." in result.stderr
    assert "Used" not in polaroc("check", "p.parquet", *BASE, "--quiet").stderr


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["no", "yes"], "yes"), ([1, 2], "2"), ([False, True], "true"), ([0.0, 1.0], "1")],
)
def test_positive_labels_of_every_type(tmp_path, labels, positive):
    values = pl.col("truth").replace_strict({False: labels[0], True: labels[1]})
    TABLE.select(values, "score").write_parquet(tmp_path / "table.parquet")
    result = polaroc("check", tmp_path / "table.parquet", *BASE, "--positive", positive, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["positives"] == TABLE["truth"].sum()


def test_means_say_how_many_they_lack(tmp_path):
    table = TABLE.with_columns(truth=pl.col("truth") & (pl.col("fold") != 1))
    table.write_parquet(tmp_path / "table.parquet")
    result = polaroc("evaluate", tmp_path / "table.parquet", *BASE, "--prior", "0.5")
    assert "without 1" in result.output
    assert "no positives" in result.output


def test_intervals_of_each_key_are_printed(tmp_path):
    TABLE.filter(pl.col("fold") < 3).write_parquet(tmp_path / "table.parquet")
    words = [tmp_path / "table.parquet", *BASE, "--intervals", "--prior", "0.1"]
    printed = polaroc("evaluate", *words).stdout
    rows = pr.evaluate(
        TABLE.filter(pl.col("fold") < 3), measure=["auc", "auprec"], priors=0.1, intervals=True
    )
    for ends in rows.select("estimate", "lower", "upper").rows():
        assert "{:.3f} ({:.3f} to {:.3f})".format(*ends) in printed


def test_a_measure_stands_under_its_prior_if_another_model_has_one_prior_less(tmp_path):
    # Half of the cases of A are positive: at its observed prior it is measured once.
    table = pl.DataFrame({
        "model": ["A"] * 4 + ["B"] * 5, "truth": [1, 0, 1, 0, 1, 0, 0, 0, 1],
        "score": [0.9, 0.8, 0.7, 0.2, 0.5, 0.6, 0.1, 0.2, 0.7],
    })  # fmt: skip
    table.write_parquet(tmp_path / "table.parquet")
    shown = polaroc("evaluate", tmp_path / "table.parquet", *BASE, "--measure", "auprec").stdout
    measures = pr.evaluate(table, truth="truth", score="score", measure="auprec")
    at = {(model, round(prior, 9)): one for model, prior, one in
          measures.select("model", "prior", "estimate").rows()}  # fmt: skip
    for model, observed in (("A", 0.5), ("B", 0.4)):
        (line,) = [line.split() for line in shown.splitlines() if line.startswith(f" {model} ")]
        expected = [f"{at[model, prior]:.3f}" for prior in (observed, 0.5, 0.1, 0.01)]
        assert line == [model, *expected]


@pytest.fixture
def command(monkeypatch):
    """The program in this process: its exit code."""
    main = runpy.run_module("polaroc.__main__")["main"]

    def ended(*words):
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        monkeypatch.setattr(sys, "argv", ["polaroc", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code

    return ended


@pytest.mark.parametrize("error", [KeyError("x"), EOFError(), RecursionError(), ValueError("y")])
def test_an_unexpected_error_has_an_exit_code_of_its_own(here, command, monkeypatch, capsys, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(pr, "gate", fail)
    words = ["gate", "p.parquet", *BASE, *MODELS]
    assert command(*words) == 70
    said = capsys.readouterr().err
    assert type(error).__name__ in said
    assert "This is a bug in polaroc" in said
    assert f"polars {pl.__version__}" in said
    # Refusals, and errors of the system, are no bugs.
    error = pr.errors.MissingExtra("x is missing.", hint="install it.")
    assert command(*words) == 2
    error = OSError("full")
    assert command(*words) == 2
    error = KeyboardInterrupt()
    assert command(*words) == 130


def test_a_damaged_installation_is_no_verdict(command, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "polaroc.cli.app", None)
    assert command("--version") == 70
    assert "ModuleNotFoundError" in capsys.readouterr().err


def test_version():
    assert polaroc("--version").output.strip() == version("polaroc")


@pytest.mark.slow
@pytest.mark.parametrize("moment", [0.05, 0.3])
def test_an_interrupt_during_the_imports_is_no_traceback(moment):
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
        # Python that is ending heeds no handler any more.
        return
    assert process.returncode == 130
    assert said in ("", "Interrupted: nothing was written.\n")


def test_columns_of_their_names_need_no_options(here):
    predictions = pr.datasets.satellite_predictions()
    predictions.write_parquet("named.parquet")
    named = ["--truth", "truth", "--score", "score"]
    found, expected = (
        polaroc("evaluate", "named.parquet", *more, "--measure", "auc", "--json")
        for more in ([], named)
    )
    assert found.exit_code == 0, found.output
    assert found.stdout == expected.stdout
    predictions.rename({"truth": "y_true"}).write_parquet("other.parquet")
    refused = polaroc("evaluate", "other.parquet")
    assert refused.exit_code == 2
    assert "truth has no column; the table has" in refused.stderr
