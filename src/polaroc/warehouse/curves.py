"""Curves of tie-collapsed cells, computed by the engine; hulls, computed here."""

from __future__ import annotations

from typing import Unpack

import polars as pl

from polaroc.base.columns import CURVE, EFFECTIVE, NEG_SQUARES, PLACE, ROW_ERROR, ROWS
from polaroc.curves.hull import hull as hull_locally
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE, WRONG
from polaroc.typing import IbisTable
from polaroc.warehouse.cells import cells
from polaroc.warehouse.connections import check_table, fetched, ibis_library
from polaroc.warehouse.predictions import literal, read

COUNTS = ("pos", "neg", "tp", "fp")


def curve(table: IbisTable, **columns: Unpack[Columns]) -> IbisTable:
    """ROC curves, one per key, with ties collapsed, as `polaroc.curve`.

    Parameters
    ----------
    table
        Predictions, one row per case: an ibis table. A query cannot raise: a key with null or NaN
        rows has null totals and rates.
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
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.8, 0.1]})
    >>> table = ibis.memtable(cases)
    >>> points = warehouse.curve(table, truth="truth", score="p").order_by("fp", "tp")
    >>> points.select("threshold", "tp", "fp", "tpr").to_polars().rows()
    [(None, 0, 0, 0.0), (0.9, 1, 0, 0.5), (0.8, 2, 1, 1.0), (0.1, 2, 2, 1.0)]
    """
    ibis, _ = ibis_library(), ibis_library()._
    predictions = read(table, columns)
    cases = predictions.cases
    fatal = [code for code in predictions.errors if cases.nulls == "raise" or code in WRONG]
    is_fatal = (
        _[ROW_ERROR].isin(fatal).ifelse(_[ROWS], 0).sum().over(ibis.window(group_by=cases.keys))
    )
    kind = "float64" if cases.weight else "int64"
    counted = cells(predictions)
    nulled = counted.mutate(
        **{
            name: (is_fatal == 0).ifelse(_[name], literal(None)).cast(kind)
            for name in ("positives", "negatives")
        },
        **{name: _[name].cast(kind) for name in COUNTS},
    )
    anchors = nulled.filter(_[PLACE] == 0).mutate(
        **{SCORE: literal(None)}, **{name: literal(0).cast(kind) for name in COUNTS}
    )
    points = anchors.union(nulled.filter((_.pos > 0) | (_.neg > 0)))
    rates = {
        "tpr": _.tp.cast("float64") / _.positives.nullif(0),
        "fpr": _.fp.cast("float64") / _.negatives.nullif(0),
    }
    of_weights = {}
    if cases.weight:
        of_weights[EFFECTIVE] = _.negatives * (_.negatives / _[NEG_SQUARES].nullif(0))
    result: IbisTable = points.select(
        *cases.keys, **{name: rates.get(name, _[name]) for name in CURVE}, **of_weights
    )
    return result


def hull(curve: IbisTable) -> pl.DataFrame:
    """The upper convex hull of each ROC curve, as `polaroc.hull`; this call fetches the curves.

    Parameters
    ----------
    curve
        The result of `warehouse.curve`.

    Returns
    -------
    DataFrame
        The result of `polaroc.hull`.

    Raises
    ------
    InvalidTable, InvalidArgument
        As `polaroc.hull` does; for more points than can be fetched.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> points = pr.warehouse.curve(ibis.memtable(cases), truth="truth", score="p")
    >>> pr.warehouse.hull(points).select("tp", "fp").rows()
    [(0, 0), (1, 0), (2, 1), (2, 2)]
    """
    check_table(curve)
    return hull_locally(fetched(curve))
