"""Limits that hold at all times at once, also where the days of a reference differ."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log2

import numpy as np

from polaroc.base.statistics import (
    ROUNDING,
    Band,
    binomial_band,
    normal_scores,
)
from polaroc.deployment.estimators import nearest_prior, smoothed_variance
from polaroc.thresholds.texts import threshold_text
from polaroc.typing import Array

# Days of a window count by their cases; their positives may differ by about this factor more,
# which leaves this part of the days where it is worst (Kantorovich): 4r / (1 + r)² for r = 4.
EVEN = 0.64


@dataclass(frozen=True)
class Days:
    """How the scores of a class differ from day to day.

    `spread` is at each cut the standard deviation of the normal quantile of a day's rate,
    `inflation` the factor of the variance of the rate of all days together.
    """

    spread: "Array"
    inflation: "Array"

    @classmethod
    def of_scores(cls, score: "Array", code: "Array", cuts: "Array", error: float) -> "Days":
        """From the scores of a class and the codes of their days.

        The spread is the upper limit of that of a shift of all scores, or the estimate of a cut
        where that is greater: days may differ by more than a shift.
        """
        from scipy.stats import norm

        size = np.bincount(code).astype(float)
        code, size = np.unique(code, return_inverse=True)[1], size[size > 0]
        total, freedom = size.sum(), size.size - 1
        shift = _shift(score, code, size, error)
        # Half a case more of either kind, so that no rate is 0 or 1.
        at_or_above = score[:, None] >= cuts
        rate = (at_or_above.sum(axis=0) + 0.5) / (total + 1)
        variance, slope = rate * (1 - rate), norm.pdf(norm.ppf(rate))
        spread = np.full(cuts.size, shift)
        usual = usual_size(size)
        if freedom > 0 and usual > 1:
            above = np.stack([np.bincount(code, one, size.size) for one in at_or_above.T])
            squares = ((above - size * rate[:, None]) ** 2 / size).sum(axis=1)
            alike = (squares / variance / freedom - 1) / (usual - 1)
            own = np.sqrt(np.maximum(alike, 0) * variance) / slope
            # Of rarer cases the days show nothing.
            spread = np.where(total * variance > size.size, np.maximum(spread, own), spread)
        share = np.minimum((slope * spread) ** 2 / variance, 1)
        return cls(spread, 1 + ((size**2).sum() / total - 1) * share)

    def widened(self, band: Band, error: "Array", days: "Array") -> Band:
        """Limits of the rate of the mean of some days, from those of the mean of all days."""
        from scipy.special import ndtr, ndtri

        width = -ndtri(error / 2) * self.spread / np.sqrt(days)
        return Band(*(ndtr(ndtri(end) + by) for end, by in zip(band, (-width, width), strict=True)))


def _shift(score: "Array", code: "Array", size: "Array", error: float) -> float:
    """The upper limit of the standard deviation between days of a shift of normal scores.

    The variances of normal scores (van der Waerden's) between and within days have the ratio F.
    """
    from scipy.special import fdtri

    freedom = size.size - 1, score.size - size.size
    if min(freedom) < 1:
        return np.inf
    between, within = mean_squares(normal_scores(score), code)
    if within == 0:
        return np.inf
    highest = max(between / within, 1.0) / float(fdtri(*freedom, error))
    # Tied scores move less than what they stand for, by their variance.
    return float(np.sqrt(max(highest - 1, 0.0) / (usual_size(size) * min(within, 1.0))))


def effective_days(cases: "Array", squares: "Array") -> "Array":
    """As how many equal days those of a window count, by the sums of cases and of their squares."""
    days: Array = np.maximum(EVEN * cases**2 / np.maximum(squares, 1), 1.0)
    return days


# Between neighbouring cuts lies about this share of the two classes, which count alike.
CUTS = 20
# Numbers of the last times that are also taken together.
WINDOWS = (1, 2, 4, 8, 16, 32, 64)
MIN_APART = 1e-12
# Part of the error rate of a key for its reference, whose cases do not get more.
FOR_REFERENCE = 0.8
# Parts of that part for each of the two rates, and for each of their differences.
FOR_RATE, FOR_DIFFERENCE = 0.4, 0.1
# The same where days differ: for each rate, and for how much the days of each class differ, which
# few days tell the least. Differences of rates are then not bounded by themselves.
FOR_RATE_OF_DAYS, FOR_SPREAD = 0.2, 0.3
# Part of the error rate in use, where days differ, for what they differ by.
FOR_DAYS = 0.5


def spent(look: int) -> float:
    """The share of the error rate for one of infinitely many looks; all of them add up to 1.

    Examples
    --------
    >>> round(spent(1), 3), round(sum(spent(look) for look in range(1, 1_000)), 2)
    (0.369, 0.9)
    """
    return 1 / log2(look + 1) - 1 / log2(look + 2)


@dataclass(frozen=True)
class Threshold:
    """A threshold in use: cases above it are called positive, at it with the chance `share`."""

    value: float
    share: float
    prior: float | None = None  # for which it was chosen
    # On the table that it was chosen on: TPr, FPr, positives and negatives.
    tuned: Sequence[float | None] | None = None
    is_lowest: bool = False  # that a capacity or a constraint allows
    over: tuple[float, float] | None = None  # the range of priors for which it was chosen


@dataclass(frozen=True)
class Reference:
    """The reference of one key: scores at which it is cut, and the cases at or above each.

    The first cuts are the threshold in use and, where its share is below 1, the next score
    above: of these the rates are bounded with half of the `error`, the chance that any limit fails.
    """

    threshold: Threshold
    cuts: "Array"
    tp: "Array"
    fp: "Array"
    positives: int
    negatives: int
    error: float
    ends: tuple[float, float]  # of its scores
    below: "Array"  # for each cut the highest score below it, -inf if there is none
    # Of positives and of negatives; none where days are taken to differ by chance alone.
    days: tuple[Days, Days] | None = None

    @classmethod
    def from_scores(
        cls,
        positive: "Array",
        negative: "Array",
        threshold: Threshold,
        error: float,
        codes: "tuple[Array, Array] | None" = None,
    ) -> "Reference":
        """The reference with cuts at the threshold and at quantiles of its scores.

        `codes` are those of the days of positives and of negatives, from 0 on.
        """
        own = [threshold.value]
        if threshold.share < 1:
            own.append(float(np.nextafter(threshold.value, np.inf)))
        score = np.concatenate([positive, negative])
        size = np.repeat([positive.size, negative.size], [positive.size, negative.size])
        order = np.argsort(score, kind="stable")
        cumulative = (0.5 / size[order]).cumsum()
        places = np.searchsorted(cumulative, np.arange(1, CUTS) / CUTS)
        others = np.setdiff1d(score[order][np.minimum(places, score.size - 1)], own)
        cuts = np.concatenate([own, others])
        tp, fp = (_at_or_above(scores, cuts) for scores in (positive, negative))
        ordered = np.concatenate([[-np.inf], score[order]])
        below = ordered[np.searchsorted(score[order], cuts)]
        ends = float(score.min()), float(score.max())
        known = cls(threshold, cuts, tp, fp, positive.size, negative.size, error, ends, below)
        if codes is None:
            return known
        part = error * FOR_REFERENCE * FOR_SPREAD
        of_positives, of_negatives = (
            Days.of_scores(one, code, cuts, part)
            for one, code in zip((positive, negative), codes, strict=True)
        )
        return replace(known, days=(of_positives, of_negatives))

    @property
    def own(self) -> "Array":
        """Weights of the cuts whose sum is the threshold in use."""
        weights = np.zeros(self.cuts.size)
        share = self.threshold.share
        weights[: self.own_cuts] = (share, 1 - share)[: self.own_cuts]
        return weights

    def text(self, cut: int) -> str:
        """A cut in as few digits as select the same cases of the reference."""
        return threshold_text(float(self.cuts[cut]), float(self.below[cut]))

    @property
    def is_tuning_table(self) -> bool:
        """Whether the threshold has the very rates and totals as where it was chosen."""
        tuned = [value for value in self.threshold.tuned or () if value is not None]
        if len(tuned) < 4:
            return False
        t, f = (float(rate @ self.own) for rate in self.rates())
        here = np.array([t, f, self.positives, self.negatives])
        return bool(np.allclose(here, tuned, rtol=ROUNDING, atol=0))

    @property
    def own_cuts(self) -> int:
        """The number of first cuts that belong to the threshold in use."""
        return 1 if self.threshold.share == 1 else 2

    def errors(self, error: "Array | float") -> "Array":
        """An error rate, divided: half for the cuts of the threshold in use, half for others."""
        others = self.cuts.size - self.own_cuts
        part = np.full(self.cuts.size, 0.5 / others if others else 0.0)
        part[: self.own_cuts] = (0.5 if others else 1.0) / self.own_cuts
        divided: Array = np.asarray(error)[..., None] * part
        return divided

    def rates(self) -> tuple["Array", "Array"]:
        """The true and false positive rates at the cuts."""
        return self.tp / self.positives, self.fp / self.negatives

    def prior(self, above: "Array", cases: "Array | int") -> "Array":
        """The prior of the nearest mixture to cases, of which so many are at or above each cut.

        A cut counts by one over how much its share varies, and that of the mixture: where positives
        are rare, that the reference has few of them says little against a cut.
        """
        size = np.maximum(cases, 1)
        share = above / size
        t, f = self.rates()
        of_t, of_f = smoothed_variance(t, self.positives), smoothed_variance(f, self.negatives)
        of_share = smoothed_variance(share, size)
        prior: Array = np.zeros(1)
        # By weights as where there are no positives, and then by those at the prior found.
        for _ in range(2):
            varies = of_share + prior**2 * of_t + (1 - prior) ** 2 * of_f
            prior = nearest_prior(t, f, share, 1 / varies)
        return prior[..., 0]

    def bands(self) -> tuple[Band, Band]:
        """Simultaneous limits of the true and the false positive rates at all cuts."""
        part = FOR_RATE if self.days is None else FOR_RATE_OF_DAYS
        error = self.errors(self.error * FOR_REFERENCE * part)
        t, f = (1.0, 1.0) if self.days is None else (days.inflation for days in self.days)
        return (
            binomial_band(self.tp / t, self.positives / t, error),
            binomial_band(self.fp / f, self.negatives / f, error),
        )

    def gains(self) -> tuple["Array", "Array"]:
        """Lower limits, at each cut instead of the threshold, of more TPr and of less FPr."""
        error = self.error * FOR_REFERENCE * FOR_DIFFERENCE / self.cuts.size / self.own_cuts
        more, less = np.zeros(self.cuts.size), np.zeros(self.cuts.size)
        for own, weight in enumerate(self.own[: self.own_cuts]):
            is_lower = self.cuts <= self.cuts[own]
            # The cases between two cuts are binomial, too.
            positive, negative = (
                binomial_band(np.abs(counts - counts[own]), size, error)
                for counts, size in ((self.tp, self.positives), (self.fp, self.negatives))
            )
            more += weight * np.where(is_lower, positive.lower, -positive.upper)
            less += weight * np.where(is_lower, -negative.upper, negative.lower)
        return more, less

    def counts(
        self, score: "Array", code: "Array", times: int, count: "Array | None" = None
    ) -> "Array":
        """Cases in use at or above each cut, by the code of their time; a row may count several."""
        order = np.argsort(self.cuts)
        passed = np.searchsorted(self.cuts[order], score, side="right")
        width = self.cuts.size + 1
        bins = np.bincount(code * width + passed, count, times * width).reshape(times, width)
        above = bins.astype(int)[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
        counted: Array = np.empty_like(above)
        counted[:, order] = above
        return counted


def _at_or_above(scores: "Array", cuts: "Array") -> "Array":
    counted: Array = scores.size - np.searchsorted(np.sort(scores), cuts, side="left")
    return counted


@dataclass(frozen=True)
class Looks:
    """Counts at the cuts of a reference, one row per look and number of last times.

    `called` has the axes look, window and cut; `cases` the first two, and is 0 where there
    are fewer times than the window has. `squares` are sums of the squared cases of each time.
    """

    reference: Reference
    number: Sequence[int]
    called: "Array"
    cases: "Array"
    squares: "Array | None" = None

    def _errors(self) -> "Array":
        """The error rate of each look, window and cut."""
        # Half of the error rate for each time of its own.
        windows = np.full(len(WINDOWS), 0.5 / (len(WINDOWS) - 1))
        windows[0] = 0.5
        part = np.array([spent(look) for look in self.number])[:, None] * windows
        return self.reference.errors(self.reference.error * (1 - FOR_REFERENCE) * part)

    @cached_property
    def rates(self) -> tuple[Band, Band]:
        """Limits of the true and the false positive rates at each cut, by look and window."""
        bands, days = self.reference.bands(), self.reference.days
        if days is not None and self.squares is not None:
            error = self._errors() * FOR_DAYS / len(days)
            number = effective_days(self.cases, self.squares)[..., None]
            bands = (
                days[0].widened(bands[0], error, number),
                days[1].widened(bands[1], error, number),
            )
        t, f = (Band(*(np.broadcast_to(one, self.called.shape) for one in band)) for band in bands)
        return t, f

    def gains(self) -> tuple["Array", "Array"]:
        """Lower limits, at each cut instead of the threshold, of more TPr and of less FPr."""
        if self.reference.days is None:
            return self.reference.gains()
        own, (t, f) = self.reference.own, self.rates
        return t.lower - (t.upper @ own)[..., None], (f.lower @ own)[..., None] - f.upper

    def shares(self) -> Band:
        """Limits of the shares at or above each cut, at all looks at once."""
        error = self._errors() * (1 if self.reference.days is None else 1 - FOR_DAYS)
        size = np.maximum(self.cases, 1)[..., None]
        band = binomial_band(np.minimum(self.called, size), size, error)
        none = (self.cases == 0)[..., None]
        return Band(np.where(none, 0.0, band.lower), np.where(none, 1.0, band.upper))

    def priors(self, shares: Band) -> Band:
        """Priors at which the classes can make up the shares; lower > upper where there are none.

        A mixture has πt + (1−π)f ≥ its lower and ≤ its upper limit for some rates within theirs.
        """
        t, f = self.rates
        low = _solved(f.upper - shares.lower, t.upper - f.upper)
        high = _solved(shares.upper - f.lower, f.lower - t.lower)
        return Band(_largest(low.lower, high.lower), -_largest(-low.upper, -high.upper))

    def prior(self) -> "Array":
        """The prior of the nearest mixture at each look, of its own time."""
        return self.reference.prior(self.called[:, 0], self.cases[:, :1])


def _solved(level: "Array", slope: "Array") -> Band:
    """Where level + π · slope ≥ 0 for π from 0 to 1, from lower to upper: crossed where nowhere."""
    flat = np.abs(slope) < MIN_APART
    root = -level / np.where(flat, 1.0, slope)
    empty = flat & (level < -MIN_APART)
    lower = np.where(empty, 2.0, np.where(~flat & (slope > 0), root, 0.0))
    upper = np.where(empty, -1.0, np.where(~flat & (slope < 0), root, 1.0))
    return Band(np.maximum(lower, 0.0), np.minimum(upper, 1.0))


def _largest(*arrays: "Array") -> "Array":
    largest: Array = np.maximum.reduce([array.max(axis=-1) for array in arrays])
    return largest


def mean_squares(values: "Array", group: "Array") -> tuple[float, float]:
    """The mean squares of values between and within groups that are numbered from 0.

    Examples
    --------
    >>> import numpy as np
    >>> mean_squares(np.array([1.0, 3.0, 5.0, 7.0]), np.array([0, 0, 1, 1]))
    (16.0, 2.0)
    """
    size = np.bincount(group)
    means = np.bincount(group, values) / size
    between = float(size @ (means - values.mean()) ** 2) / (size.size - 1)
    return between, float(((values - means[group]) ** 2).sum()) / (values.size - size.size)


def usual_size(size: "Array") -> float:
    """The values of a usual group, as the variance between groups of these sizes counts them.

    Examples
    --------
    >>> import numpy as np
    >>> usual_size(np.array([1, 3])), usual_size(np.array([2, 2]))
    (1.5, 2.0)
    """
    total = float(size.sum())
    return (total - float(size @ size) / total) / max(size.size - 1, 1)
