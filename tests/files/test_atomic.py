import os
from pathlib import Path

import pytest

import polaroc as pr
from polaroc.errors import OutputRefused
from polaroc.files.atomic import EARLIER, atomic_file, atomic_folder, check_new
from polaroc.files.locks import LOCK
from polaroc.files.scratch import PREFIX, scratch_folder


def names(folder):
    return sorted(file.name for file in folder.iterdir() if not file.name.startswith("."))


def test_output_appears_only_at_the_end(tmp_path):
    target = tmp_path / "deep" / "out"
    with atomic_folder(target) as staging:
        (staging / "a").touch()
        assert not target.exists()
    assert names(target) == ["a"]
    assert names(target.parent) == ["out"]


def test_an_error_leaves_the_earlier_output(tmp_path):
    target = tmp_path / "out"
    with atomic_folder(target) as staging:
        (staging / "old").touch()
    with pytest.raises(KeyboardInterrupt), atomic_folder(target) as staging:
        (staging / "new").touch()
        raise KeyboardInterrupt
    assert names(target) == ["old"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_an_earlier_output_is_replaced_as_a_whole(tmp_path):
    target = tmp_path / "out"
    for name in ("old", "new"):
        with atomic_folder(target) as staging:
            (staging / name).touch()
    assert names(target) == ["new"]
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("kind", ["file", "foreign folder"])
def test_what_polaroc_did_not_write_is_refused(tmp_path, kind):
    target = tmp_path / "out"
    if kind == "file":
        target.touch()
    else:
        target.mkdir()
        (target / "thesis.tex").touch()
    with pytest.raises(OutputRefused, match="Hint:"), atomic_folder(target):
        pass
    assert target.is_file() or names(target) == ["thesis.tex"]


def test_an_empty_folder_is_used(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    with atomic_folder(target) as staging:
        (staging / "a").touch()
    assert names(target) == ["a"]


def test_a_file_added_to_an_output_is_kept(tmp_path):
    target = tmp_path / "out"
    with atomic_folder(target) as staging:
        (staging / "a").touch()
    (target / "thesis.tex").touch()
    with pytest.raises(OutputRefused, match=r"'thesis.tex'"), atomic_folder(target):
        pass
    assert names(target) == ["a", "thesis.tex"]


def test_the_folder_one_stands_in(tmp_path, monkeypatch):
    inside = tmp_path / "in"
    inside.mkdir()
    monkeypatch.chdir(inside)
    with atomic_folder(Path()) as staging:
        (staging / "a").touch()
    assert names(inside) == ["a"]
    assert [file.name for file in tmp_path.iterdir()] == ["in"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    with atomic_folder(tmp_path / "near") as staging:
        (staging / "a").touch()
    assert (tmp_path / "near").is_symlink()
    assert names(tmp_path / "far") == ["a"]


def test_rights_are_those_of_the_user(tmp_path):
    before = os.umask(0o077)
    try:
        with atomic_folder(tmp_path / "out") as staging:
            (staging / "a").touch()
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def killed(folder):
    """What a run that was killed between two renames leaves."""
    (folder / EARLIER).mkdir(parents=True)
    (folder / EARLIER / "rows").touch()
    (folder / LOCK).touch()
    return folder


def test_the_next_run_restores_its_own_output_only(tmp_path):
    other = killed(tmp_path / ".polaroc-results-2024-abcdefgh")
    with atomic_folder(tmp_path / "results") as staging:
        (staging / "a").touch()
    assert (other / EARLIER / "rows").exists()
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "results-2024"):
        raise KeyboardInterrupt
    assert [file.name for file in (tmp_path / "results-2024").iterdir()] == ["rows"]
    assert not other.exists()


def test_what_a_link_leads_to_is_no_scratch(temporary_files, tmp_path_factory):
    elsewhere = killed(tmp_path_factory.mktemp("place") / "elsewhere")
    (temporary_files / f"{PREFIX}abcdefgh").symlink_to(elsewhere)
    (temporary_files / f"{PREFIX}hgfedcba").touch()
    with scratch_folder():
        pass
    assert (elsewhere / EARLIER / "rows").exists()
    assert len(list(temporary_files.iterdir())) == 2


@pytest.mark.parametrize("stays", [False, True])
def test_scratch_of_other_users_stays(temporary_files, monkeypatch, stays):
    left, user = killed(temporary_files / f"{PREFIX}abcdefgh"), os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + stays)
    with scratch_folder():
        pass
    assert left.exists() is stays


PLACES = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "link to nothing": lambda path: path.symlink_to(path.with_name("nothing")),
}


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_what_is_no_file_is_not_opened(tmp_path, make):
    make(tmp_path / "page.html")

    def replaceable(file):
        raise AssertionError("opened")

    with pytest.raises(OutputRefused, match=r"is there already.(.|\n)*Hint:"):
        check_new(tmp_path / "page.html", replaceable)
    with pytest.raises(OutputRefused), atomic_file(tmp_path / "page.html", True):
        pass


IMPOSSIBLE = {
    "a folder that is a file": ("file/{}", "'[^']*file' is a file, allowed is a folder"),
    "below a file": ("file/deep/{}", "Not a directory"),
    "nobody may write there": ("/proc/{}", r"/proc/one\.\w+: "),
    "a folder of too long a name": ("d" * 300 + "/{}", "name too long"),
    "a zero byte": ("a\0b/{}", "holds a zero byte"),
}
WRITTEN = {
    "report": (
        "one.html",
        lambda path: pr.report(
            pr.datasets.twenty_scores(), truth="truth", score="score", over=(0.1, 0.2), path=path
        ),
    ),
}


@pytest.mark.parametrize("place", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_where_nothing_can_be_written_is_said(tmp_path, written, place):
    (name, write), (path, said) = written, place
    (tmp_path / "file").touch()
    with pytest.raises(OutputRefused, match=rf"(?i){said}(.|\n)*Hint: "):
        write(tmp_path / path.format(name))
    assert names(tmp_path) == ["file"]


def test_no_name_is_no_file():
    with pytest.raises(OutputRefused, match="is there already, as a folder"):
        WRITTEN["report"][1]("")


def test_scratch_space_where_nobody_may_write_is_refused(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/proc")
    with pytest.raises(OutputRefused, match=r"Hint: "), scratch_folder():
        pass
