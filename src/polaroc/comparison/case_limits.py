"""Limits of the difference of two fitted models that hold with few cases of a class."""

from dataclasses import dataclass
from math import ceil, log, log10, sqrt

import polars as pl

from polaroc.comparison.paired_cases import Block
from polaroc.measures.catalog import label
from polaroc.measures.spec import Measure
from polaroc.typing import Array

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


@dataclass(frozen=True, eq=False)
class PairedDifference:
    """Two estimates, with the centred influence of the same positives and negatives on each."""

    estimate: float
    other: float
    influence: tuple[tuple["Array", "Array"], ...]  # of both models, per class

    @classmethod
    def of_block(cls, block: Block, model: int, other: int) -> "PairedDifference":
        """The difference of two models of a block of paired cases."""
        estimates = float(block.estimates[model]), float(block.estimates[other])
        pairs = (
            tuple(among[place] - among[place].mean() for place in (model, other))
            for among in block.influence
        )
        return cls(*estimates, tuple(pairs))

    @property
    def reversed(self) -> "PairedDifference":
        """The same of the other model."""
        influence = tuple((other, own) for own, other in self.influence)
        return PairedDifference(self.other, self.estimate, influence)

    @property
    def positives(self) -> int:
        """How many there are."""
        return self.influence[0][0].size

    @property
    def fewest(self) -> int:
        """The cases of the rarer class."""
        return min(own.size for own, _ in self.influence)


def difference_limits(lead: PairedDifference, level: float, measure: str) -> tuple[float, float]:
    """The lower and the upper limit of the first estimate minus the other.

    Student's t with one degree of freedom less than the rarer class has cases, and the variance
    of the influence of the cases and of a few more in each class that have the largest influence
    seen. Of an area also Student's t on the scale of `_log_odds`: the wider limits count.
    """
    from scipy.special import stdtrit

    quantile = float(stdtrit(lead.fewest - 1, (1 + level) / 2))
    difference = lead.estimate - lead.other
    reach = quantile * _std_error(lead, measure)
    lower, upper = difference - reach, difference + reach
    if measure in AREAS:
        lower = min(lower, _least_on_log_odds(lead, quantile))
        upper = max(upper, -_least_on_log_odds(lead.reversed, quantile))
    return lower, upper


def why_no_promise(estimates: pl.DataFrame, measure: Measure) -> str | None:
    """Why limits from so few cases cannot be trusted, None where they can.

    The bias of AUPREC is of the order λ/N, its standard error of the order 1/√P. Among cases that
    have many more positives than in use, λ P/N times as many, the bias is not small beside it.

    Parameters
    ----------
    estimates
        The measure, as from `evaluate`, of models on one test set.
    measure
        It.
    """
    positives, negatives = estimates.select("positives", "negatives").row(0)
    fewest = min(positives, negatives)
    if fewest < MIN_CASES:
        return f"a class has {fewest} cases, {MIN_CASES} are needed"
    if measure.bias_skew is None:
        return None
    skew = estimates.select(pl.lit(0.0) + measure.bias_skew).item(0, 0)
    needed = skew * min(positives / MAX_ENRICHED, positives**0.5 / MAX_BIAS)
    if needed <= negatives:
        return None
    step = 10 ** max(0, int(log10(needed)) - 1)
    return (
        f"{label(measure.name)} is biased by few negatives, and beside {positives:,} positives "
        f"{negatives:,} negatives are too few; about {step * ceil(needed / step):,} are needed"
    )


def _std_error(lead: PairedDifference, measure: str) -> float:
    """The standard error of the difference, with pseudo-cases of the largest influence."""
    least = MIN_INFLUENCE if measure in AREAS else 0.0
    pseudo = PSEUDO.get(measure, MAX_PSEUDO)
    total = 0.0
    for own, other in lead.influence:
        moved = own - other
        largest = max(float(abs(moved).max()), least)
        total += float(moved.var(ddof=1)) / moved.size + pseudo * (largest / moved.size) ** 2
    return sqrt(total)


def _least_on_log_odds(lead: PairedDifference, quantile: float) -> float:
    """The least difference that Student's t does not reject on the scale of `_log_odds`."""
    from scipy.optimize import brentq

    reached, slope = _log_odds(lead.estimate)
    # From the differences, since rounding would hide models that are all but equal.
    moved = [(own - other, other) for own, other in lead.influence]
    spread = sum(float(apart.var(ddof=1)) / apart.size for apart, _ in moved)
    joint = sum(
        float((apart * other).sum()) / (apart.size - 1) / apart.size for apart, other in moved
    )
    alone = sum(float(other.var(ddof=1)) / other.size for _, other in moved)

    def beyond(left: float) -> float:
        at, other_slope = _log_odds(left)
        more = slope - other_slope
        variance = slope**2 * spread + 2 * slope * more * joint + more**2 * alone
        return reached - at - quantile * sqrt(max(variance, 0.0))

    if beyond(lead.estimate) >= 0:
        return lead.estimate - lead.other
    step = 1.0
    while beyond(lead.estimate - step) < 0:
        step *= 2
    return float(brentq(beyond, lead.estimate - step, lead.estimate)) - lead.other


def _log_odds(area: float) -> tuple[float, float]:
    """The log-odds of an area, below 1/2 its tangent there, and the slope.

    Only towards 1 the error of an area shrinks as the area grows.
    """
    if area < 0.5:
        return 4 * (area - 0.5), 4.0
    within = min(area, 1 - ROOM)
    return log(within / (1 - within)), 1 / (within * (1 - within))
