import os
from functools import cache

import pytest
import typer.testing
from chromium import chromium
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

os.environ.setdefault("POLARS_WARN_UNSTABLE", "1")
# Processes side by side share the processors; the first keeps all threads, so that both are tried.
if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
# Processes that tests start, those side by side too, compile the package once, not each anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The tree of commands is the same each time that a test calls the command line.
typer.testing._get_command = cache(typer.testing._get_command)
# Programs without doctests.
collect_ignore = ["benchmarks", "simulations", "tools"]

for name, examples in {"quick": 5, "thorough": 25}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser for the tests of a file, which are skipped without one."""
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


ENGINES = ("spark", "sail", "postgres", "duckdb")
# Groups that take minutes: a process that begins with one ends no later than the others.
LONGEST_FIRST = ("spark", "sail", "tests/files/test_faults.py", "postgres", "duckdb")


def group_of(nodeid):
    """The engine that a test asks, else its file: those of one group run in one process."""
    file, _, case = nodeid.partition("::")
    parameters = case.partition("[")[2].rstrip("]").split("-")
    engines = [engine for engine in ENGINES if engine in parameters]
    return engines[0] if file.startswith("tests/warehouse/") and engines else file


class Groups(LoadScopeScheduling):
    # `--dist loadgroup` adds the names of groups to those of tests, which pytest 9.2 ignores.
    def _split_scope(self, nodeid):
        return group_of(nodeid)


def pytest_xdist_make_scheduler(config, log):
    return Groups(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One process for the tests of an engine, and for those that share what a module makes."""
    order = {}
    for item in items:
        if {"engine", "browser", "action"}.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("engine")
        group = group_of(item.nodeid)
        order[item] = LONGEST_FIRST.index(group) if group in LONGEST_FIRST else len(LONGEST_FIRST)
    items.sort(key=order.__getitem__)


@pytest.fixture
def temporary_files(tmp_path, monkeypatch):
    """The system's folder of temporary files, for this test."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path
