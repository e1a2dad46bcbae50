from contextlib import nullcontext
from pathlib import Path

import pytest
from chromium import chromium
from postgres_server import binaries
from programs import ALL_ENGINES, missing, only_if_asked, package, program
from spark_server import java

FINDERS = {"chromium": lambda: program("chromium"), "java": java, "postgres": binaries}


@pytest.mark.parametrize("name", FINDERS)
def test_programs_are_found_on_the_path(name, tmp_path, monkeypatch):
    fake = tmp_path / name
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert FINDERS[name]() in (str(fake), tmp_path)


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
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv(ALL_ENGINES, "1" if all_must_be_there else "")
    with pytest.raises((pytest.fail if all_must_be_there else pytest.skip).Exception, match=named):
        need()


@pytest.mark.parametrize("asked", ["", "1"])
def test_an_engine_is_started_where_it_is_asked(asked, monkeypatch):
    monkeypatch.setenv(ALL_ENGINES, asked)
    reason = pytest.raises(pytest.skip.Exception, match=rf"Spark .*{ALL_ENGINES}=1.*test-all")
    with nullcontext() if asked else reason:
        only_if_asked("Spark")
