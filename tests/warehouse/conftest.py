import os
from collections.abc import Iterator

import pytest
from engines import ENGINES, Engine
from programs import ALL_ENGINES

ASKED = ENGINES if os.environ.get(ALL_ENGINES) else ["duckdb"]


@pytest.fixture(scope="session", params=ASKED)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test `elsewhere`, engines other than DuckDB run the cases that it names."""
    kept, left_out = [], []
    for item in items:
        callspec = getattr(item, "callspec", None)
        engine = callspec.params.get("engine") if callspec else None
        (kept if _runs_on(engine, item) else left_out).append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


def _runs_on(engine: str | None, item: pytest.Item) -> bool:
    marker = item.get_closest_marker("elsewhere")
    if marker is None or engine in (None, "duckdb"):
        return True
    case = item.callspec.id.removeprefix(engine).removesuffix(engine).strip("-")
    return case in marker.args
