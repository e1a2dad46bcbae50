import gzip
import io
import subprocess
import sys
import tempfile
from pathlib import Path

import fuzz
import polars as pl
import pytest

RUN = [sys.executable, "-m", "polaroc"]
BASE = fuzz.BASE
KEPT = sorted(fuzz.CORPUS.glob("*"))
SECONDS = 300
MEMORY = 4 * 2**30


@pytest.mark.slow
def test_kept_files_are_read_or_refused(tmp_path):
    # In a process of its own: what is kept there may once have ended one.
    assert KEPT
    assert sum(file.stat().st_size for file in KEPT) < 200_000
    script = [sys.executable, fuzz.HERE, "--batch", "0", tmp_path / "current", *KEPT]
    before = set(fuzz.FOUND.glob("*"))
    run = subprocess.run(script, capture_output=True, text=True, timeout=len(KEPT) * fuzz.HANGS)
    current = tmp_path / "current"
    assert run.returncode == 0, (current.read_bytes()[:200], run.stderr)
    assert run.stdout.count("done") == len(KEPT)
    assert set(fuzz.FOUND.glob("*")) == before


@pytest.mark.slow
@pytest.mark.parametrize("suffix", fuzz.SUFFIXES)
def test_files_that_end_too_early(suffix):
    table = pl.DataFrame({"truth": [1, 0] * 9, "score": [0.5, 0.25, 1.0] * 6, "model": "a"})
    data = fuzz.written(table, suffix)
    way = bytes([fuzz.SUFFIXES.index(suffix)])
    with tempfile.TemporaryDirectory() as folder:
        step = max(1, len(data) // 12)
        for end in {*range(0, len(data), step), len(data) - 1, len(data)}:
            assert fuzz.examine(way + data[:end], Path(folder)) is None, end


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
