"""P-values and limits of the differences of all pairs of models, adjusted for their number."""

from math import ceil, floor, sqrt
from typing import NamedTuple

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.typing import Array
from polaroc.uncertainty.evidence import Contrasts, Evidence, pair_places

DRAWS = 40_000
CHUNK = 4_000
# With more degrees of freedom the dependence of the p-values does not change any more: the
# covariance is taken as known.
MAX_FREEDOM = 200


class Adjusted(NamedTuple):
    """What allows for the number of pairs.

    An interval of a pair at its level leaves out 0 where its p-value is below 1 − the level that
    was asked for, and nowhere else.
    """

    p_value: "Array"
    level: "Array"  # of each pair


def by_holm(pairs: Contrasts, level: float) -> Adjusted:
    """Holm's step-down method.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.uncertainty.evidence import all_pairs, of_folds
    >>> folds = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.6], [0.8, 0.6, 0.7]])
    >>> pairs = all_pairs(of_folds(folds, 0.25))
    >>> pairs.p_value.round(3).tolist(), by_holm(pairs, 0.95).p_value.round(3).tolist()
    ([0.321, 0.063, 0.625], [0.641, 0.19, 0.641])
    """
    adjusted, factors = holm(pairs.p_value)
    return Adjusted(adjusted, 1 - (1 - level) / factors)


def holm(p_values: "Array") -> tuple["Array", "Array"]:
    """The adjusted p-values by Holm's method, and their factors before a limit of 1.

    Those that are NaN do not count.

    Examples
    --------
    >>> import numpy as np
    >>> adjusted, factors = holm(np.array([0.01, 0.04, np.nan, 0.03]))
    >>> adjusted.round(4).tolist(), factors.round(4).tolist()
    ([0.03, 0.06, nan, 0.06], [3.0, 1.5, 1.0, 2.0])
    """
    count = len(p_values)
    # NaN comes last.
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum(np.count_nonzero(p_values == p_values) - np.arange(count), 1.0)
    stepped = np.maximum.accumulate(steps * p_values[order])
    known = p_values[order] > 0
    factors = np.empty(count)
    factors[order] = np.where(known, stepped / np.where(known, p_values[order], 1.0), steps)
    return np.minimum(factors * p_values, 1), factors


def by_largest_t(
    pairs: Contrasts, evidence: Evidence, level: float, *, draws: int = DRAWS, seed: int = 0
) -> Adjusted:
    """The distribution of the largest |t| of all pairs, drawn where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.uncertainty.evidence import all_pairs, of_halves
    >>> halves = np.random.default_rng(0).normal(0.8, 0.05, (25, 2, 1, 3))
    >>> evidence = of_halves(np.array([0.9, 0.8, 0.8]), halves, 80)
    >>> pairs = all_pairs(evidence)
    >>> bool((by_largest_t(pairs, evidence, 0.95).p_value >= pairs.p_value).all())
    True
    """
    p_value = pairs.p_value
    if len(p_value) == 1:
        return Adjusted(p_value, np.array([level]))
    least_p = least_p_values(evidence.covariance[0], evidence.freedom, draws, seed)
    critical = _critical(1 - level, least_p, len(p_value))
    return Adjusted(_adjusted(p_value, least_p), np.full(len(p_value), 1 - critical))


def least_p_values(covariance: "Array", df: float, draws: int = DRAWS, seed: int = 0) -> "Array":
    """The least p-value of the pairs of models of equal means, drawn and sorted.

    Means are normal with the covariance given, and each draw has an estimate of it of its own
    (Wishart), so that pairs have errors of their own. Whole degrees of freedom are drawn: on the
    scale of p-values their number hardly matters.
    """
    from scipy.special import erfc, stdtr

    first, second = pair_places(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    kept = values > ROUNDING * max(values[-1], 0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    leads = root[first] - root[second]
    lengths = np.sqrt((leads**2).sum(axis=1))
    varying = lengths > ROUNDING * lengths.max(initial=0.0)
    if not varying.any():
        return np.ones(draws)
    unit = leads[varying] / lengths[varying, None]
    dimensions = unit.shape[1]
    rng = np.random.default_rng(seed)
    if df > MAX_FREEDOM:
        leads = rng.standard_normal((draws, dimensions)) @ unit.T
        return np.sort(erfc(np.abs(leads).max(axis=1) / sqrt(2)))
    squares = (unit[:, :, None] * unit[:, None, :]).reshape(len(unit), -1).T
    whole = max(1, floor(df + 1e-9))
    largest = []
    for start in range(0, draws, CHUNK):
        count = min(CHUNK, draws - start)
        drawn = rng.standard_normal((count, dimensions)) @ unit.T
        sample = rng.standard_normal((count, whole, dimensions))
        scales = sample.transpose(0, 2, 1) @ sample / whole
        largest.append((drawn**2 / (scales.reshape(count, -1) @ squares)).max(axis=1))
    p_values: Array = np.sort(2 * stdtr(whole, -np.sqrt(np.concatenate(largest))))
    return p_values


def _adjusted(p_value: "Array", least_p: "Array") -> "Array":
    """The share of draws with a p-value as small; Bonferroni's where that is less."""
    share = (np.searchsorted(least_p, p_value, side="right") + 1) / (len(least_p) + 1)
    adjusted: Array = np.clip(np.minimum(share, len(p_value) * p_value), p_value, 1)
    return adjusted


def _critical(alpha: float, least_p: "Array", pairs: int) -> float:
    """The p-value of a pair below which its adjusted one is below α."""
    # How many draws may be as small while the adjusted p-value stays below α.
    count = ceil(alpha * (len(least_p) + 1)) - 2
    drawn = float(least_p[count]) if count >= 0 else 0.0
    return min(alpha, max(alpha / pairs, drawn))
