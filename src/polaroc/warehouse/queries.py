"""Queries as SQL text, for a warehouse console or a dbt model, without a connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from polaroc.errors import InvalidArgument, check_choice
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import ibis_library
from polaroc.warehouse.connections import split_table_name
from polaroc.warehouse.predictions import check_table

DIALECTS = {
    "spark": "PySpark",
    "duckdb": "DuckDB",
    "postgres": "Postgres",
    "bigquery": "BigQuery",
    "snowflake": "Snowflake",
    "trino": "Trino",
    "clickhouse": "ClickHouse",
}
# The width of lines that can be broken; a query nests deeply, so it is indented little.
WIDTH = 96


def sql(table: IbisTable, dialect: str) -> str:
    """The SQL query of a warehouse table, in a dialect.

    Parameters
    ----------
    table
        The result of any function of `warehouse` but those that compute hulls.
    dialect
        ``"spark"``, ``"duckdb"``, ``"postgres"``, ``"bigquery"``,
        ``"snowflake"``, ``"trino"`` or ``"clickhouse"``.

    Returns
    -------
    str
        One SELECT statement, perhaps after a WITH. All names are quoted, so they
        must be written as the warehouse stores them.

    Raises
    ------
    InvalidArgument, InvalidTable
        For another dialect; for a table that holds rows of its own.

    Examples
    --------
    >>> from polaroc import warehouse
    >>> table = warehouse.unseen("predictions", ["label", "p"])
    >>> query = warehouse.sql(warehouse.evaluate(table, truth="label", score="p"), "postgres")
    >>> 'FROM "predictions"' in query
    True
    """
    check_table(table)
    check_choice("dialect", dialect, tuple(DIALECTS))
    ibis = ibis_library()
    if table.op().find(ibis.expr.operations.InMemoryTable):
        raise InvalidArgument(
            "the table holds rows of its own, which no query can have.",
            hint="hulls are finished on this machine: use interpolation='exact'.",
        )
    from ibis.backends.sql import compilers

    compiler = getattr(compilers, DIALECTS[dialect] + "Compiler")()
    with _spark_options():
        query = compiler.to_sqlglot(table)
        text: str = query.sql(compiler.dialect, pretty=True, pad=1, indent=1, max_text_width=WIDTH)
    return text


def unseen(name: str, columns: Sequence[str]) -> IbisTable:
    """A table that is only known by name, to write a query for.

    Parameters
    ----------
    name
        Its name, ``schema.name`` or ``catalog.schema.name``.
    columns
        The columns that the query uses. As their types are not known, labels are
        compared as text, and scores cast to 64-bit floats, whether or not all
        their digits fit.

    Returns
    -------
    Table
        A table without rows, only for `sql`.

    Raises
    ------
    InvalidArgument
        For a name of more parts.

    Examples
    --------
    >>> from polaroc import warehouse
    >>> warehouse.unseen("sales.predictions", ["label", "p"]).columns
    ('label', 'p')
    """
    ibis = ibis_library()
    *places, last = split_table_name(name)
    unknown = ibis.expr.datatypes.unknown
    kinds = dict.fromkeys(columns, unknown)
    place: dict[str, Any] = dict(zip(("database", "catalog"), reversed(places), strict=False))
    return ibis.table(kinds, name=last, **place)


@contextmanager
def _spark_options() -> Iterator[None]:
    """Provide ibis' Spark options, which do not exist where PySpark is not installed."""
    from ibis.config import Config, options

    class Options(Config):  # type: ignore[misc]
        treat_nan_as_null: bool = False

    absent = options.pyspark is None
    if absent:
        options.pyspark = Options()
    try:
        yield
    finally:
        if absent:
            options.pyspark = None
