"""Simultaneous bands of the curves of one test set."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, log
from typing import TypeAlias

import polars as pl

from polaroc.base.checks import MAX_NUMBER, check_share, check_whole
from polaroc.base.columns import GRID, HAS_BOTH, curve_keys, lazily, refuse_clash, with_level
from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.curves.mean import surface_keys
from polaroc.curves.whole import takes_curve
from polaroc.typing import Array

BAND = ("lower", "upper", "interval", "note")
NOT_COUNTS = "weights are not whole numbers: no band"
# Order statistics of which limits are made: of larger classes some hundred, dense at both ends.
MAX_LIMITS = 400
# The tolerance of the logarithm of their error.
TOLERANCE = 1e-3
# Probabilities from which on Fourier transforms are quicker.
LONG = 200
# Keeps a grid point on the side of a vertical or horizontal step that is asked for.
NUDGE, TINY = 1e-12, 1e-9
OwnCurve: TypeAlias = Callable[[Array, Array, float, Array], Array]
Limits: TypeAlias = tuple[Array, Array]
Band: TypeAlias = Callable[[Limits, Limits, float, Array], Limits]


@takes_curve
def roc_band(curve: pl.LazyFrame, n: int = 201, *, level: float = 0.95) -> pl.LazyFrame:
    """A band that holds the whole true ROC curve, from one test set.

    Parameters
    ----------
    curve
        The result of `curve`, of independent test cases.
    n
        How many false positive rates, evenly spaced from 0 to 1, at least 2.
    level
        The probability, in (0, 1), with which the whole curve lies in the band.

    Returns
    -------
    Frame of the kind given
        One row per key and rate, sorted: the keys; `fpr`; `tpr` of the curve; `lower` and
        `upper`, from 0 to 1, and `level`: Float64; `interval` in words; `note`, null, or that
        weights are not whole numbers: then there is no band. Keys without positives, without
        negatives or with rows that cannot be ranked have no rows. Between two rows the band is that
        of the one before for `lower`, of the one after for `upper`.

    Notes
    -----
    The scores of each class have a distribution function of which limits with the same
    probability at every case hold all at once with probability √level (Aldor-Noiman et al.
    2013); that probability is exact, by recursion (Moscovich and Nadler 2017). The rectangles
    of the two classes' limits bound the curve: a band without assumptions, also with ties, that
    is wider than need be. With 20 to 500 positives it held smooth, tied and stepped curves in
    0.99 to 1.00 of samples at level 0.95 (``just applied-intervals``).

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> band = pr.roc_band(curves, 3)
    >>> band.select(pl.col("fpr", "tpr", "lower", "upper").round(2)).rows()
    [(0.0, 0.2, 0.0, 0.7), (0.5, 0.8, 0.01, 1.0), (1.0, 1.0, 1.0, 1.0)]

    Ten cases of each class say little.
    """
    keys = curve_keys(curve)

    def own(tp: Array, fp: Array, _: float, grid: Array) -> Array:
        return _at(grid + NUDGE, fp / fp[-1], tp / tp[-1])

    def band(tpr: Limits, fpr: Limits, _: float, grid: Array) -> Limits:
        (t_low, t_high), (f_low, f_high) = tpr, fpr
        below = _steps(f_high, t_low, grid)
        # The least upper limit among thresholds whose rate is surely greater.
        above = 1 - _steps(-f_low[::-1], 1 - t_high[::-1], -grid - NUDGE)
        last = grid == 1
        return np.where(last, 1.0, below), np.where(last, 1.0, above)

    return _bands(curve, keys, ("fpr", "tpr"), n, level, (own, band))


@described_as(roc_band)
@lazily
def pr_band(surface: pl.LazyFrame, n: int = 201, *, level: float = 0.95) -> pl.LazyFrame:
    """A band that holds the whole true precision-recall curve, at all priors at once.

    Parameters
    ----------
    surface
        The result of `surface`, of independent test cases.
    n
        How many recalls, evenly spaced from 0 to 1, at least 2.

    Returns
    -------
    Frame of the kind given
        As from `roc_band`, with a row per key, `prior` and recall (`tpr`): the keys; `prior`,
        `skew`; `tpr`; `precision`, interpolated as in D&G; `lower`, `upper`, `level`, `interval`,
        `note`.

    Raises
    ------
    InvalidArgument, InvalidTable
        As `roc_band`; where the columns of a surface are missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> band = pr.surface(curves, [0.5, 0.1]).pipe(pr.pr_band, 3)
    >>> band.select(pl.col("prior", "tpr", "precision", "lower").round(2)).rows()[1]
    (0.1, 0.5, 0.36, 0.05)
    """
    keys = surface_keys(surface)

    def precision(recall: Array, fpr: Array, skew: float) -> Array:
        # At recall 0 the limit.
        return recall.clip(TINY) / (recall.clip(TINY) + skew * fpr)

    def own(tp: Array, fp: Array, skew: float, grid: Array) -> Array:
        fpr = _at((grid - NUDGE).clip(TINY), tp / tp[-1], fp / fp[-1])
        return precision(grid, fpr, skew)

    def band(tpr: Limits, fpr: Limits, skew: float, grid: Array) -> Limits:
        (t_low, t_high), (f_low, f_high) = tpr, fpr
        # False positive rates that a recall needs, at least and at most.
        least = _steps(t_high, f_low, grid - NUDGE)
        most = 1 - _steps(-t_low[::-1], 1 - f_high[::-1], -grid)
        low, high = (precision(grid, fpr, skew) for fpr in (most, least))
        first = grid == 0
        return np.where(first, 0.0, low), np.where(first, 1.0, high)

    return _bands(surface, [*keys, *GRID], ("tpr", "precision"), n, level, (own, band))


def _bands(
    curve: pl.LazyFrame,
    keys: Sequence[str],
    axes: tuple[str, str],
    n: int,
    level: float,
    functions: tuple[OwnCurve, Band],
) -> pl.LazyFrame:
    check_whole("n", n, 2, MAX_NUMBER)
    check_share("level", level)
    refuse_clash(keys, BAND)
    (x, y), (own, band) = axes, functions
    counts = pl.col("tp", "fp").cast(pl.Float64)
    grouped = (
        curve.filter(HAS_BOTH)
        .sort(*keys, pl.col("tp") + pl.col("fp"), nulls_last=True)
        .group_by(keys, maintain_order=True)
        .agg(counts)
        # Without keys there is a row even where no curve has both classes.
        .filter(pl.col("tp").list.len() > 0)
    )
    kinds = curve.collect_schema()
    values = {name: pl.List(pl.Float64) for name in (x, y, "lower", "upper")}
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        **{key: kinds[key] for key in keys},
        **values,
        "note": pl.String,
    }
    caption = f"band: the whole true curve, with {100 * level:.4g} % confidence"

    def computed(frame: pl.DataFrame) -> pl.DataFrame:
        grid = np.arange(n) / (n - 1)
        rows: dict[str, list[object]] = {name: [] for name in (*values, "note")}
        for i in range(frame.height):
            tp, fp = frame["tp"][i].to_numpy(), frame["fp"][i].to_numpy()
            skew = frame["skew"][i] if "skew" in keys else 0.0
            whole = bool((tp == tp.round()).all() and (fp == fp.round()).all())
            ends: list[list[float | None]] = [[None] * n] * 2
            if whole:
                tpr, fpr = (limits_of_counts(counts, level) for counts in (tp, fp))
                ends = [end.tolist() for end in band(tpr, fpr, skew, grid)]
            at_grid = own(tp, fp, skew, grid).tolist()
            record = [grid.tolist(), at_grid, *ends, None if whole else NOT_COUNTS]
            for name, value in zip(rows, record, strict=True):
                rows[name].append(value)
        columns = pl.DataFrame(rows, schema={**values, "note": pl.String})
        return pl.concat([frame.select(keys), columns], how="horizontal") if keys else columns

    return (
        grouped.map_batches(computed, schema=schema)
        .explode(*values)
        .with_columns(pl.lit(caption).alias("interval"))
        .select(*keys, x, y, *BAND)
        .pipe(with_level, level)
    )


def _at(grid: Array, x: Array, y: Array) -> Array:
    values: Array = np.interp(grid, x, y)
    return values


def _steps(x: Array, y: Array, grid: Array) -> Array:
    """The greatest y of the points with x at most each grid point, 0 of none; x ascends."""
    reached = np.concatenate(([0.0], np.maximum.accumulate(y)))
    steps: Array = reached[np.searchsorted(x, grid, side="right")]
    return steps


def limits_of_counts(counts: Array, level: float) -> tuple[Array, Array]:
    """Limits of the shares behind cumulative counts, of which the last is the total.

    They hold at every threshold at once with probability √level.
    """
    return limits_at_all_thresholds(counts.astype(int), int(counts[-1]), level**0.5)


def limits_at_all_thresholds(above: "Array | int", total: int, level: float) -> tuple[Array, Array]:
    """Limits of the true shares above thresholds that so many of `total` cases are above.

    They hold at all thresholds at once, and so at any that these cases were used to choose.

    Examples
    --------
    >>> lower, upper = limits_at_all_thresholds(80, 100, 0.95)
    >>> f"80 of 100: {lower:.2f} to {upper:.2f}"
    '80 of 100: 0.65 to 0.90'
    """
    order, low, high = _order_limits(total, _local_level(total, level))
    # The share is at least that of the last order statistic reached, and at most that of the
    # next one.
    lower = np.concatenate(([0.0], low))[np.searchsorted(order, above, side="right")]
    upper = np.append(high, 1.0)[np.searchsorted(order, above + 1, side="left")]
    return lower, upper


def _order_limits(total: int, local: float) -> tuple[Array, Array, Array]:
    """Some order statistics of uniform variables, each with limits that fail with error `local`."""
    from scipy.special import betaincinv

    order = np.arange(1, total + 1)
    if total > MAX_LIMITS:
        angles = np.linspace(0, np.pi / 2, MAX_LIMITS)
        spaced = np.rint(total * np.sin(angles) ** 2).astype(int)
        order = np.unique(np.clip(spaced, 1, total))
    low = betaincinv(order, total - order + 1, local / 2)
    return order, low, betaincinv(order, total - order + 1, 1 - local / 2)


@lru_cache(maxsize=64)
def _local_level(total: int, level: float) -> float:
    """The error at each order statistic with which all limits hold at once."""
    from scipy.optimize import brentq

    if total == 1:
        return 1 - level
    ends = log((1 - level) / total), log(1 - level)
    root = brentq(lambda x: simultaneous_coverage(total, exp(x)) - level, *ends, xtol=TOLERANCE)
    return exp(root - 2 * TOLERANCE)


def simultaneous_coverage(total: int, local: float) -> float:
    """The probability that all uniform order statistics lie within their limits.

    A Poisson process that has `total` points in all is followed from limit to limit: before a
    lower limit it has not got as far, at an upper limit it has (Moscovich and Nadler, 2017).

    Examples
    --------
    >>> round(simultaneous_coverage(1, 0.05), 12)
    0.95
    """
    from scipy.special import gammaln, xlogy

    order, low, high = _order_limits(total, local)
    at = np.concatenate([low, high, [1.0]])
    most = np.concatenate([order - 1, np.full(len(order) + 1, total)])
    least = np.concatenate([np.zeros(len(order), int), order, [total]])
    ranked = np.argsort(at, kind="stable")
    at, most, least = at[ranked], np.minimum.accumulate(most[ranked][::-1])[::-1], least[ranked]
    least = np.maximum.accumulate(least)
    counts, first = np.ones(1), 0
    means = total * np.diff(at, prepend=0.0)
    longest = min(_greatest_jump(means.max()), total + 2)
    factorials = gammaln(np.arange(longest) + 1.0)
    for mean, top, bottom in zip(means, most, least, strict=True):
        size = top - first + 1
        if size <= 0:
            return 0.0
        greatest = min(size, _greatest_jump(mean))
        steps = np.arange(greatest)
        jumps = np.exp(xlogy(steps, mean) - mean - factorials[:greatest])
        moved = _convolved(counts, jumps)[:size] if mean > 0 else counts[:size]
        kept = max(bottom - first, 0)
        counts, first = moved[kept:], first + kept
        if not counts.size:
            return 0.0
    all_of_them = np.exp(total * log(total) - total - gammaln(total + 1.0))
    return float(counts[-1] / all_of_them)


def _greatest_jump(mean: float) -> int:
    """Above it a Poisson variable has a probability below 1e-30."""
    return int(mean + 12 * mean**0.5) + 30


def _convolved(x: Array, y: Array) -> Array:
    """Probabilities of the sum of two counts; of long ones by Fourier transforms."""
    if min(x.size, y.size) < LONG:
        return np.convolve(x, y)
    from scipy import fft

    size = x.size + y.size - 1
    padded = fft.next_fast_len(size, real=True)
    product = fft.irfft(fft.rfft(x, padded) * fft.rfft(y, padded), padded)[:size]
    # Rounding can leave a probability of 0 a little below it.
    clipped: Array = np.maximum(product, 0.0)
    return clipped
