"""What is independent, cases or clusters of them, and the variances of measures from it.

With clusters, influences are summed over each before they are squared (Obuchowski 1997). Of two
crossed clusterings that is done for each, and for both at once (Cameron, Gelbach and Miller 2011).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.statistics import equal_units
from polaroc.curves.cell_arrays import CellArrays, ScoredCells
from polaroc.measures.spec import Measure
from polaroc.typing import Array
from polaroc.uncertainty.cells import ClusteredCases, groups
from polaroc.uncertainty.evidence import FEWEST_CLUSTERS, crossed
from polaroc.uncertainty.influence import SegmentInfluence, losses_of

# Smaller variances are rounding error, since measures are of order 1.
NO_VARIANCE = 1e-26
# The counts of a class in a cell, and in its key.
CLASSES = (("pos", "positives"), ("neg", "negatives"))


class Places(NamedTuple):
    """Places of cases of consecutive keys: many share one, which has an influence."""

    of_case: "Array"
    key: "Array"  # of each place, counted from the first of these keys
    positives: int  # how many places of positives there are, which come first


class Placed(NamedTuple):
    """The cases of consecutive keys at places, by cluster."""

    places: Places
    alone: "Array"  # cases of each place that are alone in their cluster, or their squared weights
    # The places of the other positives, and negatives; their clusters, and what they weigh.
    shared: "list[Array]"
    group: "list[Array]"
    weight: "list[Array] | None"
    key_of_group: "Array"
    totals: "list[Array]"  # the positives and the negatives of each key

    def moments(self, values: "Array") -> "Array":
        """The squares of the sums over clusters, by class, and their products; by key."""
        moved = [values[place] for place in self.shared]
        if self.weight is not None:
            moved = [own * weight for own, weight in zip(moved, self.weight, strict=True)]
        of_pos, of_neg = (
            np.bincount(group, own, len(self.key_of_group))
            for group, own in zip(self.group, moved, strict=True)
        )
        positives, negatives = self.totals
        squares = np.where(self.alone > 0, self.alone * values**2, 0.0)
        size, first = len(positives), self.places.positives
        found = [np.bincount(self.key_of_group, of_pos * of_neg, size) / (positives * negatives)]
        for sums, of_class, total in (
            (of_neg, slice(first, None), negatives), (of_pos, slice(first), positives)
        ):  # fmt: skip
            alone = np.bincount(self.places.key[of_class], squares[of_class], size)
            square = np.bincount(self.key_of_group, sums**2, size)
            found.insert(0, (alone + square) / total**2)
        return np.stack(found)


@dataclass(frozen=True, eq=False)
class Clustering:
    """Cases by one clustering, whose clusters are each in one key."""

    cases: ClusteredCases
    group: "Array"  # the cluster of each case, key by key; −1 where it is alone in it
    key_of_group: "Array"  # of each cluster that has several cases
    # Of each key: clusters that have positives, that have negatives, of weighted ones as many
    # equal ones as say as much, and all clusters.
    numbers: "Array"

    @classmethod
    def of(cls, cases: ClusteredCases, cluster: "Array", *, weighted: bool) -> "Clustering":
        """The clustering with these numbers, which may be the same in several keys."""
        keys = len(cases.starts) - 1
        key = np.repeat(np.arange(keys), np.diff(cases.starts))
        code = pl.Series(key * (int(cluster.max(initial=0)) + 1) + cluster)
        group = code.rank("dense").to_numpy().astype(np.int64) - 1
        size = np.bincount(group)
        key_of_group = np.empty(len(size), np.int64)
        key_of_group[group] = key
        starts = np.searchsorted(key_of_group, np.arange(1, keys))
        numbers: list[Any] = []
        for own in (cases.truth, ~cases.truth):
            if weighted and cases.weight is not None:
                weights = np.split(np.bincount(group[own], cases.weight[own], len(size)), starts)
                numbers.append([equal_units(one[one > 0]) for one in weights])
            else:
                held = np.bincount(group[own], minlength=len(size)) > 0
                numbers.append(np.bincount(key_of_group[held], minlength=keys))
        numbers.append(np.bincount(key_of_group, minlength=keys))
        shared = size > 1
        group = np.where(shared, np.cumsum(shared) - 1, -1)[group]
        return cls(cases, group, key_of_group[shared], np.array(numbers, float))

    def placed(self, keys: slice, places: Places) -> Placed:
        """The cases of consecutive keys at places."""
        cases = self.cases
        rows = slice(int(cases.starts[keys.start]), int(cases.starts[keys.stop]))
        first, last = np.searchsorted(self.key_of_group, (keys.start, keys.stop))
        group, truth, at = self.group[rows], cases.truth[rows], places.of_case
        weight = None if cases.weight is None else cases.weight[rows]
        alone = np.flatnonzero(group < 0)
        squared = None if weight is None else weight[alone] ** 2
        shared = [np.flatnonzero((group >= 0) & own) for own in (truth, ~truth)]
        return Placed(
            places,
            np.bincount(at[alone], squared, len(places.key)),
            [at[own] for own in shared],
            [group[own] - first for own in shared],
            None if weight is None else [weight[own] for own in shared],
            self.key_of_group[first:last] - keys.start,
            [cases.totals[name][keys] for _, name in CLASSES],
        )

    @property
    def has_shared(self) -> "Array":
        """Whether cases of each key share a cluster."""
        has_shared: Array = np.bincount(self.key_of_group, minlength=len(self.numbers[0])) > 0
        return has_shared

    @property
    def of_prior(self) -> "Array":
        """The variance of the log-odds of the observed prior of each key."""
        cases, keys = self.cases, len(self.numbers[0])
        key = np.repeat(np.arange(keys), np.diff(cases.starts))
        places = Places(key + keys * ~cases.truth, np.tile(np.arange(keys), 2), keys)
        with np.errstate(all="ignore"):
            found = self.placed(slice(0, keys), places).moments(np.ones(2 * keys))
            variance: Array = found[0] + found[1] - 2 * found[2]
        return variance


def places_on_segments(cases: ClusteredCases, keys: slice) -> Places:
    """The places of the cases of consecutive keys among the values of `on_places`."""
    starts = cases.starts[keys.start : keys.stop + 1]
    of_areas = cases.areas.starts[keys.start : keys.stop + 1]
    of_cells, of_key = slice(of_areas[0], of_areas[-1]), np.diff(of_areas)
    size, count = int(of_areas[-1] - of_areas[0]), len(of_key)
    number, key = np.arange(size), np.repeat(np.arange(count), of_key)
    # Of each segment the level run before it and the cases with its score, of each key the rest.
    run = 2 * number + key
    rest = 2 * np.cumsum(of_key) + np.arange(count)
    ends, places = np.empty((2, 2 * size + count), np.int64)
    ends[run], ends[run + 1] = cases.tied[of_cells], cases.ends[of_cells]
    places[run], places[run + 1] = 2 * size + number, size + number
    ends[rest], places[rest] = starts[1:], 3 * size + np.arange(count)
    place = np.repeat(places, np.diff(ends, prepend=starts[0]))
    place -= size * cases.truth[starts[0] : starts[-1]]
    return Places(place, np.concatenate([key, key, key, np.arange(count)]), size)


def on_places(moved: SegmentInfluence, keys: slice, own: "Array") -> "Array":
    """The influence of positives, negatives, level runs and the rest; `own` keys have segments."""
    rest = np.zeros(keys.stop - keys.start)
    rest[own - keys.start] = moved.rest
    return np.concatenate([moved.pos, moved.neg, moved.level, rest])


def places_on_cells(cases: ClusteredCases, keys: slice, cells: CellArrays | ScoredCells) -> Places:
    """The places of the cases of consecutive keys: the positives of all their cells come first."""
    first, last = int(cases.starts[keys.start]), int(cases.starts[keys.stop])
    starts = cells.starts[keys.start : keys.stop + 1]
    size, place = int(starts[-1] - starts[0]), np.arange(starts[-1] - starts[0])
    if cases.firsts is not None:
        ends = np.append(cases.firsts[starts[0] + 1 : starts[-1]], last)
        place = np.repeat(place, np.diff(ends, prepend=first))
    key = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return Places(place + size * ~cases.truth[first:last], np.tile(key, 2), size)


@dataclass(frozen=True, eq=False)
class Units:
    """What is independent: cases, or clusters of them.

    Of two clusterings that cross each other there is also that by both at once, and numbers are
    those of the one with fewer.
    """

    # Of each key: cases of the class, or clusters that have such cases.
    positives: "Array"
    negatives: "Array"
    of_prior: "Array"  # the variance of the log-odds of the observed prior of each key
    least: "Array"  # units of each class that a key needs for limits
    clusterings: Sequence[Clustering] = ()

    @property
    def enough(self) -> "Array":
        """Whether a key has as many units of each class as limits need."""
        enough: Array = np.minimum(self.positives, self.negatives) >= self.least
        return enough

    def variances(
        self,
        positives: "Array",
        negatives: "Array",
        moments: "Sequence[Array]",
        more: "Sequence[tuple[float, float]] | None" = None,
    ) -> "Array":
        """Variances from mean squares of the influence of cases, by place, measure and key.

        `moments` are those of sums over the clusters of each clustering, without pseudo-cases:
        variances of clusters have the ratio to these of independent cases that they have there.
        `more` are units that a place adds to each class.
        """
        added = np.array([(0, 0)] * len(positives) if more is None else more)
        with np.errstate(all="ignore"):
            own = [
                squares / (count + extra[:, None, None] - 1)
                for squares, count, extra in zip(
                    (positives, negatives), (self.positives, self.negatives), added.T, strict=True
                )
            ]
            if not self.clusterings:
                independent: Array = own[0] + own[1]
                return independent
            pairs = zip(self.clusterings, moments, strict=True)
            return crossed([_between(own, one.numbers, found) for one, found in pairs])

    def moments_of_losses(
        self, cells: CellArrays | ScoredCells, measures: Sequence[Measure]
    ) -> "list[Array]":
        """The moments of means of losses, by clustering."""
        size = len(self.positives)
        moments = np.full((len(self.clusterings), 3, len(measures), size), np.nan)

        def job(own: "Array") -> None:
            cases, keys = self.clusterings[0].cases, slice(int(own[0]), int(own[-1]) + 1)
            columns = cells.block(int(cells.starts[keys.start]), int(cells.starts[keys.stop]))
            places = places_on_cells(cases, keys, cells)
            placed = [one.placed(keys, places) for one in self.clusterings]
            key = places.key[: places.positives]
            with np.errstate(all="ignore"):
                for i, measure in enumerate(measures):
                    if measure.case_loss is None:
                        continue
                    centred = []
                    losses = losses_of(measure.case_loss, columns)
                    for loss, (count, total) in zip(losses, CLASSES, strict=True):
                        # A score of 0 or 1 may be infinitely wrong for cases that are not there.
                        known = np.where(columns[count] > 0, loss, 0.0)
                        share = columns[count] / columns[total]
                        mean = np.bincount(key, share * known, len(own))
                        centred.append(known - mean[key])
                    for found, one in zip(moments, placed, strict=True):
                        found[:, i, keys] = one.moments(np.concatenate(centred))

        if self.clusterings:
            areas = self.clusterings[0].cases.areas
            with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
                list(pool.map(job, groups(areas.starts, np.arange(size))))
        return [*moments]


def _between(own: "Sequence[Array]", numbers: "Array", moments: "Array") -> "Array":
    """The variances between clusters, from those of independent cases of either class."""
    between = (numbers / (numbers - 1))[:, None] * moments
    of_classes = [
        of_class * np.where(of_class[0] > NO_VARIANCE, whole / of_class[0], 1.0)
        for of_class, whole in zip(own, between[:2], strict=True)
    ]
    of_pos, of_neg = of_classes
    # What is rounding in one class has no covariance with the other.
    known = (of_pos[0] > NO_VARIANCE) & (of_neg[0] > NO_VARIANCE)
    ratio = (of_pos * of_neg) / (of_pos[0] * of_neg[0])
    summed: Array = of_pos + of_neg + 2 * between[2] * np.sqrt(np.where(known, ratio, 0.0))
    return np.maximum(summed, 0.0)


def cases_as_units(positives: "Array", negatives: "Array") -> Units:
    """Cases that are independent."""
    with np.errstate(all="ignore"):
        least = np.full(len(positives), 2)
        return Units(positives, negatives, 1 / positives + 1 / negatives, least)


def clusters_as_units(cases: ClusteredCases, *, weighted: bool = False) -> Units:
    """Clusters that are independent; where they are `weighted`, as many equal ones."""
    found = [Clustering.of(cases, own, weighted=weighted) for own in cases.clusters]
    fewest = np.min([one.numbers for one in found], axis=0)
    # Clusters of one case each are cases.
    has_shared = np.any([one.has_shared for one in found], axis=0)
    least = np.where(has_shared, FEWEST_CLUSTERS, 2)
    return Units(fewest[0], fewest[1], crossed([one.of_prior for one in found]), least, found)
