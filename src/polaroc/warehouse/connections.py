"""Connect to engines by address, find their tables, and fetch results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl

from polaroc.errors import InvalidArgument, InvalidTable, MissingExtra, quoted
from polaroc.typing import IbisTable

SPARK = "sc"
POSTGRES = ("postgres", "postgresql")
SCHEMES = ("duckdb", *POSTGRES, SPARK)
# Schemes that are recognised as addresses, not files, but cannot be connected to.
UNSUPPORTED = (
    "bigquery", "clickhouse", "databricks", "mariadb", "mssql", "mysql", "oracle", "redshift",
    "snowflake", "spark", "sqlite", "trino",
)  # fmt: skip
MAX_NAME_PARTS = 3
# The most rows that are fetched to be finished here, about 2 GB.
MAX_FETCHED = 20_000_000
# Python must not collect a session of Spark: that ends the threads that all sessions share.
_SESSIONS: list[Any] = []


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
def table_at(address: str, name: str | None) -> Iterator[IbisTable]:
    """A context with a table of the engine at an address; no row is read yet.

    Raise if there is no such table, with the names of those that are there.
    """
    connection, place = _connected(address), without_password(address)
    is_file = address.startswith(f"{SPARK}://") and "/" in (name or "")
    *schema, last = [name] if is_file or name is None else split_table_name(name)
    try:
        try:
            if is_file:
                table = connection.read_parquet(name)
            else:
                table = connection.table(last, database=tuple(schema) or None)
        except Exception as error:
            tables: list[str] = []
            with suppress(Exception):
                tables = sorted(connection.list_tables(database=tuple(schema) or None))
            there = f"the tables there are {quoted(tables)}."
            if name is None:
                problem = f"{place} has tables, and none is named."
                raise InvalidArgument(problem, hint=f"give --table; {there}") from None
            # Beside the names of tables, the error of ibis is only the name again.
            reason = "" if tables else f": {_reason(error, address)}"
            raise InvalidArgument(
                f"{place} has no table {name!r}{reason}.",
                hint=there if tables else "check rights and the name, as it is stored there.",
            ) from None
        yield table
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
        if scheme == SPARK:
            from pyspark.sql import SparkSession

            # A new session, so that other sessions of this process are not affected.
            _SESSIONS.append(SparkSession.builder.remote(address).create())
            return ibis_library().pyspark.connect(_SESSIONS[-1])
        connection = ibis_library().connect(address)
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
            hint=f"pip install 'polaroc[{'spark' if scheme == SPARK else 'warehouse'}]'",
        ) from None
    except Exception as error:
        raise InvalidArgument(
            f"there is no connection to {without_password(address)}: {_reason(error, address)}.",
            hint="check the address, that the server runs, and your rights there.",
        ) from None


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
