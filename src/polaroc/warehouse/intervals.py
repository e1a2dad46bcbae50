"""Intervals of measures of a warehouse table: cells counted there, the rest done here."""

from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import attach
from polaroc.base.private_columns import FRACTIONAL, ROW_ERROR, WEIGHT
from polaroc.curves.curve import in_order
from polaroc.errors import InvalidArgument
from polaroc.evaluation.pipeline import with_intervals
from polaroc.evaluation.request import Request
from polaroc.measures.table import per_key, tidy
from polaroc.warehouse.collecting import collected
from polaroc.warehouse.columns import deferred
from polaroc.warehouse.curves import TOTALS
from polaroc.warehouse.predictions import Predictions

if TYPE_CHECKING:
    from ibis.expr.types import Table

# More cells than these are not fetched: some 2 GB.
MOST_CELLS = 20_000_000


def limits_here(
    predictions: Predictions, curve: "Table", noted: pl.DataFrame, request: Request
) -> pl.DataFrame:
    """The tidy measures of a curve with intervals, finished on this machine."""
    keys, measures = predictions.keys, request.selected.measures
    flags = _with_fractional(noted.lazy().drop(TOTALS), predictions)
    curves = in_order(attach(_cells(curve).lazy(), flags, keys), keys)
    sums = per_key(curves.filter(pl.col("pos") > 0), keys, measures).drop(TOTALS)
    measured = tidy(attach(noted.lazy(), sums, keys, required=False), keys, measures)
    return with_intervals(curves, measured, keys, request).collect()


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
