"""Labels that a reference lets expect: drawn again and again, for the width of their limits."""

from dataclasses import dataclass
from functools import cached_property

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING
from polaroc.deployment.estimators import MIN_SHARE
from polaroc.deployment.labelled import (
    PSEUDO,
    Bins,
    Labels,
    in_bins,
    labelled_mean,
    labelled_recall,
)
from polaroc.deployment.limits import Reference
from polaroc.typing import Array

DRAWS = 200
# The share of draws in which the limits are to be as narrow as asked.
REACHED = 0.98
MIN_LABELS = 2
# Numbers of ranges that are tried, beside one.
RANGES = (2, 8, 32)


@dataclass(frozen=True)
class Draws:
    """Cases in use between the cuts of a reference, and what share of each bin may be positive.

    `positive` has the draws in rows, and the bins in columns. `quantity` is to be known, where
    `alerts` with labels of all cases called positive; `design` is the factor of the variance of
    all cases.
    """

    bins: Bins
    positive: "Array"
    quantity: str
    alerts: bool
    level: float
    design: float

    @classmethod
    def of_reference(
        cls,
        reference: Reference,
        bins: Bins,
        quantity: str,
        level: float,
        *,
        alerts: bool = False,
        design: float = 1.0,
    ) -> "Draws":
        """Classes drawn anew, by as many cases of the reference as are independent, in use."""
        rng, drawn = np.random.default_rng(0), []
        for place, (above, total) in enumerate(
            ((reference.tp, reference.positives), (reference.fp, reference.negatives))
        ):
            inflation = 1.0 if reference.days is None else reference.days[place].inflation.mean()
            counts = in_bins(reference, above, total) / inflation
            drawn.append(rng.dirichlet(counts + PSEUDO, DRAWS))
        p, q = drawn
        cases, rank = int(bins.count.sum()), np.argsort(np.argsort(reference.cuts))
        t, f, share = (
            one[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:][..., rank]
            for one in (p, q, bins.count / cases)
        )
        prior = reference.nearest(share, cases, (t, f))
        low, high = prior < MIN_SHARE, prior > 1 - MIN_SHARE
        if low.any() and high.any():
            # Scores that lead to both ends do not tell the prior.
            prior = np.where(low | high, rng.random(prior.shape), prior)
        elif not (low | high).all():
            # Draws at an end are those of a prior beyond it.
            own = ~(low | high)[:, 0]
            prior, p, q = prior[own], p[own], q[own]
        prior = np.clip(prior, MIN_SHARE, 1 - MIN_SHARE)
        positive = prior * p / (prior * p + (1 - prior) * q)
        return cls(bins, positive, quantity, alerts, level, design)

    @cached_property
    def labelled(self) -> "Array":
        """The bins whose cases are labelled anyway."""
        labelled: Array = (self.bins.called == 1) & self.alerts
        return labelled

    @cached_property
    def domain(self) -> "Array":
        """The part of the cases of each bin that may have to be labelled."""
        domain = self.bins.called if self.quantity == "precision" else np.ones(self.bins.count.size)
        return np.where(self.labelled, 0.0, domain)

    @cached_property
    def weights(self) -> "Array":
        """The cases of each bin, as far as they count."""
        weights: Array = self.bins.count * self.domain
        return weights

    @cached_property
    def part(self) -> "Array":
        """The part of the labels for each bin: half by its cases, half by their spread, too.

        By the spread alone too few are drawn where few positives are expected: limits leave room
        for those of which labels may hold none.
        """
        off = (self.positive - self.bins.expected) ** 2
        spread = np.sqrt((self.positive * (1 - self.positive) + off).mean(axis=0))
        usual = self.weights @ spread / self.weights.sum()
        part: Array = self.weights * (spread + usual)
        return part

    def ranges(self, number: int) -> "Array":
        """The range of each bin, −1 outside of the domain, of so many with about as many labels."""
        part = self.part
        middle = (part.cumsum() - part / 2) / part.sum()
        filled = np.flatnonzero(part)
        code = np.unique((middle[filled] * number).astype(int), return_inverse=True)[1]
        # Bins without cases are of the range below.
        below = np.searchsorted(filled, np.arange(part.size), side="right") - 1
        ranges: Array = np.where(self.domain > 0, code[np.maximum(below, 0)], -1)
        return ranges

    def allotted(self, ranges: "Array", labels: int) -> "Array":
        """About so many labels in all, in each range."""
        inside = ranges >= 0
        count, part = (
            np.bincount(ranges[inside], one[inside]) for one in (self.bins.count, self.part)
        )
        return allotted(count.astype(int), part, labels)

    def half_width(self, ranges: "Array", labels: int) -> float:
        """Half the width of limits by so many labels, in all but few draws."""
        inside, bins = ranges >= 0, ranges.size
        number = self.allotted(ranges, labels)
        count = np.bincount(ranges[inside], self.bins.count[inside])
        rng, cells = np.random.default_rng(1), np.zeros((2, *self.positive.shape))
        inclusion = np.where(inside, (number / count)[ranges], 1.0)
        strata = [(size, np.flatnonzero(ranges == at)) for at, size in enumerate(number)]
        anyway = np.flatnonzero(self.labelled)
        for size, own in [*strata, (int(self.bins.count[anyway].sum()), anyway)]:
            drawn = np.broadcast_to(self.bins.count[own], (len(self.positive), own.size))
            if size < self.bins.count[own].sum():
                share = self.bins.count[own] / self.bins.count[own].sum()
                drawn = rng.multinomial(size, share, len(self.positive))
            positive = rng.binomial(drawn, self.positive[:, own])
            cells[:, :, own] = drawn - positive, positive
        labelled = Labels(
            place=np.tile(np.arange(bins), 2),
            truth=np.repeat([False, True], bins),
            inclusion=np.tile(inclusion, 2),
            number=np.hstack([*cells]),
        )
        _, lower, upper = self._limits(labelled)
        # Labels that tell nothing have no limits.
        return float(np.quantile(np.nan_to_num((upper - lower) / 2, nan=1.0), REACHED))

    def _limits(self, labels: Labels) -> tuple["Array", "Array", "Array"]:
        if self.quantity == "recall":
            return labelled_recall(self.bins, labels, self.level, self.design)
        domain = self.bins.called if self.quantity == "precision" else np.ones(self.bins.count.size)
        values = np.zeros(domain.size), np.ones(domain.size)
        return labelled_mean(self.bins, labels, domain, values, self.level, self.design)

    def fewest(self, ranges: "Array", width: float, most: int) -> int | None:
        """The fewest labels with such limits, about; None where `most` are too few."""
        least = MIN_LABELS - 1
        if self.half_width(ranges, most) > width:
            return None
        while most - least > max(1, most // 100):
            tried = (least + most) // 2
            if self.half_width(ranges, tried) > width:
                least = tried
            else:
                most = tried
        return most


@dataclass(frozen=True)
class Allotment:
    """The range of each bin, the labels of each range, and how many are needed at random.

    Where all cases are `too_few`, it is the half width of the limits that they give.
    """

    ranges: "Array"
    labels: "Array"
    at_random: int
    too_few: float | None = None

    @classmethod
    def of_draws(cls, draws: Draws, width: float) -> "Allotment":
        """The allotment with the fewest labels: at random, where ranges of scores save none."""
        ranges = draws.ranges(1)
        count = int(draws.bins.count[ranges >= 0].sum())
        at_random = draws.fewest(ranges, width, count)
        if at_random is None:
            most = draws.half_width(ranges, count)
            return cls(ranges, draws.allotted(ranges, count), count, most)
        best = cls(ranges, draws.allotted(ranges, at_random), at_random)
        for number in RANGES:
            ranges = draws.ranges(number)
            fewest = draws.fewest(ranges, width, int(best.labels.sum()))
            labels = draws.allotted(ranges, at_random if fewest is None else fewest)
            if fewest is not None and labels.sum() < best.labels.sum():
                best = cls(ranges, labels, at_random)
        return best


def allotted(count: "Array", part: "Array", labels: int) -> "Array":
    """Labels in proportion to a part, at least two in each range and at most all of its cases."""
    whole = np.zeros(count.size, dtype=bool)
    given = np.zeros(count.size)
    # Ranges of which all cases are labelled leave the others with the rest.
    for _ in range(count.size):
        rest = part * ~whole
        left = max(labels - int(count[whole].sum()), 0)
        share = rest / max(rest.sum(), 1e-300)
        given = np.where(whole, count, np.ceil(left * share - ROUNDING))
        full = (given > count) & ~whole
        if not full.any():
            break
        whole |= full
    found: Array = np.clip(given, np.minimum(MIN_LABELS, count), count).astype(int)
    return found
