"""The straight segments of ROC curves, over which all areas and points of curves are expressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import polars as pl

from polaroc import rates
from polaroc.base.columns import HAS_BOTH, PRIVATE
from polaroc.typing import Quantity

COUNTS = ("pos", "neg", "tp", "fp", "positives", "negatives")
SEGMENT_RATES = tuple(PRIVATE + name for name in ("t0", "f0", "t1", "f1", "dt", "df"))
POS, NEG, TP, FP = map(pl.col, ("pos", "neg", "tp", "fp"))
POSITIVES, NEGATIVES = pl.col("positives"), pl.col("negatives")


class Segment(NamedTuple):
    """The straight piece of a ROC curve that ends at a row, as expressions.

    It leads from (f0, t0) to (f1, t1) and rises by dt, runs by df; `positives` and `negatives`
    are the totals of its key. The segment of a row without positives is null: it adds no area.
    """

    t0: pl.Expr
    f0: pl.Expr
    t1: pl.Expr
    f1: pl.Expr
    dt: pl.Expr
    df: pl.Expr
    positives: pl.Expr
    negatives: pl.Expr

    @property
    def is_first(self) -> pl.Expr:
        """Whether the segment starts at the origin."""
        return (self.t0 == 0) & (self.f0 == 0)


def segment(column: Callable[[str], pl.Expr] = pl.col) -> Segment:
    """The segment of a row in the columns of `segment_columns`; in a struct with `pl.field`."""
    return Segment._make(map(column, (*SEGMENT_RATES, "positives", "negatives")))


def segment_columns(column: Callable[[str], pl.Expr] = pl.col) -> dict[str, pl.Expr]:
    """The columns `SEGMENT_RATES` of the rows of a curve."""
    pos, neg, tp, fp, positives, negatives = map(column, COUNTS)
    has_area = pl.when(pos > 0)
    t0, t1, dt = (has_area.then(share(one, positives)) for one in (tp - pos, tp, pos))
    f0, f1, df = (has_area.then(share(one, negatives)) for one in (fp - neg, fp, neg))
    return dict(zip(SEGMENT_RATES, (t0, f0, t1, f1, dt, df), strict=True))


def segments(curve: pl.LazyFrame, keep: Sequence[str]) -> pl.LazyFrame:
    """The segments that have area, with the columns `keep`.

    The anchor of each key stays, as a row of nulls, so that a key without positives has a row.
    """
    has_area = (pl.col("pos") > 0) | pl.col("threshold").is_null()
    return curve.filter(has_area).select(*keep, "positives", "negatives", **segment_columns())


def share(count: Quantity, total: Quantity) -> pl.Expr:
    """A count as a share of its total: exactly 1 where they are equal.

    Polars may multiply with the reciprocal instead of dividing, which can give less than 1.
    """
    return pl.when((count == total) & (total > 0)).then(1.0).otherwise(count / total)


def rate(count: str, total: str) -> pl.Expr:
    """A count as a share of its total, null where the total is zero.

    A total that is constant in a chunk is made a full column, since Polars would multiply by its
    reciprocal, and the last bit would depend on the engine and on how rows are divided.
    """
    full = pl.col(total) + 0 * pl.col(count)
    return pl.when(pl.col(total) > 0).then(share(pl.col(count), full))


def recall_on_grid(curves: pl.LazyFrame, grid: Sequence[float]) -> pl.LazyFrame:
    """`tpr` of each curve at each `fpr` of a sorted grid; of a vertical segment its upper end."""
    start, end = _places(FP - NEG, FP, NEGATIVES, grid, "left")
    end = pl.when(FP == NEGATIVES).then(len(grid)).otherwise(end)
    fpr = pl.col("fpr")
    reached = (TP - POS + (fpr * NEGATIVES - (FP - NEG)) / NEG * POS) / POSITIVES
    on_segment = pl.min_horizontal(reached, share(TP, POSITIVES))
    recall = pl.when(fpr == 1).then(1.0).otherwise(on_segment)
    return _repeated(curves.filter(NEG > 0), "fpr", start, end, grid).with_columns(tpr=recall)


def precision_on_grid(surface: pl.LazyFrame, grid: Sequence[float]) -> pl.LazyFrame:
    """`fpr` and `precision` of each curve of a surface at each `tpr` of a sorted grid.

    Of several precisions at a recall it is the highest, at recall 0 the limit (D&G §4).
    """
    start, end = _places(TP - POS, TP, POSITIVES, grid, "right")
    start = pl.when(TP == POS).then(0).otherwise(start)
    tpr, skew = pl.col("tpr"), pl.col("skew")
    fpr = (FP - NEG + (tpr * POSITIVES - (TP - POS)) / POS * NEG) / NEGATIVES
    # Precision is constant along the segment from the origin.
    is_first = (TP == POS) & (FP == NEG)
    limit = rates.precision(POS / POSITIVES, NEG / NEGATIVES, skew)
    precision = pl.when(is_first).then(limit).otherwise(rates.precision(tpr, pl.col("fpr"), skew))
    points = _repeated(surface.filter(POS > 0), "tpr", start, end, grid)
    return points.with_columns(fpr=fpr).with_columns(precision=precision)


def _places(
    before: pl.Expr,
    reached: pl.Expr,
    total: pl.Expr,
    grid: Sequence[float],
    side: Literal["left", "right"],
) -> list[pl.Expr]:
    """The places in the grid of the rates at which a segment starts and ends."""
    # A full column is divided, not multiplied by a reciprocal: rates on the grid are found exactly.
    full, values = total + 0 * reached, pl.lit(pl.Series(grid, dtype=pl.Float64))
    return [values.search_sorted(share(count, full), side) for count in (before, reached)]


def _repeated(
    segments: pl.LazyFrame, rate: str, start: pl.Expr, end: pl.Expr, grid: Sequence[float]
) -> pl.LazyFrame:
    """Each segment at the values of the grid from the place `start` to `end` − 1, in `rate`."""
    values = pl.lit(pl.Series(grid, dtype=pl.Float64))
    placed = segments.filter(HAS_BOTH).with_columns(pl.int_ranges(start, end).alias(rate))
    return placed.explode(rate).with_columns(values.gather(rate).alias(rate))
