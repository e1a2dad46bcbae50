"""Names that are code, formulas or control characters stay text in every output."""

import csv
import json
import subprocess
import sys

import polars as pl
import pytest
from command_line import polaroc

import polaroc as pr

BASE = ["--truth", "truth", "--score", "score"]
FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1"]
NAMES = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</script><b>", "&lt;b&gt;",
    "datum['truth'] + alert(1)", "a.b[0]", "x:Q", "{{7*7}}", "${7*7}", "%s", "\\", "\\u001b",
    "'; DROP TABLE t; --", "../../etc/passwd", "[bold red]x[/bold red]", ":smile:",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "\x00", "\x08", "\u202egnp.exe",
    "\u200b", "\x85", "a\nb", " ", "", *FORMULAS,
]  # fmt: skip
# One of each kind: markup, code of charts, styles and control characters of terminals, formulas.
FEW = (
    "<script>alert(1)</script>",
    "a.b[0]",
    "[bold red]x[/bold red]",
    "\x1b[31mred\x1b[0m",
    "=1+1",
)
columns = pytest.mark.parametrize(
    "column", [*FEW, *(pytest.param(one, marks=pytest.mark.slow) for one in NAMES)]
)


def table(column="model", names=NAMES):
    rows = [(name, truth, score) for name in names for truth, score in ((1, 3), (0, 2), (1, 1))]
    return pl.DataFrame(
        rows, schema={column: pl.String, "truth": pl.Int64, "score": pl.Int64}, orient="row"
    )


def is_printable(text):
    return all(character.isprintable() or character == "\n" for character in text)


@columns
def test_names_are_text_on_the_terminal(tmp_path, column):
    file = tmp_path / "p.parquet"
    table(column).write_parquet(file)
    for command in ("evaluate", "check"):
        result = polaroc(command, file, *BASE, "--by", column)
        assert result.exit_code == 0, result.output
        assert is_printable(result.output)
        assert "\\x1b[31mred\\x1b[0m" in result.output
        assert "[bold red]x[/bold red]" in result.output
    table(column).with_columns(truth=pl.lit("yes")).write_parquet(file)
    for arguments in ([*BASE, "--by", column], ["--truth", column, "--score", "score"]):
        result = polaroc("evaluate", file, *arguments)
        assert result.exit_code == 2
        assert "Hint: " in result.output
        assert is_printable(result.output)


@pytest.mark.slow
@pytest.mark.parametrize("column", FEW)
def test_names_are_text_for_thresholds_monitors_and_gates(tmp_path, column):
    file, other, saved = (tmp_path / name for name in ("p.parquet", "q.parquet", "saved.json"))
    rows = pl.concat([table(column)] * 4)
    rows = rows.with_columns(day=1, case=pl.int_range(pl.len()).over(column))
    rows.write_parquet(file)
    rows.with_columns(pl.col("score") * 2).write_parquet(other)
    keys = [*BASE, "--model", column]
    several = ["--champion", NAMES[0], "--challenger", NAMES[1], "--model", column]
    for words in (
        ["threshold", file, *keys, "--rule", "youden", "--out", saved],
        ["threshold", other, *keys, "--apply", saved],
        ["monitor", other, file, *keys, "--time", "day", "--threshold", saved],
        ["gate", file, *BASE, *several, "--prior", "0.5", "--case", "case"],
    ):
        result = polaroc(*words)
        assert result.exit_code in (0, 1, 3), result.output
        assert is_printable(result.output)
    assert {point["model"] for point in json.loads(saved.read_text())["points"]} == set(NAMES)


@pytest.mark.parametrize("heading", ["=1+1", "model"])
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical])
def test_formulas_are_text_in_csv_files_and_all_else_is_unchanged(tmp_path, heading, kind):
    names, out = [*NAMES, "-1", "+2.50"], tmp_path / "out"
    table(heading, names).cast({heading: kind}).write_parquet(tmp_path / "p.parquet")
    arguments = [*(["--by", heading] if heading != "model" else []), "--out", out]
    assert polaroc("evaluate", tmp_path / "p.parquet", *BASE, *arguments).exit_code == 0
    with (out / "measures.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][0] == {"=1+1": "'=1+1", "model": "model"}[heading]
    assert {row[0] for row in rows[1:]} == {f"'{n}" if n in FORMULAS else n for n in names}
    assert set(pl.read_parquet(out / "measures.parquet")[heading].cast(pl.String)) == set(names)


def test_names_of_files_are_names(tmp_path):
    for name in ("$(touch hacked).csv", "a;b.csv", "--out.csv", "[x]*.csv", "\x1b[31m.csv"):
        table().select("truth", "score").write_csv(tmp_path / name)
        result = polaroc("evaluate", tmp_path / name, *BASE)
        assert result.exit_code == 0, (name, result.output)
    missing = polaroc("evaluate", tmp_path / "\x1b[31mno.csv", *BASE)
    assert missing.exit_code == 2
    assert "\x1b" not in missing.output


# --- what the package may not do ---------------------------------------------------------------

WATCHED = """
import sys
def watch(event, arguments):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto",
                         "pickle.find_class", "os.system", "subprocess.Popen", "urllib.")):
        raise RuntimeError(f"{event} {arguments}")
sys.addaudithook(watch)
from polaroc.cli.app import app
for words in ARGUMENTS:
    app(words, standalone_mode=False)
"""


@pytest.mark.slow
def test_no_network_no_pickle_and_no_other_program(tmp_path):
    file, out = str(tmp_path / "p.parquet"), str(tmp_path / "out")
    pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3).write_parquet(file)
    keys = ["--model", "model", "--fold", "fold"]
    over, ratio = ["--over", "0.05", "0.2"], ["--test-train-ratio", "0.25"]
    arguments = [
        ["evaluate", file, *BASE, *keys, *over, "--out", out],
        ["check", file, *BASE, *keys],
        ["compare", f"{out}/measures.parquet", *ratio],
        ["choose", file, *BASE, *over, *ratio],
        ["chart", "roc", file, *BASE, *keys, "--out", str(tmp_path / "roc.svg")],
        ["report", file, *BASE, *keys, *over, *ratio, "--out", str(tmp_path / "page.html")],
    ]
    script = WATCHED.replace("ARGUMENTS", repr(arguments))
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    for made in ("out/measures.parquet", "roc.svg", "page.html"):
        assert (tmp_path / made).stat().st_size > 0
