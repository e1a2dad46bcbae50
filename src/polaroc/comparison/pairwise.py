"""Tests of two models at a time, on one number per fold and model."""

from dataclasses import dataclass
from math import sqrt

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.statistics import error_of_mean
from polaroc.comparison.omnibus import rounding_floor, two_way
from polaroc.typing import Array
from polaroc.uncertainty.evidence import pair_places


@dataclass(frozen=True, eq=False)
class Pairs:
    """Every pair of models, one number per pair in each array."""

    first: "Array"  # places of the models
    second: "Array"
    difference: "Array"  # mean of first minus second
    std_error: "Array"
    statistic: "Array"
    p_value: "Array"
    p_adjusted: "Array"  # for the number of pairs
    reach: "Array"  # half the width of the interval
    constant: "Array"  # the same difference, not 0, in every fold

    def significant_pairs(self, level: float) -> list[tuple[int, int]]:
        """Indices of the pairs whose adjusted p-value is below 1 − `level`."""
        significant = self.p_adjusted < 1 - level
        return list(
            zip(self.first[significant].tolist(), self.second[significant].tolist(), strict=True)
        )


def pair_frame(pairs: Pairs, models: pl.Series) -> pl.DataFrame:
    """The pairs as a table, its first columns named after the models' column."""
    return pl.DataFrame(
        [
            models[pairs.first].alias(f"{models.name}_a"),
            models[pairs.second].alias(f"{models.name}_b"),
            pl.Series("difference", pairs.difference),
            pl.Series("std_error", pairs.std_error),
            pl.Series("lower", pairs.difference - pairs.reach),
            pl.Series("upper", pairs.difference + pairs.reach),
            pl.Series("statistic", pairs.statistic),
            pl.Series("p_value", pairs.p_value),
            pl.Series("p_adjusted", pairs.p_adjusted),
        ]
    )


def paired_t(values: "Array", level: float, test_train_ratio: float = 0.0) -> Pairs:
    """Paired t-tests, Holm-adjusted, with Nadeau and Bengio's variance at a ratio above 0.

    An interval reaches zero where the adjusted p-value is one minus the level.
    """
    from scipy.special import stdtr, stdtrit

    blocks = values.shape[0]
    first, second = pair_places(values.shape[1])
    lead = values[:, first] - values[:, second]
    difference, variance = lead.mean(axis=0), lead.var(axis=0, ddof=1)
    least = rounding_floor(values) / values.size
    difference = np.where(difference**2 > least, difference, 0.0)
    variance = np.where(variance > least, variance, 0.0)
    std_error = error_of_mean(np.sqrt(variance), blocks, test_train_ratio)
    statistic = t_ratio(difference, std_error)
    p_value = 2 * stdtr(blocks - 1, -np.abs(statistic))
    critical = -stdtrit(blocks - 1, (1 - level) / holm_factors(p_value) / 2)
    return Pairs(
        first, second, difference, std_error, statistic, p_value, holm(p_value),
        critical * std_error, (std_error == 0) & (difference != 0),
    )  # fmt: skip


def tukey(values: "Array", level: float) -> Pairs:
    """Tukey's test with the residual of the two-way layout as the error of every pair."""
    from scipy.stats import studentized_range, t

    blocks, models = values.shape
    first, second = pair_places(models)
    means = values.mean(axis=0)
    difference = means[first] - means[second]
    least = rounding_floor(values) / values.size
    difference = np.where(difference**2 > least, difference, 0.0)
    error = two_way(values)[1]
    df = (models - 1) * (blocks - 1)
    std_error = np.full(len(first), sqrt(2 * error / blocks))
    statistic = t_ratio(difference, std_error)
    adjusted = studentized_range.sf(np.abs(statistic) * sqrt(2), models, df)
    critical = studentized_range.ppf(level, models, df) / sqrt(2)
    return Pairs(
        first, second, difference, std_error, statistic, 2 * t.sf(np.abs(statistic), df),
        np.clip(adjusted, 0, 1), critical * std_error, (std_error == 0) & (difference != 0),
    )  # fmt: skip


def holm(p_values: "Array") -> "Array":
    """P-values adjusted for their number by Holm's step-down method.

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate((count - np.arange(count)) * p_values[order])
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def holm_factors(p_values: "Array") -> "Array":
    """The factor of each p-value in Holm's method, before p-values are limited to 1.

    An interval at the level 1 − (1 − level)/factor leaves out zero if and only if the adjusted
    p-value is below 1 − level.

    Examples
    --------
    >>> import numpy as np
    >>> holm_factors(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [3.0, 1.5, 2.0]
    """
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    steps = (count - np.arange(count)).astype(float)
    stepped = np.maximum.accumulate(steps * p_values[order])
    known = p_values[order] > 0
    factors = np.empty(count)
    factors[order] = np.where(known, stepped / np.where(known, p_values[order], 1.0), steps)
    return factors


def t_ratio(difference: "Array", std_error: "Array") -> "Array":
    """The test statistic: 0 where the difference is 0, ±∞ where only its standard error is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(difference == 0, 0.0, difference / std_error)
