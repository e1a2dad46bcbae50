"""The two thresholds between which cases are reviewed, on one curve at one prior.

*Costs.* Write (t, f) for the rates of acting and (T, F) for those of acting or reviewing. A review
costs r on any case and goes wrong with probability e, so that a reviewed positive costs a = r + e·m
and a reviewed negative b = r + e·c, where a miss costs m and a false alarm c. The expected cost

    π(m(1−T) + a(T−t)) + (1−π)(c·f + b(F−f))

is one term of the higher threshold and one of the lower, so that each pair is judged by two sums.
Reviewing some cases costs less than acting on all of them and than leaving all only if
a/m + b/c < 1: whatever the prior and the scores, r < (1−2e)·m·c/(m + c).

*A promise on reviews.* At most a share x of cases is to lie between the thresholds. Where the true
share between a fixed pair is x, tables with at most `highest_share` between them have probability
δ at most. Any pair may be chosen, and so the scores are cut where the true share above rises by
h < x. A pair with more than x between its thresholds has more than x − h below the next cut, and
between this cut and a fixed score below it lies a share of just x − h. Over the cuts that the
higher threshold can lie between, errors add up; it lies above the highest share that its own
constraints leave, if they are kept. Of some h the one is taken that allows most. At two priors the
cuts of both are counted, and of the two fixed scores the higher one is the first to be passed.
"""

from dataclasses import dataclass
from math import ceil
from typing import Generic, NamedTuple, TypeVar

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.thresholds.constraints import Constraints
from polaroc.thresholds.promises import Sample, highest_share, promised
from polaroc.typing import Array, Quantity

_Q = TypeVar("_Q")
# Parts of the share to be reviewed that the scores are cut into.
CUTS = (10, 20, 40)


class Rates(NamedTuple, Generic[_Q]):
    """Recall and false positive rate."""

    t: _Q
    f: _Q


NONE = Rates(0.0, 0.0)


@dataclass(frozen=True)
class ReviewCosts:
    """What a missed positive, a false alarm and a review cost, and how often a review goes wrong.

    Examples
    --------
    >>> costs = ReviewCosts(20, 5, 1)
    >>> costs.break_even, round(costs.expected(Rates(0.5, 0.0), Rates(0.9, 0.1), 9.0), 12)
    (4.0, 0.33)
    """

    miss: Quantity
    alarm: Quantity
    review: Quantity
    error: Quantity = 0.0

    @property
    def break_even(self) -> Quantity:
        """What a review may cost at most to pay on some case."""
        return (1 - 2 * self.error) * self.miss * self.alarm / (self.miss + self.alarm)

    def expected(self, act: Rates[Quantity], both: Rates[Quantity], skew: Quantity) -> Quantity:
        """The expected cost per case, given the rates of acting, and of acting or reviewing."""
        positive, negative = (self.review + self.error * own for own in (self.miss, self.alarm))
        of_positives = self.miss * (1 - both.t) + positive * (both.t - act.t)
        of_negatives = self.alarm * act.f + negative * (both.f - act.f)
        return (of_positives + skew * of_negatives) / (1 + skew)


class ChosenPlaces(NamedTuple):
    """Places on a curve: of the thresholds to act and to review from, and without reviews."""

    act: int
    review: int
    single: int


def best_band(
    at: Rates[Array], may_act: Array, last: Array, costs: ReviewCosts | None, skew: float
) -> ChosenPlaces | None:
    """The best pair of thresholds, of a curve from its highest threshold on, and the best single.

    `last` is the lowest threshold that may be reviewed from, for each that may be acted from.
    Without costs as many positives are acted on as may be, then as many as may be are reviewed.
    Among equals the highest thresholds are taken. None where none may be acted from.
    """
    if not may_act.any():
        return None
    if costs is None:
        act = _first(np.where(may_act, at.t, -np.inf))
        return ChosenPlaces(act, _first(at.t[: last[act] + 1]), act)
    act_cost = costs.expected(at, NONE, skew)
    # Each of the two has the cost of leaving all.
    review_cost = costs.expected(NONE, at, skew) - costs.expected(NONE, NONE, skew)
    with_reviews = np.where(may_act, act_cost + _least_in(review_cost, last), np.inf)
    without = np.where(may_act, act_cost + review_cost, np.inf)
    act = _first(-with_reviews)
    return ChosenPlaces(act, act + _first(-review_cost[act : last[act] + 1]), _first(-without))


def _first(values: Array) -> int:
    """The first place with the greatest value, up to rounding."""
    scale = np.abs(values[np.isfinite(values)]).max()
    return int((values >= values.max() - ROUNDING * scale).argmax())


def _least_in(values: Array, last: Array) -> Array:
    """The least of the values from each place to its last one."""
    # The powers of two that so many values are no fewer than.
    power = (np.frexp(last - np.arange(len(values)) + 1)[1] - 1).astype(np.uint8)
    order = np.argsort(power, kind="stable")
    least, of_span = np.empty(len(values)), values
    for number, own in enumerate(np.split(order, np.cumsum(np.bincount(power))[:-1])):
        span = 1 << number
        least[own] = np.minimum(of_span[own], of_span[last[own] - span + 1])
        of_span = np.minimum(of_span[:-span], of_span[span:])
    return least


def may_act_from(
    sample: Sample, constraints: Constraints, own: float, delta: float | None
) -> Array:
    """Whether the constraints allow to act from each threshold, promised at an error rate δ.

    Acting on nothing breaks no promise on what is acted on, such as its precision.
    """
    at_origin = (sample.tp == 0) & (sample.fp == 0)
    lines = constraints.lines(own)
    if not constraints.limits:
        return np.ones(len(sample.tp), dtype=bool)
    if delta is None:
        rates = sample.tp / sample.positives, sample.fp / sample.negatives
        kept = np.all(np.broadcast_arrays(*constraints.kept(*rates, own)), axis=0)
    else:
        kept = promised(sample, constraints, own, delta)
    return np.where(at_origin, all(intercept <= 0 for _, intercept in lines), kept)


def last_reviewed(
    sample: Sample, constraints: Constraints, own: float, share: float | None, delta: float | None
) -> Array:
    """The lowest threshold down to which, from each one, at most a share of cases is reviewed."""
    places = np.arange(len(sample.tp))
    last: Array = np.full(len(places), len(places) - 1)
    if share is None:
        return last
    allowed = share if delta is None else _highest_reviewed(sample, constraints, own, share, delta)
    for skew in constraints.skews(own):
        called = sample.tp / sample.positives + skew * sample.fp / sample.negatives
        called /= 1 + skew
        most = called + allowed * (1 + ROUNDING)
        last = np.minimum(last, np.searchsorted(called, most, side="right") - 1)
    return last.clip(min=places)


def _highest_reviewed(
    sample: Sample, constraints: Constraints, own: float, share: float, delta: float
) -> float:
    """The highest share of a table between thresholds that promises at most `share` in truth."""
    _, _, positives, negatives = sample.independent
    priors = [1 / (1 + skew) for skew in constraints.skews(own)]
    most_acted = [_most_acted(constraints, own, one) for one in priors]
    highest = -1.0
    for parts in CUTS:
        step = share / parts
        error = delta / sum(ceil(most / step) for most in most_acted)
        allowed = [highest_share(positives, negatives, one, share - step, error) for one in priors]
        highest = max(highest, min(allowed))
    return highest


def _most_acted(constraints: Constraints, own: float, prior: float) -> float:
    """The highest share of cases that may be acted on where the constraints are kept."""
    alarms = [(1 - least) / slope for slope, least in constraints.lines(own) if slope > 0]
    highest = min(constraints.cap, *alarms, 1.0)
    most = prior + (1 - prior) * max(highest, 0.0)
    return float(min(most, constraints.capacity or 1.0))
