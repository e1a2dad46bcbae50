"""Connect to engines by address, find their tables, and fetch results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from polaroc.errors import InvalidArgument, MissingExtra, quoted
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import ibis_library

MAX_NAME_PARTS = 3
SPARK = "sc"
POSTGRES = ("postgres", "postgresql")


def _by_address(address: str) -> Any:
    return ibis_library().connect(address)


def spark_session(address: str) -> Any:
    """A new session of Spark, so that other sessions of this process are not affected."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra(
            f"{address} needs PySpark, which is not installed.",
            hint="pip install 'polaroc[spark]'",
        ) from None
    session = SparkSession.builder.remote(address).create()
    _SESSIONS.append(session)
    return session


# Python never collects a session of Spark: this ends the threads that all sessions share and waits
# for them, and where it happens within a call of another session they wait for that call, for ever.
_SESSIONS: list[Any] = []


# The connecting function by the scheme of an address.
SCHEMES: dict[str, Callable[[str], Any]] = {
    "duckdb": _by_address,
    "postgres": _by_address,
    "postgresql": _by_address,
    SPARK: lambda address: ibis_library().pyspark.connect(spark_session(address)),
}


# Schemes that are recognised as addresses, not files, but cannot be connected to.
UNSUPPORTED = (
    "bigquery", "clickhouse", "databricks", "mariadb", "mssql", "mysql", "oracle", "redshift",
    "snowflake", "spark", "sqlite", "trino",
)  # fmt: skip


def without_password(text: str) -> str:
    """An address, or a text that contains one, with the password masked.

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
    scheme, mark, _ = word.partition("://")
    if mark and scheme in UNSUPPORTED:
        raise InvalidArgument(
            f"the address starts with {scheme}://, allowed are "
            f"{', '.join(f'{known}://' for known in SCHEMES)} and files.",
            hint="from Python any ibis connection will do; or print the query: polaroc sql.",
        )
    return bool(mark) and scheme in SCHEMES


@contextmanager
def table_at(address: str, name: str) -> Iterator[IbisTable]:
    """A context with a table of the engine at an address; no row is read yet."""
    scheme = address.partition("://")[0]
    in_files = scheme == SPARK and "/" in name
    *places, last = [name] if in_files else split_table_name(name)
    connection = _connected(address)
    try:
        try:
            table = (
                connection.read_parquet(name)
                if in_files
                else connection.table(last, database=tuple(places) or None)
            )
        except Exception as error:
            tables = [] if in_files else _tables(connection, places)
            # Where there are others, the error of ibis is only the name again.
            reason = "" if tables else f": {_reason(error, address)}"
            raise InvalidArgument(
                f"{without_password(address)} has no table {name!r}{reason}.",
                hint=f"the tables there are {quoted(tables)}."
                if tables
                else "check rights and the name of the table, as it is stored there.",
            ) from None
        yield table
    finally:
        connection.disconnect()


def tables_at(address: str) -> list[str]:
    """The tables of the engine at an address; none where they cannot be listed."""
    connection = _connected(address)
    try:
        return _tables(connection, [])
    finally:
        connection.disconnect()


def _connected(address: str) -> Any:
    scheme, _, place = address.partition("://")
    if scheme == "duckdb":
        file, _, settings = place.partition("?")
        if file and file != ":memory:" and not Path(file).is_file():
            raise InvalidArgument(f"there is no file {file!r}.", hint="check the path.")
        if "read_only" not in settings:
            address += ("&" if settings else "?" if "?" not in address else "") + "read_only=True"
    try:
        connection = SCHEMES[scheme](address)
        if scheme in POSTGRES:
            # Compiling queries of this length takes longer than it saves.
            connection.con.execute("SET jit = off")
            connection.con.commit()
        return connection
    except MissingExtra:
        raise
    except ImportError as error:
        raise MissingExtra(
            f"{scheme}:// needs {error.name}, which is not installed.",
            hint="pip install 'polaroc[warehouse]'",
        ) from None
    except Exception as error:
        raise InvalidArgument(
            f"there is no connection to {without_password(address)}: {_reason(error, address)}.",
            hint="check the address, that the server runs, and your rights there.",
        ) from None


def _tables(connection: Any, places: Sequence[str]) -> list[str]:
    """The tables of an engine, or of a schema there; none where they cannot be listed."""
    with suppress(Exception):
        if connection.name == "duckdb":
            # ibis asks newer versions of DuckDB in a way that these no longer know.
            return [row[0] for row in connection.con.execute("SHOW TABLES").fetchall()]
        return sorted(connection.list_tables(database=tuple(places) or None))
    return []


def _reason(error: Exception, address: str) -> str:
    """The first line of an error, without the password of the address."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".:")
    secret = re.search(r"://[^:/@\s]*:([^@\s]*)@", address)
    if secret and secret[1]:
        first = first.replace(secret[1], "***")
    return without_password(first)


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
    backend = ibis_library().get_backend(table)
    if backend.name == "pyspark":
        result = backend.raw_sql(backend.compile(table))
        if hasattr(result, "toArrow"):
            frame = pl.from_arrow(result.toArrow())
            return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()
    rows: pl.DataFrame = table.to_polars()
    return rows


def sent_along(frame: pl.DataFrame, table: IbisTable) -> IbisTable:
    """A small local frame as a table that can be joined to that of an engine."""
    ibis = ibis_library()
    backends: list[Any] = table._find_backends()[0]
    spark = next((backend for backend in backends if backend.name == "pyspark"), None)
    if spark is None:
        joined: IbisTable = ibis.memtable(frame)
        return joined
    # A frame of pandas, as which ibis sends it, has no nulls but NaN.
    session, name = spark.raw_sql("SELECT 1").sparkSession, ibis.util.gen_name("polaroc")
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    session.createDataFrame(arrow).createOrReplaceTempView(name)
    joined = spark.table(name)
    return joined


def check_connected(table: IbisTable) -> None:
    """Raise for a table without a connection."""
    if table.op().find(ibis_library().expr.operations.UnboundTable):
        raise InvalidArgument(
            "the table has no connection: hulls and intervals are finished on this machine, and "
            "ranges='auto' counts rows.",
            hint="connect to the table; or use interpolation='exact', no intervals, given ranges.",
        )
