from collections.abc import Iterator

import pytest
from engines import ENGINES, Engine


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with ENGINES[request.param]() as engine:
        yield engine
