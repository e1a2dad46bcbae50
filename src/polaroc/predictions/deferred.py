"""Work that a plan does when it is collected, and the rows of a plan in batches."""

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from queue import Empty, Queue
from threading import Event, Thread
from typing import Any

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


def may_wait() -> bool:
    """Whether this thread may wait for those of Polars.

    A thread of Polars, by which it computes several plans at once, may not: all of them would
    wait for each other. Python knows them as threads that it has not started.
    """
    return not isinstance(threading.current_thread(), threading._DummyThread)


def batches(rows: pl.LazyFrame, size: int) -> Iterator[pl.DataFrame]:
    """All rows, each once, in any order, in tables of so many; in one where it may not wait.

    The iterator of Polars ends without a word where reading stops by a panic, as of a file that
    was cut short meanwhile: so they come from a sink, in a thread of their own.
    """
    if not may_wait():
        yield rows.collect()
        return
    found: Queue[pl.DataFrame | BaseException | None] = Queue(1)
    stopped = Event()

    def put(batch: pl.DataFrame) -> bool:
        found.put(batch)
        return stopped.is_set()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
        plan = rows.sink_batches(put, chunk_size=size, maintain_order=False, lazy=True)
    reading = Thread(target=_read, args=(plan, found), daemon=True)
    reading.start()
    try:
        while (batch := found.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
            del batch
    finally:
        stopped.set()
        while reading.is_alive():
            with suppress(Empty):
                found.get(timeout=0.01)


def _read(plan: Any, found: "Queue[pl.DataFrame | BaseException | None]") -> None:
    """Put an error, or None, after all batches."""
    try:
        plan.collect(engine="streaming")
    except BaseException as error:
        found.put(error)
    else:
        found.put(None)
