"""The sums per key that the measures need, as one lazy plan or out of core."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from polaroc.base.arrays import ARRAYS
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
from polaroc.curves.curve import anchors, cells, indexed_curves, to_curve_table
from polaroc.curves.hull import hulls, hulls_of_cells
from polaroc.curves.keys import LEAST_WEIGHTS, Keys, attach_key_index
from polaroc.curves.packing import PACK_128, Packing
from polaroc.curves.ranking import CellArrays, RankedCells, ScoredCells, ranked_cells
from polaroc.curves.thinning import recompute_steps, thin, visible_points
from polaroc.evaluation.numbered_rows import NumberedRows, Reader, class_counts, mapped
from polaroc.evaluation.partitions import (
    Partition,
    RangeFiles,
    ScoreRanges,
    SplitRows,
    partitions,
)
from polaroc.evaluation.request import Request
from polaroc.files.memory import resolve_memory
from polaroc.files.scratch import scratch_folder
from polaroc.measures.array_sums import array_sums
from polaroc.measures.spec import Measure, ingredients
from polaroc.measures.table import HAS_AREA, curve_sums
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Counts of a key in the partitions before.
BEFORE = PRIVATE + "before_"
COUNTED = ("neg", "pos")
KEPT = cs.by_name(KEY_INDEX, "positives", "negatives", *LEAST_WEIGHTS, require_all=False)
# The most bytes per row on disk or held in memory, and those of its weight.
ON_DISK, WEIGHT_ON_DISK = 12, 8
# Peak bytes per row for ranking: with codes of 128 bits, what codes of 64 bits save, and what
# weights and points of curves add.
IN_MEMORY, SAVED_WITH_64_BITS, WEIGHT_IN_MEMORY, CURVE_IN_MEMORY = 40, 16, 60, 80
# Peak bytes per row where tables are ranked as arrays, and those that a weight and a positive add;
# what all cells, hulls and points of curves add to them.
IN_ARRAY, WEIGHT_IN_ARRAY, POSITIVE_IN_ARRAY = 32, 32, 160
SCORED_IN_ARRAY, HULL_IN_ARRAY, DRAWN_IN_ARRAY = 16, 160, 100
# Bytes that the process uses before the first row, and peak bytes of a row while it is read.
BASE, WHILE_READ = 300_000_000, 200
# Rows that are read at once: few enough for the cache of a processor.
LEAST_BATCH, MOST_BATCH = 1_000, 1_000_000
# Rows of a partition that are ranked at once, though more would fit: these per key, or at least.
ENOUGH_PER_KEY, ENOUGH = 20, 1_000_000


class CurveTotals(NamedTuple):
    """The totals and sums of each key, and the thinned curves if they are drawn."""

    wide: pl.LazyFrame
    curves: pl.LazyFrame | None


@dataclass(frozen=True)
class CurveSums:
    """The sums over the segments of curves and hulls that the measures of a request need."""

    predictions: Predictions
    request: Request

    @property
    def on_curve(self) -> Sequence[Measure]:
        """The measures taken on the curves."""
        return self.request.on_curve

    @property
    def on_hull(self) -> Sequence[Measure]:
        """The measures taken on the hulls."""
        return self.request.on_hull

    def lazy(self, keys: Keys) -> CurveTotals:
        """All sums as one lazy plan."""
        if self.request.drawn_at is None:
            ends = self._cells(attach_key_index(self.predictions, keys), keys)
            wide = keys.totals
            if self.on_curve or not self.on_hull:
                wide = _joined(wide, _per_key(ends, self.on_curve))
            if self.on_hull:
                # Every vertex of a hull but the last, at (1, 1), ends a cell with positives.
                table = to_curve_table(ends.filter(HAS_AREA), keys.packing, anchors(keys))
                wide = _joined(wide, _per_key(hulls(table), self.on_hull))
            return CurveTotals(wide, None)
        table = indexed_curves(self.predictions, keys)
        wide = _joined(keys.totals, _per_key(table, self.on_curve))
        if not self.on_hull:
            return CurveTotals(wide, self._thinned(table))
        hull = hulls(table)
        return CurveTotals(_joined(wide, _per_key(hull, self.on_hull)), self._thinned(hull))

    def in_memory(self) -> CurveTotals | None:
        """The same of rows in memory, computed now; None where this takes the plan."""
        if self.predictions.possible_errors or not self._takes_arrays:
            return None
        ranked = ranked_cells(self.predictions, scored=self._scored)
        if ranked is None:
            return None
        sums = self._array_sums(ranked, ranked.scored)
        if self.on_hull:
            sums.append(array_sums(hulls_of_cells(ranked), self.request.written_for(ARRAYS)[1]))
        curves = visible_points(ranked).lazy() if self._drawn else None
        return CurveTotals(pl.concat([ranked.totals, *sums], how="horizontal").lazy(), curves)

    def out_of_core(self) -> CurveTotals:
        """The same, computed within `memory`: in ranges of the score where rows do not fit.

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
                if stored.size * self._bytes_per_row(keys.packing) > room:
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
                if not self._whole_fits(size, positives, room):
                    files = self._range_files(held, stack)
        return files or NumberedRows.concatenated(held)

    def _range_files(self, held: list[NumberedRows], stack: ExitStack) -> RangeFiles:
        """Rows in files, in ranges of the score that are chosen from these rows."""
        weighted, size = self.predictions.weighted, sum(rows.size for rows in held)
        if self.predictions.repeatable:
            size = self.predictions.rows.select(pl.len()).collect().item()
        needed = size * (ON_DISK + weighted * WEIGHT_ON_DISK)
        folder = stack.enter_context(scratch_folder(self.request.scratch, needed))
        ranges = ScoreRanges.of(lambda: (rows.score for rows in held))
        files = RangeFiles(folder / "rows", ranges, weighted=weighted)
        while held:
            files.write(files.split(held.pop()))
        return files

    def _partitions(self, files: RangeFiles, keys: Keys, room: int) -> Iterator[Partition]:
        """The rows of files, in partitions that fit in memory."""
        enough = sys.maxsize
        if self._partitions_in_arrays:
            enough = max(ENOUGH, ENOUGH_PER_KEY * keys.totals.collect().height)

        def fits(rows: int, positives: int) -> bool:
            if self._partitions_in_arrays:
                # One is ranked while another is summed up.
                return 2 * self._bytes_in_arrays(rows, positives) <= room
            return rows * self._bytes_per_row(keys.packing) <= room

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
            sums = [_merged([*sums, new_sums], self.on_curve)]
            before += counted
            done += partition.size
            # Rows in one partition are done at once.
            if self.request.callback is not None and partition.size < size:
                self.request.callback(done, size)
        wide = _joined(keys.totals, sums[0].lazy())
        if not points:
            return _collect(CurveTotals(wide, None))
        table = to_curve_table(
            pl.concat(points).lazy(), keys.packing, anchors(keys), keys.key_columns
        )
        if not self.on_hull:
            return _collect(CurveTotals(wide, _as_curve_tables(table)))
        hull = hulls(table)
        return _collect(
            CurveTotals(_joined(wide, _per_key(hull, self.on_hull)), self._thinned(hull))
        )

    def _whole_in_arrays(
        self, rows: NumberedRows, keys: Keys, index: "Array"
    ) -> CurveTotals | None:
        """The sums of rows that fit in memory; None where this takes the plan."""
        numbered = replace(self, predictions=self._numbered(rows, index)).in_memory()
        if numbered is None:
            return None
        sums = numbered.wide.drop(KEY_INDEX, "note").rename({KEY_NUMBER: KEY_INDEX})
        curves = numbered.curves
        if curves is not None:
            by_index = curves.rename({KEY_NUMBER: KEY_INDEX})
            named = by_index.join(keys.key_columns, on=KEY_INDEX, how="left", maintain_order="left")
            curves = named.select(*keys.names, *CURVE)
        return CurveTotals(_joined(keys.totals, sums), curves)

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
        if self._partitions_in_arrays:
            ranked = ranked_cells(self._numbered(rows, index), scored=self._scored)
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
        sums = self._array_sums(CellArrays(ranked.counts | moved, ranked.starts), scored)
        counted = np.zeros_like(before)
        counted[key] = ranked.totals.select("negatives", "positives").to_numpy()
        index = pl.DataFrame({KEY_INDEX: key})
        # A key without cells has no sums.
        summed = pl.concat([index, classes, *sums], how="horizontal").fill_nan(None)
        return summed, counted

    def _array_sums(self, cells: CellArrays, scored: ScoredCells | None) -> list[pl.DataFrame]:
        on_curve, _ = self.request.written_for(ARRAYS)
        of_cells = [measure for measure in on_curve if measure.every_cell]
        areas = [measure for measure in on_curve if not measure.every_cell]
        taken = [(cells, areas), (scored, of_cells)]
        return [array_sums(one, measures) for one, measures in taken if one and measures]

    @property
    def _takes_arrays(self) -> bool:
        """Whether rows in memory may be ranked as arrays."""
        of_arrays = all(one.mergeable_segments or one.every_cell for one in self.on_curve)
        # Losses, hulls and charts of weighted cases are taken by the plan, and charts of hulls.
        only_areas = not (self._scored or self.on_hull or self._drawn)
        drawn_hulls = self._drawn and bool(self.on_hull)
        return of_arrays and not drawn_hulls and (only_areas or not self.predictions.weighted)

    @property
    def _partitions_in_arrays(self) -> bool:
        """Whether arrays take each partition of the rows."""
        weighted = self.predictions.weighted
        return self._takes_arrays and not (self.on_hull or self._drawn or weighted)

    @property
    def _drawn(self) -> bool:
        """Whether points of the curves are asked for, to draw them."""
        return self.request.drawn_at is not None

    @property
    def _scored(self) -> bool:
        """Whether measures need all cells, with their scores."""
        return any(measure.every_cell for measure in self.on_curve)

    @property
    def _curves(self) -> bool:
        """Whether the points of the curves are needed, and not only sums over them."""
        return bool(self.on_hull) or self._drawn

    def _whole_fits(self, rows: int, positives: int, room: int) -> bool:
        """Whether so many rows are ranked in memory."""
        in_arrays = self._takes_arrays and self._bytes_in_arrays(rows, positives) <= room
        return in_arrays or rows * self._bytes_per_row(PACK_128) <= room

    def _bytes_per_row(self, packing: Packing) -> int:
        weights, curves = self.predictions.weighted, self._curves
        code = IN_MEMORY - (packing != PACK_128) * SAVED_WITH_64_BITS
        return self._held + code + weights * WEIGHT_IN_MEMORY + curves * CURVE_IN_MEMORY

    def _bytes_in_arrays(self, rows: int, positives: int) -> int:
        """The most bytes that rows need where they are ranked as arrays."""
        weights = self.predictions.weighted
        of_row = IN_ARRAY + weights * WEIGHT_IN_ARRAY + self._scored * SCORED_IN_ARRAY
        of_positive = POSITIVE_IN_ARRAY + bool(self.on_hull) * HULL_IN_ARRAY
        of_positive += self._drawn * DRAWN_IN_ARRAY
        return rows * (self._held + of_row) + positives * of_positive

    @property
    def _held(self) -> int:
        """Bytes of a row as it is read, twice."""
        return 2 * (ON_DISK + self.predictions.weighted * WEIGHT_ON_DISK)

    def _cells(self, rows: pl.LazyFrame, keys: Keys) -> pl.LazyFrame:
        mergeable = all(measure.mergeable_segments for measure in self.on_curve)
        for_areas = mergeable and self.request.drawn_at is None
        ends = cells(rows, keys, weighted=self.predictions.weighted, for_areas=for_areas)
        return self._with_score(ends, keys.packing)

    def _with_score(self, cells: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
        """Cells with their score, where a measure needs it."""
        if not self._scored:
            return cells
        return cells.with_columns(packing.score_of(pl.col(SORT_CODE)).alias(SCORE))

    def _partition_results(
        self, rows: NumberedRows | float, keys: Keys, index: "Array"
    ) -> list[pl.LazyFrame]:
        """The sums over a partition's cells and, if needed, its points for hulls or charts.

        A partition is its rows, or its score where that is one.
        """
        if isinstance(rows, NumberedRows):
            ends = self._cells(rows.frame(index, KEY_INDEX).lazy(), keys)
        else:
            ends = self._with_score(_tied_cells(keys.totals, rows, keys.packing), keys.packing)
        results = [_per_key(ends, self.on_curve)]
        if self.on_hull:
            both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
            # The hull of a partition starts where the partitions before it end.
            start = anchors(keys, tp=BEFORE + "pos", fp=BEFORE + "neg")
            outer = hulls(to_curve_table(ends.filter(both), keys.packing, start.filter(both)))
            results.append(outer.filter(pl.col(SCORE).is_not_null()))
        elif self.request.drawn_at is not None:
            results.append(thin(to_curve_table(ends, keys.packing), self.request.drawn_at))
        return results

    def _thinned(self, table: pl.LazyFrame) -> pl.LazyFrame | None:
        return (
            None
            if self.request.drawn_at is None
            else _as_curve_tables(thin(table, self.request.drawn_at))
        )


def _as_curve_tables(thinned: pl.LazyFrame) -> pl.LazyFrame:
    """Thinned curves as a curve table, without packed codes."""
    return recompute_steps(thinned).drop(KEY_INDEX, SORT_CODE)


def _collect(totals: CurveTotals) -> CurveTotals:
    """The same, computed now."""
    tables = pl.collect_all([table for table in totals if table is not None])
    wide, *curves = (table.lazy() for table in tables)
    return CurveTotals(wide, *curves or (None,))


def _per_key(rows: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    return curve_sums(rows, [KEY_INDEX], measures)


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


def _joined(wide: pl.LazyFrame, sums: pl.LazyFrame) -> pl.LazyFrame:
    return wide.join(sums.drop("positives", "negatives"), on=KEY_INDEX, how="left")


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
