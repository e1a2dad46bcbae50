import os
from collections.abc import Iterator

import pytest
from engines import ENGINES, Engine
from programs import ALL_ENGINES

OTHERS = [name for name in ENGINES if name != "duckdb"] if os.environ.get(ALL_ENGINES) else []


@pytest.fixture(
    scope="session",
    params=["duckdb", *(pytest.param(name, marks=pytest.mark.engine) for name in OTHERS)],
)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """DuckDB, and the other engines where they are asked for."""
    with ENGINES[request.param]() as engine:
        yield engine
