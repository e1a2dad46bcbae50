import ast
import csv
import json
import re
import subprocess
import sys
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.base.text import escape_control, escape_spreadsheet, text_of
from polaroc.cli.app import app

SOURCES = sorted((Path(pr.__file__).parent).rglob("*.py"))
BASE = ["--truth", "truth", "--score", "score"]
FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1"]
NAMES = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</script><b>", "&lt;b&gt;",
    "datum['truth'] + alert(1)", "a.b[0]", "x:Q", "{{7*7}}", "${7*7}", "%s", "\\", "\\u001b",
    "'; DROP TABLE t; --", "../../etc/passwd", "[bold red]x[/bold red]", ":smile:",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "\x00", "\x08", "\u202egnp.exe",
    "\u200b", "\x85", "a\nb", " ", "", *FORMULAS,
]  # fmt: skip


def polaroc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def table(column="model", names=NAMES):
    rows = [(name, truth, score) for name in names for truth, score in ((1, 3), (0, 2), (1, 1))]
    return pl.DataFrame(
        rows, schema={column: pl.String, "truth": pl.Int64, "score": pl.Int64}, orient="row"
    )


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    names = ["<script>alert(1)</script>", "\x1b[31mred", "datum['truth'] + alert(1)", FORMULAS[0]]
    table("<img src=x onerror=alert(1)>\x08", names).write_parquet(folder / "p.parquet")
    result = polaroc(
        "evaluate", folder / "p.parquet", *BASE, "--by", "<img src=x onerror=alert(1)>\x08",
        "--out", folder / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder / "out"


@pytest.mark.slow
@pytest.mark.parametrize("chart", ["roc", "pr", "auprec_by_prior"])
def test_names_are_text_in_charts(drawn, chart):
    page = Tags((drawn / f"{chart}.html").read_text(encoding="utf-8")).found
    assert [tag for tag, _ in page] == [
        "html", "head", "meta", "meta", "title", "style", "body", "div", "script", "script",
    ]  # fmt: skip
    assert not any(name.startswith("on") for _, attributes in page for name in attributes)
    assert not any("src" in attributes or "href" in attributes for _, attributes in page)
    picture = ElementTree.fromstring((drawn / f"{chart}.svg").read_text(encoding="utf-8"))
    assert {element.tag.rpartition("}")[2] for element in picture.iter()}.isdisjoint(
        {"script", "image", "foreignObject", "a"}
    )
    words = "".join(picture.itertext())
    for shown in ("<script>alert(1)</script>", "\\x1b[31mred", "datum['truth'] + alert(1)"):
        assert shown in words
    assert "\x1b" not in json.dumps(json.loads((drawn / f"{chart}.json").read_text()))


@pytest.mark.alike(12)
@pytest.mark.slow
@pytest.mark.parametrize("column", NAMES)
def test_names_are_text_on_the_terminal(tmp_path, column):
    table(column).write_parquet(tmp_path / "p.parquet")
    for command in ("evaluate", "check"):
        result = polaroc(command, tmp_path / "p.parquet", *BASE, "--by", column)
        assert result.exit_code == 0, result.output
        assert all(character.isprintable() or character == "\n" for character in result.output)
        assert escape_control("\x1b[31mred\x1b[0m") in result.output
        assert "[bold red]x[/bold red]" in result.output


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("column", [NAMES[0], *NAMES[15:18]])
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
        assert all(character.isprintable() or character == "\n" for character in result.output)
    assert {point[column] for point in json.loads(saved.read_text())["points"]} == set(NAMES)


@pytest.mark.alike(12)
@pytest.mark.slow
@pytest.mark.parametrize("column", NAMES)
def test_names_are_text_in_messages(tmp_path, column):
    table(column).with_columns(truth=pl.lit("yes")).write_parquet(tmp_path / "p.parquet")
    for arguments in ([*BASE, "--by", column], ["--truth", column, "--score", "score"]):
        result = polaroc("evaluate", tmp_path / "p.parquet", *arguments)
        assert result.exit_code == 2
        assert "Hint: " in result.output
        assert all(character.isprintable() or character == "\n" for character in result.output)


def test_formulas_are_text_in_csv_files(tmp_path):
    for heading in ("=1+1", "model"):
        table(heading).write_parquet(tmp_path / "p.parquet")
        out = tmp_path / "out"
        arguments = ["--by", heading, "--out", out]
        assert polaroc("evaluate", tmp_path / "p.parquet", *BASE, *arguments).exit_code == 0
        with (out / "measures.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        assert rows[0][0] == {"=1+1": "'=1+1", "model": "model"}[heading]
        assert {row[0] for row in rows[1:]} == {f"'{n}" if n in FORMULAS else n for n in NAMES}
        exact = pl.read_parquet(out / "measures.parquet")
        assert set(exact[heading]) == set(NAMES)


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(["-1", "=1", "a", "+2.50"])])
def test_only_formulas_are_changed(kind):
    given = pl.DataFrame({"k": pl.Series(["-1", "=1", "a", None, "+2.50"], dtype=kind), "n": -1.5})
    assert escape_spreadsheet(given)["k"].to_list() == ["-1", "'=1", "a", None, "+2.50"]
    assert escape_spreadsheet(given)["n"].to_list() == [-1.5] * 5


def test_what_csv_has_no_form_for_is_text():
    given = pl.DataFrame({
        "length": [timedelta(hours=1), None], "list": [[1, 2], None], "bytes": [b"a\xff", None],
    })  # fmt: skip
    written = escape_spreadsheet(given).write_csv()
    assert written.splitlines() == ["length,list,bytes", 'PT1H,"[1, 2]",a\\xff', ",,"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [([1, 2], "1,2"), ({"a": 1}, '{"a":1}'), (b"\xff", "ff"), (timedelta(hours=1), "PT1H")],
)
def test_text_is_made_as_the_hint_says(value, expected):
    table = pl.DataFrame({"k": [value]})
    (said,) = re.findall(r"pl\.col\(\.\.\.\)\.(.+)\.$", text_of(table.schema["k"]))
    own = eval(f"pl.col('k').{said}", {"pl": pl})
    assert table.select(own).item() == expected


def test_file_names_are_names(tmp_path):
    for name in ("$(touch hacked).csv", "a;b.csv", "--out.csv", "[x]*.csv", "\x1b[31m.csv"):
        table().select("truth", "score").write_csv(tmp_path / name)
        result = polaroc("evaluate", tmp_path / name, *BASE)
        assert result.exit_code == 0, (name, result.output)
    missing = polaroc("evaluate", tmp_path / "\x1b[31mno.csv", *BASE)
    assert missing.exit_code == 2
    assert "\x1b" not in missing.output


@pytest.mark.parametrize("address", ["https://example.org/p.parquet", "s3://bucket/p.parquet"])
def test_addresses_are_not_fetched(address):
    result = polaroc("evaluate", address, *BASE)
    assert result.exit_code == 2
    assert "no file matches" in result.output


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


@pytest.mark.long
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
    for made in ("out/pr.png", "roc.svg", "page.html"):
        assert (tmp_path / made).stat().st_size > 0


@pytest.mark.slow
def test_no_module_reads_pickles_or_runs_text():
    forbidden = {"pickle", "marshal", "shelve", "socket", "subprocess", "requests", "urllib3"}
    for file in SOURCES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert forbidden.isdisjoint(alias.name for alias in node.names), file
            if isinstance(node, ast.ImportFrom):
                assert node.module not in forbidden | {"urllib.request"}, file
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, file
