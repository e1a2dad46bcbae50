"""Limits of the difference of two models that hold for few cases and for kinds not seen yet."""

from collections.abc import Sequence
from math import ceil, inf, log10, sqrt
from typing import Any, NamedTuple

import numpy as np

from polaroc.base.columns import EFFECTIVE
from polaroc.base.statistics import equal_units
from polaroc.inference.evidence import NO_ERROR, quantile
from polaroc.inference.influence import influence_of_cases, values
from polaroc.inference.scored_cases import scored_by_key
from polaroc.measures.catalog import label
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.typing import Array

# With fewer units of a class limits were wrong in simulation, as were those of AUPREC where
# positives are so many times more frequent than at the priors asked for and the bias by few
# negatives is so large beside the standard error.
MIN_UNITS, MAX_ENRICHED, MAX_BIAS = 20, 2.5, 0.4
# The number of units with the largest influence seen that are added to each class.
PSEUDO = 1.5


class Units(NamedTuple):
    """The influence of each independent case or cluster on the difference of two models."""

    influences: Array
    shares: Array  # of all positives, and of all negatives
    counts: tuple[int, ...]  # with positives, and with negatives; of weighted ones the effective

    @property
    def vary(self) -> bool:
        """Whether the difference shows any variation."""
        return sqrt(self.influences @ self.influences) > NO_ERROR


def unit_influences(
    cases: Cases[Any], keys: Sequence[str], challenger: object, measure: Measure
) -> Units:
    """The influences of cases or clusters, over folds the mean of each.

    The columns of the folds follow that of the models in `keys`.
    """
    folds = scored_by_key(cases, keys, units=True)
    units = 1 + max(int(fold.clusters.max()) for fold in folds.values())
    influences, sizes = np.zeros((2, units)), np.zeros((2, units))
    for (model, *_), fold in folds.items():
        found = influence_of_cases(fold.scores[0], fold.truth, [measure], fold.weights)
        weights = np.ones(fold.truth.size) if fold.weights is None else fold.weights
        # Folds differ in their measure by the positives that they happen to have.
        by_class = (found.positives[0] + found.estimates[0], found.negatives[0])
        for place, by_case in enumerate(by_class):
            rows = fold.truth if place == 0 else ~fold.truth
            unit, weight = fold.clusters[rows], weights[rows]
            sign = 1 if model == challenger else -1
            influences[place] += sign * np.bincount(unit, weight * by_case, units)
            sizes[place] += np.bincount(unit, weight, units) / 2
    totals = sizes.sum(axis=1, keepdims=True)
    shares, influences = sizes / totals, influences / totals
    influences -= shares * influences.sum(axis=1, keepdims=True)
    of_classes = [own[own > 0] for own in shares]
    counts = map(len if cases.weight is None else equal_units, of_classes)
    return Units(influences.sum(axis=0), shares, tuple(counts))


def why_too_few(
    measure: Measure, positives: int, negatives: int, fewest: int, unit: str
) -> str | None:
    """Why limits from so few cases cannot be trusted, None where they can.

    `fewest` is the number of units of the rarer class. The bias of AUPREC is of the order λ/N, its
    standard error of the order 1/√P.
    """
    if fewest < MIN_UNITS:
        return f"a class has {fewest} {unit}, {MIN_UNITS} are needed"
    if measure.bias_skew is None:
        return None
    counts = {"positives": positives, "negatives": negatives, EFFECTIVE: negatives}
    skew = values(measure.bias_skew, {name: np.array([n]) for name, n in counts.items()}).item()
    needed = skew * min(positives / MAX_ENRICHED, sqrt(positives) / MAX_BIAS)
    if needed <= negatives:
        return None
    step = 10 ** max(0, int(log10(needed)) - 1)
    return (
        f"{label(measure.name)} is biased by few negatives, and beside {positives:,} positives "
        f"{negatives:,} negatives are too few; about {step * ceil(needed / step):,} are needed"
    )


def difference_limits(difference: float, units: Units, level: float) -> tuple[float, float]:
    """The limits of a difference whose units may have skewed influences.

    Student's t, with one degree of freedom less than the rarer class has units. The variance has
    `PSEUDO` more units of each class with the largest influence. A limit that skewness moves
    outwards is moved so far (Johnson 1978).
    """
    influences, fewest = units.influences, min(units.counts)
    reach = float(quantile(level, fewest - 1))
    squares = float(influences @ influences)
    largest = sum(float(abs(influences[own > 0]).max()) ** 2 for own in units.shares)
    width = reach * sqrt(squares * fewest / (fewest - 1) + PSEUDO * largest)
    skewness = float((influences**3).sum()) / squares * (2 * reach**2 + 1) / 6
    return difference - width + min(skewness, 0.0), difference + width + max(skewness, 0.0)


def unseen_share(shares: Array, level: float) -> float:
    """The largest share of a class that is of a kind which none of these units is.

    If a kind is the share q of k units, none of them is of it with the chance (1 − q)^k, of which
    (1 − level)/2 is not rejected. It may be in the k largest units alone.

    Examples
    --------
    >>> round(unseen_share(np.full(40, 1 / 40), 0.95), 4), round(1 - 0.025 ** (1 / 40), 4)
    (0.0881, 0.0881)
    """
    of_largest = np.sort(shares[shares > 0])[::-1].cumsum()
    hidden = 1 - ((1 - level) / 2) ** (1 / np.arange(1, len(of_largest) + 1))
    return float((of_largest * hidden).max())


def with_unseen(
    limits: tuple[float, float], difference: float, share: float
) -> tuple[float, float]:
    """The limits of a difference of areas, wide enough that one model may miss such a share.

    On the share that a model misses the difference may be as bad as −1.
    """
    seen = 1 - share
    return (
        min(limits[0], (1 + difference) * seen - 1),
        max(limits[1], 1 - (1 - difference) * seen),
    )


def cases_needed(lower: float, difference: float, upper: float, margin: float) -> float:
    """How many times the cases leave a difference, of which more is better, no longer open.

    Limits come closer to the difference at least with the root of the number of cases.

    Examples
    --------
    >>> cases_needed(-0.03, 0.0, 0.03, 0.01), cases_needed(-0.05, -0.02, 0.01, 0.01)
    (9.0, 9.0)
    """
    gap = difference + margin
    half = difference - lower if gap >= 0 else upper - difference
    return (half / gap) ** 2 if gap else inf
