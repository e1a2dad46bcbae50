"""How much days differ beyond chance, from the days, or other batches, of a reference."""

from dataclasses import dataclass

from polaroc.base.lazy import np
from polaroc.base.statistics import Band, mean_squares, normal_scores, usual_size
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
        size = np.bincount(code).astype(float)
        code, size = np.unique(code, return_inverse=True)[1], size[size > 0]
        total, freedom = size.sum(), size.size - 1
        shift = _shift(score, code, size, error)
        # Half a case more of either kind, so that no rate is 0 or 1.
        at_or_above = score[:, None] >= cuts
        rate = (at_or_above.sum(axis=0) + 0.5) / (total + 1)
        variance, slope = rate * (1 - rate), _density(rate)
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


def _density(rate: "Array") -> "Array":
    from scipy.special import ndtri

    density: Array = np.exp(-(ndtri(rate) ** 2) / 2) / np.sqrt(2 * np.pi)
    return density


def effective_days(cases: "Array", squares: "Array") -> "Array":
    """As how many equal days those of a window count, by the sums of cases and of their squares.

    Examples
    --------
    >>> import numpy as np
    >>> effective_days(np.array([10, 40]), np.array([100, 400])).tolist()
    [1.0, 2.56]
    """
    days: Array = np.maximum(EVEN * cases**2 / np.maximum(squares, 1), 1.0)
    return days


def design_effect(
    truth: "Array", code: "Array", code_in_use: "Array", count: "Array | None" = None
) -> float:
    """The factor of the variance of a share of positives in use, by clusters in both tables.

    Classes of a cluster are taken to be as alike as in the reference; where that has no two cases
    of one, wholly.

    Examples
    --------
    >>> import numpy as np
    >>> code = np.array([0, 0, 1, 1])
    >>> design_effect(np.array([True, True, False, False]), code, np.array([0, 0, 0, 1]))
    2.5
    """
    off = truth - truth.mean()
    sums, size = np.bincount(code, off), np.bincount(code)
    pairs, squares = float(size @ (size - 1)), float(off @ off)
    alike = 1.0
    if pairs > 0 and squares > 0:
        between = (float(sums @ sums) - squares) / pairs
        alike = min(max(between / squares * truth.size, 0.0), 1.0)
    size = np.bincount(code_in_use, count)
    return 1 + alike * float(size @ (size - 1)) / float(size.sum())
