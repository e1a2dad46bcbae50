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
from polaroc.curves.keys import KeyLevels, key_levels
from polaroc.predictions.deferred import may_wait
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array

# Possible keys up to which the number of a key is looked up in an array: per key, or at least.
MAX_SPARSE, MAX_POSSIBLE = 100, 1_000
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
    """Numbers of keys, in the order in which they are met."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._known: pl.DataFrame | None = None
        self._levels: KeyLevels | None = None
        # By place of a key in the levels.
        self._numbers: Array = np.zeros(0, np.int64)
        self._lock = Lock()

    def of_rows(self, rows: pl.DataFrame) -> "Array":
        """The number of each row's key."""
        if not self.names:
            return np.zeros(rows.height, np.int64)
        with self._lock:
            levels, numbers = self._levels, self._numbers
        found = None if levels is None else _looked_up(rows, levels, numbers)
        if found is not None:
            return found
        with self._lock:
            known = self._learn(rows.select(self.names).unique())
            levels, numbers = self._levels, self._numbers
        found = None if levels is None else _looked_up(rows, levels, numbers)
        if found is not None:
            return found
        joined = join_on(rows.select(self.names), known, self.names, "left", order="left")
        return joined[KEY_NUMBER].cast(pl.Int64).to_numpy(writable=True)

    @property
    def keys(self) -> pl.DataFrame:
        """The keys in the order of their numbers, with their `KEY_NUMBER`."""
        if self._known is None:
            return pl.DataFrame({KEY_NUMBER: [0]}, schema={KEY_NUMBER: pl.UInt32})
        return self._known

    def _learn(self, keys: pl.DataFrame) -> pl.DataFrame:
        known = self._known
        if known is None:
            known = keys.clear().with_row_index(KEY_NUMBER)
        new = join_on(keys, known, self.names, "anti")
        known = pl.concat([known, new.with_row_index(KEY_NUMBER, offset=known.height)])
        self._known, self._levels = known, None
        levels = key_levels([known[name] for name in self.names])
        if levels is not None and levels.size <= max(MAX_SPARSE * known.height, MAX_POSSIBLE):
            numbers = np.full(levels.size, -1)
            place = known.select(levels.index).to_series().to_numpy()
            numbers[place] = known[KEY_NUMBER].to_numpy()
            self._levels, self._numbers = levels, numbers
        return known


def _looked_up(rows: pl.DataFrame, levels: KeyLevels, numbers: "Array") -> "Array | None":
    """The number of each row's key, None where some key has none."""
    try:
        within = rows.select(pl.all_horizontal(column.includes_all for column in levels.columns))
        if not within.item():
            return None
        found: Array = numbers[rows.select(levels.index).to_series().to_numpy()]
    except pl.exceptions.InvalidOperationError:
        # A word that is none of the categories.
        return None
    return None if len(found) and found.min() < 0 else found


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
