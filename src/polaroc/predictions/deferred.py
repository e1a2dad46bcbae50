"""Work that a plan does when it is collected."""

from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from polaroc.base.private_columns import ROW


def deferred(
    made: Callable[[], pl.DataFrame], schema: "Mapping[str, pl.DataType] | pl.Schema"
) -> pl.LazyFrame:
    """A plan that calls a function when it is collected; what follows in it sees the result only.

    A function of the rows of a plan would hold all of them. This one is of a single row, and
    collects what it needs itself.

    Examples
    --------
    >>> answer = deferred(lambda: pl.DataFrame({"x": [6, 7]}), {"x": pl.Int64()})
    >>> answer.filter(pl.col("x") > 6).collect().item()
    7
    """
    return pl.LazyFrame({ROW: [0]}).map_batches(
        partial(_made, made), schema=dict(schema), predicate_pushdown=False,
        projection_pushdown=False, slice_pushdown=False,
    )  # fmt: skip


def _made(made: Callable[[], pl.DataFrame], _: pl.DataFrame) -> pl.DataFrame:
    """The result that a function makes, whatever the rows are."""
    return made()
