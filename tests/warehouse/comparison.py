"""Random prediction tables, and tables compared whatever the order of their rows."""

from typing import Any

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

import polaroc as pr

INFINITE, NAN = float("inf"), float("nan")
# What may be wrong with a row, and what is right however odd.
ODD_ROWS = {
    "sound": [("a", True, 0.5, 1.0), ("a", False, 0.25, 1.0)],
    "null score": [("a", True, None, 1.0), ("a", False, 0.25, 1.0), ("a", True, 0.5, 1.0)],
    "NaN score": [("a", True, NAN, 1.0), ("a", False, NAN, 1.0), ("a", True, 0.5, 1.0)],
    "null truth": [("a", None, 0.5, 1.0), ("a", False, 0.5, 1.0), ("a", True, 0.5, 1.0)],
    "null weight": [("a", True, 0.5, None), ("a", False, 0.5, 1.0), ("a", True, 0.5, 1.0)],
    "bad weight": [("a", True, 0.5, -1.0), ("a", False, 0.5, NAN), ("a", True, 0.5, INFINITE)],
    "several troubles": [("a", None, None, None), ("b", True, NAN, 2.0), ("b", False, 1.0, 1.0)],
    "infinite": [("a", True, INFINITE, 1.0), ("a", False, -INFINITE, 1.0), ("a", True, 0.0, 1.0)],
    "zeros tie": [("a", True, 0.0, 1.0), ("a", False, -0.0, 1.0), ("a", True, 1.0, 1.0)],
    "constant": [("a", True, 0.5, 1.0), ("a", False, 0.5, 1.0), ("a", False, 0.5, 1.0)],
    "one class": [("a", True, 0.5, 1.0), ("b", False, 0.5, 1.0), ("c", None, 0.5, 1.0)],
    "null key": [(None, True, 0.5, 1.0), (None, False, 0.4, 1.0), ("a", True, 0.1, 1.0)],
    "no weight": [("a", True, 0.5, 0.0), ("a", False, 0.4, 1.0), ("a", True, 0.1, 1.0)],
    "weightless class": [("a", True, 0.5, 0.0), ("a", False, 0.4, 1.0)],
    "far apart": [("a", True, 0.5, 1e-9), ("a", False, 0.4, 1e9), ("a", True, 0.1, 1.0)],
    "tiny": [("a", True, 5e-324, 1.0), ("a", False, 0.0, 1.0), ("a", True, 1e300, 1.0)],
    "close": [("a", True, 0.1 + 0.2, 1.0), ("a", False, 0.3, 1.0)],
    "empty": [],
}
SCHEMA = {
    "model": pl.String, "truth": pl.Boolean, "score": pl.Float64, "weight": pl.Float64,
}  # fmt: skip


def predictions(
    seed: int, rows: int = 400, *, scores: int = 30, weights: bool = False
) -> pl.DataFrame:
    """Keys `model` and `fold` (one null), ties, infinite scores, both zeros, and a `weight`."""
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 0.3
    score = np.round(random.normal(size=rows) + truth, 1)[:rows] * scores // 1 / scores
    score[:: rows // 8] = random.choice(
        [INFINITE, -INFINITE, 0.0, -0.0], size=len(score[:: rows // 8])
    )
    table = pl.DataFrame(
        {
            "model": random.choice(["a", "B", "it's"], size=rows),
            "fold": random.choice([1, 2, 3], size=rows),
            "truth": truth,
            "score": score,
        }
    ).with_columns(pl.when(pl.col("fold") < 3).then("fold").alias("fold"))
    if not weights:
        return table
    return table.with_columns(
        pl.Series("weight", random.choice([0.0, 0.1, 0.7, 1.0, 2.5], size=rows))
    )


def assert_same(found: Any, expected: pl.DataFrame, tolerance: float = 1e-9) -> None:
    """The rows of a warehouse table and of a frame are the same but for their order."""
    frame = found if isinstance(found, pl.DataFrame) else pr.warehouse.collected(found)
    order = [
        name for name in expected.columns if name not in ("estimate", "lower", "upper", "note")
    ]
    assert frame.schema == expected.schema
    assert_frame_equal(
        frame.sort(order), expected.sort(order), rel_tol=0, abs_tol=tolerance, check_row_order=True
    )


def odd(name: str) -> pl.DataFrame:
    return pl.DataFrame(ODD_ROWS[name], SCHEMA, orient="row")


def lazily(function, table: pl.DataFrame, **kwargs) -> pl.DataFrame:
    """The result of a lazy plan, which cannot raise."""
    return function(table.lazy(), **kwargs).collect()
