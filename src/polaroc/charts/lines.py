"""Curves as lines thinned to visible points, one record of arrays per line."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.private_columns import ALONG, PRIVATE, START, private
from polaroc.errors import InvalidArgument
from polaroc.typing import Array

# At 800 pixels per axis no point of a curve lies further than half a pixel from its line, and
# where there are so many lines that they cover one another, than 1.3 pixels, of precision 1.6.
# Thinning, in cells of an eighth of a pixel or of many lines half a pixel, spends at most one and a
# quarter cells of it where both rates rise (0.16 and 0.63), and one and a half where precision may
# fall (0.19 and 0.75); straightening 0.2, of many lines 0.6 and of precision what is left;
# rounding 0.06, hyperbolas drawn as chords 0.05, of many lines 0.2.
PIXELS = 800
STRAIGHT = 0.2
STRAIGHT_OF_MANY = 0.6
DIGITS = 4
MAX_LINES = 300
FEWER_KEYS = "draw fewer models or files: filter the keys that matter."
FEWER_CURVES = (
    "draw fewer models or files: build curves with the model as their only key, or filter them."
)

# Cells per axis of the grid; at 800 pixels a cell is an eighth of a pixel wide, and half a pixel
# where a chart has so many lines that they cover one another.
CELLS, CELLS_OF_MANY, MANY_LINES = 6400, 1600, 40


@dataclass(frozen=True)
class Lines:
    """Lines to draw: records with `id`, `series`, `line`, `x`, `y`, `at` and any constants."""

    records: list[dict[str, Any]]
    series: list[str]  # names that have a colour
    title: str  # of the legend


def refuse_more(
    count: int, most: int = MAX_LINES, purpose: str = "draw", hint: str = FEWER_KEYS
) -> None:
    """Refuse more curves than can be told apart."""
    if count > most:
        raise InvalidArgument(
            f"there are {count:,} curves to {purpose}, allowed are {most:,}.", hint=hint
        )


def refuse_many(
    curves: pl.DataFrame | pl.LazyFrame,
    refuse: Callable[[int], None] = refuse_more,
    *,
    panels: int = 1,
) -> None:
    """Refuse too many curves of a table in memory before they are thinned.

    Each is drawn in so many panels. The curves of a plan can be counted only once it is read.

    Examples
    --------
    >>> refuse_many(pl.DataFrame({"threshold": [None, 0.5], "tpr": [0, 1], "fpr": [0, 1]}))
    """
    if isinstance(curves, pl.DataFrame):
        has_rates = pl.all_horizontal(pl.col("tpr", "fpr").is_not_null())
        refuse(panels * curves.select((pl.col("threshold").is_null() & has_rates).sum()).item())


def groups_of(points: pl.DataFrame, names: Sequence[str]) -> list[pl.DataFrame]:
    """The rows of each key, in order; a single frame where there are no keys."""
    return points.partition_by(names, maintain_order=True) if names else [points]


def thinned(
    frame: pl.LazyFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    keep: Sequence[str] = (),
    third_axis: pl.Expr | None = None,
) -> pl.LazyFrame:
    """A curve's anchor and its last point in each cell of a fine grid, in order.

    Rates and counts only grow along a curve, so their greatest values in a cell
    are those of its last point; a `y` that also falls stays within the cell. `third_axis` is a
    third dimension of the grid, which is then twice as fine, however many lines there are.
    """
    along = (pl.col("tp") + pl.col("fp")).alias(ALONG)
    start = pl.col("threshold").is_null().alias(START)
    axes = {private(x): pl.col(x), private(y): pl.col(y)}
    if third_axis is not None:
        axes[private("beside")] = third_axis
    cells = (
        pl.lit(2 * CELLS)
        if third_axis is not None
        else pl.when(start.sum() > MANY_LINES).then(CELLS_OF_MANY).otherwise(CELLS)
    )
    in_grid = [(axis * cells).floor().cast(pl.Int32).alias(name) for name, axis in axes.items()]
    return (
        frame.filter(pl.col(x).is_not_null() & pl.col(y).is_not_null())
        .select(*keys, x, y, *keep, "threshold", along, start, *in_grid)
        .group_by(*keys, START, *axes)
        .agg(pl.col(x, y, *keep, ALONG).max(), pl.col("threshold").min())
        .sort(*keys, ALONG, nulls_last=True)
        .select(*keys, x, y, *keep, "threshold")
    )


def line_starts(points: pl.DataFrame, names: Sequence[str]) -> "Array":
    """The first row of each line whose rows follow one another, then the number of rows.

    More lines than are drawn are refused.
    """
    if points.is_empty() or not names:
        return np.unique([0, points.height])
    changes = [pl.col(name).ne_missing(pl.col(name).shift(1)) for name in names]
    new = points.select(pl.any_horizontal(changes)).to_series().to_numpy()
    starts = np.concatenate(([0], np.flatnonzero(new[1:]) + 1, [len(new)]))
    refuse_more(len(starts) - 1)
    return starts


def straightened(
    *axes: "Array", starts: "Array | None" = None, tolerance: float = STRAIGHT
) -> "Array":
    """Indices of the points that a line may be drawn through instead of all (Douglas-Peucker).

    Axes have length 1; what is left out lies within `tolerance` pixels, at `PIXELS` per axis.
    `starts` are those of several lines, as of `line_starts`.

    Examples
    --------
    >>> import numpy as np
    >>> straightened(np.array([0, 0.5, 1.0, 1.0]), np.array([0, 0.5, 1.0, 0.0])).tolist()
    [0, 2, 3]
    """
    at = [axis * PIXELS for axis in axes]
    kept = np.zeros(len(at[0]), dtype=bool)
    if starts is None:
        starts = np.array([0, len(kept)])
    first, last = starts[:-1], starts[1:] - 1
    kept[first] = kept[last] = True
    # All spans of one depth at once.
    while (wide := last - first > 1).any():
        first, last = first[wide], last[wide]
        inside = last - first - 1
        starts = np.cumsum(inside) - inside
        index = np.arange(inside.sum()) + np.repeat(first + 1 - starts, inside)
        chords = [axis[last] - axis[first] for axis in at]
        length = sum(chord**2 for chord in chords)
        inner = [axis[index] - np.repeat(axis[first], inside) for axis in at]
        each = [np.repeat(chord, inside) for chord in chords]
        along = sum(offset * chord for offset, chord in zip(inner, each, strict=True))
        share = along * np.repeat(1 / np.where(length > 0, length, np.inf), inside)
        share = np.clip(share, 0, 1)
        distance = sum(
            (offset - share * chord) ** 2 for offset, chord in zip(inner, each, strict=True)
        )
        greatest = np.maximum.reduceat(distance, starts)
        furthest = np.flatnonzero(distance == np.repeat(greatest, inside))
        middle = index[furthest[np.searchsorted(furthest, starts)]]
        bent = greatest > tolerance**2
        kept[middle[bent]] = True
        first, last = (
            np.concatenate([first[bent], middle[bent]]),
            np.concatenate([middle[bent], last[bent]]),
        )
    return np.flatnonzero(kept)


def steps_between(t: "Array", height: "Array", step: float) -> "tuple[Array, Array]":
    """Where to put points on the segments of ROC curves, so that lines follow precision.

    Between two of them recall rises by no more than `step`, and precision only rises or falls: at
    any prior no point of the curve is further from the line. `height` is how much higher or lower
    the segment that ends at a point may be: none is put where that is within `step`.

    Returns the point at which each segment ends, and how far before it, as a share of the segment.

    Examples
    --------
    >>> row, before = steps_between(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.5)
    >>> row.tolist(), before.tolist()
    ([0, 1, 1], [0.0, 0.5, 0.0])
    """
    rise = np.diff(t, prepend=t[:1])
    parts = np.where(height > step, np.ceil(rise / step), 1).clip(1).astype(np.int64)
    row = np.repeat(np.arange(len(t)), parts)
    place = np.arange(len(row)) - np.repeat(np.cumsum(parts) - parts, parts)
    return row, 1 - (place + 1) / parts[row]


def moved_back(axis: "Array", row: "Array", before: "Array") -> "Array":
    """The values of an axis at the places that `steps_between` returns."""
    return axis[row] - before * np.diff(axis, prepend=axis[:1])[row]


def lines(
    points: pl.DataFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    const: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> Lines:
    """Points, sorted by key and along each curve, as lines with further arrays `beside`.

    Those of `const` are the same along one.
    """
    groups = groups_of(points, [*keys, *const])
    refuse_more(len(groups))
    records = []
    for i, group in enumerate(groups):
        if group.is_empty():
            continue
        records.append(
            {
                "id": i,
                "series": name_of(group, keys[:1]),
                "line": name_of(group, keys),
                "x": group[x].to_list(),
                "y": group[y].to_list(),
                "at": list(range(group.height)),
                **{name: group[name].to_list() for name in beside},
                **{name.removeprefix(PRIVATE): group[name][0] for name in const},
            }
        )
    series = list(dict.fromkeys(record["series"] for record in records))
    return Lines(records, series, keys[0] if keys else "")


def name_of(curve: pl.DataFrame, keys: Sequence[str]) -> str:
    """The name of a curve: the values of its keys."""
    return " · ".join(str(curve[key][0]) for key in keys)


def straight_lines(
    points: pl.DataFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    const: Sequence[str] = (),
) -> Lines:
    """Like `lines`, of points line by line, thinned to those visible on axes from 0 to 1."""
    starts = line_starts(points, [*keys, *const])
    few = len(starts) - 1 <= MANY_LINES
    tolerance = STRAIGHT if few else STRAIGHT_OF_MANY
    kept = straightened(
        points[x].to_numpy(), points[y].to_numpy(), starts=starts, tolerance=tolerance
    )
    rounded = points[kept].with_columns(pl.col(x, y).round(DIGITS))
    return lines(rounded, keys, x, y, const)
