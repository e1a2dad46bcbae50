"""Connections by their address, as it is given on the command line."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from polaroc.errors import InvalidArgument, MissingExtra
from polaroc.warehouse.columns import ibis_library

if TYPE_CHECKING:
    from ibis.expr.types import Table

MOST_PARTS = 3
SPARK = "sc"


def _by_address(address: str) -> Any:
    return ibis_library().connect(address)


def _spark_connect(address: str) -> Any:
    """A session of its own: others that this process may have go on."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra(
            f"{address} needs PySpark, which is not installed.",
            hint="pip install 'polaroc[spark]'",
        ) from None
    session = SparkSession.builder.remote(address).create()
    return ibis_library().pyspark.connect(session)


# How an address is connected to, by what stands before its "://".
SCHEMES: dict[str, Callable[[str], Any]] = {
    "duckdb": _by_address,
    "postgres": _by_address,
    "postgresql": _by_address,
    SPARK: _spark_connect,
}


def without_password(text: str) -> str:
    """An address, or words about it, without the password it has.

    Examples
    --------
    >>> without_password("postgres://me:secret@127.0.0.1:5432/scores")
    'postgres://me:***@127.0.0.1:5432/scores'
    """
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)


def is_address(word: str) -> bool:
    """Whether a word is the address of an engine, and not a file.

    Examples
    --------
    >>> is_address("duckdb://scores.duckdb"), is_address("scores.parquet")
    (True, False)
    """
    return "://" in word and word.partition("://")[0] in SCHEMES


@contextmanager
def table_at(address: str, name: str) -> Iterator["Table"]:
    """A table of the engine at an address, as long as the block lasts.

    Parameters
    ----------
    address
        ``duckdb://file``, ``postgres://user:password@host:port/database``, or
        ``sc://host:port`` for Spark Connect; a DuckDB file is only read.
    name
        Its name, ``schema.name`` or ``catalog.schema.name``; for Spark Connect also
        a file or a folder of Parquet that the server reads, with a ``/`` in it.

    Yields
    ------
    Table
        The table; nothing of it is read yet.

    Raises
    ------
    InvalidArgument
        Where there is no such engine or table.
    """
    scheme = address.partition("://")[0]
    if scheme == "duckdb" and "?" not in address:
        address += "?read_only=True"
    in_files = scheme == SPARK and "/" in name
    *places, last = [name] if in_files else split(name)
    connection = None
    try:
        try:
            connection = SCHEMES[scheme](address)
            table = (
                connection.read_parquet(name)
                if in_files
                else connection.table(last, database=tuple(places) or None)
            )
        except MissingExtra:
            raise
        except Exception as error:
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InvalidArgument(
                f"{without_password(address)} has no table {name!r}, or there is no connection: "
                f"{without_password(first)}",
                hint="check address, rights and the name of the table, as it is stored there.",
            ) from None
        yield table
    finally:
        if connection is not None:
            connection.disconnect()


def split(name: str) -> list[str]:
    """The parts of the name of a table: itself last, before it schema and catalog."""
    parts = name.split(".")
    if not all(parts) or len(parts) > MOST_PARTS:
        raise InvalidArgument(
            f"the table is {name!r}, allowed are name, schema.name and catalog.schema.name.",
            hint="a name with a dot in it needs a view.",
        )
    return parts
