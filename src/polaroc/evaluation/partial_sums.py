"""The sums per key that the measures need, of ranked rows: all of them, or part by part."""

from dataclasses import dataclass, replace

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.lazy import np
from polaroc.base.private_columns import PLACE
from polaroc.curves.held import TOTALS, to_curve_table
from polaroc.curves.hull import hulls, hulls_of_cells, outermost
from polaroc.curves.ranking import CellArrays, KeyCounts, RankedCells, ScoredCells
from polaroc.curves.segments import COUNTS
from polaroc.curves.thinning import visible_points
from polaroc.evaluation.needs import Needs
from polaroc.measures.array_sums import array_sums
from polaroc.measures.spec import Measure, ingredients
from polaroc.typing import Array


@dataclass(frozen=True)
class Part:
    """Ranked rows of a part of the scores.

    Attributes
    ----------
    key
        Of each key that has rows in the part, its number.
    above
        The counts of these keys.
    least
        Of weights: the least of a positive and of a negative of these keys.
    """

    ranked: RankedCells
    key: "Array"
    above: KeyCounts
    least: "tuple[Array, Array] | None" = None

    @property
    def cells(self) -> CellArrays:
        """The cells, with what is above the part and the totals of all rows."""
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
        sums = cls(needs, ranked.totals.height)
        key = np.arange(ranked.totals.height)
        sums._add(ranked, ranked.scored, key)
        if sums._on_hull:
            sums._add_outer(ranked, key, None)
        if needs.drawn:
            totals = (ranked.totals[name].to_numpy() for name in TOTALS)
            none = np.zeros(len(key), np.int64)
            sums._points.append(visible_points(ranked, KeyCounts(none, none, *totals)))
        return sums

    def add(self, part: Part) -> None:
        """Add the rows of a part of the scores."""
        cells = part.cells
        self._add(cells, part.scored, part.key)
        if self._on_hull:
            # Its hull is part of the hull of all rows.
            self._add_outer(cells, part.key, outermost(part.ranked))
        if self.needs.drawn:
            points = visible_points(part.ranked, part.above)
            number = pl.Series(PLACE, part.key[points[PLACE].to_numpy()])
            self._points.append(points.with_columns(number))

    def beside(self, totals: pl.DataFrame) -> pl.DataFrame:
        """The sums beside the totals of the keys, in the order of their numbers."""
        if self._on_hull:
            hull = hulls_of_cells(self._all_outer(totals))
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

    def _add(self, cells: CellArrays, scored: ScoredCells | None, key: "Array") -> None:
        if self._areas:
            self._add_sums(cells, self._areas, key)
        if self._of_cells and scored is not None:
            self._add_sums(scored, self._of_cells, key)

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

    def _add_outer(self, cells: CellArrays, key: "Array", places: "Array | None") -> None:
        owner = np.repeat(key, np.diff(cells.starts))
        columns = {PLACE: owner, "tp": cells.counts["tp"], "fp": cells.counts["fp"]}
        if places is not None:
            columns = {name: values[places] for name, values in columns.items()}
        self._outer.append(columns)

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
