"""Whether a curve table in a warehouse has whole curves, as `polaroc.curves.whole` asks it."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.private_columns import COUNT
from polaroc.curves.whole import (
    ADDED,
    ANCHORS,
    NEG,
    NUMBERS,
    POS,
    SAME,
    added_to_whole,
    refuse_not_whole,
    steps,
    tolerance_of,
)
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import Column, Ibis, deferred, ibis_library, to_ibis_columns
from polaroc.warehouse.connections import collected

TOTALS = ("positives", "negatives")


def _float_column(name: str) -> Column:
    # Some engines divide whole numbers into whole numbers.
    return Column(deferred(name).cast("float64"))


FLOATS = Ibis(column=_float_column)


def with_added(curve: IbisTable) -> IbisTable:
    """With what each row adds to the sum of its key, in `ADDED`: 1 in all for one whole curve."""
    unranked = deferred("positives").isnull() & deferred("negatives").isnull()
    is_anchor = Column(deferred(SCORE).isnull())
    added = added_to_whole(tolerance(curve), is_anchor, Column(unranked), FLOATS)
    stepped = curve.mutate(**to_ibis_columns(steps(FLOATS)))
    return stepped.mutate(**to_ibis_columns({ADDED: added}))


def tolerance(curve: IbisTable) -> float:
    """How far rounding may take sums and rates from what they are, as a share of them."""
    return tolerance_of(any(curve[name].type().is_float32() for name in NUMBERS))


def check_whole(curve: IbisTable, keys: Sequence[str]) -> None:
    """Raise where a curve is not whole: this fetches a few sums per key."""
    # Without cases that can be ranked, totals are null in all rows.
    same = [(deferred(name).min() == deferred(name).max()).fill_null(True) for name in TOTALS]
    sums = {
        ADDED: deferred(ADDED).sum(),
        SAME: same[0] & same[1],
        COUNT: ibis_library()._.count(),
        ANCHORS: deferred(SCORE).isnull().sum(),
        POS: deferred("pos").sum(),
        NEG: deferred("neg").sum(),
        **{name: deferred(name).max() for name in TOTALS},
    }
    # Without keys there is a row even for an empty table.
    found = collected(with_added(curve).aggregate(by=keys, **sums)).filter(pl.col(COUNT) > 0)
    refuse_not_whole(found, keys, tolerance(curve))
