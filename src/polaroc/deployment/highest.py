"""The highest cases of each day: how many are positives, at any prior, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from polaroc import rates
from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.priors.grids import skew
from polaroc.typing import Array
from polaroc.uncertainty.evidence import FEWEST_CLUSTERS, NO_ERROR, Evidence, Moved, quantile

QUANTITIES = ("recall", "precision", "cost", "alerts")
# What is a share, whose limits are on the scale of its log-odds.
SHARES = ("recall", "precision")
ABOUT = "these fitted models on other days like these, which must be independent"
# The least relative change of a class by which thresholds are moved, to see what they do.
LEAST_STEP = 1e-3


class Cells(NamedTuple):
    """Curves one after another, each from its anchor on: those at or above each score."""

    tp: "Array"
    fp: "Array"
    first: "Array"  # the place of the anchor of each curve
    last: "Array"

    def highest(self, alerts: "Array", pos: "Array", neg: "Array") -> "tuple[Array, Array]":
        """How many positives and negatives of each curve are among its highest cases.

        The highest are taken until they weigh `alerts`, where a positive weighs `pos` and a
        negative `neg`: priors × curves. Of equal scores all have the same chance.
        """
        weigh = np.broadcast_shapes(alerts.shape, pos.shape, self.first.shape)
        low, high = (np.broadcast_to(ends, weigh) for ends in (self.first, self.last))
        while (high - low).max(initial=0) > 1:
            middle = (low + high) // 2
            enough = pos * self.tp[middle] + neg * self.fp[middle] >= alerts
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        above = pos * self.tp[low] + neg * self.fp[low]
        weight = pos * self.tp[high] + neg * self.fp[high] - above
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(weight > 0, np.clip((alerts - above) / weight, 0, 1), 1.0)
        t, f = (own[low] + share * (own[high] - own[low]) for own in (self.tp, self.fp))
        return t, f


class Means(NamedTuple):
    """Means of days: positives and negatives, how many of each are looked at, and alerts in use."""

    positives: "Array"
    negatives: "Array"
    tp: "Array"
    fp: "Array"
    alerts: "Array"


@dataclass(frozen=True)
class Asked:
    """The alerts a day, and what they are judged by."""

    alerts: float
    volume: float | None
    priors: tuple[float | None, ...]  # None is the share of positives of the days
    costs: Mapping[str, float]

    def most(self, days: Cells) -> float:
        """The most cases in use that a day has."""
        cases = days.tp[days.last] + days.fp[days.last]
        most = cases.max() if self.volume is None else self.volume * cases.max() / cases.mean()
        return float(most)

    def prior(self, positives: "Array", negatives: "Array") -> "Array":
        """The priors × what the classes are given by."""
        own = positives / (positives + negatives)
        return np.stack([own if one is None else np.full_like(own, one) for one in self.priors])

    def cases(self, positives: "Array", negatives: "Array") -> "Array":
        """The cases of a day in use."""
        both = positives + negatives
        return both if self.volume is None else np.full_like(both, self.volume)

    def weights(self, positives: "Array", negatives: "Array") -> "tuple[Array, Array]":
        """How many cases in use a positive and a negative stand for, by the mean of each a day."""
        prior, cases = self.prior(positives, negatives), self.cases(positives, negatives)
        return prior * cases / positives, (1 - prior) * cases / negatives

    def quantities(self, means: Means) -> "Array":
        """The `QUANTITIES`: these × priors × what the means are given by."""
        prior = self.prior(means.positives, means.negatives)
        t, f, ratio = means.tp / means.positives, means.fp / means.negatives, skew(prior)
        missed, false = self.costs["cost_fn"] * prior, self.costs["cost_fp"] * (1 - prior)
        cost = missed * (1 - t) + false * f
        return np.stack([t, rates.precision(t, f, ratio), cost, means.alerts])

    def taken(self, curves: Cells, alerts: "Array", *mean: "Array") -> "list[Array]":
        """Positives, negatives and alerts in use among the highest of each curve."""
        pos, neg = self.weights(*mean)
        t, f = curves.highest(alerts, pos, neg)
        return [t, f, pos * t + neg * f]


class Found(NamedTuple):
    """What comes of the highest of each day, `QUANTITIES` × priors each."""

    estimate: "Array"
    one_threshold: "Array"  # the same of one threshold with as many alerts
    lower: "Array"  # NaN where nothing is known
    upper: "Array"
    std_error: "Array"
    few: int  # days that have fewer cases than alerts, at the priors where they are most
    why_no_limits: str | None


def of_days(days: Cells, pooled: Cells, asked: Asked, level: float) -> Found:
    """What comes of the highest of each day; `pooled` are the cells of all days in one curve."""
    size = days.first.size
    positives, negatives = days.tp[days.last], days.fp[days.last]
    mean = np.array([positives.mean()]), np.array([negatives.mean()])
    taken = asked.taken(days, np.array(asked.alerts), *mean)
    means = Means(*mean, *(own.mean(axis=1, keepdims=True) for own in taken))
    estimates = asked.quantities(means)[..., 0]
    of_one = asked.taken(pooled, size * means.alerts, *mean)
    one = asked.quantities(Means(*mean, *(own / size for own in of_one)))[..., 0]
    few = (taken[-1] < asked.alerts * (1 - ROUNDING)).sum(axis=1).max()
    evidence = _evidence(days, taken, asked, estimates)
    error = np.sqrt(evidence.covariance[:, 0, 0]).reshape(estimates.shape)
    error[error <= NO_ERROR * np.maximum(estimates, 1)] = 0
    lower, upper = _limits(estimates, error, quantile(level, evidence.freedom))
    lacking = (
        f"fewer than {FEWEST_CLUSTERS} days have {name}"
        for name, own in (("positives", positives), ("negatives", negatives))
        if np.count_nonzero(own) < FEWEST_CLUSTERS
    )
    return Found(estimates, one, lower, upper, error, int(few), next(lacking, None))


def _evidence(days: Cells, taken: "Sequence[Array]", asked: Asked, estimates: "Array") -> Evidence:
    """By how much each day moves the estimates: they are taken without it."""
    size = days.first.size
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = asked.quantities(_without_each(days, taken, asked)).reshape(-1, size)
        moved = left_out.mean(axis=1, keepdims=True) - left_out
    own = Moved((moved[:, None],), ((size - 1) / size,), (size,), units="days")
    covariance = own.covariance()
    fewest = min(np.count_nonzero(ends[days.last]) for ends in (days.tp, days.fp))
    if fewest < FEWEST_CLUSTERS:
        covariance *= np.nan
    return Evidence(
        [None], estimates.reshape(-1, 1), covariance, max(fewest - 1.0, 1.0), ABOUT, moved=own
    )


def _without_each(days: Cells, taken: "Sequence[Array]", asked: Asked) -> Means:
    """The means of the other days, for each day.

    Without it a class has another mean, and so other weights: what these change in all days
    together is taken from a step as large as the standard error of the mean.
    """
    size = days.first.size
    others = max(size - 1, 1)
    classes = days.tp[days.last], days.fp[days.last]
    means = [np.array([own.mean()]) for own in classes]
    left = [(own.sum() - own) / others for own in classes]
    totals = [own.sum(axis=1, keepdims=True) - own for own in taken]
    for place, own in enumerate(classes):
        step = max(own.std() / np.sqrt(others) / means[place].item(), LEAST_STEP)
        ends = []
        for change in (1 + step, 1 - step):
            at = [one * change if number == place else one for number, one in enumerate(means)]
            moved = asked.taken(days, np.array(asked.alerts), *at)
            ends.append([one.sum(axis=1, keepdims=True) for one in moved])
        by = (left[place] / means[place] - 1) / (2 * step)
        totals = [one + by * (up - down) for one, up, down in zip(totals, *ends, strict=True)]
    return Means(*left, *(one / others for one in totals))


def _limits(estimates: "Array", error: "Array", reach: "Array") -> "tuple[Array, Array]":
    """Student's limits, of shares on the scale of their log-odds."""
    width = reach * error
    lower, upper = np.maximum(estimates - width, 0), estimates + width
    shares = slice(0, len(SHARES))
    own = estimates[shares]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        odds, factor = own / (1 - own), np.exp(width[shares] / (own * (1 - own)))
        lower[shares], upper[shares] = 1 / (1 + factor / odds), 1 / (1 + 1 / (odds * factor))
    # That a share is the same on all days says nothing of others; alerts are as many by the rule.
    lower[:-1], upper[:-1] = (np.where(error[:-1] > 0, own[:-1], np.nan) for own in (lower, upper))
    return lower, upper
