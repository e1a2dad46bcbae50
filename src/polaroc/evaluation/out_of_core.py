"""The sums per key of more rows than fit in memory: in ranges of the score, on disk."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import polars as pl
import polars.selectors as cs

from polaroc.base.columns import CURVE
from polaroc.base.lazy import np
from polaroc.base.private_columns import (
    FP_OFFSET,
    KEY_INDEX,
    KEY_NUMBER,
    PRIVATE,
    ROW_ERROR,
    SORT_CODE,
    TP_OFFSET,
)
from polaroc.curves.curve import anchors, to_curve_table
from polaroc.curves.hull import hulls
from polaroc.curves.keys import LEAST_WEIGHTS, Keys
from polaroc.curves.packing import Packing
from polaroc.curves.ranking import CellArrays, RankedCells
from polaroc.curves.thinning import thin
from polaroc.evaluation.needs import Needs
from polaroc.evaluation.numbered_rows import NumberedRows, Reader, class_counts, mapped
from polaroc.evaluation.partitions import (
    Partition,
    RangeFiles,
    ScoreRanges,
    SplitRows,
    partitions,
)
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import CurveSums, CurveTotals, as_curve_tables, joined, per_key
from polaroc.files.memory import resolve_memory
from polaroc.files.scratch import scratch_folder
from polaroc.measures.spec import Measure, ingredients
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Counts of a key in the partitions before.
BEFORE = PRIVATE + "before_"
COUNTED = ("neg", "pos")
KEPT = cs.by_name(KEY_INDEX, "positives", "negatives", *LEAST_WEIGHTS, require_all=False)
# Bytes that the process uses before the first row, and peak bytes of a row while it is read.
BASE, WHILE_READ = 300_000_000, 200
# Rows that are read at once: few enough for the cache of a processor.
LEAST_BATCH, MOST_BATCH = 1_000, 1_000_000
# Rows of a partition that are ranked at once, though more would fit: these per key, or at least.
ENOUGH_PER_KEY, ENOUGH = 20, 1_000_000


@dataclass(frozen=True)
class OutOfCore:
    """The sums of predictions for a request, within `memory`."""

    predictions: Predictions
    request: Request

    @property
    def sums(self) -> CurveSums:
        """The sums of rows that fit in memory."""
        return CurveSums(self.predictions, self.request)

    @property
    def needs(self) -> Needs:
        """What the measures need of the rows."""
        return self.sums.needs

    def totals(self) -> CurveTotals:
        """The sums of all keys, computed now: in ranges of the score where rows do not fit.

        A sum over a curve is the sum over its partitions, given the totals and the counts
        above each partition; its hull is the hull of the hulls of the partitions.
        """
        limit = resolve_memory("auto" if self.request.memory is None else self.request.memory)
        room = limit - BASE
        reader = Reader(self.predictions)
        with ExitStack() as stack:
            stored = self._store(reader, room, stack)
            keys, index = reader.keys()
            if isinstance(stored, NumberedRows):
                whole = self._whole_in_arrays(stored, keys, index)
                if whole is not None:
                    return whole
                if stored.size * self.needs.bytes_per_row(keys.packing) > room:
                    stored = self._range_files([stored], stack)
            if isinstance(stored, NumberedRows):
                parts = iter([Partition(stored.size, partial(list, [stored]))])
            else:
                parts = self._partitions(stored, keys, room)
            return self._of_partitions(parts, stored.size, keys, index)

    def _store(self, reader: Reader, room: int, stack: ExitStack) -> NumberedRows | RangeFiles:
        """All valid rows, in memory or on disk where they do not fit; the source is read once."""
        held: list[NumberedRows] = []
        files: RangeFiles | None = None
        size = positives = 0

        def prepare(batch: pl.DataFrame) -> NumberedRows | SplitRows:
            rows = reader.numbered(batch)
            return rows if files is None else files.split(rows)

        threads = pl.thread_pool_size()
        batches = reader.batches(_batch_rows(room))
        for rows in mapped(prepare, batches, threads):
            if files is not None:
                files.write(rows if isinstance(rows, SplitRows) else files.split(rows))
            elif isinstance(rows, NumberedRows):
                held.append(rows)
                size, positives = size + rows.size, positives + rows.positives
                if not self.needs.whole_fits(size, positives, room):
                    files = self._range_files(held, stack)
        return files or NumberedRows.concatenated(held)

    def _range_files(self, held: list[NumberedRows], stack: ExitStack) -> RangeFiles:
        """Rows in files, in ranges of the score that are chosen from these rows."""
        size = sum(rows.size for rows in held)
        if self.predictions.repeatable:
            size = self.predictions.rows.select(pl.len()).collect().item()
        needed = size * self.needs.bytes_on_disk
        folder = stack.enter_context(scratch_folder(self.request.scratch, needed))
        ranges = ScoreRanges.of(lambda: (rows.score for rows in held))
        files = RangeFiles(folder / "rows", ranges, weighted=self.predictions.weighted)
        while held:
            files.write(files.split(held.pop()))
        return files

    def _partitions(self, files: RangeFiles, keys: Keys, room: int) -> Iterator[Partition]:
        """The rows of files, in partitions that fit in memory."""
        enough = sys.maxsize
        if self.needs.arrays_by_partition:
            enough = max(ENOUGH, ENOUGH_PER_KEY * keys.totals.collect().height)

        def fits(rows: int, positives: int) -> bool:
            if self.needs.arrays_by_partition:
                # One is ranked while another is summed up.
                return 2 * self.needs.bytes_in_arrays(rows, positives) <= room
            return rows * self.needs.bytes_per_row(keys.packing) <= room

        return partitions(files, fits, enough, _batch_rows(room))

    def _of_partitions(
        self, parts: Iterator[Partition], size: int, keys: Keys, index: "Array"
    ) -> CurveTotals:
        """The sums of all partitions of `size` rows, which come with the best scores first."""
        counts = keys.totals.collect()
        # Negatives and positives of each key in the partitions before.
        weighted = self.predictions.weighted
        before, done = np.zeros((counts.height, 2), float if weighted else int), 0
        sums: list[pl.DataFrame] = []
        points: list[pl.DataFrame] = []
        for partition, rows, ranked in mapped(partial(self._ranked, index=index), parts, 1):
            if ranked is None:
                one = next(iter(rows)) if partition.tied is None else partition.tied
                counted = class_counts(rows, index, counts.height)
                in_partition = _partition_totals(counts, before, counted, weighted).lazy()
                results = self._partition_results(one, replace(keys, totals=in_partition), index)
                new_sums, *new_points = pl.collect_all(results)
                points += new_points
            else:
                new_sums, counted = self._ranked_sums(ranked, counts, before)
            sums = [_merged([*sums, new_sums], self.request.on_curve)]
            before += counted
            done += partition.size
            # Rows in one partition are done at once.
            if self.request.callback is not None and partition.size < size:
                self.request.callback(done, size)
        wide = joined(keys.totals, sums[0].lazy())
        if not points:
            return _collect(CurveTotals(wide, None))
        table = to_curve_table(
            pl.concat(points).lazy(), keys.packing, anchors(keys), keys.key_columns
        )
        if not self.request.on_hull:
            return _collect(CurveTotals(wide, as_curve_tables(table)))
        hull = hulls(table)
        return _collect(
            CurveTotals(joined(wide, per_key(hull, self.request.on_hull)), self.sums.thinned(hull))
        )

    def _whole_in_arrays(
        self, rows: NumberedRows, keys: Keys, index: "Array"
    ) -> CurveTotals | None:
        """The sums of rows that fit in memory; None where this takes the plan."""
        numbered = replace(self.sums, predictions=self._numbered(rows, index)).in_memory()
        if numbered is None:
            return None
        sums = numbered.wide.drop(KEY_INDEX, "note").rename({KEY_NUMBER: KEY_INDEX})
        curves = numbered.curves
        if curves is not None:
            by_index = curves.rename({KEY_NUMBER: KEY_INDEX})
            named = by_index.join(keys.key_columns, on=KEY_INDEX, how="left", maintain_order="left")
            curves = named.select(*keys.names, *CURVE)
        return CurveTotals(joined(keys.totals, sums), curves)

    def _numbered(self, rows: NumberedRows, index: "Array") -> Predictions:
        """Rows as predictions whose key is the `KEY_INDEX`."""
        error = pl.lit(None, pl.UInt8).alias(ROW_ERROR)
        return replace(
            self.predictions, rows=rows.frame(index, KEY_NUMBER).lazy().with_columns(error),
            keys=[KEY_NUMBER], possible_errors=[], repeatable=True,
        )  # fmt: skip

    def _ranked(
        self, partition: Partition, index: "Array"
    ) -> tuple[Partition, Iterable[NumberedRows], RankedCells | None]:
        """A partition, its rows, and its cells where they are ranked as arrays."""
        if partition.tied is not None:
            return partition, partition.parts(), None
        (rows,) = partition.parts()
        ranked = None
        if self.needs.arrays_by_partition:
            ranked = replace(self.sums, predictions=self._numbered(rows, index)).ranked()
        return partition, [] if ranked else [rows], ranked

    def _ranked_sums(
        self, ranked: RankedCells, counts: pl.DataFrame, before: "Array"
    ) -> tuple[pl.DataFrame, "Array"]:
        """The sums of a partition, and its negatives and positives by `KEY_INDEX`."""
        key = ranked.totals[KEY_NUMBER].to_numpy()
        classes = counts.select(pl.col("positives", "negatives").fill_null(0))[key]
        of_keys = {column.name: column.to_numpy() for column in classes}
        of_cells = of_keys | {"fp": before[key, 0], "tp": before[key, 1]}
        cells = np.diff(ranked.starts)
        moved = {name: np.repeat(values, cells) for name, values in of_cells.items()}
        for name in ("tp", "fp"):
            moved[name] += ranked.counts[name]
        scored = ranked.scored and replace(ranked.scored, of_keys=of_keys)
        sums = self.sums.array_sums(CellArrays(ranked.counts | moved, ranked.starts), scored)
        counted = np.zeros_like(before)
        counted[key] = ranked.totals.select("negatives", "positives").to_numpy()
        index = pl.DataFrame({KEY_INDEX: key})
        # A key without cells has no sums.
        summed = pl.concat([index, classes, *sums], how="horizontal").fill_nan(None)
        return summed, counted

    def _partition_results(
        self, rows: NumberedRows | float, keys: Keys, index: "Array"
    ) -> list[pl.LazyFrame]:
        """The sums over a partition's cells and, if needed, its points for hulls or charts.

        A partition is its rows, or its score where that is one.
        """
        if isinstance(rows, NumberedRows):
            ends = self.sums.cells(rows.frame(index, KEY_INDEX).lazy(), keys)
        else:
            ends = self.sums.with_score(_tied_cells(keys.totals, rows, keys.packing), keys.packing)
        results = [per_key(ends, self.request.on_curve)]
        if self.request.on_hull:
            both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
            # The hull of a partition starts where the partitions before it end.
            start = anchors(keys, tp=BEFORE + "pos", fp=BEFORE + "neg")
            outer = hulls(to_curve_table(ends.filter(both), keys.packing, start.filter(both)))
            results.append(outer.filter(pl.col(SCORE).is_not_null()))
        elif self.request.drawn_at is not None:
            results.append(thin(to_curve_table(ends, keys.packing), self.request.drawn_at))
        return results


def _collect(totals: CurveTotals) -> CurveTotals:
    """The same, computed now."""
    planned = (totals.wide, totals.curves)
    tables = pl.collect_all([table for table in planned if table is not None])
    wide, *curves = (table.lazy() for table in tables)
    return CurveTotals(wide, curves[0] if curves else None)


def _merged(partitions: Sequence[pl.DataFrame], measures: Sequence[Measure]) -> pl.DataFrame:
    """The sums and minima over all partitions, from those of each partition."""
    _, sums, least = ingredients(measures)
    return (
        pl.concat(partitions, how="diagonal")
        .group_by(KEY_INDEX)
        .agg(
            pl.col("positives", "negatives").max(),
            *(pl.col(name).sum() for name in sums),
            *(pl.col(name).min() for name in least),
        )
    )


def _partition_totals(
    counts: pl.DataFrame, before: "Array", counted: "Array", weighted: bool
) -> pl.DataFrame:
    """Per key its totals and the counts of a partition, with the offsets that `cells` needs."""
    columns = []
    for i, (name, offset_name) in enumerate(zip(COUNTED, (FP_OFFSET, TP_OFFSET), strict=True)):
        above, count = before[:, i], counted[:, i]
        # Unweighted counts are cumulated over all keys.
        offset = above if weighted else above + count - count.cumsum()
        named = {name: count, BEFORE + name: above, offset_name: offset}
        columns += [pl.Series(column, values) for column, values in named.items()]
    return counts.select(KEPT).with_columns(columns)


def _batch_rows(room: int) -> int:
    """The number of rows to read at once: each thread holds some, and two wait for theirs."""
    rows = room // (WHILE_READ * (pl.thread_pool_size() + 2))
    return min(max(rows, LEAST_BATCH), MOST_BATCH)


def _tied_cells(counts: pl.LazyFrame, score: float, packing: Packing) -> pl.LazyFrame:
    """The cells of a partition whose scores are all equal: one per key."""
    return counts.filter((pl.col("pos") > 0) | (pl.col("neg") > 0)).select(
        KEY_INDEX,
        packing.code(pl.col(KEY_INDEX), pl.lit(score, pl.Float64), pl.lit(True)).alias(SORT_CODE),
        "pos",
        "neg",
        (pl.col(BEFORE + "pos") + pl.col("pos")).alias("tp"),
        (pl.col(BEFORE + "neg") + pl.col("neg")).alias("fp"),
        "positives",
        "negatives",
    )
