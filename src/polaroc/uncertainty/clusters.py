"""Variances of measures from sums over clusters of cases (Obuchowski 1997)."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, TRUTH, WEIGHT
from polaroc.curves.ranking import CellArrays
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.typing import Array
from polaroc.uncertainty.cells import cells_of, groups, segments_of, with_positives
from polaroc.uncertainty.influence import losses_of, on_segments
from polaroc.uncertainty.spread import Between, Units

# Possible clusters per row up to which those that are not there are counted as well.
SPARSE = 4
# Three numbers of each cluster from the sums over its positives and over its negatives.
Moments: TypeAlias = "Callable[[Array, Array], tuple[Array, Array, Array]]"


@dataclass(frozen=True, eq=False)
class ClusteredCases:
    """Cases by key, best score first, and what tells clusters apart.

    Attributes
    ----------
    score, truth, weight
        Of each case.
    cluster
        A number, different in different keys.
    starts
        The first case of each key, then the number of cases.
    first_cluster
        The least number of a cluster of each key, then of none.
    """

    score: "Array"
    truth: "Array"
    weight: "Array"
    cluster: "Array"
    starts: "Array"
    first_cluster: "Array"

    @cached_property
    def cells(self) -> CellArrays:
        """All cells with their scores."""
        firsts = np.flatnonzero(self._new)
        pos, neg = (
            np.add.reduceat(np.where(own, self.weight, 0.0), firsts)
            for own in (self.truth, ~self.truth)
        )
        starts = np.searchsorted(firsts, self.starts)
        return cells_of(starts, pos=pos, neg=neg, **{SCORE: self.score[firsts]})

    @cached_property
    def cell(self) -> "Array":
        """The cell of each case."""
        return np.cumsum(self._new) - 1

    @cached_property
    def _new(self) -> "Array":
        new = np.append(True, self.score[1:] != self.score[:-1])
        new[self.starts[:-1]] = True
        return new

    def by_cluster(self, of_class: "Array", values: "Array", own: slice) -> "Array":
        """The sums of values over the cases of a class, by cluster of consecutive keys."""
        first, last = self.first_cluster[[own.start, own.stop]]
        rows = slice(self.starts[own.start], self.starts[own.stop])
        among = np.flatnonzero(of_class[rows])
        sums: Array = np.bincount(
            self.cluster[rows][among] - first,
            values[among] * self.weight[rows][among],
            minlength=last - first,
        )
        return sums

    def units(self, measures: Sequence[Measure]) -> Units:
        """The numbers of clusters, and the variances of measures between them."""
        keys = slice(0, len(self.starts) - 1)
        ones = np.ones(len(self.truth))
        own = [self.by_cluster(of_class, ones, keys) for of_class in (self.truth, ~self.truth)]
        numbers = [self._total(weight > 0, keys) for weight in (*own, own[0] + own[1])]
        totals = [np.repeat(self._total(weight, keys), self._sizes(keys)) for weight in own]
        with np.errstate(all="ignore"):
            of_prior = self._total((own[0] / totals[0] - own[1] / totals[1]) ** 2, keys)
        between = [
            _factored(of_kind(chosen, _products, numbers), numbers) if chosen else None
            for of_kind, chosen in (
                (self._areas, [one for one in measures if one.is_area]),
                (self._losses, [one for one in measures if not one.is_area]),
            )
        ]
        return Units(numbers[0], numbers[1], of_prior, *between)

    def _sizes(self, keys: slice) -> "Array":
        return np.diff(self.first_cluster[keys.start : keys.stop + 1])

    def _total(self, values: "Array", keys: slice) -> "Array":
        """The sums of values of clusters, by key."""
        firsts = self.first_cluster[keys.start : keys.stop] - self.first_cluster[keys.start]
        total: Array = np.add.reduceat(values.astype(float), firsts)
        return total

    def moments_of_areas(self, measures: Sequence[Measure]) -> "Array":
        """The sums of squares and of cubes of what each cluster moves areas by, by measure."""
        moments: Array = self._areas(measures, _powers)[1:, :, 0]
        return moments

    def _moments(self, among: "Sequence[Array]", keys: slice, of_sums: Moments) -> "Array":
        """Moments of the sums of the influence of positives and negatives over clusters."""
        sums = [
            self.by_cluster(of_class, moved, keys)
            for of_class, moved in zip((self.truth, ~self.truth), among, strict=True)
        ]
        cells = self.cells.counts
        first = self.cells.starts[keys.start : keys.stop]
        with np.errstate(all="ignore"):
            for own, name in zip(sums, ("positives", "negatives"), strict=True):
                own /= np.repeat(cells[name][first], self._sizes(keys))
        return np.stack([self._total(values, keys) for values in of_sums(*sums)])

    def _areas(
        self,
        measures: Sequence[Measure],
        of_sums: Moments,
        numbers: "Sequence[Array] | None" = None,
    ) -> "Array":
        """Moments of the influence on areas; shape (3, measures, keys)."""
        found = np.full((3, len(measures), len(self.starts) - 1), np.nan)
        cells, rising = self.cells, with_positives(self.cells)
        has_both = np.flatnonzero(np.diff(rising.starts))
        has_area = cells.counts["pos"] > 0
        units = None if numbers is None else (numbers[0], numbers[1])
        # Of each cell the segment that ends there, or the next below.
        below: Array = np.cumsum(has_area) - has_area

        def job(keys: "Array") -> None:
            own = slice(int(keys[0]), int(keys[-1]) + 1)
            segments = segments_of(rising, keys, units)
            of_cells = slice(cells.starts[own.start], cells.starts[own.stop])
            segment = below[of_cells] - rising.starts[own.start]
            is_segment = has_area[of_cells]
            last = np.repeat(segments.ends, np.diff(cells.starts[own.start : own.stop + 1]))
            of_key = np.repeat(
                np.arange(len(keys)), np.diff(cells.starts[own.start : own.stop + 1])
            )
            is_rest = segment > last
            segment = np.minimum(segment, len(segments.pos) - 1)
            cell = self.cell[self.starts[own.start] : self.starts[own.stop]] - of_cells.start
            for i, moved in enumerate(on_segments(segments, measures)):
                negative = np.where(is_segment, moved.neg[segment], moved.level[segment])
                negative = np.where(is_rest, moved.rest[of_key], negative)
                among = moved.pos[segment][cell], negative[cell]
                found[:, i, own] = self._moments(among, own, of_sums)

        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            list(pool.map(job, _runs(groups(rising.starts, has_both))))
        return found

    def _losses(
        self, measures: Sequence[Measure], of_sums: Moments, _: "Sequence[Array]"
    ) -> "Array":
        """Moments of the losses of cases."""
        keys = slice(0, len(self.starts) - 1)
        found = np.full((3, len(measures), keys.stop), np.nan)
        known = {name: own[self.cell] for name, own in self.cells.counts.items()}
        for i, measure in enumerate(measures):
            if measure.case_loss is None:
                continue
            with np.errstate(all="ignore"):
                among = losses_of(measure.case_loss, known)
                centred = []
                for of_class, moved in zip((self.truth, ~self.truth), among, strict=True):
                    moved = np.where(of_class, moved, 0.0)
                    mass = np.where(of_class, self.weight, 0.0)
                    mean = np.add.reduceat(moved * mass, self.starts[:-1])
                    mean /= np.add.reduceat(mass, self.starts[:-1])
                    centred.append(moved - np.repeat(mean, np.diff(self.starts)))
                found[:, i] = self._moments(centred, keys, of_sums)
        return found


def _products(positives: "Array", negatives: "Array") -> "tuple[Array, Array, Array]":
    return positives**2, negatives**2, positives * negatives


def _powers(positives: "Array", negatives: "Array") -> "tuple[Array, Array, Array]":
    both = positives + negatives
    return both, both**2, both**3


def _runs(parts: "Sequence[Array]") -> "list[Array]":
    """Groups of keys cut where a key between them is left out."""
    return [run for part in parts for run in np.split(part, np.flatnonzero(np.diff(part) > 1) + 1)]


def _factored(moments: "Array", numbers: "Sequence[Array]") -> Between:
    with np.errstate(all="ignore"):
        of_pos, of_neg, of_both = (number / (number - 1) for number in numbers)
        return Between(of_pos * moments[0], of_neg * moments[1], 2 * of_both * moments[2])


def ranked_cases(cases: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Cases that weigh something by key, best score first."""
    if WEIGHT in cases.columns:
        cases = cases.filter(pl.col(WEIGHT) > 0)
    return cases.sort(*keys, SCORE, descending=[*(False for _ in keys), True], nulls_last=True)


def clustered_cases(rows: pl.DataFrame, starts: "Array") -> ClusteredCases:
    """Cases that are sorted by key, best score first, with their `CLUSTER`."""
    check_clusters(rows[CLUSTER].null_count())
    size = rows.height
    cluster = rows[CLUSTER].rank("dense").to_numpy().astype(np.int64) - 1
    many = int(cluster.max(initial=-1)) + 1
    code = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * many + cluster
    first = np.arange(len(starts)) * many
    if first[-1] > SPARSE * size:
        known, code = np.unique(code, return_inverse=True)
        first = np.searchsorted(known, first)
    weight = rows[WEIGHT].to_numpy() if WEIGHT in rows.columns else np.ones(size)
    return ClusteredCases(
        rows[SCORE].cast(pl.Float64).to_numpy(), rows[TRUTH].to_numpy(), weight, code, starts, first
    )
