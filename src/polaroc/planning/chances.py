"""Chances of what a study is wanted for, from studies that were drawn."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from polaroc.base.lazy import np
from polaroc.typing import Array

# Of the curves that may be true, this share has a chance within the range.
RANGE = 0.9


class Outcome(NamedTuple):
    """The chance with so many cases, and what else is expected.

    Attributes
    ----------
    chance
        The chance, over studies and over what may be true.
    lower, upper
        The range of the chance over what may be true; None where one thing is assumed.
    expected
        What is expected, by its name; None where it is not known.
    """

    chance: float
    lower: float | None
    upper: float | None
    expected: Mapping[str, float | None]


def of_shares(shares: Array, studies: int, expected: Mapping[str, float | None]) -> Outcome:
    """The outcome from the share of studies by what may be true, of so many studies in all."""
    chance = float(shares.mean())
    if len(shares) == 1:
        return Outcome(chance, None, None, expected)
    # Shares of few studies are further apart than the chances are.
    by_luck = float((shares * (1 - shares)).mean()) * len(shares) / studies
    total = float(shares.var())
    kept = np.sqrt(max(total - by_luck, 0.0) / total) if total else 0.0
    ends = np.quantile(chance + kept * (shares - chance), [(1 - RANGE) / 2, (1 + RANGE) / 2])
    lower, upper = ends.clip(0, 1).tolist()
    return Outcome(chance, lower, upper, expected)


def of_distances(distances: Sequence[Array], expected: Mapping[str, float | None]) -> Outcome:
    """The outcome from how far each study is from failing, by what may be true.

    Distances are about normal, so that few studies tell the chance that one is above 0; −∞ is a
    study that fails whatever it finds.
    """
    from scipy.special import ndtr, ndtri

    every = np.concatenate(distances)
    finite = [own[np.isfinite(own)] for own in distances]
    known = sum(map(len, finite)) / every.size
    spread = np.sqrt(np.mean([own.var(ddof=1) for own in finite if own.size > 1] or [0.0]))
    if known < 1 or spread == 0:
        shares = np.array([(own > 0).mean() for own in distances])
        return of_shares(shares, every.size, expected)
    means = np.array([own.mean() for own in finite])
    if len(means) == 1:
        return Outcome(float(ndtr(means[0] / spread)), None, None, expected)
    between = max(float(means.var(ddof=1)) - spread**2 * len(means) / every.size, 0.0)
    middle, reach = means.mean(), float(ndtri((1 + RANGE) / 2)) * between**0.5
    ends = ndtr((middle + np.array([-reach, reach])) / spread)
    chance = float(ndtr(middle / (spread**2 + between) ** 0.5))
    lower, upper = ends.tolist()
    return Outcome(chance, lower, upper, expected)
