"""What an engine computed, brought here."""

from typing import TYPE_CHECKING

import polars as pl

from polaroc.errors import Hint, InvalidArgument
from polaroc.warehouse.columns import ibis_library

if TYPE_CHECKING:
    from ibis.expr.types import Table


def collected(table: "Table") -> pl.DataFrame:
    """The rows of a table, computed by its engine.

    As `table.to_polars()`, but for Spark: there ibis makes a pandas frame of them
    first, in which NaN is null.

    Parameters
    ----------
    table
        Any table of a connection.

    Returns
    -------
    DataFrame
        Its rows.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> pr.warehouse.collected(table.aggregate(rows=table.count())).item()
    20
    """
    backend = ibis_library().get_backend(table)
    if backend.name == "pyspark":
        found = backend.raw_sql(backend.compile(table))
        if hasattr(found, "toArrow"):
            frame = pl.from_arrow(found.toArrow())
            return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()
    here: pl.DataFrame = table.to_polars()
    return here


def check_connected(table: "Table") -> None:
    """Refuse a table that nothing can be fetched from."""
    if table.op().find(ibis_library().expr.operations.UnboundTable):
        raise InvalidArgument(
            "the table has no connection: hulls and intervals are finished on this machine, and "
            "ranges='auto' counts rows.",
            hint=Hint(
                "connect to the table; or use {interpolation}, no intervals, given ranges.",
                interpolation="exact",
            ),
        )
