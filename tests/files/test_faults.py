import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import figures
import numpy as np
import polars as pl
import pytest
from figures import FIGURES
from programs import program
from scipy import stats
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli import app
from polaroc.files.atomic import MARK, atomic_file, atomic_folder
from polaroc.files.read import Stamps

pytestmark = pytest.mark.faults
# `just faults` injects more of them.
KILLS = int(os.environ.get("POLAROC_KILLS", "2"))
BASE = ["--truth", "truth", "--score", "score", "--model", "model", "--fold", "fold"]
TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
RANGE = ["--over", "0.05", "0.2"]
RECALL = [*RANGE, "--rule", "recall", "--target", "0.9"]
# By command that writes: its arguments, its output and the files that are in it.
COMMANDS = {
    "evaluate": (
        ["evaluate", "FILE", *BASE, "--no-charts", "--out"],
        "out",
        {"measures.csv", "measures.parquet", MARK},
    ),
    "compare": (
        ["compare", "FILE", *BASE[:4], *RANGE, "--test-train-ratio", "0.25", "--out"],
        "out",
        {"letters.csv", "omnibus.csv", "pairs.csv", "summary.txt", MARK},
    ),
    "report": (
        ["report", "FILE", *BASE, *RANGE, "--test-train-ratio", "0.25", "--out"],
        "page.html",
        {"page.html"},
    ),
    "threshold": (
        ["threshold", "FILE", *BASE, *RECALL, "--force", "--out"],
        "threshold.json",
        {"threshold.json"},
    ),
    "chart": (
        ["chart", "auprec_by_prior", "FILE", *BASE, *RANGE, "--out"],
        "areas.svg",
        {"areas.svg"},
    ),
}
# The last line of a page.
ENDS = {".html": "</html>", ".svg": "</svg>", ".json": "}"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted as root only")
needs_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")


@pytest.fixture(params=["evaluate"])
def command(request, tmp_path):
    file = tmp_path / "predictions.parquet"
    TABLE.write_parquet(file)
    arguments, out, files = COMMANDS[request.param]
    return [str(file) if word == "FILE" else word for word in arguments], out, files


every_command = pytest.mark.parametrize("command", COMMANDS, indirect=True)
# Whose output is there before, and those that make a page.
killed_commands = pytest.mark.parametrize("command", ["evaluate", "report", "chart"], indirect=True)


def run(arguments, **options):
    words = [sys.executable, "-m", "polaroc", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=300, **options)


def run_here(arguments):
    """As `run`, without a process, whose imports take longer than most commands."""
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)


def run_cheaply(arguments):
    """One command in a process of its own, the others in this one."""
    return (run if arguments[0] == "evaluate" else run_here)(arguments)


def kill(process, moments):
    FIGURES[figures.KILLS] += 1
    process.send_signal(moments.choice([signal.SIGKILL, signal.SIGTERM]))


def refused(result):
    """One message, exit code 2, no traceback."""
    FIGURES[figures.FAULTS] += 1
    assert result.returncode == 2, result.stderr
    assert result.stdout == ""
    assert "\nError: " in f"\n{result.stderr}"
    assert result.stderr.count("Hint: ") == 1
    assert "Traceback" not in result.stderr
    return True


def names(folder):
    return {file.name for file in folder.iterdir()}


def shapes(output):
    """What a whole output has: last digits differ from run to run."""
    files = output.iterdir() if output.is_dir() else [output] if output.exists() else []
    return {file.name: shape(file) for file in files}


def shape(file):
    if file.suffix == ".parquet":
        return pl.read_parquet(file).shape
    text = file.read_text(encoding="utf-8").rstrip()
    assert text.endswith(ENDS.get(file.suffix, ""))
    return len(text.splitlines())


# --- killed ------------------------------------------------------------------------------------

# Outputs of ever new generations, each of two files of one content.
WRITER = """
import itertools, pathlib, sys
from polaroc.files.atomic import atomic_folder
target = pathlib.Path(sys.argv[1])
for generation in itertools.count():
    with atomic_folder(target) as staging:
        for name in ("one", "two"):
            (staging / name).write_text(str(generation))
    print(generation, flush=True)
"""


@pytest.mark.parametrize("one_step", [True, False])
def test_a_killed_writer_leaves_the_old_output_or_the_new_one(tmp_path, one_step):
    target = tmp_path / "out"
    # Where the system cannot exchange names, the next run puts things right.
    patch = "import polaroc.files.atomic as o; o._exchange = lambda *_: False\n"
    patch = "" if one_step else patch
    moments = random.Random(5)
    for _ in range(KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-c", patch + WRITER, target], stdout=subprocess.PIPE, text=True
        )
        with writer:
            writer.stdout.readline()
            time.sleep(moments.random() / 20)
            kill(writer, moments)
        if one_step or target.exists():
            assert names(target) == {"one", "two", MARK}
            assert (target / "one").read_text() == (target / "two").read_text()
    for left in tmp_path.glob(".polaroc-*"):
        # Killed before its lock had its name: such a folder is given up after a minute.
        if not (left / "lock").exists():
            os.utime(left, (0, 0))
    with pytest.raises(KeyboardInterrupt), atomic_folder(target):
        # The next run found and removed what was left, and put back what was moved away.
        assert names(target) == {"one", "two", MARK}
        assert len(list(tmp_path.glob(".polaroc-*"))) == 1
        raise KeyboardInterrupt
    assert names(tmp_path) == {"out"}


@pytest.mark.alike
@killed_commands
def test_a_killed_command_leaves_the_old_output_or_the_new_one(command, tmp_path):
    arguments, out, files = command
    target = tmp_path / out
    once = arguments[0] == "chart"
    started = time.monotonic()
    assert run([*arguments, target]).returncode == 0
    takes = time.monotonic() - started
    old = shapes(target)
    assert set(old) == files
    moments = random.Random(2)
    for _ in range(max(1, KILLS // 4)):
        if once:
            # A chart does not replace another.
            target.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "polaroc", *arguments, target],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(takes * moments.uniform(0.3, 1))
        kill(process, moments)
        process.wait()
        assert shapes(target) in ([old, {}] if once else [old])
    if once:
        target.unlink(missing_ok=True)
    assert run_here([*arguments, target]).returncode == 0
    assert shapes(target) == old
    assert names(tmp_path) == {out, "predictions.parquet"}


def listed(folder):
    """The names in a folder, read again where another took its place meanwhile."""
    while True:
        place, found = folder.stat().st_ino, names(folder)
        if folder.stat().st_ino == place:
            return found


def test_two_writers_at_once(tmp_path):
    target = tmp_path / "out"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, target], stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]  # fmt: skip
    for writer in writers:
        for _ in range(100):
            assert writer.stdout.readline(), "a writer gave up"
    seen = Counter()
    for _ in range(200):
        seen[frozenset(listed(target))] += 1
    for writer in writers:
        writer.kill()
        writer.communicate()
    assert set(seen) == {frozenset({"one", "two", MARK})}
    assert (target / "one").read_text() == (target / "two").read_text()


# Pages of ever new generations, each of many equal lines.
PAGES = """
import itertools, pathlib, sys
from polaroc.files.atomic import atomic_file
target = pathlib.Path(sys.argv[1])
for generation in itertools.count():
    with atomic_file(target, lambda _: True) as staging:
        staging.write_text(f"{sys.argv[2]} {generation}\\n" * 10_000)
    print(generation, flush=True)
"""


def test_two_writers_of_one_page(tmp_path):
    target = tmp_path / "page.html"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", PAGES, target, name], stdout=subprocess.PIPE, text=True
        )
        for name in ("first", "second")
    ]  # fmt: skip
    for writer in writers:
        for _ in range(20):
            assert writer.stdout.readline(), "a writer gave up"
    for _ in range(50):
        lines = target.read_text().splitlines()
        assert len(lines) == 10_000
        assert len(set(lines)) == 1
    for writer in writers:
        assert writer.poll() is None
        writer.kill()
        writer.communicate()


def test_two_writers_of_one_file_do_not_overwrite_each_other(tmp_path):
    target = tmp_path / "page.html"
    first = pytest.raises(pr.errors.OutputRefused, match="there already")
    with first, atomic_file(target) as staging:
        staging.write_text("first begun")
        with atomic_file(target) as other:
            other.write_text("first done")
    assert target.read_text() == "first done"
    assert names(tmp_path) == {"page.html"}


def test_a_file_added_while_the_output_is_made_is_not_lost(tmp_path):
    target = tmp_path / "out"
    with atomic_folder(target) as staging:
        (staging / "a").touch()
    with pytest.raises(pr.errors.OutputRefused, match=r"'thesis.tex'"), atomic_folder(target):
        (target / "thesis.tex").write_text("years of work")
    assert (target / "thesis.tex").read_text() == "years of work"


# --- no room, no right -------------------------------------------------------------------------


@contextmanager
def files_of_at_most(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.alike(2)
@every_command
def test_files_that_may_not_grow(command, tmp_path):
    arguments, out, _ = command
    # A process that is started has the limit too.
    with files_of_at_most(100):
        result = run_cheaply([*arguments, tmp_path / out])
    assert refused(result)
    assert "File too large" in result.stderr
    assert "free space" in result.stderr
    assert names(tmp_path) == {"predictions.parquet"}


@needs_root
@pytest.mark.alike(2)
@every_command
def test_a_full_disk(command, tmp_path):
    arguments, out, _ = command
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk]
    if not program("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("there is no mount, or this root may not mount")
    try:
        assert run_here([*arguments, disk / out]).returncode == 0
        earlier = shapes(disk / out)
        _fill(disk / "ballast")
        # A chart does not replace another.
        again = f"other-{out}" if arguments[0] == "chart" else out
        result = run_cheaply([*arguments, disk / again])
        assert refused(result)
        assert "No space left" in result.stderr
        assert shapes(disk / out) == earlier
        assert names(disk) == {out, "ballast"}
    finally:
        subprocess.run(["umount", disk], check=True)


def _fill(file):
    with file.open("wb", buffering=0) as ballast:
        try:
            while True:
                ballast.write(b"0" * 1024)
        except OSError:
            return


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder nobody may write to")
@pytest.mark.alike(2)
@every_command
def test_a_folder_nobody_may_write_to(command):
    arguments, out, _ = command
    assert refused(run_cheaply([*arguments, f"/proc/{out}"]))


@needs_user
@every_command
def test_a_read_only_folder(command, tmp_path):
    arguments, out, _ = command
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    result = run_cheaply([*arguments, closed / out])
    assert refused(result)
    assert "denied" in result.stderr


# --- little memory -----------------------------------------------------------------------------

# Rows, and the bytes that their process may use, which are less than they need all at once.
ROWS, LIMIT = (100_000_000, 2_000_000_000) if KILLS > 100 else (15_000_000, 400_000_000)
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
    FIGURES[figures.FAULTS] += 1
    assert result.returncode == 0, result.stderr
    areas = np.array(result.stdout.split(), float)
    assert len(areas) == 20
    # The area of normal scores; errors of an area of 75,000 positives are about 0.0007.
    assert np.abs(areas - stats.norm.cdf(SHIFT / 2**0.5)).max() < 0.004


# --- what is read changes ----------------------------------------------------------------------


READERS = {
    **{name: (words, out) for name, (words, out, _) in COMMANDS.items()},
    "choose": (["choose", "FILE", *BASE[:4], *RANGE], None),
    "check": (["check", "FILE", *BASE], None),
}


@pytest.mark.alike(2)
@pytest.mark.parametrize(("arguments", "out"), READERS.values(), ids=READERS)
def test_a_file_replaced_while_it_is_read(tmp_path, monkeypatch, arguments, out):
    file = tmp_path / "predictions.parquet"
    TABLE.write_parquet(file)
    stamped = Stamps.__init__

    def replace(*given):
        stamped(*given)
        other = tmp_path / "other.parquet"
        TABLE.reverse().write_parquet(other)
        other.rename(file)

    monkeypatch.setattr(Stamps, "__init__", replace)
    words = [str(file) if word == "FILE" else word for word in arguments]
    result = CliRunner().invoke(app, words if out is None else [*words, str(tmp_path / out)])
    FIGURES[figures.FAULTS] += 1
    assert result.exit_code == 2
    assert "changed while it was read" in result.output
    assert names(tmp_path) == {"predictions.parquet"}


@pytest.mark.parametrize("change", ["replaced", "longer", "removed"])
def test_what_changed_is_known(tmp_path, change):
    file = tmp_path / "a.csv"
    file.write_text("truth,score\n1,2\n")
    stamps = Stamps([str(file)])
    stamps.check()
    if change == "replaced":
        (tmp_path / "b.csv").write_text("truth,score\n1,3\n")
        (tmp_path / "b.csv").rename(file)
    elif change == "longer":
        with file.open("a") as more:
            more.write("0,1\n")
    else:
        file.unlink()
    with pytest.raises(pr.errors.InvalidPredictions, match=r"a\.csv' changed"):
        stamps.check()
