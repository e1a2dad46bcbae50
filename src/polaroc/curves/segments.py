"""The straight segments of ROC curves, over which all areas and points of curves are expressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import polars as pl

from polaroc.base.columns import PRIVATE
from polaroc.typing import Quantity

COUNTS = ("pos", "neg", "tp", "fp", "positives", "negatives")
RATES = tuple(PRIVATE + name for name in ("t0", "f0", "t1", "f1", "dt", "df"))


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
    return Segment._make(map(column, (*RATES, "positives", "negatives")))


def segment_of_counts(column: Callable[[str], pl.Expr] = pl.col) -> Segment:
    """The segment of a row of a curve table."""
    pos, neg, tp, fp, positives, negatives = map(column, COUNTS)
    return Segment(
        share(tp - pos, positives), share(fp - neg, negatives), share(tp, positives),
        share(fp, negatives), share(pos, positives), share(neg, negatives), positives, negatives,
    )  # fmt: skip


def segment_columns(column: Callable[[str], pl.Expr] = pl.col) -> dict[str, pl.Expr]:
    """The columns `RATES` of the rows of a curve."""
    has_area = pl.when(column("pos") > 0)
    of_counts = segment_of_counts(column)
    return {name: has_area.then(rate) for name, rate in zip(RATES, of_counts[:6], strict=True)}


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
