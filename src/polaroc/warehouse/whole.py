"""Check that a curve table in a warehouse holds whole curves, as `polaroc.curves.whole` does."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.private_columns import COUNT
from polaroc.curves.whole import SUMMED, refuse_broken
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import deferred, ibis_library
from polaroc.warehouse.connections import collected

TOTALS = ("positives", "negatives")


def check_whole(curve: IbisTable, keys: Sequence[str]) -> None:
    """Raise where a curve is not whole: this fetches a few sums per key."""
    sums = {
        COUNT: ibis_library()._.count(),
        "threshold": deferred("threshold").isnull().sum(),
        **{name: deferred(name).cast("float64").sum() for name in ("pos", "neg")},
        **{name: deferred(name).max() for name in TOTALS},
    }
    # Without keys there is a row even for an empty table.
    of_keys = collected(curve.aggregate(by=keys, **sums)).filter(pl.col(COUNT) > 0)
    in_float32 = any(curve[name].type().is_float32() for name in SUMMED[1:])
    refuse_broken(of_keys, keys, in_float32=in_float32)
