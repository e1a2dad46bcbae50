import os
from collections.abc import Iterator

import pytest
from engines import ALL_ENGINES, ENGINES, Engine


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test `elsewhere` these cases, and on Spark one, where not every engine must be there.

    Sail runs all that Spark would: it is sent the same statements, and needs no seconds for each.
    """
    kept, left_out, seen = [], [], set()
    for item in items:
        test, callspec = item.nodeid.partition("[")[0], getattr(item, "callspec", None)
        engine = callspec.params.get("engine") if callspec else None
        again = engine == "spark" and test in seen and not os.environ.get(ALL_ENGINES)
        (left_out if again or not _runs_on(engine, item) else kept).append(item)
        if engine == "spark":
            seen.add(test)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _runs_on(engine: str | None, item: pytest.Item) -> bool:
    marker = item.get_closest_marker("elsewhere")
    if marker is None or engine in (None, "duckdb"):
        return True
    case = item.callspec.id.removeprefix(engine).removesuffix(engine).strip("-")
    return case in marker.args
