"""The sums per key that the measures need: rows are read once, and ranked at once or in parts."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.columns import effective_column
from polaroc.base.private_columns import KEY_INDEX, KEY_NUMBER, PLACE
from polaroc.curves.cell_arrays import CellArrays, KeyCounts, RankedCells, ScoredCells
from polaroc.curves.held import TOTALS, HeldRows, to_curve_table
from polaroc.curves.hull import hull_vertices, hulls
from polaroc.curves.keys import LEAST_WEIGHTS
from polaroc.curves.ranking import ranked_cells
from polaroc.curves.segments import COUNTS
from polaroc.curves.thinning import visible_points
from polaroc.evaluation.partitions import NumberedRows, Partition, mapped, partitions
from polaroc.evaluation.reader import Reader, Stored
from polaroc.evaluation.request import Needs, Request
from polaroc.files.memory import resolve_memory
from polaroc.measures.array_sums import array_sums
from polaroc.measures.spec import Measure, ingredients
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import read
from polaroc.typing import Array

# Bytes that the process uses before the first row.
BASE = 300_000_000
# Rows of a partition that are ranked at once, though more would fit: these per key, or at least.
ENOUGH_PER_KEY, ENOUGH = 20, 1_000_000


@dataclass(frozen=True)
class Part:
    """Ranked rows of a part of the scores."""

    ranked: RankedCells
    key: "Array"  # the number of each key that has rows in the part
    above: KeyCounts  # of these keys
    # The least weight of a positive and of a negative of these keys, where there are weights.
    least: "tuple[Array, Array] | None" = None
    whole: bool = False  # whether these are all rows

    @property
    def cells(self) -> CellArrays:
        """The cells, with what is above the part and the totals of all rows."""
        if self.whole:
            return self.ranked
        number = np.diff(self.ranked.starts)
        counts = dict(self.ranked.counts)
        for i, (name, total) in enumerate((("tp", TOTALS[0]), ("fp", TOTALS[1]))):
            counts[name] = counts[name] + np.repeat(getattr(self.above, name), number)
            counts[total] = np.repeat(getattr(self.above, total), number)
            if self.least is not None:
                # Sums of weights are rounded: less than one weight is missing to the total.
                short = counts[total] - counts[name] < np.repeat(self.least[i], number) / 2
                counts[name] = np.where(short, counts[total], counts[name])
        return CellArrays(counts, self.ranked.starts)

    @property
    def scored(self) -> ScoredCells | None:
        """All cells, with the totals of all rows."""
        of_keys = {name: getattr(self.above, name) for name in TOTALS}
        return self.ranked.scored and replace(self.ranked.scored, of_keys=of_keys)


class PartialSums:
    """The sums of each of some keys, to which parts of the scores are added, the best first."""

    def __init__(self, needs: Needs, keys: int) -> None:
        self.needs = needs
        _, on_curve, self._on_hull = needs.request.select(ARRAYS)
        self._of_cells = [measure for measure in on_curve if measure.every_cell]
        self._areas = [measure for measure in on_curve if not measure.every_cell]
        _, sums, self._least = ingredients([*on_curve, *self._on_hull])
        self._sums = {name: np.zeros(keys) for name in sums}
        self._sums |= {name: np.full(keys, np.nan) for name in self._least}
        self._outer: list[dict[str, Array]] = []
        self._points: list[pl.DataFrame] = []

    @classmethod
    def of_all(cls, needs: Needs, ranked: RankedCells) -> "PartialSums":
        """The sums of all rows at once."""
        keys = ranked.totals.height
        none = np.zeros(keys, np.int64)
        totals = (ranked.totals[name].to_numpy() for name in TOTALS)
        sums = cls(needs, keys)
        sums.add(Part(ranked, np.arange(keys), KeyCounts(none, none, *totals), whole=True))
        return sums

    def add(self, part: Part) -> None:
        """Add the rows of a part of the scores."""
        cells, scored = part.cells, part.scored
        if self._areas:
            self._add_sums(cells, self._areas, part.key)
        if self._of_cells and scored is not None:
            self._add_sums(scored, self._of_cells, part.key)
        if self._on_hull:
            # The hull of a part is part of the hull of all rows.
            places = slice(None) if part.whole else _outermost(part.ranked)
            owner = np.repeat(part.key, np.diff(cells.starts))
            columns = {PLACE: owner, "tp": cells.counts["tp"], "fp": cells.counts["fp"]}
            self._outer.append({name: values[places] for name, values in columns.items()})
        if self.needs.drawn:
            points = visible_points(part.ranked, part.above)
            number = pl.Series(PLACE, part.key[points[PLACE].to_numpy()])
            self._points.append(points.with_columns(number))

    def beside(self, totals: pl.DataFrame) -> pl.DataFrame:
        """The sums beside the totals of the keys, in the order of their numbers."""
        if self._on_hull:
            hull = _hulls_of_cells(self._all_outer(totals))
            self._add_sums(hull, self._on_hull, np.arange(totals.height))
        sums = {name: values for name, values in self._sums.items() if name not in totals.columns}
        return pl.concat([totals, pl.DataFrame(sums)], how="horizontal")

    def curves(self, totals: pl.DataFrame) -> pl.LazyFrame | None:
        """The points of curves, or of their hulls, that are seen in a chart, if they are drawn."""
        if not self.needs.drawn:
            return None
        points = pl.concat(self._points).sort(PLACE, maintain_order=True)
        curves = to_curve_table(points, totals).lazy()
        return hulls(curves) if self.needs.request.interpolation == "hull" else curves

    def _add_sums(
        self, cells: CellArrays | ScoredCells, measures: list[Measure], key: "Array"
    ) -> None:
        for column in array_sums(cells, measures).iter_columns():
            values, sums = column.to_numpy(), self._sums[column.name]
            if column.name in self._least:
                sums[key] = np.fmin(sums[key], values)
            else:
                # A key without cells adds nothing.
                sums[key] += np.where(np.isnan(values), 0, values)

    def _all_outer(self, totals: pl.DataFrame) -> CellArrays:
        """The outermost cells of all parts, by key."""
        columns = {
            name: np.concatenate([part[name] for part in self._outer])
            for name in (PLACE, "tp", "fp")
        }
        order = np.argsort(columns[PLACE], kind="stable")
        owner = columns[PLACE][order]
        counts = {name: columns[name][order] for name in ("tp", "fp")}
        counts |= {name: totals[name].to_numpy()[owner] for name in TOTALS}
        starts = np.searchsorted(owner, np.arange(totals.height + 1))
        return CellArrays({name: counts[name] for name in COUNTS if name in counts}, starts)


class CurveTotals(NamedTuple):
    """The totals and sums of each key, the keys' names, the thinned curves if they are drawn."""

    wide: pl.DataFrame
    keys: list[str]
    curves: pl.LazyFrame | None


def curve_totals(cases: Cases[Any], request: Request) -> CurveTotals:
    """The sums of all keys, computed now.

    A sum over a curve is the sum over parts of its scores, given the totals and the counts above
    each part. So rows that do not fit in memory are read onto disk, and ranked in parts.
    """
    if isinstance(cases.rows, pl.DataFrame) and request.memory is None:
        predictions = read(cases)
        return ranked_totals(HeldRows.of(predictions), Needs(request, predictions.weighted))[0]
    predictions = read(cases, once=True)
    needs = Needs(request, predictions.weighted)
    room = resolve_memory("auto" if request.memory is None else request.memory) - BASE
    with ExitStack() as stack:
        reader = Reader(cases, predictions, needs, room, stack)
        rows = reader.rows()
        if isinstance(rows, HeldRows):
            return ranked_totals(rows, needs)[0]
        return _in_parts(rows, needs, room, reader.batch_rows)


def ranked_totals(held: HeldRows, needs: Needs) -> tuple[CurveTotals, RankedCells]:
    """The sums of rows in memory, which are ranked at once, and their cells."""
    ranked = held.ranked(scored=needs.scored, merged=needs.merged)
    sums = PartialSums.of_all(needs, ranked)
    totals = ranked.totals.drop(KEY_INDEX)
    curves = sums.curves(totals.drop("note"))
    return CurveTotals(sums.beside(totals), held.predictions.keys, curves), ranked


def _in_parts(stored: Stored, needs: Needs, room: int, batch_rows: int) -> CurveTotals:
    """The sums of rows on disk, the best scores first."""
    totals = stored.totals
    keys, size = totals.height, stored.files.size

    def fits(rows: int, positives: int) -> bool:
        # One part is ranked while another is summed up.
        held = 2 * rows * needs.bytes_on_disk
        return 2 * (held + needs.bytes_to_rank(rows, positives)) <= room

    enough = max(ENOUGH, ENOUGH_PER_KEY * keys)
    parts: Iterator[Partition] = partitions(stored.files, fits, enough, batch_rows)
    above = np.zeros((2, keys), float if needs.weighted else np.int64)
    of_keys = [totals[name].to_numpy() for name in TOTALS]
    least = [totals[name].to_numpy() for name in LEAST_WEIGHTS if needs.weighted]
    sums, done = PartialSums(needs, keys), 0
    for part, ranked in mapped(partial(_ranked, stored=stored, needs=needs), parts, 1):
        key = ranked.totals[KEY_NUMBER].to_numpy()
        counts = KeyCounts(*above[:, key], *(of[key] for of in of_keys))
        of_part = (least[0][key], least[1][key]) if needs.weighted else None
        sums.add(Part(ranked, key, counts, of_part))
        above[:, key] += np.array([ranked.totals[name].to_numpy() for name in TOTALS], above.dtype)
        done += part.size
        if needs.request.callback is not None:
            needs.request.callback(done, size)
    effective = effective_column(totals)
    shown = totals.select(*stored.predictions.keys, *TOTALS, *effective, "note")
    return CurveTotals(sums.beside(shown), stored.predictions.keys, sums.curves(shown.drop("note")))


def _ranked(part: Partition, stored: Stored, needs: Needs) -> tuple[Partition, RankedCells]:
    """A part of the rows, and its cells; their key is the place in the totals."""
    tied = part.tied is not None
    rows = _summed(part) if tied else next(iter(part.parts()))
    predictions = replace(
        stored.predictions, rows=rows.frame(stored.index, KEY_NUMBER).lazy(), keys=[KEY_NUMBER],
        weighted=rows.weight is not None, possible_errors=[], repeatable=True,
    )  # fmt: skip
    scored = needs.scored or (tied and needs.drawn)
    return part, ranked_cells(predictions, scored=scored, merged=needs.merged)


def _summed(part: Partition) -> NumberedRows:
    """Rows of one score as one row per key and class, with their number or weight."""
    counts: Array = np.zeros(0)
    for rows in part.parts():
        more = np.bincount(rows.label, rows.weight)
        size = max(len(more), len(counts))
        counts = np.pad(counts, (0, size - len(counts))) + np.pad(more, (0, size - len(more)))
    label = np.flatnonzero(counts)
    return NumberedRows(np.full(len(label), part.tied), label, counts[label])


def _hulls_of_cells(cells: CellArrays) -> CellArrays:
    """The segments with positives of the hull of each key, none of a key that lacks a class."""
    counts, sizes = cells.counts, np.zeros(len(cells.starts) - 1, np.int64)
    parts: list[tuple[Array, ...]] = []
    for i, (start, end) in enumerate(pairwise(cells.starts.tolist())):
        if start == end or counts["negatives"][start] == 0:
            continue
        totals = counts["positives"][start], counts["negatives"][start]
        tp, fp = (
            np.concatenate(([0], counts[name][start:end], [total]))
            for name, total in zip(("tp", "fp"), totals, strict=True)
        )
        vertices = hull_vertices(fp, tp)
        pos, neg = np.diff(tp[vertices]), np.diff(fp[vertices])
        # Only the last segment can have no positives.
        size = sizes[i] = int((pos > 0).sum())
        ends = vertices[1 : size + 1]
        both = (np.full(size, total) for total in totals)
        parts.append((pos[:size], neg[:size], tp[ends], fp[ends], *both))
    columns: list[Array] = [np.concatenate(part) for part in zip(*parts, strict=True)]
    columns = columns or [np.zeros(0)] * len(COUNTS)
    return CellArrays(
        dict(zip(COUNTS, columns, strict=True)), np.concatenate(([0], sizes.cumsum()))
    )


def _outermost(cells: CellArrays) -> Array:
    """The places of cells at vertices of the hull of their key's cells."""
    counts, kept = cells.counts, []
    for start, end in pairwise(cells.starts.tolist()):
        if start == end:
            continue
        fp, tp = (np.append(0, counts[name][start:end]) for name in ("fp", "tp"))
        kept.append(start + hull_vertices(fp, tp)[1:] - 1)
    return np.concatenate(kept) if kept else np.zeros(0, np.int64)
