"""Check that a curve table in a warehouse holds whole curves, as `polaroc.curves.whole` does."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.private_columns import COUNT
from polaroc.curves.whole import ANCHORS, IS_WHOLE, SUMMED, is_whole, refuse_broken
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import deferred, ibis_library
from polaroc.warehouse.connections import collected

TOTALS = ("positives", "negatives")


def check_whole(curve: IbisTable, keys: Sequence[str]) -> None:
    """Raise where a curve is not whole: this fetches a few sums per key."""
    sums = {
        COUNT: ibis_library()._.count(),
        ANCHORS: deferred(SCORE).isnull().sum(),
        **{name: deferred(name).cast("float64").sum() for name in ("pos", "neg")},
        **{name: deferred(name).max() for name in TOTALS},
    }
    found = collected(curve.aggregate(by=keys, **sums))
    in_float32 = any(curve[name].type().is_float32() for name in SUMMED)
    whole = is_whole(*map(pl.col, (ANCHORS, *SUMMED)), in_float32=in_float32)
    # Without keys there is a row even for an empty table.
    refuse_broken(found.filter(pl.col(COUNT) > 0).with_columns(whole.alias(IS_WHOLE)), keys)
