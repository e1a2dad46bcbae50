"""Read the rows of predictions once: into memory, or onto disk where they do not fit."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import engine_for
from polaroc.base.joins import join_on
from polaroc.base.private_columns import KEY_INDEX, LABEL, ROW_ERROR, TRUTH, WEIGHT
from polaroc.curves.held import HeldRows
from polaroc.curves.keys import key_counts, merged_counts, totals_of_counts
from polaroc.evaluation.partitions import (
    KeyNumbers,
    NumberedRows,
    RangeFiles,
    ScoreRanges,
    SplitRows,
    mapped,
)
from polaroc.evaluation.request import Needs
from polaroc.files.scratch import scratch_folder
from polaroc.predictions.cases import Cases, check_labels_of, refuse_errors
from polaroc.predictions.deferred import batches
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Peak bytes of a row while it is read, and rows that are read at once: few enough for the cache of
# a processor.
WHILE_READ, LEAST_BATCH, MOST_BATCH = 200, 1_000, 1_000_000
# Counts of keys are merged whenever there are those of so many batches.
MERGED_BATCHES = 64


@dataclass(frozen=True)
class Stored:
    """All rows without errors, on disk."""

    predictions: Predictions
    files: RangeFiles  # the rows, each with the number of its key
    totals: pl.DataFrame  # as of `curves.keys.totals`
    index: "Array"  # the place in the totals of each number


class Reader:
    """Audits, counts and holds the rows of predictions, batch by batch.

    `room` are the bytes of memory that rows and the work on them may need.
    """

    def __init__(
        self, cases: Cases[Any], predictions: Predictions, needs: Needs, room: int, stack: ExitStack
    ) -> None:
        self.cases, self.needs, self.room, self._stack = cases, needs, room, stack
        self._kind = predictions
        self._numbers = KeyNumbers(self._kind.keys, self._kind.rows.collect_schema())
        self._held: list[pl.DataFrame] = []
        self._files: RangeFiles | None = None
        # Counts of rows with errors, and of rows on disk.
        self._counts: list[pl.DataFrame] = []
        self._row_errors: list[pl.DataFrame] = []
        self._labels: list[pl.DataFrame] = []
        self._lock = Lock()

    def rows(self) -> HeldRows | Stored:
        """All rows; raise for those with errors."""
        size = positives = used = 0
        plan = self._kind.rows
        for rows in mapped(self._prepared, batches(plan, self.batch_rows), pl.thread_pool_size()):
            if self._files is not None:
                split = rows if isinstance(rows, SplitRows) else self._split(rows)
                self._files.write(split)
            elif isinstance(rows, pl.DataFrame):
                self._held.append(rows)
                size, used = size + rows.height, used + int(rows.estimated_size())
                positives += int(rows[TRUTH].sum())
                if used + self.needs.bytes_to_rank(size, positives) > self.room:
                    self._files = self._range_files()
        predictions = self._audited()
        if self._files is not None:
            return self._stored(predictions, self._files)
        empty = self._without_errors(pl.DataFrame(schema=plan.collect_schema()))
        rows = pl.concat(self._held or [empty])
        held = replace(predictions, rows=rows.lazy(), possible_errors=[], engine=engine_for(rows))
        if not self._counts:
            return HeldRows(held)
        counts = merged_counts(self._kind, self._counts).lazy()
        return HeldRows(held, totals_of_counts(self._kind, counts).collect())

    @property
    def batch_rows(self) -> int:
        """The number of rows to read at once: each thread holds some, and two wait for theirs."""
        rows = self.room // (WHILE_READ * (pl.thread_pool_size() + 2))
        return min(max(rows, LEAST_BATCH), MOST_BATCH)

    def _prepared(self, batch: pl.DataFrame) -> pl.DataFrame | SplitRows:
        rows = self._without_errors(batch)
        return rows if self._files is None else self._split(rows)

    def _without_errors(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The valid rows of a batch; the others are counted."""
        if LABEL in batch:
            labels = batch.select(pl.col(LABEL).unique())
            with self._lock:
                self._labels = [pl.concat([*self._labels, labels]).unique()]
            batch = batch.drop(LABEL)
        if batch[ROW_ERROR].null_count() < batch.height:
            invalid = batch.filter(pl.col(ROW_ERROR).is_not_null())
            errors = invalid.group_by(pl.col(ROW_ERROR).alias("error"), *self._kind.keys).len()
            with self._lock:
                self._row_errors.append(errors)
            self._count(invalid)
            batch = batch.filter(pl.col(ROW_ERROR).is_null())
        return batch.drop(ROW_ERROR)

    def _audited(self) -> Predictions:
        """The predictions; raise for rows with errors."""
        check_labels_of(self.cases, self._labels[0][LABEL] if self._labels else None)
        if self._row_errors:
            refuse_errors(self.cases, pl.concat(self._row_errors))
        possible = [code for code in self._kind.possible_errors if code not in self._kind.fatal]
        return replace(self._kind, possible_errors=possible)

    def _count(self, rows: pl.DataFrame) -> None:
        counts = key_counts(replace(self._kind, rows=rows.lazy())).collect()
        with self._lock:
            self._counts.append(counts)
            if len(self._counts) >= MERGED_BATCHES:
                self._counts = [merged_counts(self._kind, self._counts)]

    def _range_files(self) -> RangeFiles:
        """The rows that are held, in files, in ranges of the score that are chosen from them."""
        size = sum(rows.height for rows in self._held)
        if self._kind.repeatable:
            size = self._kind.rows.select(pl.len()).collect().item()
        needed = size * self.needs.bytes_on_disk
        folder = self._stack.enter_context(scratch_folder(needed))
        ranges = ScoreRanges.of(lambda: (rows[SCORE].to_numpy() for rows in self._held))
        files = RangeFiles(folder / "rows", ranges, weighted=self._kind.weighted)
        while self._held:
            files.write(files.split(self._numbered(self._held.pop())))
        return files

    def _split(self, rows: pl.DataFrame) -> SplitRows:
        assert self._files is not None
        return self._files.split(self._numbered(rows))

    def _numbered(self, rows: pl.DataFrame) -> NumberedRows:
        """Rows with the numbers of their keys; they are counted."""
        self._count(rows.with_columns(pl.lit(None, pl.UInt8).alias(ROW_ERROR)))
        label = 2 * self._numbers.of_rows(rows) + rows[TRUTH]
        weight = rows[WEIGHT].to_numpy() if self._kind.weighted else None
        # Few keys need few bytes.
        return NumberedRows(rows[SCORE].to_numpy(), label.shrink_dtype().to_numpy(), weight)

    def _stored(self, predictions: Predictions, files: RangeFiles) -> Stored:
        # Counts of no rows have all columns.
        self._count(pl.DataFrame(schema=self._kind.rows.collect_schema()))
        counts = merged_counts(self._kind, self._counts)
        totals = totals_of_counts(self._kind, counts.lazy()).collect()
        names = self._kind.keys
        if not names:
            return Stored(predictions, files, totals, np.zeros(totals.height, np.uint32))
        indexed = join_on(self._numbers.keys, totals, names, order="left")
        return Stored(predictions, files, totals, indexed[KEY_INDEX].to_numpy())
