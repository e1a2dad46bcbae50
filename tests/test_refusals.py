"""One table of calls that are refused: the call, its exception, and words of its message.

A row stands under the function that it calls. The names that calls may use are those of `NAMES`.
"""

import re

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument

TABLE = pl.DataFrame({
    "model": ["A"] * 8 + ["B"] * 8,
    "fold": [1, 1, 1, 1, 2, 2, 2, 2] * 2,
    "case": [*range(8)] * 2,
    "truth": [True, False, True, False, True, False, False, True] * 2,
    "score": [0.9, 0.1, 0.8, 0.7, 0.6, 0.3, 0.4, 0.2, 0.5, 0.4, 0.9, 0.3, 0.8, 0.1, 0.6, 0.7],
})  # fmt: skip
CASES = pr.cases(TABLE, truth="truth", score="score", model="model", fold="fold", case="case")
MEASURES = pr.evaluate(CASES, over=(0.05, 0.2))
NAMES = {"pr": pr, "pl": pl, "np": np, "table": TABLE, "cases": CASES, "measures": MEASURES}

# call, exception, words of the message
REFUSALS = [
    # evaluate
    ("pr.evaluate(cases, over=(0.2, 0.1))", InvalidArgument, "0.2"),
]


@pytest.mark.parametrize(("call", "exception", "words"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_call_is_refused(call, exception, words):
    with pytest.raises(exception, match=re.escape(words)):
        eval(call, dict(NAMES))
