import os
from collections.abc import Iterator

import pytest
from engines import ALL_ENGINES, ENGINES, Engine


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """All cases on DuckDB, and on each other engine one of each test, but all where CI asks for it.

    Of a test `elsewhere` the other engines never run more than the cases that it names.
    """
    kept, left_out, seen = [], [], set()
    others = set(ENGINES) - {"duckdb"}
    for item in items:
        callspec = getattr(item, "callspec", None)
        engine = callspec.params.get("engine") if callspec else None
        runs = _runs_on(engine, item)
        if runs and engine in others and not os.environ.get(ALL_ENGINES):
            test = engine, item.nodeid.partition("[")[0]
            runs = test not in seen
            seen.add(test)
        (kept if runs else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _runs_on(engine: str | None, item: pytest.Item) -> bool:
    marker = item.get_closest_marker("elsewhere")
    if marker is None or engine in (None, "duckdb"):
        return True
    case = item.callspec.id.removeprefix(engine).removesuffix(engine).strip("-")
    return case in marker.args
