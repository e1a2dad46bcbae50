from contextlib import nullcontext
from pathlib import Path

import pytest
from chromium import chromium
from postgres_server import binaries
from programs import ALL_ENGINES, BARE, missing, only_if_asked, package, program
from spark_cluster import java

ROOT = Path(__file__).parents[1]
FINDERS = {"chromium": lambda: program("chromium"), "java": java, "postgres": binaries}


@pytest.mark.parametrize("name", FINDERS)
@pytest.mark.parametrize("place", ["PATH", "JAVA_HOME"])
def test_a_bare_machine_has_no_programs(name, place, tmp_path, monkeypatch):
    fake = tmp_path / "bin" / name
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv(BARE, raising=False)
    if place == "PATH":
        monkeypatch.setenv("PATH", str(fake.parent))
        assert FINDERS[name]() in (str(fake), fake.parent)
    else:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        assert (FINDERS[name]() == str(fake)) == (name == "java")
    monkeypatch.setenv(BARE, "1")
    assert FINDERS[name]() is None


def test_programs_are_looked_for_in_one_place():
    files = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "docs").rglob("*.py")]
    looking = {file.name for file in files if "shutil.which(" in file.read_text(encoding="utf-8")}
    assert looking == {"programs.py", Path(__file__).name}


@pytest.mark.parametrize("all_must_be_there", [False, True])
@pytest.mark.parametrize(
    ("need", "named"),
    [
        (lambda: missing("this is not installed"), "this is not installed"),
        (lambda: package("no_such_package", "lint"), "no_such_package.*extra `lint`"),
        (lambda: chromium(Path()).__enter__(), "chromium"),
    ],
    ids=["reason", "package", "browser"],
)
def test_what_is_missing_is_named(need, named, all_must_be_there, monkeypatch):
    monkeypatch.setenv(BARE, "1")
    monkeypatch.setenv(ALL_ENGINES, "1" if all_must_be_there else "")
    with pytest.raises((pytest.fail if all_must_be_there else pytest.skip).Exception, match=named):
        need()


@pytest.mark.parametrize("asked", ["", "1"])
def test_an_engine_is_started_where_it_is_asked(asked, monkeypatch):
    monkeypatch.setenv(ALL_ENGINES, asked)
    reason = pytest.raises(pytest.skip.Exception, match=rf"Spark .*{ALL_ENGINES}=1.*test-all")
    with nullcontext() if asked else reason:
        only_if_asked("Spark")
