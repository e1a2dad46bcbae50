"""What thresholds do in each period, as tidy rows and as influences of the cases."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc import rates
from polaroc.base.columns import COVERAGE
from polaroc.base.lazy import np
from polaroc.errors import InvalidTable
from polaroc.priors.grids import skew
from polaroc.typing import Array
from polaroc.uncertainty.influence import CaseInfluence

WORDS = {
    "tpr": "recall", "fpr": "rate of false alarms", "precision": "precision",
    "posfrac": "share called positive", "cost": "cost per case",
}  # fmt: skip
RATES = tuple(WORDS)


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
        for name in RATES
    ]
    return pl.concat(rows)


def of_rate(
    name: str, called: "Array", truth: "Array", prior: float, costs: Mapping[str, float]
) -> CaseInfluence:
    """The estimate of a rate, and the influence of each case on it.

    `called` is the chance with which each case is called positive.
    """
    t, f = float(called[truth].mean()), float(called[~truth].mean())
    estimate, (of_t, of_f) = rate_with_slopes(name, t, f, prior, costs)
    return CaseInfluence(
        np.array([estimate]),
        (of_t * (called[truth] - t))[None],
        (of_f * (called[~truth] - f))[None],
    )


def rate_with_slopes(
    name: str, t: float, f: float, prior: float, costs: Mapping[str, float]
) -> tuple[float, tuple[float, float]]:
    """A rate, and how it moves with the true and with the false positive rate."""
    ratio = skew(prior)
    missed, false = costs["cost_fn"] * prior, costs["cost_fp"] * (1 - prior)
    called = t + ratio * f
    square = called**2 or float("nan")
    found: dict[str, tuple[Any, tuple[float, float]]] = {
        "tpr": (t, (1.0, 0.0)),
        "fpr": (f, (0.0, 1.0)),
        "precision": (rates.precision(t, f, ratio), (ratio * f / square, -ratio * t / square)),
        "posfrac": (rates.posfrac(t, f, ratio), (prior, 1 - prior)),
        "cost": (missed * (1 - t) + false * f, (-missed, false)),
    }
    value, slopes = found[name]
    return float(value), slopes
