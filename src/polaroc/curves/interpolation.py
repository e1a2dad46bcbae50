"""Curves on a grid of rates; between two points the ROC curve is straight."""

from collections.abc import Sequence
from typing import Literal

import polars as pl

from polaroc import rates
from polaroc.base.columns import HAS_BOTH
from polaroc.curves.segments import share

POS, NEG, TP, FP = map(pl.col, ("pos", "neg", "tp", "fp"))
POSITIVES, NEGATIVES = pl.col("positives"), pl.col("negatives")


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
