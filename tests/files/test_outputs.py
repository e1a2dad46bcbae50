"""Folders and files that commands write: whole or not at all, and nobody else's replaced."""

import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from command_line import polaroc

import polaroc as pr

TABLE = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 2)
BASE = ["--truth", "truth", "--score", "score", "--model", "model", "--fold", "fold"]
OVER = ["--over", "0.05", "0.2"]
# By command: its arguments, and the name of its output.
COMMANDS = {
    "evaluate": (["evaluate", "FILE", *BASE], "out"),
    "compare": (["compare", "FILE", *BASE[:4], *OVER, "--test-train-ratio", "0.25"], "out"),
    "threshold": (
        ["threshold", "FILE", *BASE, *OVER, "--min-recall", "0.9", "--force"],
        "threshold.json",
    ),
    "chart": (["chart", "auprec_by_prior", "FILE", *BASE, *OVER], "areas.svg"),
    "report": (["report", "FILE", *BASE, *OVER, "--test-train-ratio", "0.25"], "page.html"),
}


@pytest.fixture
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("input") / "predictions.parquet"
    TABLE.write_parquet(file)
    return file


def words(command, file, target):
    arguments, _ = COMMANDS[command]
    return [*(str(file) if word == "FILE" else word for word in arguments), "--out", str(target)]


def write(file, target, *more, command="evaluate"):
    return polaroc(*words(command, file, target), *more)


def written(*given, **options):
    result = write(*given, **options)
    assert result.exit_code == 0, result.output


def refused(*given, **options):
    """One message, exit code 2, no traceback."""
    result = write(*given, **options)
    assert result.exit_code == 2, result.output
    assert result.output.count("Hint: ") == 1
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def names(folder):
    return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


MEASURES = ["measures.csv", "measures.parquet"]


def test_an_earlier_output_is_replaced_as_a_whole(file, tmp_path):
    target = tmp_path / "deep" / "out"
    written(file, target)
    earlier = pl.read_parquet(target / "measures.parquet")
    assert len(set(earlier["measure"])) > 1
    written(file, target, "--measure", "auc")
    assert names(target) == MEASURES
    assert set(pl.read_parquet(target / "measures.parquet")["measure"]) == {"auc"}
    assert [one.name for one in target.parent.iterdir()] == ["out"]


def test_an_error_leaves_the_earlier_output(file, tmp_path):
    target = tmp_path / "out"
    written(file, target)
    before = {one.name: one.read_bytes() for one in target.iterdir()}
    broken = file.with_name("broken.parquet")
    TABLE.with_columns(score=None).write_parquet(broken)
    refused(broken, target)
    assert {one.name: one.read_bytes() for one in target.iterdir()} == before
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_files_that_polaroc_did_not_write_are_kept(file, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.tex").touch()
    written(file, tmp_path / "out")
    (tmp_path / "out" / "thesis.tex").touch()
    refused(file, tmp_path / "file")
    for name in ("folder", "out"):
        before = names(tmp_path / name)
        assert "'thesis.tex'" in refused(file, tmp_path / name)
        assert names(tmp_path / name) == before
    assert names(tmp_path) == ["file", "folder", "out"]


def test_an_empty_folder_a_link_and_the_folder_one_stands_in(file, tmp_path, monkeypatch):
    for name in ("empty", "far", "in"):
        (tmp_path / name).mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    monkeypatch.chdir(tmp_path / "in")
    for target in (tmp_path / "empty", tmp_path / "near", "."):
        written(file, target)
    assert (tmp_path / "near").is_symlink()
    for name in ("empty", "far", "in"):
        assert names(tmp_path / name) == MEASURES
    assert names(tmp_path) == ["empty", "far", "in", "near"]


def test_rights_are_those_of_the_user(file, tmp_path):
    before = os.umask(0o077)
    try:
        written(file, tmp_path / "out")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_a_replaced_file_keeps_its_rights_and_the_link_to_it(file, tmp_path):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("earlier")
    real.chmod(0o640)
    link.symlink_to(real)
    written(file, link, "--force")
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert set(pl.read_csv(real)["model"]) == set(TABLE["model"])
    assert names(tmp_path) == ["link.csv", "real.csv"]


def test_earlier_output_that_is_not_written_again_is_removed(file, tmp_path):
    target = tmp_path / "out"
    written(file, target)
    (target / "notes.md").write_text("mine")
    result = write(file, target, "--force", command="compare")
    assert result.exit_code == 0, result.output
    tables = [f"{name}.{kind}" for name in ("models", "omnibus", "pairs")
              for kind in ("csv", "parquet")]  # fmt: skip
    assert names(target) == sorted([*tables, "notes.md", "summary.txt"])
    assert (target / "notes.md").read_text() == "mine"


PLACES = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "link to nothing": lambda path: path.symlink_to(path.with_name("nothing")),
    "file of another": lambda path: path.write_text("years of work"),
}


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("command", ["chart", "report"])
def test_a_page_replaces_nothing_but_an_earlier_one(file, tmp_path, command, make):
    target = tmp_path / COMMANDS[command][1]
    make(target)
    assert "is there already" in refused(file, target, command=command)
    assert not target.is_file() or target.read_text() == "years of work"
    assert [one.name for one in tmp_path.iterdir()] == [target.name]


IMPOSSIBLE = {
    "a folder that is a file": ("file/{}", "File exists"),
    "below a file": ("file/deep/{}", "Not a directory"),
    "nobody may write there": ("/proc/{}", "/proc/"),
    "a folder of too long a name": ("d" * 300 + "/{}", "name too long"),
}


@pytest.mark.parametrize(("place", "said"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize("command", ["evaluate", "chart"])
def test_where_nothing_can_be_written_is_said(file, tmp_path, command, place, said):
    (tmp_path / "file").touch()
    target = tmp_path / place.format(COMMANDS[command][1])
    assert said in refused(file, target, command=command)
    assert names(tmp_path) == ["file"]


@contextmanager
def files_of_at_most(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("command", COMMANDS)
def test_output_that_cannot_be_finished_is_refused_and_leaves_nothing(file, tmp_path, command):
    with files_of_at_most(100):
        said = refused(file, tmp_path / COMMANDS[command][1], command=command)
    assert "File too large" in said
    assert "free space" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_two_writers_at_once_leave_the_output_of_one(file, tmp_path):
    target, measures = tmp_path / "out", ("auc", "auprec")
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "polaroc", *words("evaluate", file, target), "--measure", name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for name in measures
    ]  # fmt: skip
    codes = [writer.wait() for writer in writers]
    assert 0 in codes
    assert names(target) == MEASURES
    kept = [set(read(target / name)["measure"]) for name, read in READ.items()]
    assert kept[0] == kept[1]
    assert kept[0] in [{name} for name, code in zip(measures, codes, strict=True) if code == 0]
    assert names(tmp_path) == ["out"]


READ = {"measures.csv": pl.read_csv, "measures.parquet": pl.read_parquet}
