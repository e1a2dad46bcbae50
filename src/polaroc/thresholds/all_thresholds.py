"""Limits of the rates of a class at all thresholds at once."""

from functools import lru_cache
from math import exp, log

import numpy as np

from polaroc.typing import Array

# Order statistics of which limits are made: of larger classes some hundred, dense at both ends.
MAX_LIMITS = 400
# The tolerance of the logarithm of their error.
TOLERANCE = 1e-3
# Probabilities from which on Fourier transforms are quicker.
LONG = 200
# Numbers of cases that differ by less are the same.
ROUNDING = 1e-6


def limits_at_all_thresholds(
    above: "Array | float", total: int, level: float
) -> tuple[Array, Array]:
    """Limits of the true shares above thresholds that so many of `total` cases are above.

    They hold at all thresholds at once, and so at any that these cases were used to choose.

    Examples
    --------
    >>> lower, upper = limits_at_all_thresholds(80, 100, 0.95)
    >>> f"80 of 100: {lower:.2f} to {upper:.2f}"
    '80 of 100: 0.65 to 0.90'
    """
    order, low, high = _order_limits(total, _local_level(total, level))
    # The share is at least that of the last order statistic reached, and at most that of the
    # next one.
    lower = np.concatenate(([0.0], low))[np.searchsorted(order, above + ROUNDING, side="right")]
    upper = np.append(high, 1.0)[np.searchsorted(order, above + 1 - ROUNDING, side="left")]
    return lower, upper


def _order_limits(total: int, local: float) -> tuple[Array, Array, Array]:
    """Some order statistics of uniform variables, each with limits that fail with error `local`."""
    from scipy.special import betaincinv

    order = np.arange(1, total + 1)
    if total > MAX_LIMITS:
        angles = np.linspace(0, np.pi / 2, MAX_LIMITS)
        spaced = np.rint(total * np.sin(angles) ** 2).astype(int)
        order = np.unique(np.clip(spaced, 1, total))
    low = betaincinv(order, total - order + 1, local / 2)
    return order, low, betaincinv(order, total - order + 1, 1 - local / 2)


@lru_cache(maxsize=64)
def _local_level(total: int, level: float) -> float:
    """The error at each order statistic with which all limits hold at once."""
    from scipy.optimize import brentq

    if total == 1:
        return 1 - level
    ends = log((1 - level) / total), log(1 - level)
    root = brentq(lambda x: simultaneous_coverage(total, exp(x)) - level, *ends, xtol=TOLERANCE)
    return exp(root - 2 * TOLERANCE)


def simultaneous_coverage(total: int, local: float) -> float:
    """The probability that all uniform order statistics lie within their limits.

    A Poisson process that has `total` points in all is followed from limit to limit: before a
    lower limit it has not got as far, at an upper limit it has (Moscovich and Nadler, 2017).

    Examples
    --------
    >>> round(simultaneous_coverage(1, 0.05), 12)
    0.95
    """
    from scipy.special import gammaln, xlogy

    order, low, high = _order_limits(total, local)
    at = np.concatenate([low, high, [1.0]])
    most = np.concatenate([order - 1, np.full(len(order) + 1, total)])
    least = np.concatenate([np.zeros(len(order), int), order, [total]])
    ranked = np.argsort(at, kind="stable")
    at, most, least = at[ranked], np.minimum.accumulate(most[ranked][::-1])[::-1], least[ranked]
    least = np.maximum.accumulate(least)
    counts, first = np.ones(1), 0
    means = total * np.diff(at, prepend=0.0)
    longest = min(_greatest_jump(means.max()), total + 2)
    factorials = gammaln(np.arange(longest) + 1.0)
    for mean, top, bottom in zip(means, most, least, strict=True):
        size = top - first + 1
        if size <= 0:
            return 0.0
        greatest = min(size, _greatest_jump(mean))
        steps = np.arange(greatest)
        jumps = np.exp(xlogy(steps, mean) - mean - factorials[:greatest])
        moved = _convolved(counts, jumps)[:size] if mean > 0 else counts[:size]
        kept = max(bottom - first, 0)
        counts, first = moved[kept:], first + kept
        if not counts.size:
            return 0.0
    all_of_them = np.exp(total * log(total) - total - gammaln(total + 1.0))
    return float(counts[-1] / all_of_them)


def _greatest_jump(mean: float) -> int:
    """Above it a Poisson variable has a probability below 1e-30."""
    return int(mean + 12 * mean**0.5) + 30


def _convolved(x: Array, y: Array) -> Array:
    """Probabilities of the sum of two counts; of long ones by Fourier transforms."""
    if min(x.size, y.size) < LONG:
        return np.convolve(x, y)
    from scipy import fft

    size = x.size + y.size - 1
    padded = fft.next_fast_len(size, real=True)
    product = fft.irfft(fft.rfft(x, padded) * fft.rfft(y, padded), padded)[:size]
    # Rounding can leave a probability of 0 a little below it.
    clipped: Array = np.maximum(product, 0.0)
    return clipped
