"""Tests of all pairs of models at once, from their means and one covariance matrix."""

from math import ceil, floor

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.comparison.design import Plan
from polaroc.comparison.omnibus import Outcome
from polaroc.comparison.pairwise import Pairs, t_ratio
from polaroc.typing import Array
from polaroc.uncertainty.evidence import pair_places

DRAWS = 40_000
CHUNK = 4_000
# With more degrees of freedom the dependence of the p-values does not change any more.
MAX_FREEDOM = 200


def largest_t(
    means: "Array",
    covariance: "Array",
    df: float,
    level: float,
    *,
    at_least: "Array | None" = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Pairs:
    """Every pair of models by Student's t, adjusted by the distribution of the largest |t|.

    Parameters
    ----------
    means, covariance, df
        The models' means, the estimated covariance of these, and its degrees of freedom.
    level
        Confidence with which all intervals hold at once.
    at_least
        Least variance of each pair.
    draws, seed
        Of the largest |t|, needed for three models or more.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = largest_t(np.array([0.9, 0.8]), np.diag([0.0008, 0.0008]), 19, 0.95)
    >>> pairs.statistic.round(6).tolist(), pairs.p_adjusted.round(4).tolist()
    ([2.5], [0.0217])
    """
    from scipy.special import stdtr, stdtrit

    first, second = pair_places(len(means))
    difference = means[first] - means[second]
    least = (ROUNDING * max(1.0, float(np.abs(means).max()))) ** 2
    difference = np.where(difference**2 > least, difference, 0.0)
    variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    if at_least is not None:
        variance = np.maximum(variance, at_least)
    std_error = np.sqrt(np.where(variance > least, variance, 0.0))
    statistic = t_ratio(difference, std_error)
    p_value = 2 * stdtr(df, -np.abs(statistic))
    adjusted, critical = p_value, 1 - level
    if len(first) > 1:
        least_p = least_p_values(covariance, df, draws, seed)
        adjusted = _adjusted(p_value, least_p)
        critical = _critical(1 - level, least_p, len(first))
    return Pairs(
        first, second, difference, std_error, statistic, p_value, adjusted,
        -stdtrit(df, critical / 2) * std_error, (std_error == 0) & (difference != 0),
    )  # fmt: skip


def largest_t_outcome(pairs: Pairs, df: float, plan: Plan) -> Outcome:
    """The test of all models at once: the largest |t|, with the least adjusted p-value."""
    name = "largest |t|, half-split variance" + (", guarded" if plan.guarded else "")
    statistic = float(abs(pairs.statistic).max())
    return Outcome(name, statistic, None, df, float(pairs.p_adjusted.min()))


def least_p_values(covariance: "Array", df: float, draws: int = DRAWS, seed: int = 0) -> "Array":
    """The least p-value of the pairs of models of equal means, drawn and sorted.

    Means are normal with the covariance given, and each draw has an estimate of it of its own
    (Wishart), so that pairs have errors of their own. Whole degrees of freedom are drawn: on the
    scale of p-values their number hardly matters.
    """
    from scipy.special import stdtr

    first, second = pair_places(len(covariance))
    values, vectors = np.linalg.eigh(covariance)
    kept = values > ROUNDING * max(values[-1], 0.0)
    root = vectors[:, kept] * np.sqrt(values[kept])
    contrasts = root[first] - root[second]
    lengths = np.sqrt((contrasts**2).sum(axis=1))
    varying = lengths > ROUNDING * lengths.max(initial=0.0)
    if not varying.any():
        return np.ones(draws)
    unit = contrasts[varying] / lengths[varying, None]
    dimensions = unit.shape[1]
    squares = (unit[:, :, None] * unit[:, None, :]).reshape(len(unit), -1).T
    whole = min(max(1, floor(df + 1e-9)), MAX_FREEDOM)
    rng = np.random.default_rng(seed)
    largest = []
    for start in range(0, draws, CHUNK):
        count = min(CHUNK, draws - start)
        leads = rng.standard_normal((count, dimensions)) @ unit.T
        sample = rng.standard_normal((count, whole, dimensions))
        drawn = sample.transpose(0, 2, 1) @ sample / whole
        largest.append((leads**2 / (drawn.reshape(count, -1) @ squares)).max(axis=1))
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
