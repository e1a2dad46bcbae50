"""Quantiles, confidence limits on the log-odds scale, and quadrature."""

from __future__ import annotations

from functools import cache
from math import inf
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.typing import Array

# Relative difference of equal floats: sums vary in the last digits from run to run.
ROUNDING = 1e-12


def normal(level: float) -> float:
    """The quantile z of the normal distribution: between −z and z lies the probability `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)


class Band(NamedTuple):
    """Lower and upper limits."""

    lower: Array
    upper: Array


def binomial_band(count: Array | float, size: Array | float, error: Array | float) -> Band:
    """Clopper and Pearson's limits of a share; each is wrong with at most half of the error rate.

    Counts may be fractional: those of the effective size of a weighted sample (Korn and Graubard).

    Examples
    --------
    >>> import numpy as np
    >>> band = binomial_band(np.array([0, 5]), np.array([10, 10]), 0.05)
    >>> band.lower.round(3).tolist(), band.upper.round(3).tolist()
    ([0.0, 0.187], [0.308, 0.813])
    """
    from scipy.special import betaincinv

    missed = size - count
    # betaincinv is NaN where there are none.
    lower = np.nan_to_num(betaincinv(count, missed + 1, error / 2))
    return Band(lower, 1 - np.nan_to_num(betaincinv(missed, count + 1, error / 2)))


def quadrature(n: int) -> list[tuple[float, float]]:
    """The n Gauss-Legendre nodes on (0, 1), each with its weight."""
    return [((1 + node) / 2, weight / 2) for node, weight in zip(*legendre(n), strict=True)]


@cache
def legendre(n: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The n Gauss-Legendre nodes on (-1, 1), and their weights."""
    from numpy.polynomial.legendre import leggauss

    nodes, weights = leggauss(n)
    return tuple(nodes.tolist()), tuple(weights.tolist())


def student(freedom: pl.Expr, level: float) -> pl.Expr:
    """The quantile of Student's t: between it and its negative lies the probability `level`."""
    from scipy.special import stdtrit

    def quantiles(freedom: pl.Series) -> pl.Series:
        values = stdtrit(freedom.cast(pl.Float64).to_numpy(), (1 + level) / 2)
        return pl.Series(freedom.name, values).fill_nan(None)

    return freedom.map_batches(quantiles, pl.Float64, is_elementwise=True)


def equal_units(weights: Array) -> int:
    """The effective number of units for a variance, given their weights (Satterthwaite 1946)."""
    squares = weights**2
    return int(squares.sum() ** 2 / (squares**2).sum() * (1 + ROUNDING)) if weights.size else 0


def satterthwaite(influences: Array) -> float:
    """Degrees of freedom, at least 1, of the variance of a sum of influences d: (Σd²)²/Σd⁴ − 1.

    This is Satterthwaite's formula (1946) for squares with one degree of freedom each, less one for
    the mean, so that n influences of equal size have n − 1.

    Examples
    --------
    >>> import numpy as np
    >>> satterthwaite(np.array([1.0, -1.0, 1.0, -1.0])), satterthwaite(np.array([5.0, 0.1, -0.1]))
    (3.0, 1.0)
    """
    squares = influences**2
    fourth = float((squares**2).sum())
    return max(float(squares.sum()) ** 2 / fourth - 1, 1.0) if fourth > 0 else inf
