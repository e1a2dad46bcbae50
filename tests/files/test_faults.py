"""Commands that are killed, whose disk is full, or that may use little memory."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from command_line import polaroc
from programs import program
from scipy import stats

import polaroc as pr
from polaroc.errors import OutputRefused

pytestmark = pytest.mark.slow
KILLS = 8
BASE = ["--truth", "truth", "--score", "score", "--model", "model", "--fold", "fold"]
TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def names(folder):
    return {file.name for file in folder.iterdir()}


def test_a_killed_command_leaves_the_old_output_or_the_new_one(tmp_path):
    file, target = tmp_path / "predictions.parquet", tmp_path / "out"
    TABLE.write_parquet(file)
    words = [sys.executable, "-m", "polaroc", "evaluate", str(file), *BASE, "--quiet"]
    subprocess.run([*words, "--measure", "auc", "--out", target], check=True)
    files, moments = names(target), random.Random(2)
    measures = ["auc", "auprec"]
    for kill in range(KILLS):
        before = names(target)
        process = subprocess.Popen([*words, "--measure", measures[kill % 2], "--out", target])
        # It is killed while it writes, which is when something new is beside its output.
        while process.poll() is None and names(target) <= before:
            time.sleep(0.001)
        time.sleep(moments.random() / 100)
        process.send_signal(moments.choice([signal.SIGKILL, signal.SIGTERM]))
        process.wait()
        # Each file is the old one or the new one.
        assert {file for file in names(target) if not file.startswith(".polaroc-")} == files
        for table in (
            pl.read_parquet(target / "measures.parquet"),
            pl.read_csv(target / "measures.csv"),
        ):
            assert set(table["measure"]) in ({"auc"}, {"auprec"})
    subprocess.run([*words, "--measure", "auc", "--out", target], check=True)
    assert set(pl.read_parquet(target / "measures.parquet")["measure"]) == {"auc"}
    assert names(tmp_path) == {"out", "predictions.parquet"}


@needs_root
def test_a_full_disk_is_said_and_leaves_the_earlier_output(tmp_path, monkeypatch):
    file, disk = tmp_path / "predictions.parquet", tmp_path / "disk"
    TABLE.write_parquet(file)
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]
    if not program("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("there is no mount, or this root may not mount")
    try:
        words = ["evaluate", str(file), *BASE, "--out", str(disk / "out")]
        assert polaroc(*words).exit_code == 0
        earlier = {one.name: one.read_bytes() for one in (disk / "out").iterdir()}
        # Rows that need more memory go to the system's folder of temporary files.
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        rows = pl.LazyFrame({"truth": [True, False], "score": [0.9, 0.1]})
        many = pl.concat([rows] * 8).select(pl.all().repeat_by(500_000).explode())
        with pytest.raises(OutputRefused, match="scratch space"):
            pr.evaluate(many, truth="truth", score="score", memory="500MB").collect()
        with (disk / "ballast").open("wb", buffering=0) as ballast:
            try:
                while True:
                    ballast.write(b"0" * 1024)
            except OSError:
                pass
        result = polaroc(*words)
        assert result.exit_code == 2
        assert "No space left" in result.output
        assert {one.name: one.read_bytes() for one in (disk / "out").iterdir()} == earlier
        assert names(disk) == {"out", "ballast"}
    finally:
        subprocess.run(["umount", disk], check=True)


# Rows, and the bytes that their process may use, which are less than they need all at once.
ROWS, LIMIT = 15_000_000, 400_000_000
CHUNK, SHIFT = 5_000_000, 1.5
SCANNED = """
import sys
import polars as pl
import polaroc as pr
rows = pl.scan_parquet(sys.argv[1])
found = pr.evaluate(rows, truth="truth", score="score", by="key").collect()
print(*found.filter(measure="auc")["estimate"])
"""


@contextmanager
def memory_of_at_most(size):
    """A control group that what runs in the block may join."""
    folder = Path("/sys/fs/cgroup")
    limit = "memory.max"
    if (folder / "memory").is_dir():
        folder, limit = folder / "memory", "memory.limit_in_bytes"
    group = folder / f"polaroc-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("there are no control groups, or this root may not make one")
    try:
        if not (group / limit).exists():
            pytest.skip("control groups here know no memory")
        (group / limit).write_text(str(size))
        yield group
    finally:
        group.rmdir()


@needs_root
def test_a_scan_of_more_rows_than_memory_has_room_for(tmp_path):
    rng = np.random.default_rng(0)
    for start in range(0, ROWS, CHUNK):
        truth = rng.random(CHUNK) < 0.1
        score = rng.normal(size=CHUNK) + SHIFT * truth
        rows = {"key": rng.integers(0, 20, CHUNK), "truth": truth, "score": score}
        pl.DataFrame(rows).write_parquet(tmp_path / f"{start:010}.parquet")
    words = [sys.executable, "-c", SCANNED, str(tmp_path / "*.parquet")]
    with memory_of_at_most(LIMIT) as group:
        # It joins before it starts, so that all of its memory counts.
        join = f'echo $$ > {group}/cgroup.procs && exec "$@"'
        result = subprocess.run(["sh", "-c", join, "sh", *words], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    areas = np.array(result.stdout.split(), float)
    assert len(areas) == 20
    # The area of normal scores; errors of an area of 75,000 positives are about 0.0007.
    assert np.abs(areas - stats.norm.cdf(SHIFT / 2**0.5)).max() < 0.004
