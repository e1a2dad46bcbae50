import os

import pytest
from figures import FIGURES
from hypothesis import HealthCheck, settings

os.environ.setdefault("POLARS_WARN_UNSTABLE", "1")
# Processes side by side share the processors; the first keeps all threads, so that both are tried.
if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
# Programs without doctests, which import one another from their own folder: on the path of the
# tests its coverage.py would hide the package `coverage`.
collect_ignore = ["benchmarks"]

for name, examples in {"quick": 10, "thorough": 50}.items():
    settings.register_profile(
        name,
        max_examples=examples,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Groups that take minutes: a process that begins with one ends no later than the others.
LONGEST_FIRST = ("spark", "sail", "tests/files/test_faults.py", "postgres", "duckdb")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """One process for the tests of an engine, and for those that share what a module makes."""
    order = {}
    for item in items:
        group = item.nodeid.partition("::")[0]
        if "engine" in getattr(item, "fixturenames", ()):
            group = item.callspec.params["engine"]
            item.add_marker(pytest.mark.engine)
        item.add_marker(pytest.mark.xdist_group(group))
        order[item] = LONGEST_FIRST.index(group) if group in LONGEST_FIRST else len(LONGEST_FIRST)
    items.sort(key=order.__getitem__)


def pytest_sessionfinish(session):
    # Only the processes that pytest-xdist starts have an output.
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = dict(FIGURES)


def pytest_testnodedown(node):
    FIGURES.update(getattr(node, "workeroutput", {}).get("figures", {}))


def pytest_terminal_summary(terminalreporter):
    for done, times in FIGURES.items():
        terminalreporter.write_line(f"{times:,} {done}")
