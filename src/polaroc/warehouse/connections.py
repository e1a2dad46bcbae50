"""The library ibis, names of tables, and results that are fetched."""

from __future__ import annotations

from typing import Any

import polars as pl

from polaroc.errors import InvalidArgument, InvalidTable, MissingExtra
from polaroc.typing import IbisTable

MAX_NAME_PARTS = 3
# The most rows that are fetched to be finished here, about 2 GB.
MAX_FETCHED = 20_000_000


def ibis_library() -> Any:
    """The library ibis; raise with a hint where it is not installed."""
    try:
        import ibis
    except ImportError:
        raise MissingExtra(
            "polaroc.warehouse needs ibis, which is not installed.",
            hint="pip install 'polaroc[warehouse]'",
        ) from None
    return ibis


def check_table(table: object) -> None:
    """Raise for anything but an ibis table."""
    if not isinstance(table, ibis_library().expr.types.Table):
        kind = type(table)
        raise InvalidTable(
            f"got a {kind.__module__}.{kind.__qualname__}, allowed is an ibis table.",
            hint="ibis.connect(...).table(name); for Polars frames use the functions of polaroc.",
        )


def split_table_name(name: str) -> list[str]:
    """The parts of a table name: catalog and schema, if given, and the name."""
    parts = name.split(".")
    if not all(parts) or len(parts) > MAX_NAME_PARTS:
        raise InvalidArgument(
            f"the table is {name!r}, allowed are name, schema.name and catalog.schema.name.",
            hint="a name with a dot in it needs a view.",
        )
    return parts


def collected(table: IbisTable) -> pl.DataFrame:
    """The rows of a table, computed by its engine.

    Like `table.to_polars()`, except that on Spark NaN does not become null, as it
    does in the pandas frame that ibis makes there.

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
    ibis = ibis_library()
    if table.op().find(ibis.expr.operations.UnboundTable):
        raise InvalidArgument(
            "the table has no connection, and nothing can be fetched.",
            hint="connect to the table; or print the query: warehouse.sql(...).",
        )
    backend = ibis.get_backend(table)
    if backend.name == "pyspark":
        return pl.DataFrame(backend.raw_sql(backend.compile(table)).toArrow())
    rows: pl.DataFrame = table.to_polars()
    return rows


def fetched(table: IbisTable) -> pl.DataFrame:
    """The counts of scores that are finished on this machine; raise if there are too many."""
    rows = collected(table.limit(MAX_FETCHED + 1))
    if rows.height > MAX_FETCHED:
        raise InvalidArgument(
            f"there are more than {MAX_FETCHED:,} different scores per key in all; intervals, "
            "hulls and losses are finished on this machine.",
            hint="round the scores first, take some of the keys, or other measures.",
        )
    return rows


def sent_along(frame: pl.DataFrame, table: IbisTable) -> IbisTable:
    """A small local frame as a table that can be joined to that of an engine."""
    ibis = ibis_library()
    backends: list[Any] = table._find_backends()[0]
    joined: IbisTable
    if not backends or backends[0].name != "pyspark":
        joined = ibis.memtable(frame)
        return joined
    # Ibis would send it as a pandas frame, in which nulls become NaN.
    session, name = backends[0].raw_sql("SELECT 1").sparkSession, ibis.util.gen_name("polaroc")
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    session.createDataFrame(arrow).createOrReplaceTempView(name)
    joined = backends[0].table(name)
    return joined
