"""Curves of tie-collapsed cells, computed by the engine; hulls, computed locally."""

from __future__ import annotations

from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import CURVE, GRID, RESERVED
from polaroc.base.private_columns import PRIVATE, ROWS
from polaroc.curves.hull import hulls_of
from polaroc.curves.segments import share
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import IbisTable
from polaroc.warehouse.cells import (
    FATAL,
    Ranges,
    cells,
    count_cells,
    effective_number,
    with_ranges,
)
from polaroc.warehouse.columns import IBIS, column, deferred, ibis_library, literal, to_ibis
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.predictions import Predictions, check_table, read
from polaroc.warehouse.whole import TOTALS, check_whole

CELL_COUNTS = ("pos", "neg", "tp", "fp")
# Distances, in points, of the ends of the chords that a point is compared with.
REACHES = (1, 4, 16, 64)
# Margin by which a point must be below a chord, larger than rounding errors.
CHORD_MARGIN = 1 - 1e-9
BELOW = PRIVATE + "below"


def curve(
    table: IbisTable,
    *,
    ranges: Ranges = None,
    **columns: Unpack[Columns],
) -> IbisTable:
    """ROC curves, one per key, with ties collapsed, as `polaroc.curve`.

    Parameters
    ----------
    table
        Predictions, one row per case: an ibis table. A query cannot raise: a key with null or NaN
        rows has null totals and rates.
    ranges
        For keys too large for one worker: the number of ranges of the score, up to
        256, in which the rows of each key are cumulated separately; ``"auto"`` is one
        per million rows of the largest key, which this call counts. The edges of the
        ranges are quantiles of a sample of scores that this call fetches (with
        ``"auto"``, of keys with more than a million rows); or give the edges as a list
        of scores, and nothing is fetched. The query then reads the table twice, and
        must find the same rows both times. Results do not depend on `ranges`.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    Table
        The columns of the function of the same name in `polaroc`, its rows in no order.
        Nothing is computed until the table is executed.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As the function of the same name in `polaroc` does for a lazy frame.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> from polaroc import warehouse
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.9, 0.8, 0.1]})
    >>> table = ibis.memtable(cases)
    >>> points = warehouse.curve(table, truth="truth", score="p").order_by("fp", "tp")
    >>> points.select("threshold", "tp", "fp", "tpr").to_polars().rows()
    [(None, 0, 0, 0.0), (0.9, 1, 1, 0.5), (0.8, 2, 1, 1.0), (0.1, 2, 2, 1.0)]
    """
    predictions = with_ranges(read(table, columns), ranges)
    return to_curve_table(predictions, cells(predictions, count_cells(predictions)))


def to_curve_table(predictions: Predictions, summed: IbisTable) -> IbisTable:
    """Cells as a curve table, with an anchor per key."""
    keys, valid = predictions.keys, deferred(FATAL) == 0
    counts = summed.mutate(**{name: valid.ifelse(deferred(name), literal(None)) for name in TOTALS})
    counted = (*TOTALS, *predictions.squares)
    totals = {name: deferred(name).max() for name in counted}
    per_key = counts.aggregate(by=keys, **{ROWS: deferred(ROWS).count()}, **totals)
    # Without keys there is a row even for an empty table.
    anchors = (
        per_key.view()
        .filter(deferred(ROWS) > 0)
        .select(
            *keys,
            **{SCORE: literal(None)},
            **{name: literal(0) for name in CELL_COUNTS},
            **{name: deferred(name) for name in counted},
        )
    )
    ranked = counts.filter((deferred("pos") > 0) | (deferred("neg") > 0))
    rows = anchors.union(ranked.select(*keys, SCORE, *CELL_COUNTS, *counted))
    kind = "float64" if predictions.sampled else "int64"
    columns: dict[str, Any] = {name: deferred(name).cast(kind) for name in (*CELL_COUNTS, *TOTALS)}
    columns["tpr"] = to_ibis(share(column("tp"), column("positives"), IBIS))
    columns["fpr"] = to_ibis(share(column("fp"), column("negatives"), IBIS))
    shown = {name: columns.get(name, deferred(name)) for name in CURVE}
    result: IbisTable = rows.select(*keys, **shown, **effective_number(predictions))
    return result


def curve_keys(curve: IbisTable) -> list[str]:
    """The keys of a curve table; raise for any other table."""
    check_table(curve)
    missing = [name for name in CURVE if name not in curve.columns]
    if missing or set(GRID) & set(curve.columns):
        raise InvalidTable(
            f"the table has the columns {quoted(curve.columns)}: it is no curve.",
            hint="pass the result of warehouse.curve(...).",
        )
    return [name for name in curve.columns if name not in RESERVED]


def hull(curve: IbisTable) -> IbisTable:
    """The upper convex hull of each ROC curve, as `polaroc.hull`.

    This call fetches the points that may be vertices, and no others.

    Parameters
    ----------
    curve
        The result of `warehouse.curve`.

    Returns
    -------
    Table
        The columns of `polaroc.hull`, as a table in memory.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As the function of the same name in `polaroc` does for a lazy frame.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> points = pr.warehouse.curve(ibis.memtable(cases), truth="truth", score="p")
    >>> pr.warehouse.hull(points).select("tp", "fp").to_polars().rows()
    [(0, 0), (1, 0), (2, 1), (2, 2)]
    """
    keys = curve_keys(curve)
    check_connected(curve)
    check_whole(curve, keys)
    return in_memory(fetch_hulls(curve))


def in_memory(frame: pl.DataFrame) -> IbisTable:
    """A frame as an ibis table."""
    table: IbisTable = ibis_library().memtable(frame)
    return table


def fetch_hull_candidates(curve: IbisTable) -> pl.DataFrame:
    """The points of a curve that may be vertices of its hull, as a local frame."""
    check_connected(curve)
    return collected(hull_candidates(curve))


def fetch_hulls(curve: IbisTable) -> pl.DataFrame:
    """The hulls of a curve, as a local frame."""
    return hulls_of(fetch_hull_candidates(curve).lazy()).collect()


def hull_candidates(curve: IbisTable) -> IbisTable:
    """The points of a curve that are not below a chord between two points near them.

    A chord is never above the hull, so no vertex of the hull is left out. `pos` and `neg` are
    not changed, although the point before may be missing.
    """
    ibis = ibis_library()
    keys, ranked = curve_keys(curve), deferred("threshold")
    order = [ranked.isnull().ifelse(0, 1), ibis.desc("threshold")]
    down = ibis.window(group_by=keys, order_by=order)
    t, f = (deferred(name).cast("float64") for name in ("tp", "fp"))
    below = ibis.literal(False)
    for reach in REACHES:
        rise, run = ((x - x.lag(reach).over(down)) for x in (t, f))
        more_rise, more_run = ((x.lead(reach).over(down) - x) for x in (t, f))
        collinear = ((rise == 0) & (more_rise == 0)) | ((run == 0) & (more_run == 0))
        below_chord = rise * more_run < more_rise * run * CHORD_MARGIN
        below = (collinear | below_chord).fill_null(False) | below
    both = (deferred("positives") > 0) & (deferred("negatives") > 0)
    thinned = curve.mutate(**{BELOW: below & both.fill_null(False)})
    return thinned.filter(~deferred(BELOW)).drop(BELOW)
