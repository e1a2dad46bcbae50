"""Tests of whether any of several models differ, on one number per fold and model."""

from math import inf, isinf
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.inference.adjusted import Adjusted
from polaroc.inference.evidence import Contrasts, Evidence, common_variance
from polaroc.typing import Array

OMNIBUS = {
    "test": pl.String, "statistic": pl.Float64, "df1": pl.Float64, "df2": pl.Float64,
    "p_value": pl.Float64,
}  # fmt: skip


class Outcome(NamedTuple):
    """The outcome of a test of all models at once."""

    test: str
    statistic: float
    df1: float | None
    df2: float | None
    p_value: float


def of_pairs(test: str, pairs: Contrasts, adjusted: Adjusted) -> Outcome:
    """The test by the largest |t| of all pairs, with the least adjusted p-value."""
    largest, freedom = float(np.abs(pairs.statistic).max()), pairs.degrees_of_freedom
    least = float(adjusted.p_value.min())
    return Outcome(test, largest, None, None if isinf(freedom) else freedom, least)


def rounding_floor(values: "Array") -> float:
    """Largest sum of squares due to rounding alone."""
    largest = float(np.abs(values).max(initial=0.0))
    return values.size * (ROUNDING * largest) ** 2


def f_ratio(between: float, residual: float) -> float:
    """F; 0 where the models do not differ at all."""
    if between == 0:
        return 0.0
    return between / residual if residual > 0 else inf


def f_test(test: str, evidence: Evidence) -> Outcome:
    """F of the models in a two-way layout with folds, by one variance for all of them.

    Of evidence whose folds share nothing it is that of repeated measures; with the variance of
    Nadeau and Bengio it is that over 1 + J·r, of J folds.
    """
    from scipy.special import fdtrc

    means = evidence.estimates[0]
    between = float(((means - means.mean()) ** 2).sum())
    least = rounding_floor(means)
    models = len(means) - 1
    f = f_ratio((between if between > least else 0.0) / models, common_variance(evidence))
    freedom = models * evidence.degrees_of_freedom
    return Outcome(test, f, models, freedom, float(fdtrc(models, freedom, f)))
