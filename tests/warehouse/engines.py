"""The engines that the measures are tested on, each behind the same few methods."""

import itertools
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ibis
import polars as pl
from postgres_server import binaries, postgres_server
from programs import missing, only_if_asked
from sail import sail_server
from spark_server import java, spark_server

POSTGRES_TYPES = {
    pl.Float64(): "double precision", pl.Float32(): "real", pl.Int64(): "bigint",
    pl.Int32(): "integer", pl.Boolean(): "boolean", pl.String(): "text",
    pl.Decimal(20, 4): "numeric(20, 4)", pl.Null(): "double precision",
}  # fmt: skip


@dataclass
class Engine:
    """A connection, and how a frame gets to it."""

    name: str
    connection: Any
    address: str | None = None
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def table(self, frame: pl.DataFrame) -> Any:
        """The frame as a table of the engine."""
        name = f"predictions_{next(self.numbers)}"
        self.upload(name, frame)
        return self.connection.table(name)

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        raise NotImplementedError

    def shared(self, frame: pl.DataFrame) -> str:
        """The frame as a table that other connections know by this name."""
        return self.table(frame).get_name()

    @property
    def dialect(self) -> str:
        """The dialect of SQL that it understands."""
        return self.name

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query in text."""
        raise NotImplementedError


class Duckdb(Engine):
    def upload(self, name: str, frame: pl.DataFrame) -> None:
        self.connection.con.register("uploaded", frame.to_arrow())
        self.connection.con.execute(f"CREATE TABLE {name} AS FROM uploaded")
        self.connection.con.unregister("uploaded")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.con.execute(query).fetchall()


class Postgres(Engine):
    def upload(self, name: str, frame: pl.DataFrame) -> None:
        # By COPY: on its own way to the server a NaN would become null.
        quoted = [f'"{column.replace(chr(34), chr(34) * 2)}"' for column in frame.columns]
        kinds = [POSTGRES_TYPES[kind] for kind in frame.dtypes]
        columns = ", ".join(map(" ".join, zip(quoted, kinds, strict=True)))
        with self.connection.con.cursor() as cursor:
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in frame.iter_rows():
                    copy.write_row(row)
        self.connection.con.commit()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self.connection.con.cursor() as cursor:
            return cursor.execute(query).fetchall()


@dataclass
class Spark(Engine):
    """A server of Spark Connect; files in `folder` are what it is given."""

    folder: Path = field(default_factory=Path)

    def upload(self, name: str, frame: pl.DataFrame) -> None:
        file = self.folder / f"{name}.parquet"
        frame.write_parquet(file)
        self.connection.raw_sql(f"CREATE TABLE {name} USING parquet LOCATION '{file}'")

    def shared(self, frame: pl.DataFrame) -> str:
        # The tables of a session of Sail end with it; files do not.
        name = super().shared(frame)
        return str(self.folder / f"{name}.parquet") if self.name == "sail" else name

    @property
    def dialect(self) -> str:
        return "spark"

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.connection.raw_sql(query).collect()]


@contextmanager
def duckdb() -> Iterator[Engine]:
    connection = ibis.duckdb.connect()
    yield Duckdb("duckdb", connection)
    connection.disconnect()


@contextmanager
def postgres() -> Iterator[Engine]:
    only_if_asked("PostgreSQL")
    place = binaries()
    if place is None:
        missing("PostgreSQL is not installed (Debian package postgresql)")
    with postgres_server(place) as address:
        connection = ibis.connect(address)
        with closing(connection.con):
            yield Postgres("postgres", connection, address)


# Over a few hundred rows, planning anew after each stage, many partitions and generated code that
# is compiled for each query take longer than the work.
FOR_SMALL_TABLES = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
# Programs of minutes do not repay the optimising compiler.
FOR_MINUTES = "-XX:TieredStopAtLevel=1"


@contextmanager
def spark() -> Iterator[Engine]:
    only_if_asked("Spark")
    if java() is None:
        missing("Java is not installed (Debian package openjdk-17-jre-headless)")
    with (
        TemporaryDirectory(prefix="polaroc-spark-") as folder,
        spark_server(Path(folder), FOR_SMALL_TABLES, FOR_MINUTES) as address,
        connected("spark", address, Path(folder)) as engine,
    ):
        yield engine


@contextmanager
def sail() -> Iterator[Engine]:
    only_if_asked("Sail")
    with (
        TemporaryDirectory(prefix="polaroc-sail-") as folder,
        sail_server() as address,
        connected("sail", address, Path(folder)) as engine,
    ):
        yield engine


SESSIONS: list[Any] = []


@contextmanager
def connected(name: str, address: str, folder: Path) -> Iterator[Engine]:
    """The engine behind an address of Spark Connect."""
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(address).create()
    # Never collected: that ends the threads that all sessions share.
    SESSIONS.append(session)
    try:
        connection = ibis.pyspark.connect(session)
        yield Spark(name, connection, address=address, folder=folder)
    finally:
        session.stop()


ENGINES = {"duckdb": duckdb, "postgres": postgres, "spark": spark, "sail": sail}
