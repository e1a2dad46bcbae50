"""The cells of a curve and the segments that end at them, as expressions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import polars as pl

from polaroc.columns import PRIVATE

Point: TypeAlias = tuple[pl.Expr, pl.Expr]
Segment: TypeAlias = tuple[Point, Point, Point]


class Segments(Protocol):
    """What the measures need of each cell."""

    @property
    def segment(self) -> Segment:
        """The segment that ends at a cell: (t₀, f₀), (t₁, f₁) and (Δt, Δf)."""

    @property
    def is_first(self) -> pl.Expr:
        """Whether that segment starts at the origin."""


@dataclass(frozen=True)
class Cells:
    """The counts of a curve as expressions; `CELLS` are the columns of a curve table."""

    pos: pl.Expr
    neg: pl.Expr
    tp: pl.Expr
    fp: pl.Expr
    positives: pl.Expr
    negatives: pl.Expr

    @property
    def is_first(self) -> pl.Expr:
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

    def _rates(self, own: pl.Expr, other: pl.Expr) -> Point:
        return share(own, self.positives), share(other, self.negatives)


def share(count: pl.Expr, total: pl.Expr) -> pl.Expr:
    """A count as a share of its total, exactly 1 where it is all of it, NaN of nothing.

    Polars may divide by multiplying with a reciprocal, which falls short of 1.
    """
    return pl.when((count == total) & (total > 0)).then(1.0).otherwise(count / total)


@dataclass(frozen=True)
class Held:
    """The same where it is held in columns; `HELD` are those that `hold` makes."""

    segment: Segment
    is_first: pl.Expr


CELLS = Cells(*map(pl.col, ("pos", "neg", "tp", "fp", "positives", "negatives")))
_T0, _F0, _T1, _F1, _DT, _DF, _FIRST = (
    pl.col(PRIVATE + name) for name in ("t0", "f0", "t1", "f1", "dt", "df", "first")
)
HELD = Held(((_T0, _F0), (_T1, _F1), (_DT, _DF)), _FIRST)


def hold(curve: pl.LazyFrame, kept: Sequence[str]) -> pl.LazyFrame:
    """Each cell's segment as columns, null where it has no positives, beside those `kept`.

    An expression used inside several others is computed anew in each: held in a
    column, it is computed once.
    """
    area = pl.col("pos") > 0
    return curve.select(
        *kept,
        *(
            pl.when(area).then(rate).alias(column.meta.output_name())
            for ends, columns in zip(CELLS.segment, HELD.segment, strict=True)
            for rate, column in zip(ends, columns, strict=True)
        ),
        CELLS.is_first.alias(HELD.is_first.meta.output_name()),
    )
