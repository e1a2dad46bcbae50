"""Rows of predictions as arrays, each key a number: what is held of rows out of core."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import polars as pl

from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import KEY_NUMBER, TRUTH, WEIGHT
from polaroc.predictions.deferred import may_wait
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class NumberedRows:
    """Valid rows as arrays of equal length.

    Attributes
    ----------
    score
        Float64.
    label
        Twice the number of the key, plus 1 for a positive: an unsigned integer.
    weight
        Float64, None without weights.
    """

    score: "Array"
    label: "Array"
    weight: "Array | None" = None

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.score)

    @property
    def columns(self) -> "list[Array]":
        """The arrays that there are."""
        return [self.score, self.label] + ([] if self.weight is None else [self.weight])

    @property
    def positives(self) -> int:
        """The number of positives."""
        return int(np.count_nonzero(self.label & 1))

    def take(self, places: "Array") -> "NumberedRows":
        """The rows in these places."""
        return NumberedRows(*(column[places] for column in self.columns))

    def frame(self, index: "Array", name: str) -> pl.DataFrame:
        """As a table: the column `name` has the `index` of the key of each number."""
        columns = {name: index[self.label >> 1], SCORE: self.score, TRUTH: self.label & 1 == 1}
        return pl.DataFrame(columns if self.weight is None else columns | {WEIGHT: self.weight})

    @classmethod
    def concatenated(cls, parts: "Sequence[NumberedRows]") -> "NumberedRows":
        """The rows of at least one part."""
        columns = zip(*(part.columns for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))


class KeyNumbers:
    """Numbers of keys, in the order in which they are met.

    `keys` are those known, with their `KEY_NUMBER`.
    """

    def __init__(self, names: list[str], schema: pl.Schema) -> None:
        self.names = names
        self.keys = pl.DataFrame(schema={KEY_NUMBER: pl.UInt32} | {n: schema[n] for n in names})
        self._lock = Lock()

    def of_rows(self, rows: pl.DataFrame) -> pl.Series:
        """The number of each row's key."""
        if not self.names:
            return pl.Series(KEY_NUMBER, [0], pl.UInt32).new_from_index(0, rows.height)
        keys = rows.select(self.names)
        found = self._looked_up(keys)
        if found.has_nulls():
            with self._lock:
                new = join_on(keys.unique(), self.keys, self.names, "anti")
                known = new.with_row_index(KEY_NUMBER, offset=self.keys.height)
                self.keys = pl.concat([self.keys, known])
            found = self._looked_up(keys)
        return found

    def _looked_up(self, keys: pl.DataFrame) -> pl.Series:
        return join_on(keys, self.keys, self.names, "left", order="left")[KEY_NUMBER]


def mapped(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """The results of a function in order, computed by threads, of so many items ahead."""
    if not may_wait():
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            del item
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
