import pytest
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr

KEYS = [[], ["model"], ["model", "fold"]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by", KEYS)
def test_measures_are_those_of_the_polars_functions(engine: Engine, by, weighted):
    table = predictions(len(by), weights=weighted)
    asked = {
        "truth": "truth", "score": "score", "by": by, "over": (0.05, 0.2),
        "weight": "weight" if weighted else None, "priors": ["observed", 0.5, 0.01, 1e-6],
    }  # fmt: skip
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, pr.evaluate(table, **asked))
