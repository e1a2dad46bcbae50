"""Chances of what a study is wanted for, from studies that were drawn."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polaroc.base.lazy import np
from polaroc.typing import Array

# The share of the curves that may be true whose chance is within the range.
RANGE = 0.9


class Outcome(NamedTuple):
    """The chance with so many cases, and what else is expected.

    Its range over what may be true is, of a range that was given, that at its ends, else that of
    the middle 9 of 10; None where one thing is assumed.
    """

    chance: float  # over studies and over what may be true
    lower: float | None
    upper: float | None
    expected: Mapping[str, float | None]  # by name; None where it is not known
    shares: Sequence[float]  # the chance by what may be true
    studies: int  # how many in all


def _between(
    chance: float, ends: Sequence[float], expected: Mapping[str, float | None],
    shares: Sequence[float], studies: int,
) -> Outcome:  # fmt: skip
    """The outcome with a range, which is of few curves and studies, that holds the chance."""
    every = [chance, *(float(one) for one in ends)]
    return Outcome(chance, min(every), max(every), expected, shares, studies)


def with_more_cases(
    estimate: float, lower: float, upper: float, times: float
) -> tuple[float, float]:
    """The limits of a share with so many times the cases, if the estimate stays as it is.

    The distances of limits from it fall with the root of the number, on the scale of log-odds.

    Examples
    --------
    >>> lower, upper = with_more_cases(0.5, 0.3, 0.7, 4)
    >>> round(lower, 3), round(upper, 3)
    (0.396, 0.604)
    """
    from scipy.special import expit, logit

    at, *ends = logit(np.clip([estimate, lower, upper], 1e-12, 1 - 1e-12))
    below, above = (float(expit(at + (end - at) / times**0.5)) for end in ends)
    return below, above


def of_shares(
    shares: Sequence[float], studies: int, expected: Mapping[str, float | None],
    are_ends: bool = False,
) -> Outcome:  # fmt: skip
    """The outcome from the share of studies by what may be true, of so many studies in all.

    With `are_ends` what may be true goes from the least to the greatest of these.

    Examples
    --------
    >>> of_shares([0.4, 0.8], 10**9, {}).chance
    0.6
    """
    of_each = np.array(shares)
    chance = round(float(of_each.mean()), 9)
    if len(shares) == 1:
        return Outcome(chance, None, None, expected, shares, studies)
    if are_ends:
        return _between(chance, shares, expected, shares, studies)
    # Shares of few studies are further apart than the chances are.
    by_luck = float((of_each * (1 - of_each)).mean()) * len(shares) / studies
    total = float(of_each.var())
    kept = max(total - by_luck, 0.0) / total if total else 0.0
    ends = np.quantile(of_each, [(1 - RANGE) / 2, (1 + RANGE) / 2])
    ends = chance + kept**0.5 * (ends - chance)
    return _between(chance, ends, expected, shares, studies)


def of_distances(
    distances: Sequence[Array], expected: Mapping[str, float | None], are_ends: bool = False
) -> Outcome:
    """The outcome from how far each study is from failing, by what may be true.

    Above 0 a study succeeds; −∞ is one that fails whatever it finds. The chance is the share that
    succeed; how much the mean distance depends on what may be true tells the range.
    """
    from scipy.special import ndtr, ndtri

    every = np.concatenate(distances)
    shares = [float((own > 0).mean()) for own in distances]
    within = [own.std(ddof=1) for own in distances] if np.isfinite(every).all() else [0.0]
    spread = float(np.sqrt(np.mean(np.square(within))))
    if len(shares) == 1 or spread == 0:
        return of_shares(shares, every.size, expected, are_ends)
    chance = float((every > 0).mean())
    means = np.array([own.mean() for own in distances])
    if are_ends:
        # Fewer studies tell a mean than a share.
        of_each = ndtr(means / np.maximum(within, 1e-12))
        return _between(chance, of_each, expected, shares, every.size)
    between = max(float(means.var(ddof=1)) - spread**2 * len(means) / every.size, 0.0) ** 0.5
    reach = float(ndtri((1 + RANGE) / 2)) * between / spread
    # The share among all studies, from which that of the middle curve follows.
    least = 0.5 / every.size
    middle = float(ndtri(min(max(chance, least), 1 - least))) * (1 + (between / spread) ** 2) ** 0.5
    ends = ndtr([middle - reach, middle + reach])
    return _between(chance, ends, expected, shares, every.size)
