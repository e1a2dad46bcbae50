"""The least difference of two AUCs where a model may miss positives of a kind not seen yet."""

from math import log
from typing import NamedTuple

from polaroc.base.lazy import np
from polaroc.typing import Array
from polaroc.uncertainty.evidence import CASES, Evidence, quantile

# How far the bar lies from that of a normal mean towards that of positives of which none was seen,
# with 100 of them, and how fast this falls with fewer and with more (`just gate-missed`).
SHARE, OF, WITH_FEWER, WITH_MORE = 0.384, 100, 1.38, 0.25
BINS = 4096
NEARLY = 1 - 1e-9


def least_with_unseen(
    evidence: Evidence, pair: tuple[int, int], level: float, copies: float = 1.0
) -> float:
    """The least AUC of the first of a pair minus that of the second that is not rejected.

    `level` is that of limits to both sides, `copies` is as if there were so many times the cases.
    """
    moved = evidence.moved
    assert moved is not None
    lead = float(evidence.estimates[0, pair[0]] - evidence.estimates[0, pair[1]])
    apart = moved.apart(*pair)
    variances = [
        float(np.sum(factor * part**2)) for factor, part in zip(moved.factors, apart, strict=True)
    ]
    # The one of two crossed clusterings whose units move it more.
    at = max(range(0, len(apart), 2), key=lambda place: sum(variances[place : place + 2]))
    own = sum(variances[at : at + 2])
    # What the classes share in a unit, or a second clustering adds.
    more = max(1.0, float(moved.variance(apart)) / own) if own > 0 else 1.0
    part, positives = apart[at], moved.counts[0]
    if moved.alone:
        # Positives of the other model are to it as the negatives are.
        part, positives = moved.parts[at][0, pair[0]], moved.alone[pair[0]][0]
    # Numbers of clusters have gaps.
    size = max(int(np.count_nonzero(part)), positives)
    if moved.units == CASES and not moved.alone:
        size = len(part)
    said = Positives.of(part, size, positives, lead)
    return said.least(level, own - float(np.sum(moved.factors[at] * part**2)), copies, more)


def bar_of(positives: float, level: float) -> float:
    """The log-likelihood ratio from which on a difference is rejected, with so many positives.

    Examples
    --------
    >>> [round(bar_of(positives, 0.95), 2) for positives in (20, 50, 100, 200, 10_000)]
    [3.69, 3.69, 2.6, 2.49, 2.14]
    """
    # The bar of a normal mean, and that of a kind of positives that the sample has none of.
    of_normal, of_unseen = float(quantile(level)) ** 2 / 2, -log((1 - level) / 2)
    ratio = OF / positives
    share: float = SHARE * ratio ** (WITH_FEWER if ratio > 1 else WITH_MORE)
    return of_normal + max(of_unseen - of_normal, 0.0) * min(share, 1.0)


class Positives(NamedTuple):
    """What positives say of the difference of two AUCs, a mean over them.

    Of each it is the share of negatives below it by the first model less that by the second, so
    that one that is not seen may have −1.
    """

    values: "Array"  # less the mean
    counts: "Array"  # how often each value is there
    lead: float
    effective: float  # how many equal ones say as much

    @classmethod
    def of(cls, part: "Array", size: float, effective: float, lead: float) -> "Positives":
        """From what each of so many units moves the mean; those that are left out move nothing."""
        moving = part[part != 0]
        values = np.append((size * effective) ** 0.5 * moving, 0.0)
        counts = np.append(np.ones(len(moving)), size - len(moving))
        if len(values) > BINS:
            values, counts = _binned(values, counts)
        return cls(values, counts * effective / size, lead, effective)

    @property
    def turned(self) -> "Positives":
        """What they say of the second model minus the first."""
        return self._replace(values=-self.values, lead=-self.lead)

    def least(
        self, level: float, variance: float = 0.0, copies: float = 1.0, more: float = 1.0
    ) -> float:
        """The least difference that is not rejected.

        A mean of m, and u less for the negatives, are rejected where the empirical log-likelihood
        ratio of m, with one more positive of −1 in the support, and u²/2v are beyond the bar
        together.

        The `variance` v is what the negatives add, and all of it is `more` times larger than that
        of positives and negatives. `level` and `copies` are as in `least_with_unseen`.
        """
        from scipy.optimize import brentq

        if self.lead <= -NEARLY:
            return self.lead
        bar = more * bar_of(self.effective * copies, level)
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
