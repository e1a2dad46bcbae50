import io
import json
import os
import subprocess
import sys

import polars as pl
import pytest
from command_line import polaroc
from polars.testing import assert_frame_equal
from programs import missing, program

import polaroc as pr

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 3)
BASE = ["--truth", "truth", "--score", "score", "--model", "model", "--fold", "fold"]


def piped(kind: str) -> bytes:
    buffer = io.BytesIO()
    match kind:
        case "tsv":
            TABLE.write_csv(buffer, separator="\t")
        case "arrow":
            TABLE.write_ipc(buffer)
        case _:
            getattr(TABLE, f"write_{kind}")(buffer)
    return buffer.getvalue()


def measured(**arguments):
    return pr.evaluate(TABLE, truth="truth", score="score", **arguments)


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "predictions.parquet"
    TABLE.write_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "ndjson", "parquet", "arrow"])
def test_a_pipe_in_and_a_pipe_out(kind):
    result = polaroc("evaluate", "-", *BASE, "--json", stdin=piped(kind))
    assert result.exit_code == 0, result.output
    expected = measured()
    rows = json.loads(result.stdout)
    assert_frame_equal(pl.DataFrame(rows, schema=expected.schema), expected)


def test_keys_in_json_are_written_as_polars_writes_them(tmp_path):
    moments = pl.datetime_range(
        pl.datetime(2024, 1, 1), pl.datetime(2024, 1, 2), "1d", time_zone="Europe/Berlin"
    )
    keys = pl.select(
        at=moments,
        took=pl.Series([90_000, 1]).cast(pl.Duration("ms")),
        raw=pl.Series([b"\xfe", b"\xff"]),
    )
    table = keys.join(pl.DataFrame({"truth": [1, 0, 1], "score": [0.9, 0.1, 0.3]}), how="cross")
    table.write_parquet(tmp_path / "keys.parquet")
    by = [word for name in keys.columns for word in ("--by", name)]
    words = ["--truth", "truth", "--score", "score", *by, "--json"]
    found = json.loads(polaroc("evaluate", tmp_path / "keys.parquet", *words).stdout)
    written = json.loads(keys.drop("raw").write_json())
    expected = [{**row, "raw": raw} for row, raw in zip(written, ("fe", "ff"), strict=True)]
    assert all({name: row[name] for name in keys.columns} in expected for row in found)
    assert len({row["raw"] for row in found}) == 2


FEW = pl.DataFrame(
    {
        "id": [*range(60)] * 2, "model": ["A"] * 60 + ["B"] * 60,
        "truth": [i % 3 % 2 for i in range(60)] * 2, "grade": [i % 3 for i in range(60)] * 2,
        "score": [i * 7 % 11 + 6.0 * (i % 3 == 1) for i in range(60)]
        + [i * 5 % 13 + 7.0 * (i % 3 == 1) for i in range(60)],
    }
)  # fmt: skip
FROM_FEW = ["--truth", "truth", "--score", "score", "--fold", ""]
COMPARED = [*FROM_FEW[:4], "--case", "id", "--over", 0.05, 0.2]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("evaluate", FROM_FEW),
        ("check", ["--truth", "grade", *FROM_FEW[2:], "--positive", "2"]),
        ("compare", [*FROM_FEW[:4], "--measure", "auc", "--case", "id"]),
        ("choose", COMPARED),
        ("threshold", [*FROM_FEW, "--min-precision", 0.95, "--confidence", 0.95]),
        ("gate", ["--champion", "A", "--challenger", "B", *COMPARED]),
    ],
)
def test_json_has_the_notes_that_a_terminal_shows(tmp_path, command, options):
    FEW.write_parquet(tmp_path / "few.parquet")
    asked = [command, tmp_path / "few.parquet", *options]
    notes = [line for line in polaroc(*asked).output.splitlines() if line.startswith("Note")]
    result = polaroc(*asked, "--json")
    told = json.loads(result.stdout)
    known = [*(told["warnings"] if isinstance(told, dict) else []), *result.stderr.splitlines()]
    assert notes
    missing = [note for note in notes if not {note, note.removeprefix("Note: ")} & {*known}]
    assert not missing


@pytest.mark.parametrize(
    ("files", "stdin", "said"),
    [(["-", "-"], b"truth,score\n1,2\n", "given twice"), (["-"], b"", "nothing came in")],
)
def test_a_pipe_that_cannot_be_read_is_refused(files, stdin, said):
    result = polaroc("evaluate", *files, "--truth", "truth", "--score", "score", stdin=stdin)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Hint:" in result.stderr
    assert result.stdout == ""


@pytest.mark.slow
def test_a_report_goes_to_the_standard_output(predictions):
    columns = ["--truth", "truth", "--score", "score"]
    result = polaroc("report", predictions, *columns, "--over", 0.05, 0.2, "--out", "-")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("<!DOCTYPE html>")
    assert result.stdout.rstrip().endswith("</html>")
    assert "Note: Used by name: model" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--json"], []])
def test_no_colours_where_there_is_no_terminal(predictions, arguments):
    command = [sys.executable, "-m", "polaroc", "evaluate", str(predictions), *BASE, *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("unread", ["stdout", "stderr"])
def test_a_verdict_that_nobody_reads_keeps_its_code(predictions, unread):
    words = [
        "gate", str(predictions), *BASE[:4], "--champion", "A", "--challenger", "B",
        "--measure", "auc", "--test-train-ratio", "0.25",
    ]  # fmt: skip
    read = polaroc(*words)
    assert read.exit_code in (1, 3)
    reader, writer = os.pipe()
    os.close(reader)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, unread: writer}
    command = [sys.executable, "-m", "polaroc", *words]
    done = subprocess.run(command, **streams, check=False)
    os.close(writer)
    assert done.returncode == read.exit_code


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("polaroc eval", ["evaluate"]),
        ("polaroc chart aup", ["auprec_by_prior"]),
        ("polaroc sql --dialect duck", ["duckdb"]),
        ("polaroc compare --nulls dr", ["drop"]),
    ],
)
def test_a_shell_is_told_how_a_word_goes_on(typed, offered):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    asked = os.environ | words | {"_POLAROC_COMPLETE": "complete_bash"}
    command = [sys.executable, "-c", "from polaroc.cli.app import app; app(prog_name='polaroc')"]
    done = subprocess.run(command, capture_output=True, text=True, env=asked, check=False)
    assert done.stdout.split() == offered, done.stderr


def test_json_tells_null_from_what_is_no_number(tmp_path):
    keys = [float("inf"), -float("inf"), None, 0.5]
    table = pl.DataFrame({"k": [key for key in keys for _ in range(2)], "truth": [1, 0] * 4})
    table = table.with_columns(score=pl.Series([float("inf"), 0.0] * 4))
    table.write_parquet(tmp_path / "t.parquet")
    asked = [tmp_path / "t.parquet", "--truth", "truth", "--score", "score", "--by", "k", "--json"]
    for command in ("evaluate", "check"):
        rows = json.loads(polaroc(command, *asked).stdout)
        assert {row["k"] for row in rows} == {"inf", "-inf", None, 0.5}
    assert {row["highest"] for row in rows} == {"inf"}
    assert float("inf") == float(rows[0]["highest"])


@pytest.mark.parametrize("suffix", ["", ".csv", ".anything"])
def test_a_named_pipe_is_read(tmp_path, suffix):
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    file = tmp_path / "rows"
    file.write_bytes(piped("csv"))
    with subprocess.Popen(["sh", "-c", f"cat '{file}' > '{pipe}'"]):
        result = polaroc("evaluate", pipe, *BASE, "--json")
    assert result.exit_code == 0, result.output
    expected = measured()
    assert_frame_equal(pl.DataFrame(json.loads(result.stdout), schema=expected.schema), expected)


def test_what_is_wrong_with_a_pipe_is_said_of_the_pipe():
    result = polaroc("check", "-", *BASE[:4], stdin=b"truth,score\n1,0.5\n0,none\n")
    assert result.exit_code == 2
    assert "'none' in row 2 is none" in result.stderr


@pytest.mark.parametrize("command", ["monitor", "choose"])
def test_a_second_table_comes_out_of_a_pipe(tmp_path, predictions, command):
    asked = [*BASE[:4], "--json"]
    others = {
        "monitor": ["-", predictions, "--threshold", 0.5, "--time", "day", "--fold", ""],
        "choose": [predictions, "--tuning", "-", "--fold", "", "--over", 0.1, 0.3],
    }
    rows, first = io.BytesIO(), TABLE.filter(pl.col("fold") == 1).with_columns(day=1)
    first.filter(pl.col("case") % 2 == 0).write_parquet(predictions)
    first.filter(pl.col("case") % 2 == 1).write_csv(rows)
    (tmp_path / "rows.csv").write_bytes(rows.getvalue())
    words = [tmp_path / "rows.csv" if word == "-" else word for word in others[command]]
    piped_in = polaroc(command, *others[command], *asked, stdin=rows.getvalue())
    assert piped_in.exit_code in (0, 1), piped_in.output
    assert json.loads(piped_in.stdout) == json.loads(polaroc(command, *words, *asked).stdout)


@pytest.mark.slow
@pytest.mark.skipif(not program("bash"), reason="bash is not installed")
def test_what_a_shell_makes_a_pipe_of_is_read(predictions):
    asked = " ".join([*BASE, "--json"])
    words = f"{sys.executable} -m polaroc evaluate <(cat {predictions}) {asked}"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)) == measured().height


def run(words, redirection, folder="."):
    """The exit code and what is printed, by a shell that redirects streams."""
    if program("bash") is None:
        missing("bash is not there")
    command = f'"{sys.executable}" -m polaroc {words} {redirection}'
    # Without it, output that was not written shows only when Python ends.
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=False, cwd=folder,
        env=buffered,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


READ = "evaluate predictions.parquet --truth truth --score score"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("words", "redirection", "code", "said"),
    [
        ("evaluate - --truth truth --score score", "<&-", 2, "the standard input, which is closed"),
        ("--help", "> /dev/full", 2, "Error: No space left on device"),
        ("evaluate --help", "> /dev/full", 2, "Error: No space left on device"),
        ("--version", "> /dev/full", 2, "Error: No space left on device"),
        (READ, "> /dev/full", 2, "Error: No space left on device"),
        (READ + " --json", "> /dev/full", 2, "Error: No space left on device"),
        (READ, "2> /dev/full", 0, "AUPREC"),
        ("evaluate none.csv --truth truth --score score", "2> /dev/full", 2, ""),
        ("evaluate none.csv --nonsense", "2> /dev/full", 2, ""),
        ("evaluate none.csv --truth truth --score score", "2>&-", 2, ""),
    ],
)
def test_streams_that_are_closed_or_full(predictions, words, redirection, code, said):
    if "/dev/full" in redirection and not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    found, text = run(words, redirection, predictions.parent)
    assert found == code
    assert said in text
    assert "Traceback" not in text
    assert "bug" not in text
