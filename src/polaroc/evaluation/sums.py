"""The sums per key that the measures need: as one lazy plan, or as arrays of rows in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.private_columns import KEY_INDEX, SORT_CODE
from polaroc.curves.curve import anchors, cells, indexed_curves, to_curve_table
from polaroc.curves.hull import hulls, hulls_of_cells
from polaroc.curves.keys import Keys, attach_key_index
from polaroc.curves.packing import Packing
from polaroc.curves.ranking import CellArrays, RankedCells, ScoredCells, ranked_cells
from polaroc.curves.thinning import recompute_steps, thin, visible_points
from polaroc.evaluation.needs import Needs
from polaroc.evaluation.request import Request
from polaroc.measures.array_sums import array_sums
from polaroc.measures.spec import Measure
from polaroc.measures.table import HAS_AREA, curve_sums
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions


class CurveTotals(NamedTuple):
    """The totals and sums of each key, the thinned curves if they are drawn, and cells for limits.

    The cells are there if they are in memory, and limits are asked for.
    """

    wide: pl.LazyFrame
    curves: pl.LazyFrame | None
    ranked: RankedCells | None = None


@dataclass(frozen=True)
class CurveSums:
    """The sums over the segments of curves and hulls that the measures of a request need."""

    predictions: Predictions
    request: Request

    @property
    def needs(self) -> Needs:
        """What the measures need of the rows."""
        return Needs(self.request, self.predictions.weighted)

    def lazy(self, keys: Keys) -> CurveTotals:
        """All sums as one lazy plan."""
        if self.request.drawn_at is None:
            ends = self.cells(attach_key_index(self.predictions, keys), keys)
            wide = keys.totals
            if self.request.on_curve or not self.request.on_hull:
                wide = joined(wide, per_key(ends, self.request.on_curve))
            if self.request.on_hull:
                # Every vertex of a hull but the last, at (1, 1), ends a cell with positives.
                table = to_curve_table(ends.filter(HAS_AREA), keys.packing, anchors(keys))
                wide = joined(wide, per_key(hulls(table), self.request.on_hull))
            return CurveTotals(wide, None)
        table = indexed_curves(self.predictions, keys)
        wide = joined(keys.totals, per_key(table, self.request.on_curve))
        if not self.request.on_hull:
            return CurveTotals(wide, self.thinned(table))
        hull = hulls(table)
        return CurveTotals(joined(wide, per_key(hull, self.request.on_hull)), self.thinned(hull))

    def in_memory(self) -> CurveTotals | None:
        """The same of rows in memory, computed now; None where this takes the plan."""
        ranked = None if self.predictions.possible_errors else self.ranked()
        if ranked is None:
            return None
        sums = self.array_sums(ranked, ranked.scored)
        if self.request.on_hull:
            sums.append(array_sums(hulls_of_cells(ranked), self.request.written_for(ARRAYS)[1]))
        curves = visible_points(ranked).lazy() if self.needs.drawn else None
        wide = pl.concat([ranked.totals, *sums], how="horizontal").lazy()
        return CurveTotals(wide, curves, None if self.request.intervals is None else ranked)

    def ranked(self) -> RankedCells | None:
        """The cells of rows in memory as arrays; None where this takes the plan."""
        needs = self.needs
        if not needs.arrays:
            return None
        return ranked_cells(self.predictions, scored=needs.scored, merged=needs.merged)

    def array_sums(self, cells: CellArrays, scored: ScoredCells | None) -> list[pl.DataFrame]:
        """The sums over cells, some of which need their scores."""
        on_curve, _ = self.request.written_for(ARRAYS)
        of_cells = [measure for measure in on_curve if measure.every_cell]
        areas = [measure for measure in on_curve if not measure.every_cell]
        taken = [(cells, areas), (scored, of_cells)]
        return [array_sums(one, measures) for one, measures in taken if one and measures]

    def cells(self, rows: pl.LazyFrame, keys: Keys) -> pl.LazyFrame:
        """The cells that the measures on curves need, of rows with the `KEY_INDEX`."""
        mergeable = all(measure.mergeable_segments for measure in self.request.on_curve)
        for_areas = mergeable and self.request.drawn_at is None
        ends = cells(rows, keys, weighted=self.predictions.weighted, for_areas=for_areas)
        return self.with_score(ends, keys.packing)

    def with_score(self, cells: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
        """Cells with their score, where a measure needs it."""
        if not self.needs.scored:
            return cells
        return cells.with_columns(packing.score_of(pl.col(SORT_CODE)).alias(SCORE))

    def thinned(self, table: pl.LazyFrame) -> pl.LazyFrame | None:
        """The points of curves that are seen in a chart, if they are drawn."""
        return (
            None
            if self.request.drawn_at is None
            else as_curve_tables(thin(table, self.request.drawn_at))
        )


def as_curve_tables(thinned: pl.LazyFrame) -> pl.LazyFrame:
    """Thinned curves as a curve table, without packed codes."""
    return recompute_steps(thinned).drop(KEY_INDEX, SORT_CODE)


def per_key(rows: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    """The sums of each `KEY_INDEX`."""
    return curve_sums(rows, [KEY_INDEX], measures)


def joined(wide: pl.LazyFrame, sums: pl.LazyFrame) -> pl.LazyFrame:
    """The totals of keys with their sums beside them."""
    return wide.join(sums.drop("positives", "negatives"), on=KEY_INDEX, how="left")
