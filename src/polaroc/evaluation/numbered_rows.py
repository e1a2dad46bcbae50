"""Rows of predictions as arrays, each key a number: what is held of rows out of core."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import nan
from threading import Lock
from typing import TypeVar

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import (
    COUNT,
    GREATEST_LABEL,
    KEY_INDEX,
    KEY_NUMBER,
    LEAST_LABEL,
    ROW_ERROR,
    TRUTH,
    WEIGHT,
)
from polaroc.base.unstable import unstable
from polaroc.curves.keys import (
    KeyLevels,
    Keys,
    key_counts,
    key_levels,
    merged_counts,
    totals_of_counts,
)
from polaroc.curves.packing import STEPS, packing
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Possible keys up to which the number of a key is looked up in an array: per key, or at least.
MAX_SPARSE, MAX_POSSIBLE = 100, 1_000
# Counts of keys are merged whenever there are those of so many batches.
MERGED_BATCHES = 64
BITS: dict[pl.DataType, type[pl.DataType]] = {
    pl.Float64(): pl.UInt64, pl.Float32(): pl.UInt32,
}  # fmt: skip
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
        keys = rows.select(self.names)
        joined = keys.join(
            known, on=joinable(keys), how="left", nulls_equal=True, maintain_order="left"
        )
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
        new = keys.join(known, on=joinable(keys), how="anti", nulls_equal=True)
        known = pl.concat([known, new.with_row_index(KEY_NUMBER, offset=known.height)])
        self._known, self._levels = known, None
        levels = key_levels([known[name] for name in self.names])
        if levels is not None and levels.size <= max(MAX_SPARSE * known.height, MAX_POSSIBLE):
            numbers = np.full(levels.size, -1)
            place = known.select(levels.index).to_series().to_numpy()
            numbers[place] = known[KEY_NUMBER].to_numpy()
            self._levels, self._numbers = levels, numbers
        return known


def joinable(keys: pl.DataFrame) -> list[pl.Expr]:
    """The keys as join conditions: numbers by their bits.

    Polars 2.1 does not find NaN in a table whose only row is NaN.
    """
    return [
        _bits(name, dtype) if dtype in BITS else pl.col(name) for name, dtype in keys.schema.items()
    ]


def _bits(name: str, dtype: pl.DataType) -> pl.Expr:
    """The bits of a number; zeros of either sign are one key, and so is every NaN."""
    key, zero = pl.col(name), pl.lit(0, dtype)
    # Named after its first branch: Polars joins no two conditions of one name, such as "literal".
    one_zero = pl.when(key.ne_missing(zero)).then(key).otherwise(zero)
    return one_zero.fill_nan(pl.lit(nan, dtype)).reinterpret(dtype=BITS[dtype])


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


class Reader:
    """Numbers the keys of predictions and counts their rows, batch by batch."""

    def __init__(self, predictions: Predictions) -> None:
        self.predictions = predictions
        self._numbers = KeyNumbers(predictions.keys)
        # By number, the negatives and positives of batches without errors, labels or weights.
        self._classes: Array = np.zeros(0, np.int64)
        self._counts: list[pl.DataFrame] = []
        self._extremes: set[float] = set()
        self._lock = Lock()

    def batches(self, rows: int) -> Iterator[pl.DataFrame]:
        """The predictions, in tables of so many rows."""
        with unstable():
            batches = self.predictions.rows.collect_batches(
                chunk_size=rows, maintain_order=False, engine="streaming"
            )
        # A table without rows may come in no batch.
        yield pl.DataFrame(schema=self.predictions.rows.collect_schema())
        yield from batches

    def numbered(self, batch: pl.DataFrame) -> NumberedRows:
        """The valid rows of a batch, all of whose rows are counted."""
        rows, weighted = batch, self.predictions.weighted
        if self.predictions.possible_errors and batch[ROW_ERROR].null_count() < batch.height:
            rows = batch.filter(pl.col(ROW_ERROR).is_null())
        score = rows[SCORE].to_numpy()
        label = self._numbers.of_rows(rows)
        label *= 2
        label += rows[TRUTH].to_numpy()
        # Without zeros and ones, scores are no labels.
        usual = 0 < rows.height == batch.height and not weighted
        if usual and not ((score == 0) | (score == 1)).any():
            self._add_classes(np.bincount(label))
        else:
            self._add_counts(batch)
        self._extremes |= _extremes(score)
        weight = rows[WEIGHT].to_numpy() if weighted else None
        # Few keys need few bytes.
        kind = np.min_scalar_type(int(label.max(initial=0)))
        return NumberedRows(score, label.astype(kind), weight)

    def _add_classes(self, counts: "Array") -> None:
        with self._lock:
            size = max(len(counts), len(self._classes))
            self._classes = np.pad(self._classes, (0, size - len(self._classes)))
            self._classes[: len(counts)] += counts

    def _add_counts(self, batch: pl.DataFrame) -> None:
        of_batch = replace(self.predictions, rows=batch.lazy())
        counts = key_counts(of_batch).collect(engine="streaming")
        with self._lock:
            self._counts.append(counts)
            if len(self._counts) >= MERGED_BATCHES:
                self._counts = [merged_counts(self.predictions, self._counts)]

    def keys(self) -> "tuple[Keys, Array]":
        """The keys of all rows that were read, and the `KEY_INDEX` of each number."""
        numbered = self._numbers.keys
        classes = np.pad(self._classes, (0, 2 * numbered.height + 2))[: 2 * numbered.height]
        negatives, positives = classes.reshape(-1, 2).T
        other = pl.lit(0, pl.Int32)
        counted = numbered.with_columns(
            (pl.Series(COUNT, negatives + positives)),
            pl.Series("positives", positives),
            pl.Series("negatives", negatives),
            other.alias(LEAST_LABEL),
            other.alias(GREATEST_LABEL),
        ).filter(pl.col(COUNT) > 0)
        parts = [*self._counts, counted.drop(KEY_NUMBER)]
        counts = merged_counts(self.predictions, parts)
        totals = totals_of_counts(self.predictions, counts.lazy()).collect()
        step = STEPS.get(self.predictions.score_type, 1)
        extremes = pl.Series(sorted(self._extremes), dtype=pl.Float64)
        keys = Keys(totals.lazy(), self.predictions.keys, packing(totals.height, extremes, step))
        if not self.predictions.keys:
            return keys, np.zeros(totals.height, np.uint32)
        by = joinable(numbered.select(self.predictions.keys))
        indexed = numbered.join(totals, on=by, nulls_equal=True, maintain_order="left")
        return keys, indexed[KEY_INDEX].to_numpy()


def mapped(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Iterator[Result]:
    """The results of a function in order, computed by threads, of so many items ahead."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            del item
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _extremes(score: "Array") -> set[float]:
    """The lowest and highest score, and the least magnitude but zero."""
    if not len(score):
        return set()
    lowest, highest = float(score.min()), float(score.max())
    if lowest > 0:
        return {lowest, highest}
    magnitude = np.abs(score)
    magnitude = magnitude[magnitude > 0]
    return {lowest, highest, *([float(magnitude.min())] if len(magnitude) else [])}


def class_counts(parts: Iterable[NumberedRows], index: "Array", keys: int) -> "Array":
    """Per `KEY_INDEX` the number, or the sum of weights, of negatives and of positives."""
    size = 2 * len(index)
    counts = [np.bincount(part.label, part.weight, minlength=size) for part in parts]
    total: Array = np.sum(counts, axis=0)
    by_index = np.zeros((keys, 2), total.dtype)
    by_index[index] = total.reshape(-1, 2)
    return by_index
