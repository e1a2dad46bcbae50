"""The sums that the measures are made of, per key: in one go, or part by part."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import polars as pl
import polars.selectors as cs

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
from polaroc.curves.hull import hulls
from polaroc.curves.keys import LEAST_WEIGHTS, Keys, attach_key_index, build_key_index
from polaroc.curves.packing import PACK_128, Packing
from polaroc.curves.thinning import recompute_steps, thin
from polaroc.evaluation.partitions import Part, parts, sizes, stored
from polaroc.evaluation.request import Request
from polaroc.files.memory import resolve_memory
from polaroc.files.scratch import scratch_folder
from polaroc.measures.spec import Measure, ingredients
from polaroc.measures.table import per_key
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions

# What the parts before hold of a key.
BEFORE = PRIVATE + "before_"
COUNTED = ("pos", "neg")
KEPT = cs.by_name(KEY_INDEX, "positives", "negatives", *LEAST_WEIGHTS, require_all=False)
# Bytes that ranking a row takes at its peak, less where a code has 64 bits, more with a
# weight beside it and where the points of the curves are held; and bytes of a row on
# disk, at most.
IN_MEMORY, SPARED, WEIGHT_IN_MEMORY, CURVE_IN_MEMORY = 40, 16, 60, 80
ON_DISK, WEIGHT_ON_DISK = 14, 8
# What the process takes before the first row.
BASE = 300_000_000


class CurveTotals(NamedTuple):
    """Per key its `totals` and the sums; and the thinned curves, where they are drawn."""

    wide: pl.LazyFrame
    curves: pl.LazyFrame | None


@dataclass(frozen=True)
class CurveSums:
    """The sums over the segments of the curves, and of their hulls, that a request asks for."""

    predictions: Predictions
    request: Request

    @property
    def on_curve(self) -> Sequence[Measure]:
        """The measures taken on the curves."""
        return self.request.parted[0]

    @property
    def on_hull(self) -> Sequence[Measure]:
        """The measures taken on the hulls."""
        return self.request.parted[1]

    def lazy(self, keys: Keys) -> CurveTotals:
        """Everything as one plan."""
        if not self._curves:
            ends = self._cells(attach_key_index(self.predictions, keys), keys)
            return CurveTotals(_joined(keys.totals, _per_key(ends, self.on_curve)), None)
        table = indexed_curves(self.predictions, keys)
        wide = _joined(keys.totals, _per_key(table, self.on_curve))
        if not self.on_hull:
            return CurveTotals(wide, self._thinned(table))
        hull = hulls(table)
        return CurveTotals(_joined(wide, _per_key(hull, self.on_hull)), self._thinned(hull))

    def out_of_core(self) -> CurveTotals:
        """The same within `memory`: at once where that is enough, else in ranges of the score.

        Every sum over a curve is the sum over its parts, once the totals and what
        lies above each part are known; the hull is that of the hulls of the parts.
        """
        limit = resolve_memory("auto" if self.request.memory is None else self.request.memory)
        if self.predictions.repeatable:
            # One after the other: together they would hold the rows they share.
            return self._within(limit, build_key_index(self.predictions, eager=True))
        with scratch_folder(self.request.scratch) as folder:
            predictions, keys = stored(self.predictions, folder)
            return replace(self, predictions=predictions)._within(limit, keys)

    def _within(self, limit: int, keys: Keys) -> CurveTotals:
        """The same for rows that can be read more than once, within so many bytes."""
        counts = keys.totals.collect()
        most = (limit - BASE) // self._bytes_per_row(keys.packing)
        # Of all rows, those in trouble among them.
        if counts[COUNT].cast(pl.Int64).sum() <= most:
            return _done(self.lazy(keys))
        counted = sizes(self.predictions.valid_rows).collect()
        weighted, size = self.predictions.weighted, int(counted[SIZE].sum())
        if size <= most:
            return _done(self.lazy(keys))
        rows = attach_key_index(self.predictions, keys)
        before, done = _nothing(counts), 0
        sums: list[pl.DataFrame] = []
        points: list[pl.DataFrame] = []
        with scratch_folder(
            self.request.scratch, size * (ON_DISK + weighted * WEIGHT_ON_DISK)
        ) as folder:
            for part in parts(rows, counted, max(most, 1), folder):
                here = _here(part, before, weighted)
                of_part = self._of_part(part, replace(keys, totals=here.lazy()))
                part_sums, *part_points = pl.collect_all(of_part)
                sums = [_merged([*sums, part_sums], self.on_curve)]
                points += part_points
                before = _passed(here)
                done += part.size
                if self.request.callback is not None:
                    self.request.callback(done, size)
        wide = _joined(keys.totals, sums[0].lazy())
        if not points:
            return _done(CurveTotals(wide, None))
        table = to_curve_table(
            pl.concat(points).lazy(), keys.packing, anchors(keys), keys.key_columns
        )
        if not self.on_hull:
            return _done(CurveTotals(wide, _drawn(table)))
        hull = hulls(table)
        return _done(CurveTotals(_joined(wide, _per_key(hull, self.on_hull)), self._thinned(hull)))

    @property
    def _curves(self) -> bool:
        """Whether the points of the curves are needed, and not only sums over them."""
        return bool(self.on_hull) or self.request.drawn_at is not None

    def _bytes_per_row(self, packing: Packing) -> int:
        weights, curves = self.predictions.weighted, self._curves
        code = IN_MEMORY - (packing != PACK_128) * SPARED
        return code + weights * WEIGHT_IN_MEMORY + curves * CURVE_IN_MEMORY

    def _cells(self, rows: pl.LazyFrame, keys: Keys) -> pl.LazyFrame:
        mergeable = all(measure.mergeable_segments for measure in self.on_curve)
        for_areas = mergeable and not self._curves
        return cells(rows, keys, weighted=self.predictions.weighted, for_areas=for_areas)

    def _of_part(self, part: Part, here: Keys) -> list[pl.LazyFrame]:
        """The sums over a part's cells and, where asked for, the points that matter later."""
        ends = _tie(here.totals, here.packing) if part.tied else self._cells(part.rows, here)
        wanted = [_per_key(ends, self.on_curve)]
        if self.on_hull:
            both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
            # The hull of a part starts where the parts before it end.
            begun = anchors(here, tp=BEFORE + "pos", fp=BEFORE + "neg")
            outer = hulls(to_curve_table(ends.filter(both), here.packing, begun.filter(both)))
            wanted.append(outer.filter(pl.col(SCORE).is_not_null()))
        elif self.request.drawn_at is not None:
            wanted.append(thin(to_curve_table(ends, here.packing), self.request.drawn_at))
        return wanted

    def _thinned(self, table: pl.LazyFrame) -> pl.LazyFrame | None:
        return None if self.request.drawn_at is None else _drawn(thin(table, self.request.drawn_at))


def _drawn(thinned: pl.LazyFrame) -> pl.LazyFrame:
    """Thinned curves as a curve table, without packed codes."""
    return recompute_steps(thinned).drop(KEY_INDEX, SORT_CODE)


def _done(totals: CurveTotals) -> CurveTotals:
    """The same, computed now."""
    tables = pl.collect_all([table for table in totals if table is not None])
    wide, *curves = (table.lazy() for table in tables)
    return CurveTotals(wide, *curves or (None,))


def _per_key(rows: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    return per_key(rows.filter(pl.col("pos") > 0), [KEY_INDEX], measures)


def _merged(parts: Sequence[pl.DataFrame], measures: Sequence[Measure]) -> pl.DataFrame:
    """The sums and least values over all parts of the curves, from those over each."""
    _, sums, least = ingredients(measures)
    return (
        pl.concat(parts)
        .group_by(KEY_INDEX)
        .agg(
            pl.col("positives", "negatives").max(),
            *(pl.col(name).sum() for name in sums),
            *(pl.col(name).min() for name in least),
        )
    )


def _joined(wide: pl.LazyFrame, sums: pl.LazyFrame) -> pl.LazyFrame:
    return wide.join(sums.drop("positives", "negatives"), on=KEY_INDEX, how="left")


def _nothing(counts: pl.DataFrame) -> pl.DataFrame:
    """Per key, its totals, and that nothing has been passed yet."""
    zero = pl.lit(0).cast(counts.schema["positives"])
    return counts.select(KEPT, *(zero.alias(BEFORE + count) for count in COUNTED))


def _here(part: Part, before: pl.DataFrame, weighted: bool) -> pl.DataFrame:
    """Per key, what a part holds of it, with what `cells` needs."""
    case = pl.col(WEIGHT) if weighted else pl.lit(1, pl.Int64)
    held = part.rows.group_by(KEY_INDEX).agg(
        (pl.col(TRUTH) * case).sum().alias("pos"),
        (~pl.col(TRUTH) * case).sum().alias("neg"),
        pl.col(SCORE).max(),
    )
    here = before.join(held.collect(), on=KEY_INDEX, how="left", maintain_order="left")
    offsets = []
    for count, name in zip(COUNTED, (TP_OFFSET, FP_OFFSET), strict=True):
        passed, own = pl.col(BEFORE + count), pl.col(count)
        # Counts run on from key to key.
        offset = passed if weighted else passed + own - own.cum_sum()
        offsets.append(offset.alias(name))
    return here.with_columns(pl.col(COUNTED).fill_null(0)).with_columns(offsets)


def _passed(here: pl.DataFrame) -> pl.DataFrame:
    """What has been passed once a part is done."""
    seen = ((pl.col(BEFORE + count) + pl.col(count)).alias(BEFORE + count) for count in COUNTED)
    return here.select(KEPT, *seen)


def _tie(here: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
    """The cells of a part whose scores are all the same."""
    return here.filter((pl.col("pos") > 0) | (pl.col("neg") > 0)).select(
        KEY_INDEX,
        packing.code(pl.col(KEY_INDEX), pl.col(SCORE), pl.lit(True)).alias(SORT_CODE),
        "pos",
        "neg",
        (pl.col(BEFORE + "pos") + pl.col("pos")).alias("tp"),
        (pl.col(BEFORE + "neg") + pl.col("neg")).alias("fp"),
        "positives",
        "negatives",
    )
