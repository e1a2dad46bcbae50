"""What thresholds do in each period, as tidy rows."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import COVERAGE
from polaroc.errors import InvalidTable

WORDS = {
    "tpr": "recall", "fpr": "rate of false alarms", "precision": "precision",
    "posfrac": "share called positive", "cost": "cost per case",
}  # fmt: skip
PERIOD_RATES = tuple(WORDS)


def tidy_rates(judged: pl.DataFrame, keys: Sequence[str], level: float) -> pl.DataFrame:
    """The rates of judged thresholds, a row each; `keys` with the period."""
    twice = judged.select(*keys, "prior").is_duplicated()
    if twice.any():
        raise InvalidTable(
            "the points have several thresholds of a key and prior, needed is one.",
            hint="keep one rule: points.filter(rule=...).",
        )
    rows = [
        judged.select(
            *keys,
            pl.lit(name).alias("measure"),
            "prior",
            pl.col(name).alias("estimate"),
            pl.col(f"{name}_lower").alias("lower"),
            pl.col(f"{name}_upper").alias("upper"),
            pl.lit(level).alias(COVERAGE),
            pl.lit(None, pl.Float64).alias("std_error"),
            "positives",
            "negatives",
            "note",
        )
        for name in PERIOD_RATES
    ]
    return pl.concat(rows)
