"""Curves of tie-collapsed cells and surfaces, computed by the engine; hulls, computed locally."""

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import CURVE, GRID, RESERVED
from polaroc.base.docstrings import described_as
from polaroc.base.private_columns import PRIVATE, ROWS
from polaroc.curves.hull import hull as local_hull
from polaroc.curves.hull import hulls_of
from polaroc.curves.segments import share
from polaroc.curves.surface import Rate, rate_at, select_rates
from polaroc.curves.surface import surface as local_surface
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.takes_cases import takes_cases
from polaroc.priors.grids import prior, skew, some_priors
from polaroc.typing import IbisTable, Priors
from polaroc.warehouse.cells import FATAL, Ranges, cells, count_cells, with_ranges
from polaroc.warehouse.columns import (
    IBIS,
    column,
    deferred,
    ibis_library,
    ieee_column,
    literal,
    to_ibis,
)
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.measures import WHICH, literal_rows, pick_row_value
from polaroc.warehouse.predictions import Predictions, check_table, described, read
from polaroc.warehouse.whole import TOTALS, check_whole, whole_curves

CELL_COUNTS = ("pos", "neg", "tp", "fp")
# Distances, in points, of the ends of the chords that a point is compared with.
REACHES = (1, 4, 16, 64)
# Margin by which a point must be below a chord, larger than rounding errors.
CHORD_MARGIN = 1 - 1e-9
BELOW = PRIVATE + "below"
# What functions of the warehouse take and give.
TABLES = """
    Parameters
    ----------
    cases
        Predictions, one row per case: an ibis table. Columns are given by name.
    curve
        The result of `warehouse.curve`.

    Returns
    -------
    Table
        The columns of the function of the same name in `polaroc`, its rows in no order.
        Nothing is computed until the table is executed.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As the function of the same name in `polaroc` does for a lazy frame.
"""


@described_as(TABLES)
@takes_cases(COUNTED_BY, no_bearing=BESIDE, describe=described)
def curve(
    cases: Cases[Any],
    *,
    ranges: Ranges = None,
    **columns: Unpack[Columns],
) -> IbisTable:
    """ROC curves, one per key, with ties collapsed, as `polaroc.curve`.

    Parameters
    ----------
    cases
        Predictions, one row per case: an ibis table. Columns are given by name. A query cannot
        raise: a key with null or NaN rows has null totals and rates.
    **columns
    ranges
        For keys too large for one worker: the number of ranges of the score, up to
        256, in which the rows of each key are cumulated separately; ``"auto"`` is one
        per million rows of the largest key, which this call counts. The edges of the
        ranges are quantiles of a sample of scores that this call fetches (with
        ``"auto"``, of keys with more than a million rows); or give the edges as a list
        of scores, and nothing is fetched. The query then reads the table twice, and
        must find the same rows both times. Results do not depend on `ranges`.

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
    predictions = read(cases)
    predictions = with_ranges(predictions, ranges)
    return to_curve_table(predictions, cells(predictions, count_cells(predictions)))


def to_curve_table(predictions: Predictions, summed: IbisTable) -> IbisTable:
    """Cells as a curve table, with an anchor per key."""
    keys, valid = predictions.keys, deferred(FATAL) == 0
    counts = summed.mutate(**{name: valid.ifelse(deferred(name), literal(None)) for name in TOTALS})
    totals = {name: deferred(name).max() for name in TOTALS}
    per_key = counts.aggregate(by=keys, **{ROWS: deferred(ROWS).count()}, **totals)
    # Without keys there is a row even for an empty table.
    anchors = (
        per_key.view()
        .filter(deferred(ROWS) > 0)
        .select(
            *keys,
            **{SCORE: literal(None)},
            **{name: literal(0) for name in CELL_COUNTS},
            **{name: deferred(name) for name in TOTALS},
        )
    )
    rows = counts.filter((deferred("pos") > 0) | (deferred("neg") > 0))
    return with_rates(predictions, anchors.union(rows.select(*keys, SCORE, *CELL_COUNTS, *TOTALS)))


def with_rates(predictions: Predictions, rows: IbisTable) -> IbisTable:
    """The columns of a curve table with their types, and the rates."""
    kind = "float64" if predictions.sampled else "int64"
    columns: dict[str, Any] = {name: deferred(name).cast(kind) for name in (*CELL_COUNTS, *TOTALS)}
    columns["tpr"] = to_ibis(share(column("tp"), column("positives"), IBIS))
    columns["fpr"] = to_ibis(share(column("fp"), column("negatives"), IBIS))
    columns_in_order = {name: columns.get(name, deferred(name)) for name in CURVE}
    return rows.select(*predictions.keys, **columns_in_order)


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


@described_as(TABLES, local_hull)
def hull(curve: IbisTable) -> IbisTable:
    """The upper convex hull of each ROC curve, as `polaroc.hull`.

    This call fetches the points that may be vertices, and no others.

    Returns
    -------
    Table
        The columns of `polaroc.hull`, as a table in memory.

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
    return in_memory(fetch_whole_hulls(curve))


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


def fetch_whole_hulls(curve: IbisTable) -> pl.DataFrame:
    """The hulls of a curve that a user gave, as a local frame; raise where it is not whole."""
    keys = curve_keys(curve)
    check_connected(curve)
    check_whole(curve, keys)
    return fetch_hulls(curve)


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


FIRST = PRIVATE + "first_tpr", PRIVATE + "first_fpr"


@described_as(TABLES, local_surface)
def surface(
    curve: IbisTable,
    priors: Priors,
    rates: Sequence[str] | Mapping[str, Rate] = ("precision",),
) -> IbisTable:
    """Every point of the curve at every prior, with the rates it has there, as `polaroc.surface`.

    A rate of your own gets quantities that have arithmetic, comparisons and powers.

    Examples
    --------
    >>> import ibis
    >>> import polars as pl
    >>> import polaroc as pr
    >>> cases = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> points = pr.warehouse.curve(ibis.memtable(cases), truth="truth", score="p")
    >>> found = pr.warehouse.surface(points, 0.2).order_by("fp", "tp")
    >>> found.select("tpr", "precision").to_polars().rows()
    [(0.0, 1.0), (0.5, 1.0), (0.5, 0.2), (1.0, 0.33...), (1.0, 0.2)]
    """
    keys = curve_keys(curve)
    chosen = select_rates(rates, keys)
    resolved = some_priors(priors)
    t, f, origin = deferred("tpr"), deferred("fpr"), deferred("threshold").isnull()
    whole = ibis_library().window(group_by=keys)
    is_first = (deferred("tp") == deferred("pos")) & (deferred("fp") == deferred("neg")) & ~origin
    ends = {
        name: is_first.ifelse(rate, literal(None)).max().over(whole)
        for name, rate in zip(FIRST, (t, f), strict=True)
    }
    # Some engines divide whole numbers into whole numbers.
    own = deferred("negatives").cast("float64") / deferred("positives").cast("float64")
    both = (deferred("positives") > 0) & (deferred("negatives") > 0)
    skews = [own if one is None else literal(skew(one)) for one in resolved]
    given = [prior(own) if one is None else literal(one) for one in resolved]
    defined = [both if one is None else None for one in resolved]
    rows = whole_curves(curve, keys).mutate(**ends).cross_join(literal_rows(WHICH, len(resolved)))
    at = rows.select(
        *curve.columns,
        *FIRST,
        prior=pick_row_value(_where_defined(given, defined)),
        skew=pick_row_value(_where_defined(skews, defined)),
    )
    point, first = (
        (ieee_column("tpr"), ieee_column("fpr")),
        (ieee_column(FIRST[0]), ieee_column(FIRST[1])),
    )
    at_origin = type(point[0])(origin)
    values = {
        name: to_ibis(rate_at(name, rate, point, first, ieee_column("skew"), at_origin, IBIS))
        for name, rate in chosen.items()
    }
    return at.select(*curve.columns, "prior", "skew", **values)


def _where_defined(values: Sequence[Any], defined: Sequence[Any]) -> list[Any]:
    return [
        value if condition is None else condition.ifelse(value, literal(None))
        for value, condition in zip(values, defined, strict=True)
    ]
