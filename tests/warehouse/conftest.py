import os
from collections.abc import Iterator

import pytest
from engines import ALL_ENGINES, ENGINES, Engine


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of each test one case on Spark, where not every engine must be there.

    Sail runs all cases: it is sent the same statements, and needs no seconds for each.
    """
    if os.environ.get(ALL_ENGINES):
        return
    kept, left_out, seen = [], [], set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        on_spark = getattr(item, "callspec", None) and item.callspec.params.get("engine") == "spark"
        (left_out if on_spark and test in seen else kept).append(item)
        if on_spark:
            seen.add(test)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept
