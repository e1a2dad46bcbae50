"""Broken files: no traceback, no hang, no partial output."""

import gzip
import io
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from command_line import polaroc

RUN = [sys.executable, "-m", "polaroc"]
BASE = ["--truth", "truth", "--score", "score", "--fold", ""]
RANGE = ["--over", "0.1", "0.5"]
# The first byte of a kept file says under which name which command reads the others.
KEPT = sorted((Path(__file__).parents[1] / "corpus").glob("*"))
SUFFIXES = (".parquet", ".csv", ".tsv", ".ndjson", ".arrow", ".csv.gz", ".ndjson.zst")
# FILE is what is broken; WHOLE and USE are tables beside it, OUT or MEASURES is the result.
COMMANDS = (
    ["evaluate", "FILE", *BASE, "--out", "MEASURES"],
    ["check", "FILE", *BASE],
    ["evaluate", "FILE", *BASE[:4], "--weight", "w", "--nulls", "drop", "--positive", "1"],
    ["compare", "FILE", "--measure", "auc", "--test-train-ratio", "0.25"],
    ["choose", "FILE", "--fold", ""],
    ["gate", "FILE", "--champion", "a", "--challenger", "b", *BASE[:4], *RANGE],
    ["threshold", "FILE", *BASE, *RANGE, "--min-recall", "0.5", "--out", "OUT"],
    ["threshold", "WHOLE", *BASE, "--apply", "FILE"],
    ["monitor", "WHOLE", "FILE", *BASE, "--time", "w", "--threshold", "0.5", *RANGE],
    ["monitor", "WHOLE", "USE", *BASE, "--time", "w", "--threshold", "FILE"],
)
# Of these commands the file is neither predictions nor measures.
SUFFIX_OF = {7: ".json", 9: ".parquet"}
RESULT = {"MEASURES": "out.csv", "OUT": "out"}
# A verdict is no failure: worse, undecided, an alarm, nothing that can be promised.
VERDICTS = {"gate": {0, 1, 3}, "threshold": {0, 3}, "monitor": {0, 1}}
SECONDS = 300
MEMORY = 4 * 2**30
TABLE = pl.DataFrame(
    {
        "truth": [1, 0, 1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.2, 0.5, 0.5],
        "model": list("aaabbb"), "w": [1.0, 2, 1, 2, 1, 0.5],
    }
)  # fmt: skip


def assert_read_or_refused(data: bytes, folder: Path) -> None:
    way = data[0] // len(SUFFIXES) % len(COMMANDS)
    suffix = SUFFIX_OF.get(way, SUFFIXES[data[0] % len(SUFFIXES)])
    place = folder / "place"
    place.mkdir()
    names = {name: place / file for name, file in RESULT.items()} | {
        "FILE": place / f"p{suffix}", "WHOLE": folder / "whole.parquet",
        "USE": folder / "use.parquet",
    }  # fmt: skip
    TABLE.write_parquet(names["WHOLE"])
    TABLE.drop("truth").write_parquet(names["USE"])
    names["FILE"].write_bytes(data[1:])
    result = polaroc(*(names.get(word, word) for word in COMMANDS[way]))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert result.exit_code in VERDICTS.get(COMMANDS[way][0], {0}) | {2}
    assert result.exit_code != 2 or "Hint: " in result.output
    assert all(letter.isprintable() or letter == "\n" for letter in result.output)
    names["FILE"].unlink(missing_ok=True)
    asked = [file for name, file in RESULT.items() if name in COMMANDS[way]]
    left = sorted(entry.name for entry in place.rglob("*"))
    assert left == (asked if result.exit_code == 0 else [])


@pytest.mark.slow
@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.name)
def test_kept_files_are_read_or_refused(file, tmp_path):
    assert_read_or_refused(file.read_bytes(), tmp_path)


def written(table: pl.DataFrame, suffix: str) -> bytes:
    file = io.BytesIO()
    if suffix == ".parquet":
        table.write_parquet(file)
    elif suffix == ".arrow":
        table.write_ipc(file)
    elif ".ndjson" in suffix:
        table.write_ndjson(file, compression="zstd" if suffix.endswith(".zst") else "uncompressed")
    else:
        table.write_csv(file, separator="\t" if suffix == ".tsv" else ",")
    data = file.getvalue()
    return gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_that_end_too_early(suffix, tmp_path):
    table = pl.DataFrame({"truth": [1, 0] * 9, "score": [0.5, 0.25, 1.0] * 6, "model": "a"})
    data, way = written(table, suffix), bytes([SUFFIXES.index(suffix)])
    step = max(1, len(data) // 12)
    for end in {*range(0, len(data), step), len(data) - 1, len(data)}:
        (tmp_path / f"{end}").mkdir()
        assert_read_or_refused(way + data[:end], tmp_path / f"{end}")


def refused_or_read(file, *arguments):
    # The shell sets the limit: code of ours between fork and exec would run in a copy of this
    # process, with the threads of the engines that other tests have started.
    run = subprocess.run(
        ["sh", "-c", f'ulimit -v {MEMORY // 1024} && exec "$@"', "sh", *RUN,
         "evaluate", file, *BASE[:4], *arguments],
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    assert run.returncode in (0, 2), run.stderr
    assert "Traceback" not in run.stderr
    assert run.returncode == 0 or run.stderr.count("Hint: ") == 1
    return run


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_pages_that_unpack_to_a_thousand_times_their_size(tmp_path, suffix):
    rows = 10_000_000
    file = tmp_path / f"bomb{suffix}"
    if suffix == ".parquet":
        plan = pl.LazyFrame().select(
            (pl.int_range(rows) % 2).alias("truth"), pl.lit(0.5).alias("score"),
        )  # fmt: skip
        plan.sink_parquet(file, compression="zstd")
    else:
        line = io.BytesIO(b"truth,score\n" + b"1,0.5\n0,0.5\n" * 1_000_000)
        file.write_bytes(gzip.compress(line.getvalue()))
    assert file.stat().st_size < 2**20
    assert refused_or_read(file, "--memory", "500MB").returncode == 0
