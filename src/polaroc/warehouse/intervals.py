"""Intervals of measures of a warehouse table: cells counted there, the rest done here."""

from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import attach
from polaroc.base.private_columns import FRACTIONAL, ROW_ERROR, WEIGHT
from polaroc.curves.curve import in_order
from polaroc.errors import InvalidArgument
from polaroc.measures.spec import Measure, per_key, tidy
from polaroc.uncertainty.bootstrap import BootstrapSpec, resampled
from polaroc.uncertainty.intervals import with_limits
from polaroc.warehouse.collecting import collected
from polaroc.warehouse.columns import deferred
from polaroc.warehouse.curves import TOTALS
from polaroc.warehouse.predictions import Predictions

if TYPE_CHECKING:
    from ibis.expr.types import Table

# More cells than these are not fetched: some 2 GB.
MOST_CELLS = 20_000_000


def with_intervals(
    predictions: Predictions,
    curve: "Table",
    noted: pl.DataFrame,
    measures: list[Measure],
    how: BootstrapSpec | tuple[str, float],
) -> pl.DataFrame:
    """The tidy measures of a curve, with limits.

    Parameters
    ----------
    predictions, curve
        Predictions, and the curve table made of them.
    noted
        Each key with its totals and its note.
    measures
        The measures, in columns of Polars.
    how
        How to resample; or the method of `intervals`, and the level.
    """
    keys = predictions.keys
    said = _with_fractional(noted.lazy().drop(TOTALS), predictions)
    curves = in_order(attach(_cells(curve).lazy(), said, keys), keys)
    if not isinstance(how, BootstrapSpec):
        return with_limits(curves, keys, measures, *how).collect()
    sums = per_key(curves.filter(pl.col("pos") > 0), keys, measures).drop(TOTALS)
    measured = tidy(attach(noted.lazy(), sums, keys, required=False), keys, measures)
    counts = pl.when(~pl.col(FRACTIONAL)).then("pos").alias("pos")
    counted = curves.with_columns(counts).drop("note", FRACTIONAL)
    return resampled(measured, counted, keys, how).collect()


def _cells(curve: "Table") -> pl.DataFrame:
    cells = collected(curve.limit(MOST_CELLS + 1))
    if cells.height > MOST_CELLS:
        raise InvalidArgument(
            f"there are more than {MOST_CELLS:,} different scores per key in all, and intervals "
            "are finished on this machine.",
            hint="round the scores first, evaluate some of the keys, or leave intervals out.",
        )
    return cells


def _with_fractional(noted: pl.LazyFrame, predictions: Predictions) -> pl.LazyFrame:
    """Keys with `FRACTIONAL`: whether a weight of a sound row is not a whole number."""
    if not predictions.weighted:
        return noted.with_columns(pl.lit(False).alias(FRACTIONAL))
    weight = deferred(WEIGHT)
    broken = {FRACTIONAL: (weight != weight.floor()).ifelse(1, 0).max()}
    sound = predictions.rows.filter(deferred(ROW_ERROR).isnull())
    flags = sound.aggregate(by=predictions.keys, **broken)
    found = collected(flags).lazy().with_columns(pl.col(FRACTIONAL) == 1)
    flagged = attach(noted, found, predictions.keys, required=False)
    return flagged.with_columns(pl.col(FRACTIONAL).fill_null(False))
