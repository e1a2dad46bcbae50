"""The least difference of two areas where a model may miss positives of a kind not seen yet."""

from math import log, log1p
from typing import NamedTuple

import numpy as np

from polaroc.inference.evidence import CASES, Evidence
from polaroc.typing import Array

BINS = 4096
NEARLY = 1 - 1e-9


def least_with_unseen(
    evidence: Evidence, pair: tuple[int, int], level: float, copies: float = 1.0
) -> float:
    """The least area of the first of a pair minus that of the second that is not rejected.

    `level` is that of limits to both sides, `copies` is as if there were so many times the cases.
    """
    units = evidence.influences
    assert units is not None
    lead = float(evidence.estimates[0, pair[0]] - evidence.estimates[0, pair[1]])
    influences = units.difference(*pair)
    of_pos, of_neg = (
        float(np.sum(factor * part**2))
        for factor, part in zip(units.factors, influences, strict=True)
    )
    # What the classes share in a unit.
    more = (
        max(1.0, float(units.variance(influences)) / (of_pos + of_neg))
        if of_pos + of_neg > 0
        else 1
    )
    part, positives = influences[0], units.counts[0]
    # Numbers of clusters have gaps.
    is_of_cases = units.unit == CASES
    size = len(part) if is_of_cases else max(int(np.count_nonzero(part)), positives)
    equal = positives if units.shares is None else equal_positives(units.shares, level)
    return Positives.of(part, size, equal, lead).least(level, of_neg, copies, more)


def equal_positives(shares: "Array", level: float) -> float:
    """How many equal units could hide as many misses as units with these shares of the positives.

    Suppose that one kind of positives is in the k largest units alone, and the share q of these
    units is missed. Then none of the k is a miss with the chance (1 − q)^k. Where this is
    (1 − `level`) / 2, the misses are q times what the k units have of all. The largest such product
    counts.

    Examples
    --------
    >>> round(equal_positives(np.full(40, 1 / 40), 0.95), 3)
    40.0
    >>> round(equal_positives(np.repeat([20 / 290, 1 / 290], [10, 90]), 0.95), 1)
    15.4
    """
    chance = log((1 - level) / 2)
    of_largest = np.sort(shares)[::-1].cumsum()
    hidden = of_largest / of_largest[-1] * -np.expm1(chance / np.arange(1, len(shares) + 1))
    return chance / log1p(-float(hidden.max()))


def bar_of(missed: "float | Array", level: float) -> "Array":
    """The log-likelihood ratio from which on a difference is rejected, where so many were missed.

    It is that of the exact upper limit of a Poisson mean of which so many were counted (Garwood
    1936): −log 0.025 of none, towards that of a normal mean of many.

    Examples
    --------
    >>> bar_of(np.array([0, 1, 5, 20, 1000]), 0.95).round(2).tolist()
    [3.69, 2.85, 2.43, 2.2, 1.96]
    """
    from scipy.special import gammaincinv, xlogy

    limit = gammaincinv(np.add(missed, 1.0), (1 + level) / 2)
    return np.asarray(limit - missed + xlogy(missed, missed / limit))


class Positives(NamedTuple):
    """Influences of positives on the difference of two areas, to first order a mean over them.

    For the AUC it is just that: of each the share of negatives below it by the first model less
    that by the second. So one that is not seen may have −1. From AUPREC, which is the mean of
    precision p over recall, a positive that the first model misses takes the mean of 2p − p², which
    is no more.
    """

    values: "Array"  # less the mean
    counts: "Array"  # how often each value is there; they add up to equal ones that say as much
    lead: float

    @classmethod
    def of(cls, part: "Array", size: float, effective: float, lead: float) -> "Positives":
        """From what each of so many units moves the mean; those that are left out move nothing."""
        moving = part[part != 0]
        values = np.append((size * effective) ** 0.5 * moving, 0.0)
        counts = np.append(np.ones(len(moving)), size - len(moving))
        if len(values) > BINS:
            values, counts = _binned(values, counts)
        return cls(values, counts * effective / size, lead)

    @property
    def turned(self) -> "Positives":
        """The same for the second model minus the first."""
        return self._replace(values=-self.values, lead=-self.lead)

    def least(
        self, level: float, variance: float = 0.0, copies: float = 1.0, more: float = 1.0
    ) -> float:
        """The least difference that is not rejected.

        A mean of m, and u less for the negatives, are rejected where the empirical log-likelihood
        ratio of m, with one more positive of −1 in the support, and u²/2v are beyond the bar
        together. The sum of squares of the values stands for the number that was missed.

        The `variance` v is what the negatives add, and all of it is `more` times larger than that
        of positives and negatives. `level` and `copies` are as in `least_with_unseen`.
        """
        from scipy.optimize import brentq

        if self.lead <= -NEARLY:
            return self.lead
        missed = copies * float(self.counts @ self.values**2)
        bar = more * float(bar_of(missed, level))
        variance = variance / copies

        def beyond(mean: float) -> float:
            ratio, slope = self._rejects(mean)
            return copies * ratio + variance * (copies * slope) ** 2 / 2 - bar

        if beyond(-NEARLY) <= 0:
            return -1.0
        mean = float(brentq(beyond, -NEARLY, self.lead))
        return max(mean - variance * copies * self._rejects(mean)[1], -1.0)

    def _rejects(self, mean: float) -> tuple[float, float]:
        """The log-likelihood ratio of a mean below the estimate, and how fast it rises below."""
        from scipy.optimize import brentq

        above = self.values + (self.lead - mean)
        # A unit of several positives may be further below than one that is not seen.
        most = NEARLY / max(1 + mean, -float(above.min()))

        def slope(tilt: float) -> float:
            return float(self.counts @ (above / (1 + tilt * above)))

        if slope(0.0) <= 0:
            return 0.0, 0.0
        tilt = most if slope(most) >= 0 else float(brentq(slope, 0.0, most))
        raised = 1 + tilt * above
        return float(self.counts @ np.log(raised)), tilt * float(self.counts @ (1 / raised))


def _binned(values: "Array", counts: "Array") -> "tuple[Array, Array]":
    """The means and counts of the values in narrow bins."""
    width = np.ptp(values) / BINS
    place = ((values - values.min()) / width).astype(np.int64) if width else np.zeros(1, np.int64)
    total, sums = np.bincount(place, counts), np.bincount(place, counts * values)
    kept = total > 0
    return sums[kept] / total[kept], total[kept]
