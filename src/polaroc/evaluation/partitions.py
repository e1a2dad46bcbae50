"""Rows that do not fit in memory, on disk in ranges of the score that fit."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl

from polaroc.base.joins import join_on
from polaroc.base.private_columns import KEY_NUMBER, TRUTH, WEIGHT
from polaroc.curves.packing import ranks_of
from polaroc.errors import OutputRefused
from polaroc.predictions.deferred import may_wait
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array

Item = TypeVar("Item")
Result = TypeVar("Result")
# A range and the truth share 8 bits.
RANGES = 128
# Ranges are sets of neighbouring places: ranks of the score without their last bits.
PLACE_BITS = 20
PLACES = 2**PLACE_BITS + 3
# Whether so many rows, and positives among them, fit.
Fits: TypeAlias = Callable[[int, int], bool]


@dataclass(frozen=True)
class NumberedRows:
    """Valid rows as arrays of equal length."""

    score: "Array"
    label: "Array"  # twice the number of the key, plus 1 for a positive
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


@dataclass(frozen=True)
class ScoreRanges:
    """Ranges of the score, numbered from the lowest scores."""

    shift: int
    lowest: int
    range_of_place: "Array"

    @classmethod
    def of(cls, scores: Callable[[], "Iterable[Array]"]) -> "ScoreRanges":
        """Ranges of about as many scores each.

        A score that many rows share, or a place of many scores, has a range of its own.
        """
        lowest, highest = rank_extremes(scores())
        shift = max((highest - lowest).bit_length() - PLACE_BITS, 0)
        # The first and the last place are beyond the known scores.
        ranges = cls(shift, (lowest >> shift) - 1, np.zeros(PLACES, np.uint8))
        counts = np.zeros(PLACES, np.int64)
        for some in scores():
            counts += np.bincount(ranges._places(some), minlength=PLACES)
        middle = 2 * counts.cumsum() - counts
        ranges.range_of_place[:] = middle * RANGES // (2 * counts.sum() + 1)
        return ranges

    def of_scores(self, scores: "Array") -> "Array":
        """The range of each score; the outermost have what is beyond the known scores."""
        ranges: Array = self.range_of_place[self._places(scores)]
        return ranges

    def _places(self, scores: "Array") -> "Array":
        places = ranks_of(scores) >> self.shift
        # Differences of ranks may need more than 64 bits.
        np.clip(places, self.lowest, self.lowest + PLACES - 1, out=places)
        places -= self.lowest
        return places


def rank_extremes(scores: "Iterable[Array]") -> tuple[int, int]:
    """The lowest and the highest rank of scores."""
    ends = [(int(ranks.min()), int(ranks.max())) for ranks in map(ranks_of, scores) if len(ranks)]
    return min(lowest for lowest, _ in ends), max(highest for _, highest in ends)


@dataclass(frozen=True)
class SplitRows:
    """Rows ordered by range, and the number of rows and positives of each range."""

    rows: NumberedRows
    sizes: "Array"
    positives: "Array"


class RangeFiles:
    """Rows in one file per range of the score."""

    def __init__(self, folder: Path, ranges: ScoreRanges, *, weighted: bool) -> None:
        self.folder, self.ranges, self.weighted = folder, ranges, weighted
        self.sizes, self.positives = np.zeros((2, RANGES), np.int64)
        # Of each write: the number of rows by range, and the type of the labels.
        self._writes: list[tuple[Array, Any]] = []
        folder.mkdir(exist_ok=True)

    @property
    def size(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    def split(self, rows: NumberedRows) -> SplitRows:
        """Rows as `write` takes them."""
        ranges = self.ranges.of_scores(rows.score)
        order = np.argsort(ranges, kind="stable")
        ranges += RANGES * (rows.label & 1).astype(np.uint8)
        classes = np.bincount(ranges, minlength=2 * RANGES).reshape(2, RANGES)
        return SplitRows(rows.take(order), classes.sum(axis=0), classes[1])

    def write(self, split: SplitRows) -> None:
        """Append rows to the files of their ranges."""
        ends = split.sizes.cumsum()
        for i in np.flatnonzero(split.sizes).tolist():
            with self._file(i).open("ab") as file:
                for column in split.rows.columns:
                    file.write(column[ends[i] - split.sizes[i] : ends[i]].data)
        self._writes.append((split.sizes, split.rows.label.dtype))
        self.sizes += split.sizes
        self.positives += split.positives

    def read(self, ranges: list[int]) -> NumberedRows:
        """All rows of ranges, whose files are deleted."""
        columns = self._empty(int(self.sizes[ranges].sum()), np.uint32)
        start = 0
        for i in ranges:
            for part in self.drain(i):
                for column, values in zip(columns, part.columns, strict=True):
                    column[start : start + part.size] = values
                start += part.size
        return NumberedRows(*columns)

    def _empty(self, size: int, label: Any) -> "list[Array]":
        kinds = [np.float64, label] + [np.float64] * self.weighted
        return [np.empty(size, kind) for kind in kinds]

    def parts(self, i: int) -> Iterator[NumberedRows]:
        """The rows of a range, as they were written."""
        if self.sizes[i] == 0:
            return
        with self._file(i).open("rb") as file:
            for sizes, label in self._writes:
                if sizes[i]:
                    columns = self._empty(sizes[i], label)
                    for column in columns:
                        _fill(column, file)
                    yield NumberedRows(*columns)

    def drain(self, i: int) -> Iterator[NumberedRows]:
        """The rows of a range, as they were written; its file is deleted."""
        yield from self.parts(i)
        self._file(i).unlink(missing_ok=True)

    def split_again(self, i: int, batch_rows: int) -> "RangeFiles | None":
        """The rows of a range in ranges of their own; None where all scores are equal."""
        lowest, highest = rank_extremes(part.score for part in self.parts(i))
        if lowest == highest:
            return None
        ranges = ScoreRanges.of(lambda: (part.score for part in self.parts(i)))
        files = RangeFiles(self.folder / f"within-{i}", ranges, weighted=self.weighted)
        for rows in _joined(self.drain(i), batch_rows):
            files.write(files.split(rows))
        return files

    def _file(self, i: int) -> Path:
        return self.folder / str(i)


def _fill(column: "Array", file: BufferedReader) -> None:
    """Read a column; raise where the file ends before."""
    if file.readinto(column.data) != column.nbytes:
        raise OutputRefused(
            f"{file.name!r} was shortened while it was in use: rows are lost.",
            hint="run it again, with TMPDIR set to a folder that nothing else cleans up.",
        )


@dataclass(frozen=True)
class Partition:
    """The rows of a range of scores."""

    size: int
    # Reads them, once: all in one part, or in any number of parts where they are `tied`.
    parts: Callable[[], Iterable[NumberedRows]]
    tied: float | None = None  # the score of all rows, where they do not fit in memory


def partitions(files: RangeFiles, fits: Fits, enough: int, batch_rows: int) -> Iterator[Partition]:
    """All rows, the best scores first, in partitions that fit or are `tied`.

    Neighbouring ranges are joined until a partition has `enough` rows; one that does not fit is
    split again.
    """
    waiting: list[int] = []
    for i in np.flatnonzero(files.sizes)[::-1].tolist():
        if not fits(*_counts(files, [i])):
            if waiting:
                yield _partition(files, waiting)
            waiting = []
            inner = files.split_again(i, batch_rows)
            if inner is None:
                score = float(next(files.parts(i)).score[0])
                yield Partition(int(files.sizes[i]), partial(files.drain, i), score)
            else:
                yield from partitions(inner, fits, enough, batch_rows)
            continue
        joined = [*waiting, i]
        if waiting and (files.sizes[waiting].sum() >= enough or not fits(*_counts(files, joined))):
            yield _partition(files, waiting)
            joined = [i]
        waiting = joined
    if waiting:
        yield _partition(files, waiting)


def _partition(files: RangeFiles, ranges: list[int]) -> Partition:
    return Partition(int(files.sizes[ranges].sum()), lambda: [files.read(ranges)])


def _counts(files: RangeFiles, ranges: list[int]) -> tuple[int, int]:
    """The number of rows and of positives in ranges."""
    return int(files.sizes[ranges].sum()), int(files.positives[ranges].sum())


def _joined(parts: Iterable[NumberedRows], size: int) -> Iterator[NumberedRows]:
    """Consecutive parts joined to at least `size` rows."""
    waiting: list[NumberedRows] = []
    for part in parts:
        waiting.append(part)
        if sum(one.size for one in waiting) >= size:
            yield NumberedRows.concatenated(waiting)
            waiting = []
    if waiting:
        yield NumberedRows.concatenated(waiting)
