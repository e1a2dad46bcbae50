"""What is independent, cases or clusters of them, and the variances of measures from it.

With clusters, influences are summed over each before they are squared (Obuchowski 1997). Of two
crossed clusterings that is done for each, and for both at once (Cameron, Gelbach and Miller 2011).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

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


class Placed(NamedTuple):
    """The cases of consecutive keys by cluster; many share a place, which has an influence.

    Attributes
    ----------
    place, group, weight
        Of the positives and of the negatives.
    totals
        The positives and the negatives of each key.
    key_of_group
        The key of each cluster.
    """

    place: "list[Array]"
    group: "list[Array]"
    weight: "list[Array] | None"
    totals: "list[Array]"
    key_of_group: "Array"

    def moments(self, values: "Array") -> "Array":
        """The squares of the sums over clusters, by class, and their products; by key."""
        moved = [values[place] for place in self.place]
        if self.weight is not None:
            moved = [own * weight for own, weight in zip(moved, self.weight, strict=True)]
        of_pos, of_neg = (
            np.bincount(group, own, len(self.key_of_group)) / total[self.key_of_group]
            for group, own, total in zip(self.group, moved, self.totals, strict=True)
        )
        size = len(self.totals[0])
        products = (of_pos**2, of_neg**2, of_pos * of_neg)
        return np.stack([np.bincount(self.key_of_group, one, size) for one in products])


@dataclass(frozen=True, eq=False)
class Clustering:
    """The clusters of cases by one clustering, each of them in one key.

    Attributes
    ----------
    cases
        The cases.
    group
        The cluster of each case, numbered from 0 on, key by key.
    key_of_group
        The key of each cluster.
    """

    cases: ClusteredCases
    group: "Array"
    key_of_group: "Array"

    @classmethod
    def of(cls, cases: ClusteredCases, cluster: "Array") -> "Clustering":
        """The clustering with these numbers, which may be the same in several keys."""
        key = np.repeat(np.arange(len(cases.starts) - 1), np.diff(cases.starts))
        code = pl.Series(key * (int(cluster.max(initial=0)) + 1) + cluster)
        group = code.rank("dense").to_numpy().astype(np.int64) - 1
        key_of_group = np.empty(int(group.max(initial=-1)) + 1, np.int64)
        key_of_group[group] = key
        return cls(cases, group, key_of_group)

    def placed(self, keys: slice, place: "Array") -> Placed:
        """The cases of consecutive keys at places, which are counted from these keys on."""
        cases = self.cases
        rows = slice(int(cases.starts[keys.start]), int(cases.starts[keys.stop]))
        first, last = np.searchsorted(self.key_of_group, (keys.start, keys.stop))
        group, truth = self.group[rows] - first, cases.truth[rows]
        classes = [np.flatnonzero(truth), np.flatnonzero(~truth)]
        return Placed(
            [place[own] for own in classes],
            [group[own] for own in classes],
            None if cases.weight is None else [cases.weight[rows][own] for own in classes],
            [cases.totals[name][keys] for _, name in CLASSES],
            self.key_of_group[first:last] - keys.start,
        )

    def numbers(self, *, weighted: bool) -> "Array":
        """How many clusters of each key have positives, have negatives, and are there.

        Of `weighted` ones that have cases of a class as many as equal ones that say as much.
        """
        cases, size = self.cases, len(self.cases.starts) - 1
        numbers = [np.bincount(self.key_of_group, minlength=size)]
        starts = np.searchsorted(self.key_of_group, np.arange(1, size))
        for own in (~cases.truth, cases.truth):
            weight = None if cases.weight is None else cases.weight[own]
            held = np.bincount(self.group[own], weight, len(self.key_of_group))
            if weighted:
                found = [equal_units(one[one > 0]) for one in np.split(held, starts)]
            else:
                found = np.bincount(self.key_of_group, held > 0, size)
            numbers.insert(0, found)
        return np.array(numbers, float)

    @property
    def has_shared(self) -> "Array":
        """Whether cases of each key share a cluster."""
        shared = self.key_of_group[np.bincount(self.group) > 1]
        return np.bincount(shared, minlength=len(self.cases.starts) - 1) > 0

    @property
    def of_prior(self) -> "Array":
        """The variance of the log-odds of the observed prior of each key."""
        starts = self.cases.starts
        placed = self.placed(slice(0, len(starts) - 1), np.zeros(int(starts[-1]), np.int64))
        with np.errstate(all="ignore"):
            of_pos, of_neg, both = placed.moments(np.ones(1))
            variance: Array = of_pos + of_neg - 2 * both
        return variance


def places_on_segments(cases: ClusteredCases, keys: slice) -> "Array":
    """The places of the cases of consecutive keys among the values of `on_places`."""
    starts = cases.starts[keys.start : keys.stop + 1]
    of_areas = cases.areas.starts[keys.start : keys.stop + 1]
    of_cells, of_key = slice(of_areas[0], of_areas[-1]), np.diff(of_areas)
    size, count = int(of_areas[-1] - of_areas[0]), len(of_key)
    number = np.arange(size)
    # Of each segment the level run before it and the cases with its score, of each key the rest.
    run = 2 * number + np.repeat(np.arange(count), of_key)
    rest = 2 * np.cumsum(of_key) + np.arange(count)
    ends, places = np.empty((2, 2 * size + count), np.int64)
    ends[run], ends[run + 1] = cases.tied[of_cells], cases.ends[of_cells]
    places[run], places[run + 1] = 2 * size + number, size + number
    ends[rest], places[rest] = starts[1:], 3 * size + np.arange(count)
    place = np.repeat(places, np.diff(ends, prepend=starts[0]))
    place -= size * cases.truth[starts[0] : starts[-1]]
    return place


def on_places(moved: SegmentInfluence, keys: slice, own: "Array") -> "Array":
    """The influence of positives, negatives, level runs and the rest; `own` keys have segments."""
    rest = np.zeros(keys.stop - keys.start)
    rest[own - keys.start] = moved.rest
    return np.concatenate([moved.pos, moved.neg, moved.level, rest])


def places_on_cells(cases: ClusteredCases, keys: slice, cells: slice) -> "Array":
    """The places of the cases of consecutive keys: the positives of all their cells come first."""
    first, last = int(cases.starts[keys.start]), int(cases.starts[keys.stop])
    size = cells.stop - cells.start
    place = np.arange(size)
    if cases.firsts is not None:
        ends = np.append(cases.firsts[cells.start + 1 : cells.stop], last)
        place = np.repeat(place, np.diff(ends, prepend=first))
    return place + size * ~cases.truth[first:last]


@dataclass(frozen=True, eq=False)
class Units:
    """What is independent: cases, or clusters of them.

    Attributes
    ----------
    positives, negatives
        Of each key: cases of the class, or clusters that have such cases, of weighted ones as many
        equal ones; of crossed clusterings those of the one with fewer.
    of_prior
        The variance of the log-odds of the observed prior of each key.
    least
        How many units of each class a key needs for limits.
    clusterings
        None of cases; of two that cross each other also that by both at once.
    numbers
        Those of each clustering.
    """

    positives: "Array"
    negatives: "Array"
    of_prior: "Array"
    least: "Array"
    clusterings: Sequence[Clustering] = ()
    numbers: "Sequence[Array]" = ()

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
            pairs = zip(self.numbers, moments, strict=True)
            return crossed([_between(own, numbers, found) for numbers, found in pairs])

    def moments_of_losses(
        self, cells: CellArrays | ScoredCells, measures: Sequence[Measure]
    ) -> "Array":
        """The moments of means of losses: by clustering, moment, measure and key."""
        size = len(self.positives)
        moments = np.full((len(self.clusterings), 3, len(measures), size), np.nan)

        def job(own: "Array") -> None:
            cases, keys = self.clusterings[0].cases, slice(int(own[0]), int(own[-1]) + 1)
            of_cells = slice(int(cells.starts[keys.start]), int(cells.starts[keys.stop]))
            columns = cells.block(of_cells.start, of_cells.stop)
            place = places_on_cells(cases, keys, of_cells)
            placed = [one.placed(keys, place) for one in self.clusterings]
            key = np.repeat(own - own[0], np.diff(cells.starts[keys.start : keys.stop + 1]))
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
        return moments


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
    found = [Clustering.of(cases, own) for own in cases.clusters]
    numbers = [one.numbers(weighted=weighted) for one in found]
    fewest = np.min(numbers, axis=0)
    # Clusters of one case each are cases.
    has_shared = np.any([one.has_shared for one in found], axis=0)
    least = np.where(has_shared, FEWEST_CLUSTERS, 2)
    of_prior = crossed([one.of_prior for one in found])
    return Units(fewest[0], fewest[1], of_prior, least, found, numbers)
