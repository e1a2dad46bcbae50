import os
from pathlib import Path

import pytest

from polaroc.errors import OutputRefused
from polaroc.files.atomic import atomic_folder


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
