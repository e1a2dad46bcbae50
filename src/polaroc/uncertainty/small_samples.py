"""Limits of the difference of two fitted models that hold with few cases of a class.

Of clusters, whose sums of influences count as those of cases.
"""

from math import ceil, log, log10, sqrt

from polaroc.base.arrays import value_of
from polaroc.base.lazy import np
from polaroc.measures.catalog import label
from polaroc.measures.spec import Measure
from polaroc.uncertainty.evidence import Evidence, Moved, quantile

# How many cases with the largest influence seen are added to each class, by measure.
PSEUDO = {"auc": 1}
MAX_PSEUDO = 2
# Areas between 0 and 1, and the least that is taken as the largest influence on them.
AREAS = ("auc", "auprec", "iauprec")
MIN_INFLUENCE = 0.25
# Below, the limits were wrong in simulation (`just gate-small`).
MIN_CASES = 20
# How many times more frequent positives may be than at the priors asked for, and how large the
# bias may be beside the standard error where they are more frequent.
MAX_ENRICHED = 2.5
MAX_BIAS = 0.15
ROOM = 1e-9
# The largest rate of passes and of fails at the margin, of which each may be 0.025.
LARGEST_RATES = {"auc": 0.03, "auprec": 0.03, "iauprec": 0.03}


def difference_limits(
    evidence: Evidence, pair: tuple[int, int], level: float, measure: str
) -> tuple[float, float]:
    """The lower and the upper limit of the first of a pair of models minus the second.

    Student's t with one degree of freedom less than the rarer class has cases, and the variance
    of the influence of the cases and of a few more in each class that have the largest influence
    seen. Of an area also Student's t on the scale of `_log_odds`: the wider limits count.
    """
    assert evidence.moved is not None
    own, other = (float(evidence.estimates[0, place]) for place in pair)
    reach = float(quantile(level, min(min(evidence.moved.counts) - 1, evidence.freedom)))
    width = reach * _std_error(evidence.moved, pair, measure)
    lower, upper = own - other - width, own - other + width
    if measure in AREAS:
        lower = min(lower, _least_on_log_odds(evidence, pair, reach))
        upper = max(upper, -_least_on_log_odds(evidence, (pair[1], pair[0]), reach))
    return lower, upper


def why_no_promise(
    measure: Measure, positives: int, negatives: int, few: int | None = None, units: str = "cases"
) -> str | None:
    """Why limits from so few cases cannot be trusted, None where they can.

    The bias of AUPREC is of the order λ/N, its standard error of the order 1/√P. Among cases that
    have many more positives than in use, λ P/N times as many, the bias is not small beside it.

    Parameters
    ----------
    measure
        The measure, written for `ARRAYS`.
    positives, negatives
        How many cases of each class there are.
    few, units
        How many units the rarer class has, where these are no cases, and what they are.
    """
    few = min(positives, negatives) if few is None else few
    if few < MIN_CASES:
        return f"a class has {few} {units}, {MIN_CASES} are needed"
    if measure.bias_skew is None:
        return None
    counts = {"positives": np.array(positives), "negatives": np.array(negatives)}
    skew = float(value_of(measure.bias_skew, counts))
    needed = skew * min(positives / MAX_ENRICHED, positives**0.5 / MAX_BIAS)
    if needed <= negatives:
        return None
    step = 10 ** max(0, int(log10(needed)) - 1)
    return (
        f"{label(measure.name)} is biased by few negatives, and beside {positives:,} positives "
        f"{negatives:,} negatives are too few; about {step * ceil(needed / step):,} are needed"
    )


def _std_error(moved: Moved, pair: tuple[int, int], measure: str) -> float:
    """The standard error of the difference, with pseudo-cases of the largest influence."""
    least = MIN_INFLUENCE if measure in AREAS else 0.0
    pseudo = PSEUDO.get(measure, MAX_PSEUDO)
    apart = moved.apart(*pair)
    total = float(moved.products(apart, apart))
    for own, count in zip(apart, moved.counts, strict=True):
        total += pseudo * max(float(abs(own).max()), least / count) ** 2
    return sqrt(total)


def _least_on_log_odds(evidence: Evidence, pair: tuple[int, int], reach: float) -> float:
    """The least difference that Student's t does not reject on the scale of `_log_odds`."""
    from scipy.optimize import brentq

    moved = evidence.moved
    assert moved is not None
    estimate, rival = (float(evidence.estimates[0, place]) for place in pair)
    reached, slope = _log_odds(estimate)
    # From the differences, since rounding would hide models that are all but equal.
    apart, other = moved.apart(*pair), [part[0, pair[1]] for part in moved.parts]
    spread = float(moved.products(apart, apart))
    joint = float(moved.products(apart, other))
    alone = float(moved.products(other, other))

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
