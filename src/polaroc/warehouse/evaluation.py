"""All measures of a prediction table in one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.columns import EFFECTIVE
from polaroc.base.joins import attach
from polaroc.curves.curve import in_order
from polaroc.errors import InvalidArgument, NotSupported
from polaroc.evaluation.request import Request
from polaroc.measures.areas import AUPREC, IAUPREC, with_shared_nodes
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.measures.functions import table_sums
from polaroc.measures.spec import Measure, ingredients
from polaroc.measures.table import per_key as local_per_key
from polaroc.measures.table import tidy as local_tidy
from polaroc.measures.table import without_repeats
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief
from polaroc.typing import IbisTable, Interpolation, Prior, Priors
from polaroc.uncertainty.intervals import with_limits
from polaroc.warehouse.cells import (
    FATAL,
    Ranges,
    cells,
    count_cells,
    effective_number,
    noted_cells,
    with_ranges,
)
from polaroc.warehouse.columns import IBIS, deferred, literal, safe_name
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.curves import fetch_hulls, in_memory, to_curve_table
from polaroc.warehouse.measures import per_key, tidy
from polaroc.warehouse.notes import row_error_note, row_error_sums
from polaroc.warehouse.predictions import Predictions, read
from polaroc.warehouse.whole import TOTALS

# The most cells that are fetched, about 2 GB.
MAX_CELLS = 20_000_000


def evaluate(
    table: IbisTable,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    intervals: bool = False,
    level: float = 0.95,
    measure: str | Sequence[str] | None = None,
    score_prior: Prior = "observed",
    ranges: Ranges = None,
    **columns: Unpack[Columns],
) -> IbisTable:
    """Every measure of every key, in one query over the predictions, as `polaroc.evaluate`.

    Parameters
    ----------
    table
        Predictions, one row per case: an ibis table.
    priors, over, interpolation, measure, score_prior
        As in `polaroc.evaluate`. For the interpolation ``"hull"`` the points that may be vertices
        are fetched at once, and the result is a table in memory.
    intervals, level
        As in `polaroc.evaluate`. This call then fetches the cells, one per key and
        distinct score (at most 20 million), and computes the intervals on this
        machine; the result is a table in memory.
    ranges
        As in `curve`.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    Table
        The columns of `polaroc.evaluate`, its rows in no order. Nothing is
        computed until the table is executed.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As `polaroc.evaluate` does for a lazy frame.
    NotSupported
        For `intervals` with a `cluster` or a `weight`.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> measures = pr.warehouse.evaluate(table, truth="truth", score="score", priors=0.1)
    >>> found = measures.order_by("measure").to_polars()
    >>> [(name, round(value, 3)) for name, value in found.select("measure", "estimate").rows()]
    [('auc', 0.68), ('auprec', 0.35)]
    """
    for role in ("cluster", "weight"):
        if intervals and columns.get(role) is not None:
            raise NotSupported(
                f"warehouse.evaluate(intervals=True) does not support {role}.",
                hint="fetch the rows, and give them to polaroc.evaluate.",
            )
    request = Request(
        priors=priors, over=over, interpolation=interpolation, intervals=intervals, level=level,
        measure=measure, score_prior=score_prior,
    )  # fmt: skip
    predictions = with_ranges(read(table, columns), ranges)
    counts = _cells(predictions)
    _, on_curve, on_hull = request.select(IBIS)
    if not on_hull and not intervals:
        return measured(predictions, counts, _share_nodes(on_curve, request))
    check_connected(table)
    kind = pl.Float64 if predictions.weighted else pl.Int64
    # With intervals all sums are taken again from the fetched cells.
    there = [] if intervals else on_curve
    wide = collected(key_totals(predictions, counts, there)).with_columns(pl.col(TOTALS).cast(kind))
    points = to_curve_table(predictions, counts)
    if intervals:
        return in_memory(local_intervals(predictions, points, wide, request))
    return in_memory(_with_hulls(predictions, points, wide, request))


def _share_nodes(measures: Sequence[Measure], request: Request) -> list[Measure]:
    """The measures, IAUPREC from the areas at the priors asked for as far as these will do."""
    beside = [measure for measure in measures if measure.name == AUPREC.name]
    return [
        with_shared_nodes(measure, request.over, beside, request.interpolation, IBIS)
        if measure.name == IAUPREC.name and request.over is not None
        else measure
        for measure in measures
    ]


def _with_hulls(
    predictions: Predictions, points: IbisTable, wide: pl.DataFrame, request: Request
) -> pl.DataFrame:
    """The measures, from sums over the curves and the hulls, which are computed locally."""
    keys, (measures, on_curve, on_hull) = predictions.keys, request.selected
    _, sums, least = ingredients(on_curve)
    names = {safe_name(name): name for name in (*sums, *least)}
    hulls = fetch_hulls(points).lazy()
    of_hulls = local_per_key(hulls.filter(pl.col("pos") > 0), keys, on_hull)
    of_hulls = of_hulls.drop(*TOTALS, EFFECTIVE, strict=False)
    both = attach(wide.lazy().rename(names), of_hulls, keys, required=False)
    return without_repeats(local_tidy(both, keys, measures), measures).collect()


def _cells(predictions: Predictions) -> IbisTable:
    return cells(predictions, count_cells(predictions))


def measured(predictions: Predictions, rows: IbisTable, measures: Sequence[Measure]) -> IbisTable:
    """The tidy measures of cells, as a query."""
    key_notes = key_totals(predictions, rows, measures)
    return tidy(key_notes, predictions.keys, measures, weighted=predictions.weighted)


def key_totals(predictions: Predictions, rows: IbisTable, measures: Sequence[Measure]) -> IbisTable:
    """One row per key: its totals, its note, and the sums of the measures."""
    squares = {name: deferred(name).max() for name in predictions.squares}
    extra = row_error_sums(predictions) | squares
    wide = per_key(rows, predictions.keys, measures, extra, noted_cells())
    valid = deferred(FATAL) == 0
    totals = {name: valid.ifelse(deferred(name), literal(None)) for name in TOTALS}
    key_notes = wide.mutate(note=row_error_note(predictions)).mutate(**totals)
    return key_notes.mutate(**effective_number(predictions)).drop(*extra)


def local_intervals(
    predictions: Predictions, curve: IbisTable, key_notes: pl.DataFrame, request: Request
) -> pl.DataFrame:
    """The tidy measures of curves with intervals, computed locally from fetched cells."""
    keys, measures = predictions.keys, request.selected.measures
    notes = key_notes.lazy().drop(TOTALS)
    curves = in_order(attach(_fetched_cells(curve).lazy(), notes, keys), keys)
    sums = table_sums(curves, keys, measures).drop(TOTALS)
    measured = local_tidy(attach(key_notes.lazy(), sums, keys, required=False), keys, measures)
    limits = with_limits(measured, curves, keys, request.select(ARRAYS).measures, request.level)
    return without_repeats(limits, measures).collect()


def _fetched_cells(curve: IbisTable) -> pl.DataFrame:
    cells = collected(curve.limit(MAX_CELLS + 1))
    if cells.height > MAX_CELLS:
        raise InvalidArgument(
            f"there are more than {MAX_CELLS:,} different scores per key in all, and intervals "
            "are finished on this machine.",
            hint="round the scores first, evaluate some of the keys, or leave intervals out.",
        )
    return cells
