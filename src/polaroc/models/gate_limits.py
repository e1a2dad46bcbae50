"""Limits of the difference of two models that hold for few cases and for kinds not seen yet."""

from math import sqrt
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import EFFECTIVE
from polaroc.base.statistics import equal_units
from polaroc.base.text import rounded_up
from polaroc.inference.evidence import NO_ERROR, quantile
from polaroc.inference.influence import influence_of_cases, values
from polaroc.inference.test_sets import scored_by_key
from polaroc.measures.catalog import label
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.typing import Array

# Measures that are means over the positives, of which a model may miss some.
AREAS = ("auc", "auprec", "iauprec")
# The fewest units of a class, found by simulation.
MIN_UNITS = 20
# AUPREC with few negatives had wrong limits in simulation where both were exceeded: the odds of a
# positive among the cases over those at the prior, and the bias in standard errors.
MAX_ENRICHED, MAX_BIAS = 2.5, 0.4
# The number of units with the largest influence that are added to each class, by simulation.
PSEUDO = 1.5


class DifferenceInfluences(NamedTuple):
    """The influence of each independent case or cluster on the difference of two models."""

    influences: Array
    shares: Array  # of all positives, and of all negatives
    counts: tuple[int, ...]  # with positives, and with negatives; of weighted ones the effective
    cases: tuple[int, ...]  # the positives and the negatives, of weighted ones the effective


def influences_on_difference(
    cases: Cases[pl.DataFrame], challenger: object, measure: Measure
) -> DifferenceInfluences:
    """The influences of cases or clusters, over folds the mean of each."""
    folds = scored_by_key(cases, cases.keys)
    numbers = [fold.clusters for fold in folds.values() if fold.clusters is not None]
    units = 1 + max(int(number.max()) for number in numbers)
    influences, sizes = np.zeros((2, units)), np.zeros((2, units))
    of_prior = np.zeros((2, 1))
    for ((model, *_), fold), number in zip(folds.items(), numbers, strict=True):
        on_cases = influence_of_cases(fold.scores[0], fold.truth, [measure], fold.weights)
        weights = np.ones(fold.truth.size) if fold.weights is None else fold.weights
        # With the estimate: folds also differ in their measure by the positives they contain.
        by_class = [
            (fold.truth, on_cases.positives[0], on_cases.estimates[0]),
            (~fold.truth, on_cases.negatives[0], 0.0),
        ]
        for place, (rows, of_case, estimate) in enumerate(by_class):
            unit, weight = number[rows], weights[rows]
            sign = 1 if model == challenger else -1
            influences[place] += sign * np.bincount(unit, weight * (of_case + estimate), units)
            of_prior[place] += sign * (weight @ of_case)
            sizes[place] += np.bincount(unit, weight, units) / 2
    totals = sizes.sum(axis=1, keepdims=True)
    shares, influences = sizes / totals, influences / totals
    # Deviations from the mean of the class, which is the influence of an observed score prior.
    influences += shares * (of_prior / totals - influences.sum(axis=1, keepdims=True))
    counts = tuple(int(np.count_nonzero(of_class)) for of_class in shares)
    sizes_of_classes = tuple(round(total) for total in totals.flat)
    if cases.weight is not None:
        counts = tuple(equal_units(of_class[of_class > 0]) for of_class in shares)
        sizes_of_classes = counts
    return DifferenceInfluences(influences.sum(axis=0), shares, counts, sizes_of_classes)


def why_too_few(measure: Measure, units: DifferenceInfluences) -> str | None:
    """The reason why there are no limits from these units; None if there are limits.

    The bias of AUPREC is of the order λ/N, its standard error of the order 1/√P.
    """
    if sqrt(units.influences @ units.influences) <= NO_ERROR:
        return "The difference shows no variation, so that there is no interval for it."
    start = "There are too few cases for an interval, a pass or a fail"
    if min(units.counts) < MIN_UNITS:
        return f"{start}: {min(units.counts)} of a class, {MIN_UNITS} are needed."
    if measure.bias_skew is None:
        return None
    positives, negatives = units.cases
    counts = {"positives": positives, "negatives": negatives, EFFECTIVE: negatives}
    skew = values(measure.bias_skew, {name: np.array([n]) for name, n in counts.items()}).item()
    needed = skew * min(positives / MAX_ENRICHED, sqrt(positives) / MAX_BIAS)
    if needed <= negatives:
        return None
    return (
        f"{start}: {label(measure.name)} is biased by few negatives, and beside {positives:,} "
        f"positives {negatives:,} are too few; about {rounded_up(needed):,} are needed."
    )


def difference_limits(
    measure: str, difference: float, units: DifferenceInfluences, level: float
) -> tuple[float, float]:
    """The limits of a difference whose units may have skewed influences.

    Student's t, with one degree of freedom less than the rarer class has units. The variance has
    `PSEUDO` more units of each class with the largest influence. Skewness moves limits outwards
    only (Johnson 1978). Those of areas allow for kinds that are not seen: of positives, and for the
    AUC, which is a mean over the negatives, too, of negatives.
    """
    influences, fewest = units.influences, min(units.counts)
    reach = float(quantile(level, fewest - 1))
    squares = float(influences @ influences)
    largest = sum(float(abs(influences[of_class > 0]).max()) ** 2 for of_class in units.shares)
    width = reach * sqrt(squares * fewest / (fewest - 1) + PSEUDO * largest)
    skewness = float((influences**3).sum()) / squares * (2 * reach**2 + 1) / 6
    limits = difference - width + min(skewness, 0.0), difference + width + max(skewness, 0.0)
    if measure not in AREAS:
        return limits
    classes = units.shares if measure == "auc" else units.shares[:1]
    return with_unseen(limits, difference, max(unseen_share(one, level) for one in classes))


def unseen_share(shares: Array, level: float) -> float:
    """The largest share of a class that is of a kind which none of these units is.

    If a kind is the share q of k units, none of them is of it with the chance (1 − q)^k, of which
    (1 − level)/2 is not rejected. It may be in the k largest units alone.
    """
    of_largest = np.sort(shares[shares > 0])[::-1].cumsum()
    hidden = 1 - ((1 - level) / 2) ** (1 / np.arange(1, len(of_largest) + 1))
    return float((of_largest * hidden).max())


def with_unseen(
    limits: tuple[float, float], difference: float, share: float
) -> tuple[float, float]:
    """The limits of a difference of areas one of which may be 1 lower on a share of a class."""
    least, most = (1 + difference) * (1 - share) - 1, 1 - (1 - difference) * (1 - share)
    return min(limits[0], least), max(limits[1], most)
