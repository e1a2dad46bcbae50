"""Random prediction tables, and tables compared whatever the order of their rows."""

from typing import Any

import numpy as np
import polars as pl
from polars.testing import assert_frame_equal

from polaroc.warehouse.connections import collected

INFINITE = float("inf")


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
    frame = found if isinstance(found, pl.DataFrame) else collected(found)
    order = [
        name for name in expected.columns if name not in ("estimate", "lower", "upper", "note")
    ]
    assert frame.schema == expected.schema
    assert_frame_equal(
        frame.sort(order), expected.sort(order), rel_tol=0, abs_tol=tolerance, check_row_order=True
    )
