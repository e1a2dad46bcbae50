"""Thinning: few points of a curve, through which a line stays within half a pixel of it."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import polars as pl

from polaroc.base.columns import private, within
from polaroc.charts.layers import refuse_more
from polaroc.charts.theme import SIZE
from polaroc.typing import Array

# No point of a curve is further than half a pixel from its line, at the size that it is drawn. A
# cell of the grid takes 0.06 of that, steps between points 0.02, straightening 0.3; 0.12 are left
# for rounding and for lines that hold at any prior.
CELLS = 32 * SIZE
STEP, STRAIGHT = 0.02 / SIZE, 0.3
# Of the relative change of a rate on a segment: with the greatest derivatives of the logistic
# function, 1/4 and 1/(6√3), the second derivative of precision is at most 0.35 times its square.
PER_CHANGE = sqrt(0.35 / (8 * STEP))
# Distance of points with a threshold along a curve, which is up to 2 long, and their number in all.
GAP, IN_ALL = 1 / 60, 1_500
# Precision at the origin, where no case is called positive, is that on the first segment.
NEAR = 1e-9
RISE, RUN, PART, PARTS = map(private, ("rise", "run", "part", "parts"))


def thinned(frame: pl.LazyFrame, keys: Sequence[str], *axes: str | pl.Expr) -> pl.LazyFrame:
    """The first point of each curve, and the last in each cell of a fine grid, in order.

    Rates only grow along a curve: their greatest values in a cell are those of its last point.
    """
    rates = pl.col("tpr", "fpr")
    cells = {
        private(f"cell_{i}"): ((pl.col(axis) if isinstance(axis, str) else axis) * CELLS).floor()
        for i, axis in enumerate(axes)
    }
    by = [*keys, *cells]
    # Most rows are followed by one of the same cell and curve, and are left out before grouping.
    is_last = pl.any_horizontal(
        pl.col("threshold").is_null(),
        rates > rates.shift(-1),
        *(pl.col(name).ne_missing(pl.col(name).shift(-1)) for name in by),
    )
    return (
        frame.filter(pl.all_horizontal(rates.is_not_null()))
        .with_columns(cell.cast(pl.Int32).alias(name) for name, cell in cells.items())
        .filter(is_last)
        .group_by(*by, pl.col("threshold").is_null().alias(private("start")))
        .agg(rates.max(), pl.col("threshold").min())
        .sort(*keys, "tpr", "fpr", "threshold", nulls_last=[True] * len(keys) + [False] * 3)
        .select(*keys, "tpr", "fpr", "threshold")
    )


def line_points(
    points: pl.DataFrame,
    keys: Sequence[str],
    axes: Sequence[str],
    bent: pl.Expr | None = None,
    bins: pl.Expr | None = None,
    *,
    size: int = SIZE,
) -> pl.DataFrame:
    """The points of each curve that its line needs on these axes.

    Between two points of a curve rates are straight; `bent`, the last of the axes, may be bent, so
    that points are put between. Of each of the `bins` a point is kept. Thresholds are null but at
    evenly spaced points of the curve. `size` is that of the axes in pixels.
    """
    if bent is not None:
        points = _with_points_between(points, keys, bent).with_columns(bent)
    lines = points.select(pl.struct(keys).rle_id()).to_series() if keys else [0] * points.height
    starts = np.flatnonzero(np.diff(lines, prepend=-1, append=-2))
    refuse_more(len(starts) - 1)
    gap = max(GAP, 2 * (len(starts) - 1) / IN_ALL)
    place = pl.when(pl.col("threshold").is_not_null()).then(
        ((pl.col("tpr") + pl.col("fpr")) / gap).floor()
    )
    shown = place.is_not_null() & within(place.is_first_distinct(), keys)
    on_axes = [points[axis].to_numpy() for axis in axes]
    kept = pl.Series(straightened(*on_axes, starts=starts, tolerance=STRAIGHT / size))
    in_bins = [] if bins is None else [within(bins.is_first_distinct(), keys)]
    return points.with_columns(pl.when(shown).then("threshold")).filter(
        pl.any_horizontal(kept, shown, *in_bins)
    )


def _with_points_between(points: pl.DataFrame, keys: Sequence[str], bent: pl.Expr) -> pl.DataFrame:
    """The points, and further ones on the segments where `bent` changes visibly.

    Between two of them, where precision only rises or falls, recall rises by no more than a step,
    or precision is bent by no more: at any prior no point of the curve is further from the line.
    """
    rates = pl.col("tpr", "fpr")
    at_origin = (pl.col("tpr") == 0) & (pl.col("fpr") == 0)
    limit = (NEAR * within(rates.shift(-1), keys)).fill_null(0)
    points = points.with_columns(pl.when(at_origin).then(limit).otherwise(rates).name.keep())
    rise, run, turn = (
        within(axis.diff(), keys).fill_null(0) for axis in (pl.col("tpr"), pl.col("fpr"), bent)
    )
    changes = (step / (rate - step) for step, rate in ((rise, pl.col("tpr")), (run, pl.col("fpr"))))
    change = pl.max_horizontal(one.fill_nan(0) for one in changes)
    needed = pl.min_horizontal(rise / STEP, change * PER_CHANGE).ceil().clip(1)
    parts = pl.when(turn.abs() > STEP).then(needed).otherwise(1)
    before = 1 - pl.col(PART) / pl.col(PARTS)
    return (
        points.with_columns(rise.alias(RISE), run.alias(RUN), parts.cast(pl.Int64).alias(PARTS))
        .with_columns(pl.int_ranges(1, pl.col(PARTS) + 1).alias(PART))
        .explode(PART)
        .with_columns(
            pl.col("tpr") - before * pl.col(RISE),
            pl.col("fpr") - before * pl.col(RUN),
            pl.when(before == 0).then("threshold"),
        )
        .select(points.columns)
    )


def straightened(*axes: Array, starts: Array, tolerance: float) -> Array:
    """Whether lines need each point, to be within `tolerance` of those left out (Douglas-Peucker).

    `starts` are the first points of the lines, then the number of points.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = np.array([0, 0.5, 1.0, 1.0]), np.array([0, 0.5, 1.0, 0.0])
    >>> straightened(x, y, starts=np.array([0, 4]), tolerance=0.01).tolist()
    [True, False, True, True]
    """
    kept = np.zeros(len(axes[0]), dtype=bool)
    first, last = starts[:-1], starts[1:] - 1
    kept[first] = kept[last] = True
    # All spans of one depth at once.
    while (wide := last - first > 1).any():
        first, last = first[wide], last[wide]
        inside = last - first - 1
        begin = np.cumsum(inside) - inside
        index = np.arange(inside.sum()) + np.repeat(first + 1 - begin, inside)
        chords = [axis[last] - axis[first] for axis in axes]
        length = sum(chord**2 for chord in chords)
        inner = [axis[index] - np.repeat(axis[first], inside) for axis in axes]
        each = [np.repeat(chord, inside) for chord in chords]
        along = sum(offset * chord for offset, chord in zip(inner, each, strict=True))
        share = along * np.repeat(1 / np.where(length > 0, length, np.inf), inside)
        share = np.clip(share, 0, 1)
        distance = sum(
            (offset - share * chord) ** 2 for offset, chord in zip(inner, each, strict=True)
        )
        greatest = np.maximum.reduceat(distance, begin)
        furthest = np.flatnonzero(distance == np.repeat(greatest, inside))
        middle = index[furthest[np.searchsorted(furthest, begin)]]
        bent = greatest > tolerance**2
        kept[middle[bent]] = True
        first, last = (
            np.concatenate([first[bent], middle[bent]]),
            np.concatenate([middle[bent], last[bent]]),
        )
    return kept
