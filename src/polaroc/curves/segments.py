"""The cells of a curve and the segments that end at them, as expressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import polars as pl

from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.typing import Quantity

Point: TypeAlias = tuple[Quantity, Quantity]
Segment: TypeAlias = tuple[Point, Point, Point]


@dataclass(frozen=True)
class Cells:
    """The counts of a curve; `CELLS` are the columns of a curve table in Polars."""

    pos: Quantity
    neg: Quantity
    tp: Quantity
    fp: Quantity
    positives: Quantity
    negatives: Quantity
    backend: Backend = POLARS

    @property
    def is_first(self) -> Quantity:
        """Whether the segment that ends at a cell starts at the origin."""
        return (self.tp == self.pos) & (self.fp == self.neg)

    @property
    def segment(self) -> Segment:
        """The segment that ends at a cell: (t₀, f₀), (t₁, f₁) and (Δt, Δf)."""
        return (
            self._rates(self.tp - self.pos, self.fp - self.neg),
            self._rates(self.tp, self.fp),
            self._rates(self.pos, self.neg),
        )

    def _rates(self, tp: Quantity, fp: Quantity) -> Point:
        return (
            share(tp, self.positives, self.backend),
            share(fp, self.negatives, self.backend),
        )


def share(count: Quantity, total: Quantity, backend: Backend = POLARS) -> Quantity:
    """A count as a share of its total: exactly 1 where they are equal, NaN where both are 0.

    Polars may multiply with the reciprocal instead of dividing, which can give less than 1.
    """
    return backend.where((count == total) & (total > 0), 1.0, count / total)


def rate(count: str, total: str) -> pl.Expr:
    """A count as a share of its total, null where the total is zero.

    A total that is constant in a chunk is made a full column, since Polars would multiply by its
    reciprocal, and the last bit would depend on the engine and on how rows are divided.
    """
    full = pl.col(total) + 0 * pl.col(count)
    return pl.when(pl.col(total) > 0).then(share(pl.col(count), full))


def snap_to_total(
    sum_: Quantity, total: Quantity, least: Quantity, backend: Backend = POLARS
) -> Quantity:
    """A cumulative sum of weights, replaced by the total within half the least weight of it.

    Both sums are rounded: a smaller difference than one weight is rounding error.
    """
    return backend.where(total - sum_ < least / 2, total, sum_)


@dataclass(frozen=True)
class SegmentColumns:
    """The segment that ends at a cell and whether it starts at the origin, as columns."""

    segment: Segment
    is_first: Quantity


COUNTS = ("pos", "neg", "tp", "fp", "positives", "negatives")
SEGMENT_RATES = tuple(PRIVATE + name for name in ("t0", "f0", "t1", "f1", "dt", "df"))
FIRST = PRIVATE + "first"


def cells_in(backend: Backend) -> Cells:
    """The cells of a curve table."""
    pos, neg, tp, fp, positives, negatives = map(backend.column, COUNTS)
    return Cells(pos, neg, tp, fp, positives, negatives, backend)


def segments_in(backend: Backend) -> SegmentColumns:
    """The segments in the columns that `segment_columns` makes."""
    t0, f0, t1, f1, dt, df = map(backend.column, SEGMENT_RATES)
    return SegmentColumns(((t0, f0), (t1, f1), (dt, df)), backend.column(FIRST))


CELLS = cells_in(POLARS)


def segment_columns(cells: Cells) -> dict[str, Quantity]:
    """Each cell's segment by column name, null where the cell has no positives."""
    has_area = cells.pos > 0
    rates = (rate for ends in cells.segment for rate in ends)
    columns = {
        name: cells.backend.where(has_area, rate)
        for name, rate in zip(SEGMENT_RATES, rates, strict=True)
    }
    return columns | {FIRST: cells.is_first}


def with_segments(curve: pl.LazyFrame, kept: Sequence[str]) -> pl.LazyFrame:
    """The columns `kept` and each cell's segment, null where the cell has no positives.

    Polars computes an expression anew in each expression that contains it, a column once.
    """
    return curve.select(*kept, **segment_columns(CELLS))
