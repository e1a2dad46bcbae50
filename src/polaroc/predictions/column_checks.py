"""Refusals of tables and columns that cannot have a role."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import single_column
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.predictions.usual_keys import usual_name
from polaroc.typing import IntoExpr


def refuse_objects(columns: Sequence[IntoExpr], table: pl.LazyFrame) -> None:
    """Refuse columns of Python objects, which have no order."""
    for column in columns:
        one = single_column(column, "by", table)
        ((name, kind),) = table.select(one).collect_schema().items()
        if kind == pl.Object:
            raise InvalidPredictions(
                f"the column {name!r} has values of different types.",
                hint="make them one type first, for example with .astype(str) in pandas.",
            )


def refuse_index(frame: object) -> None:
    """Refuse an index of pandas that may tell models or folds apart: it would be left out."""
    names = getattr(getattr(frame, "index", None), "names", ())
    usual = [name for name in names if isinstance(name, str) and usual_name(name)]
    if usual:
        raise InvalidArgument(
            f"the index has {quoted(usual)}, which would be left out.",
            hint="make columns of it: frame.reset_index(); or drop it: "
            "frame.reset_index(drop=True).",
        )
