"""Confidence intervals of the measures of curves, and of rows in memory."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl

from polaroc.base.private_columns import PLACE, ROW
from polaroc.curves.cell_arrays import CellArrays, RankedCells, ScoredCells
from polaroc.measures.spec import Measure, ingredients, measures_by_row
from polaroc.typing import Array
from polaroc.uncertainty.cells import cells_of_curves, ranked_clusters, with_positives
from polaroc.uncertainty.limits import (
    Limits,
    Sureness,
    area_limits,
    beside,
    columns_of_limits,
    limits_by_row,
    loss_limits,
)
from polaroc.uncertainty.spread import spread_of_areas, spread_of_losses
from polaroc.uncertainty.units import cases_as_units, clusters_as_units

TOTALS = ("positives", "negatives")


def with_limits(
    measured: pl.LazyFrame,
    source: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    level: float,
) -> pl.LazyFrame:
    """Tidy measures with limits, from their curves; the measures are written for `ARRAYS`."""
    made = partial(_limits, keys=keys, measures=measures, level=level)
    return beside(measured, source, keys, made, level)


def _limits(
    source: pl.DataFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    level: float,
) -> pl.DataFrame:
    """The limits of each row of each key, from sorted curves."""
    number = source.select(
        pl.struct(keys).rle_id() if keys else pl.int_range(pl.len()) * 0
    ).to_series()
    firsts = np.flatnonzero(number.is_first_distinct().to_numpy())
    cells = cells_of_curves(source, firsts)
    of_keys = source.select(pl.col(TOTALS).cast(pl.Float64).fill_null(0))[firsts]
    totals = {name: of_keys[name].to_numpy() for name in TOTALS}
    sureness = Sureness(level, cases_as_units(**totals))
    rows = limits_of_cells(with_positives(cells), cells, totals, measures, sureness)
    placed = columns_of_limits(rows, np.arange(len(firsts))).with_columns(
        pl.Series(PLACE, np.tile(np.arange(len(rows)), len(firsts)))
    )
    if not keys:
        return placed
    of_rows = source.select(keys)[np.repeat(firsts, len(rows))]
    return pl.concat([of_rows, placed], how="horizontal")


def limits_of_ranked(
    ranked: RankedCells,
    wide: pl.DataFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    level: float,
    *,
    sampled: bool = False,
) -> pl.DataFrame:
    """The limits of rows in memory, in the order of their tidy measures.

    Rows count cases, or are `sampled` with weights and have clusters.
    """
    totals = {name: wide[name].cast(pl.Float64).to_numpy() for name in TOTALS}
    cases = ranked_clusters(ranked, totals)
    units = cases_as_units(**totals)
    if cases is not None:
        units = clusters_as_units(cases, weighted=sampled)
    sureness = Sureness(level, units)
    _, *of_curves = ingredients([measure for measure in measures if measure.is_area])
    sums = totals | {name: wide[name].to_numpy() for own in of_curves for name in own}
    rows = limits_of_cells(ranked, ranked.scored, totals, measures, sureness, sums)
    place = wide.with_row_index(ROW)
    order = place.sort(keys, nulls_last=True)[ROW] if keys else place[ROW]
    return columns_of_limits(rows, order.to_numpy())


def limits_of_cells(
    areas: CellArrays,
    scored: CellArrays | ScoredCells | None,
    totals: "dict[str, Array]",
    measures: Sequence[Measure],
    sureness: Sureness,
    sums: "dict[str, Array] | None" = None,
) -> list[Limits]:
    """The limits of each row of a key, by key, from cells with positives and, for losses, all.

    `totals` are the `positives` and `negatives` of each key, `sums` the columns that areas are
    written with, where they are known.
    """
    of_areas = [measure for measure in measures if measure.is_area]
    of_losses = [measure for measure in measures if not measure.is_area]
    rows: dict[bool, Iterator[Limits]] = {}
    if of_areas:
        spread = spread_of_areas(areas, of_areas, sureness.units, sums)
        rows[True] = limits_by_row(of_areas, spread, sureness, area_limits)
    if of_losses:
        spread = spread_of_losses(scored, of_losses, totals, sureness.units)
        rows[False] = limits_by_row(of_losses, spread, sureness, loss_limits)
    return [next(rows[one.is_area]) for one, _ in measures_by_row(measures)]
