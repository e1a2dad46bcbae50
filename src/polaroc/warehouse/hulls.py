"""Hulls of curves in a warehouse: thinned out there, finished here."""

from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.private_columns import PRIVATE
from polaroc.curves.hull import hull as hull_of
from polaroc.warehouse.collecting import check_connected, collected
from polaroc.warehouse.columns import deferred, ibis_library
from polaroc.warehouse.curves import curve_keys

if TYPE_CHECKING:
    from ibis.expr.types import Table

# How many points before and after a point its chords are drawn from.
REACHES = (1, 4, 16, 64)
# By how much a point must be below a chord, for products that round.
CLEAR = 1 - 1e-9
BELOW = PRIVATE + "below"


def hull(curve: "Table") -> "Table":
    """The upper convex hull of each ROC curve, as `polaroc.hull`.

    The points that may be vertices are fetched at once; the rest stays where it is.

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
    InvalidTable
        As `polaroc.hull` does.

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
    return in_memory(hull_of(fetched(curve)))


def in_memory(frame: pl.DataFrame) -> "Table":
    """A frame as an ibis table."""
    table: Table = ibis_library().memtable(frame)
    return table


def fetched(curve: "Table") -> pl.DataFrame:
    """The points of a curve that may be vertices of its hull, here."""
    check_connected(curve)
    return collected(candidates(curve))


def candidates(curve: "Table") -> "Table":
    """The points of a curve that no chord between two others near them passes above.

    A chord never lies above the hull, so no vertex of the hull is left out. The
    numbers `pos` and `neg` stay those of the point, which follow another now.
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
        straight = ((rise == 0) & (more_rise == 0)) | ((run == 0) & (more_run == 0))
        bent_in = rise * more_run < more_rise * run * CLEAR
        below = (straight | bent_in).fill_null(False) | below
    both = (deferred("positives") > 0) & (deferred("negatives") > 0)
    thinned = curve.mutate(**{BELOW: below & both.fill_null(False)})
    return thinned.filter(~deferred(BELOW)).drop(BELOW)
