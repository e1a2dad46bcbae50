"""The sums per key that the measures need, as one lazy plan or out of core."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

from polaroc.base.arrays import ARRAYS
from polaroc.base.private_columns import (
    COUNT,
    FP_OFFSET,
    KEY_INDEX,
    PRIVATE,
    SIZE,
    SORT_CODE,
    TP_OFFSET,
    TRUTH,
    WEIGHT,
)
from polaroc.curves.curve import anchors, cells, indexed_curves, to_curve_table
from polaroc.curves.hull import hulls, hulls_of_cells
from polaroc.curves.keys import LEAST_WEIGHTS, Keys, attach_key_index, build_key_index
from polaroc.curves.packing import PACK_128, Packing
from polaroc.curves.ranking import CellArrays, ScoredCells, ranked_cells
from polaroc.curves.thinning import recompute_steps, thin, visible_points
from polaroc.evaluation.partitions import Partition, count_by_rank, partitions, store_rows
from polaroc.evaluation.request import Request
from polaroc.files.memory import resolve_memory
from polaroc.files.scratch import scratch_folder
from polaroc.measures.array_sums import array_sums
from polaroc.measures.spec import Measure, ingredients
from polaroc.measures.table import HAS_AREA, curve_sums
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions

# Counts of a key in the partitions before.
BEFORE = PRIVATE + "before_"
COUNTED = ("pos", "neg")
KEPT = cs.by_name(KEY_INDEX, "positives", "negatives", *LEAST_WEIGHTS, require_all=False)
# Peak bytes per row for ranking: with codes of 128 bits, what codes of 64 bits save, and what
# weights and points of curves add. Then the most bytes per row on disk.
IN_MEMORY, SAVED_WITH_64_BITS, WEIGHT_IN_MEMORY, CURVE_IN_MEMORY = 40, 16, 60, 80
ON_DISK, WEIGHT_ON_DISK = 14, 8
# Peak bytes per row where tables are ranked as arrays, and those that a weight and a positive add;
# what all cells, hulls and points of curves add to them.
IN_ARRAY, WEIGHT_IN_ARRAY, POSITIVE_IN_ARRAY = 32, 32, 160
SCORED_IN_ARRAY, HULL_IN_ARRAY, DRAWN_IN_ARRAY = 16, 160, 100
# Bytes that the process uses before the first row.
BASE = 300_000_000


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
        of_arrays = all(one.mergeable_segments or one.every_cell for one in self.on_curve)
        rows, drawn = self.predictions, self.request.drawn_at is not None
        # Losses and hulls of weighted cases are taken by the plan, and charts of both.
        only_areas = not (self._scored or self.on_hull or drawn)
        if rows.possible_errors or not of_arrays or (rows.weighted and not only_areas):
            return None
        if drawn and self.on_hull:
            return None
        ranked = ranked_cells(rows, scored=self._scored)
        if ranked is None:
            return None
        on_curve, on_hull = self.request.written_for(ARRAYS)
        taken: list[tuple[CellArrays | ScoredCells, list[Measure]]] = [
            (ranked, [measure for measure in on_curve if not measure.every_cell])
        ]
        if ranked.scored is not None:
            taken.append((ranked.scored, [measure for measure in on_curve if measure.every_cell]))
        if on_hull:
            taken.append((hulls_of_cells(ranked), on_hull))
        sums = [array_sums(cells, measures) for cells, measures in taken if measures]
        curves = visible_points(ranked).lazy() if drawn else None
        return CurveTotals(pl.concat([ranked.totals, *sums], how="horizontal").lazy(), curves)

    def out_of_core(self) -> CurveTotals:
        """The same, computed within `memory`: in ranges of the score where rows do not fit.

        A sum over a curve is the sum over its partitions, given the totals and the counts
        above each partition; its hull is the hull of the hulls of the partitions.
        """
        limit = resolve_memory("auto" if self.request.memory is None else self.request.memory)
        if self.predictions.repeatable:
            # Two queries: in one, Polars would cache the rows that both read.
            return self._within(limit, build_key_index(self.predictions, eager=True))
        with scratch_folder(self.request.scratch) as folder:
            predictions, keys = store_rows(self.predictions, folder)
            return replace(self, predictions=predictions)._within(limit, keys)

    def _within(self, limit: int, keys: Keys) -> CurveTotals:
        """The same within `limit` bytes, for rows that can be read repeatedly."""
        counts = keys.totals.collect()
        max_rows = (limit - BASE) // self._bytes_per_row(keys.packing)
        # What was noted on rows that were left out is known to the keys only.
        unnoted = counts["note"].null_count() == counts.height
        if unnoted and self._bytes_in_arrays(counts) <= limit:
            in_arrays = self.in_memory()
            if in_arrays is not None:
                return in_arrays
        # All rows, also invalid ones; if they fit there is no need to count the valid ones.
        if counts[COUNT].cast(pl.Int64).sum() <= max_rows:
            return _collect(self.lazy(keys))
        counted = count_by_rank(self.predictions.valid_rows).collect()
        weighted, size = self.predictions.weighted, int(counted[SIZE].sum())
        if size <= max_rows:
            return _collect(self.lazy(keys))
        rows = attach_key_index(self.predictions, keys)
        before, done = _initial_counts(counts), 0
        sums: list[pl.DataFrame] = []
        points: list[pl.DataFrame] = []
        with scratch_folder(
            self.request.scratch, size * (ON_DISK + weighted * WEIGHT_ON_DISK)
        ) as folder:
            for partition in partitions(rows, counted, max(max_rows, 1), folder):
                counts = _partition_counts(partition, before, weighted)
                results = self._partition_results(partition, replace(keys, totals=counts.lazy()))
                new_sums, *new_points = pl.collect_all(results)
                sums = [_merged([*sums, new_sums], self.on_curve)]
                points += new_points
                before = _counts_after(counts)
                done += partition.size
                if self.request.callback is not None:
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

    @property
    def _scored(self) -> bool:
        """Whether measures need all cells, with their scores."""
        return any(measure.every_cell for measure in self.on_curve)

    @property
    def _curves(self) -> bool:
        """Whether the points of the curves are needed, and not only sums over them."""
        return bool(self.on_hull) or self.request.drawn_at is not None

    def _bytes_per_row(self, packing: Packing) -> int:
        weights, curves = self.predictions.weighted, self._curves
        code = IN_MEMORY - (packing != PACK_128) * SAVED_WITH_64_BITS
        return code + weights * WEIGHT_IN_MEMORY + curves * CURVE_IN_MEMORY

    def _bytes_in_arrays(self, counts: pl.DataFrame) -> int:
        """The most bytes that `in_memory` needs."""
        weights = self.predictions.weighted
        rows = int(counts[COUNT].sum())
        # The totals are then not numbers of rows.
        positives = rows if weights else int(counts["positives"].sum())
        of_row = IN_ARRAY + weights * WEIGHT_IN_ARRAY + self._scored * SCORED_IN_ARRAY
        drawn = self.request.drawn_at is not None
        of_positive = POSITIVE_IN_ARRAY + bool(self.on_hull) * HULL_IN_ARRAY
        of_positive += drawn * DRAWN_IN_ARRAY
        return BASE + rows * of_row + positives * of_positive

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

    def _partition_results(self, partition: Partition, keys: Keys) -> list[pl.LazyFrame]:
        """The sums over a partition's cells and, if needed, its points for hulls or charts."""
        if partition.tied:
            ends = self._with_score(_tied_cells(keys.totals, keys.packing), keys.packing)
        else:
            ends = self._cells(partition.rows, keys)
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


def _initial_counts(counts: pl.DataFrame) -> pl.DataFrame:
    """Per key its totals, and zero counts before the first partition."""
    zero = pl.lit(0).cast(counts.schema["positives"])
    return counts.select(KEPT, *(zero.alias(BEFORE + count) for count in COUNTED))


def _partition_counts(partition: Partition, before: pl.DataFrame, weighted: bool) -> pl.DataFrame:
    """Per key the counts of a partition, with the offsets that `cells` needs."""
    weight = pl.col(WEIGHT) if weighted else pl.lit(1, pl.Int64)
    in_partition = partition.rows.group_by(KEY_INDEX).agg(
        (pl.col(TRUTH) * weight).sum().alias("pos"),
        (~pl.col(TRUTH) * weight).sum().alias("neg"),
        pl.col(SCORE).max(),
    )
    counts = before.join(in_partition.collect(), on=KEY_INDEX, how="left", maintain_order="left")
    offsets = []
    for name, offset_name in zip(COUNTED, (TP_OFFSET, FP_OFFSET), strict=True):
        above, count = pl.col(BEFORE + name), pl.col(name)
        # Unweighted counts are cumulated over all keys.
        offset = above if weighted else above + count - count.cum_sum()
        offsets.append(offset.alias(offset_name))
    return counts.with_columns(pl.col(COUNTED).fill_null(0)).with_columns(offsets)


def _counts_after(counts: pl.DataFrame) -> pl.DataFrame:
    """Running counts after a partition."""
    running = ((pl.col(BEFORE + name) + pl.col(name)).alias(BEFORE + name) for name in COUNTED)
    return counts.select(KEPT, *running)


def _tied_cells(counts: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
    """The cells of a partition whose scores are all equal: one per key."""
    return counts.filter((pl.col("pos") > 0) | (pl.col("neg") > 0)).select(
        KEY_INDEX,
        packing.code(pl.col(KEY_INDEX), pl.col(SCORE), pl.lit(True)).alias(SORT_CODE),
        "pos",
        "neg",
        (pl.col(BEFORE + "pos") + pl.col("pos")).alias("tp"),
        (pl.col(BEFORE + "neg") + pl.col("neg")).alias("fp"),
        "positives",
        "negatives",
    )
