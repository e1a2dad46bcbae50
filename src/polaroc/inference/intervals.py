"""Confidence intervals of the measures of curves, and of rows in memory."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from polaroc.base.private_columns import CLUSTER, KEY_INDEX, PLACE, ROW, TRUTH, WEIGHT
from polaroc.curves.kernel import Ranked
from polaroc.curves.segments import COUNTS
from polaroc.inference.cells import Cells, numbered, ranked_clusters
from polaroc.inference.limits import (
    Limits,
    Sureness,
    area_limits,
    beside,
    columns_of_limits,
    limits_by_measure,
    loss_limits,
)
from polaroc.inference.spread import spread_of_areas, spread_of_losses
from polaroc.inference.units import cases_as_units, clusters_as_units
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

TOTALS = ("positives", "negatives")


def with_limits_of_curves(
    measured: pl.LazyFrame,
    curves: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    level: float,
) -> pl.LazyFrame:
    """The measures of all rows of keys with limits, from sorted curves."""
    made = partial(_limits_of_curves, keys=keys, measures=measures, level=level)
    return beside(measured, curves, keys, made, level)


def _limits_of_curves(
    curves: pl.DataFrame, keys: Sequence[str], measures: Sequence[Measure], level: float
) -> pl.DataFrame:
    """The limits of each measure of each key."""
    number = curves.select(
        pl.struct(keys).rle_id() if keys else pl.int_range(pl.len()) * 0
    ).to_series()
    firsts = np.flatnonzero(number.is_first_distinct().to_numpy())
    of_keys = curves.select(pl.col(TOTALS).cast(pl.Float64).fill_null(0))[firsts]
    totals = {name: of_keys[name].to_numpy() for name in TOTALS}
    scores = curves.with_columns(number.cast(pl.Int64).alias(KEY_INDEX)).drop_nulls(SCORE)
    rows = _limits(
        Cells.of_curves(curves, firsts), scores.select(KEY_INDEX, SCORE, *COUNTS), totals, measures,
        Sureness(level, cases_as_units(**totals)),
    )  # fmt: skip
    placed = columns_of_limits(rows, np.arange(len(firsts))).with_columns(
        pl.Series(PLACE, np.tile(np.arange(len(rows)), len(firsts)))
    )
    if not keys:
        return placed
    of_rows = curves.select(keys)[np.repeat(firsts, len(rows))]
    return pl.concat([of_rows, placed], how="horizontal")


def limits_of_ranked(
    found: Ranked,
    wide: pl.DataFrame,
    predictions: Predictions,
    measures: Sequence[Measure],
    level: float,
) -> pl.DataFrame:
    """The limits of ranked rows, of each measure of each key, in the order of all tidy rows."""
    totals = {name: wide[name].cast(pl.Float64).to_numpy() for name in TOTALS}
    cases = ranked_clusters(found, totals)
    units = cases_as_units(**totals)
    if cases is not None:
        units = clusters_as_units(cases, weighted=predictions.sampled)
    scores = pl.DataFrame()
    if any(one.score_sums for one in measures):
        scores = _scores(predictions, wide)
    of_areas = [one for one in measures if one.is_area]
    names = [name for one in of_areas for name in (*one.sums, *one.least)]
    sums = totals | {name: wide[name].fill_null(np.nan).to_numpy() for name in names}
    rows = _limits(Cells.of(found), scores, totals, measures, Sureness(level, units), sums)
    place = wide.with_row_index(ROW)
    keys = predictions.keys
    order = place.sort(keys, nulls_last=True)[ROW] if keys else place[ROW]
    return columns_of_limits(rows, order.to_numpy())


def _scores(predictions: Predictions, wide: pl.DataFrame) -> pl.DataFrame:
    """The rows in the columns that losses are written with, with the numbers of their clusters."""
    keys = predictions.keys
    count = pl.col(WEIGHT) if predictions.weighted else pl.lit(1.0)
    of_keys = wide.lazy().select(*keys, *TOTALS).with_row_index(KEY_INDEX)
    counted = predictions.valid_rows.with_columns(
        pos=pl.col(TRUTH) * count, neg=~pl.col(TRUTH) * count
    )
    joined = (
        counted.join(of_keys, on=keys, nulls_equal=True, maintain_order="left")
        if keys
        else counted.join(of_keys, how="cross")
    )
    rows = joined.filter((pl.col("pos") > 0) | (pl.col("neg") > 0)).collect()
    known = [KEY_INDEX, SCORE, "pos", "neg", *TOTALS]
    if CLUSTER not in rows.columns:
        return rows.select(known)
    return rows.select(*known, pl.Series(CLUSTER, numbered(rows)))


def _limits(
    areas: Cells,
    scores: pl.DataFrame,
    totals: "dict[str, Array]",
    measures: Sequence[Measure],
    sureness: Sureness,
    sums: "dict[str, Array] | None" = None,
) -> list[Limits]:
    """The limits of each measure, by key, from segments and, for losses, from scores.

    `totals` are the `positives` and `negatives` of each key, `sums` the columns that areas are
    written with, where they are known.
    """
    of_areas = [one for one in measures if one.is_area]
    of_losses = [one for one in measures if not one.is_area]
    limits = []
    if of_areas:
        spread = spread_of_areas(areas, of_areas, sureness.units, sums)
        limits += [*limits_by_measure(of_areas, spread, sureness, area_limits)]
    if of_losses:
        spread = spread_of_losses(scores, of_losses, totals, sureness.units)
        limits += [*limits_by_measure(of_losses, spread, sureness, loss_limits)]
    # In the order of the catalogue, areas come before losses.
    return limits
