"""Limits of the difference of two fitted models that hold with few cases of a class.

Of clusters, whose sums of influences count as those of cases.
"""

from collections.abc import Mapping
from math import ceil, log, log10, sqrt
from typing import Any
from zlib import crc32

import numpy as np

from polaroc.base.columns import EFFECTIVE
from polaroc.inference.evidence import Evidence, UnitInfluences, quantile
from polaroc.inference.influence import influence_of_cases, values
from polaroc.inference.scored_cases import ScoredCases
from polaroc.inference.unseen_positive import least_with_unseen
from polaroc.measures.catalog import label
from polaroc.measures.spec import Measure
from polaroc.typing import Array

# How many cases with the largest influence seen are added to each class, by measure.
PSEUDO = {"auc": 1}
MAX_PSEUDO = 2
# Areas between 0 and 1, and the least that is taken as the largest influence on them.
AREAS = ("auc", "auprec", "iauprec")
MIN_INFLUENCE = 0.25
# Below, the limits were wrong in simulation.
MIN_CASES = 20
# How many times more frequent positives may be than at the priors asked for, and how large the
# bias may be beside the standard error where they are more frequent.
MAX_ENRICHED = 2.5
MAX_BIAS = 0.15
# How large it may be where limits are widened by so many times what half the negatives change, in
# the mean over so many divisions into halves.
MAX_WIDENED, TIMES_CHANGE, DIVISIONS = 0.6, 3.0, 8
ROOM = 1e-9


def difference_limits(
    evidence: Evidence,
    pair: tuple[int, int],
    level: float,
    measure: str,
    copies: float = 1.0,
    *,
    bias: float = 0.0,
) -> tuple[float, float]:
    """The lower and the upper limit of the first of a pair of models minus the second.

    Student's t with one degree of freedom less than the rarer class has cases, and the variance
    of the influence of the cases and of a few more in each class that have the largest influence
    seen. Of an area also Student's t on the scale of `_log_odds`, and the likelihood with a
    positive that is not seen: the widest limits count. `copies` is as if there were so many times
    the cases; limits are `bias` wider to both sides.
    """
    assert evidence.influences is not None
    own, other = (float(evidence.estimates[0, place]) for place in pair)
    freedom = min(
        min(evidence.influences.counts) * copies - 1, evidence.degrees_of_freedom * copies
    )
    reach = float(quantile(level, freedom))
    width = reach * _std_error(evidence.influences, pair, measure, copies)
    lower, upper = own - other - width, own - other + width
    turned = (pair[1], pair[0])
    if measure in AREAS:
        reach /= sqrt(copies)
        lower = min(lower, _least_on_log_odds(evidence, pair, reach))
        upper = max(upper, -_least_on_log_odds(evidence, turned, reach))
        lower = min(lower, least_with_unseen(evidence, pair, level, copies))
        upper = max(upper, -least_with_unseen(evidence, turned, level, copies))
    wider = bias / sqrt(copies)
    return lower - wider, upper + wider


def why_no_promise(
    measure: Measure, positives: int, negatives: int, few: int | None = None, units: str = "cases"
) -> str | None:
    """Why limits from so few cases cannot be trusted, None where they can.

    The bias of AUPREC is of the order λ/N, its standard error of the order 1/√P. Among cases that
    have many more positives than in use, λ P/N times as many, the bias is not small beside it.

    Where units are no cases, `few` says how many the rarer class has.
    """
    few = min(positives, negatives) if few is None else few
    if few < MIN_CASES:
        return f"a class has {few} {units}, {MIN_CASES} are needed"
    needed = _negatives_needed(measure, positives, negatives, MAX_WIDENED)
    if needed <= negatives:
        return None
    step = 10 ** max(0, int(log10(needed)) - 1)
    return (
        f"{label(measure.name)} is biased by few negatives, and beside {positives:,} positives "
        f"{negatives:,} negatives are too few; about {step * ceil(needed / step):,} are needed"
    )


def _negatives_needed(measure: Measure, positives: int, negatives: int, most: float) -> float:
    """So many that the bias is small beside the standard error, as `most` says."""
    if measure.bias_skew is None:
        return 0.0
    counts = {"positives": positives, "negatives": negatives, EFFECTIVE: negatives}
    skew = float(values(measure.bias_skew, {name: np.array([n]) for name, n in counts.items()})[0])
    return skew * min(positives / MAX_ENRICHED, sqrt(positives) / most)


def bias_of_few_negatives(cases: ScoredCases, measure: Measure, pair: tuple[int, int]) -> float:
    """How far the difference of two models may be off for want of negatives; 0 where they are many.

    An area is too large by the order of λ/N. With half the negatives it is about twice as much, so
    that what halves change tells the bias.
    """
    if _negatives_needed(measure, *cases.class_counts, MAX_BIAS) <= cases.class_counts[1]:
        return 0.0
    first, second = _changes(cases.of(pair), measure)
    return TIMES_CHANGE * abs(float(first - second))


def bias_on_folds(
    folds: Mapping[tuple[Any, ...], ScoredCases], first: object, measure: Measure
) -> float:
    """How far the difference of two models, in the mean over folds, may be off for that.

    Folds are by model and fold; `first` is one of the two models.
    """
    counts = [own.class_counts for (model, *_), own in folds.items() if model == first]
    positives, negatives = sum(own[0] for own in counts), sum(own[1] for own in counts)
    negatives = round(negatives / len(counts))
    if _negatives_needed(measure, positives, negatives, MAX_BIAS) <= negatives:
        return 0.0
    # Few folds divide their negatives several times each, to average as many divisions.
    divisions = max(10 * DIVISIONS // len(counts), 1)
    change = 0.0
    for (model, *_), own in folds.items():
        # Divisions of their own, in whatever order folds and cases come.
        ranked = own.truth[np.lexsort((own.truth, own.scores[0]))]
        changes = _changes(own, measure, divisions, crc32(ranked.tobytes()))
        change += float(changes[0]) if model == first else -float(changes[0])
    return TIMES_CHANGE * abs(change) / len(counts)


def _changes(
    cases: ScoredCases, measure: Measure, divisions: int = DIVISIONS, seed: int = 0
) -> "Array":
    """By how much half of the negatives, which models share, change the measure of each."""
    truth = cases.truth
    # In an order that does not depend on that of the rows.
    negatives = np.flatnonzero(~truth)
    negatives = negatives[np.lexsort([score[negatives] for score in cases.scores])]
    units = negatives if cases.clusters is None else cases.clusters[negatives]
    _, first, number = np.unique(units, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))[number]
    rng, halved = np.random.default_rng(seed), []
    for _ in range(divisions):
        is_first = (rng.permutation(len(first)) < len(first) / 2)[rank]
        for half in (is_first, ~is_first):
            kept = truth.copy()
            kept[negatives[half]] = True
            halved.append(_measured(cases, measure, kept))
    change: Array = np.mean(halved, axis=0) - _measured(cases, measure, np.ones(truth.size, bool))
    return change


def _measured(cases: ScoredCases, measure: Measure, kept: "Array") -> "Array":
    """The measure of each model, of some of the cases."""
    weights = None if cases.weights is None else cases.weights[kept]
    found = (
        influence_of_cases(score[kept], cases.truth[kept], [measure], weights)
        for score in cases.scores
    )
    return np.array([float(one.estimates[0]) for one in found])


def _std_error(units: UnitInfluences, pair: tuple[int, int], measure: str, copies: float) -> float:
    """The standard error of the difference, with pseudo-cases of the largest influence."""
    least = MIN_INFLUENCE if measure in AREAS else 0.0
    pseudo = PSEUDO.get(measure, MAX_PSEUDO)
    difference = units.difference(*pair)
    total = float(units.variance(difference)) / copies
    for own, count in zip(difference, units.counts, strict=True):
        total += pseudo * (max(float(abs(own).max()), least / count) / copies) ** 2
    return sqrt(total)


def _least_on_log_odds(evidence: Evidence, pair: tuple[int, int], reach: float) -> float:
    """The least difference that Student's t does not reject on the scale of `_log_odds`."""
    from scipy.optimize import brentq

    units = evidence.influences
    assert units is not None
    estimate, rival = (float(evidence.estimates[0, place]) for place in pair)
    reached, slope = _log_odds(estimate)
    # From the differences, since rounding would hide models that are all but equal.
    difference, other = units.difference(*pair), [part[0, pair[1]] for part in units.sums]
    spread, joint, alone = (
        float(units.product(*pair))
        for pair in ((difference, difference), (difference, other), (other, other))
    )

    def beyond(left: float) -> float:
        at, other_slope = _log_odds(left)
        more = slope - other_slope
        variance = slope**2 * spread + 2 * slope * more * joint + more**2 * alone
        return reached - at - reach * sqrt(max(variance, 0.0))

    if beyond(estimate) >= 0:
        return estimate - rival
    step = 1.0
    while beyond(estimate - step) < 0:
        step *= 2
    return float(brentq(beyond, estimate - step, estimate)) - rival


def _log_odds(area: float) -> tuple[float, float]:
    """The log-odds of an area, below 1/2 its tangent there, and the slope.

    Only towards 1 the error of an area shrinks as the area grows.
    """
    if area < 0.5:
        return 4 * (area - 0.5), 4.0
    within = min(area, 1 - ROOM)
    return log(within / (1 - within)), 1 / (within * (1 - within))
