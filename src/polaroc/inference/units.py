"""The independent units, cases or clusters of them, and the variances of measures from them.

With clusters, influences are summed over each before they are squared (Obuchowski 1997).
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.private_columns import CLUSTER, KEY_INDEX
from polaroc.base.statistics import equal_units
from polaroc.inference.cells import ClusteredCases, groups
from polaroc.inference.evidence import FEWEST_CLUSTERS
from polaroc.inference.influence import SegmentInfluence
from polaroc.inference.moved_segments import Segments
from polaroc.measures.scoring import case_loss
from polaroc.measures.spec import Measure
from polaroc.typing import Array

# Smaller variances are rounding error, since measures are of order 1.
NO_VARIANCE = 1e-26
# Possible groups per row up to which each has a place of its own: most are never touched.
ROOM = 32
# The counts of a class in a cell, and in its key.
CLASSES = (("pos", "positives"), ("neg", "negatives"))


@dataclass(frozen=True, eq=False)
class Block:
    """Cases of consecutive keys by cluster. A group is a cluster in a key.

    Cases that are alone in their group are `single`, where they have no weights.
    """

    cases: ClusteredCases  # of all keys
    keys: slice
    rows: slice  # the cases of these keys; other places are counted from the first of them
    key: "Array"  # of each case
    single: "Array"  # places of cases
    shared: "tuple[Array, Array]"  # the places of the other positives, and of the other negatives
    group: "tuple[Array, Array]"  # of each of these
    key_of_group: "Array"

    @property
    def size(self) -> int:
        """How many keys there are."""
        size: int = self.keys.stop - self.keys.start
        return size

    @cached_property
    def weights(self) -> "tuple[Array, ...] | None":
        """The weights of the positives, and of the negatives, that are `shared`."""
        weight = self.cases.weight
        return None if weight is None else tuple(weight[self.rows][own] for own in self.shared)

    @cached_property
    def members(self) -> "Array":
        """How many positives and negatives that weigh something each group has."""
        weighing = [None, None] if self.weights is None else [own > 0 for own in self.weights]
        pairs = zip(self.group, weighing, strict=True)
        return np.stack([np.bincount(*own, len(self.key_of_group)) for own in pairs])

    @property
    def numbers(self) -> "Array":
        """How many clusters of each key have positives, have negatives, and are there."""
        positive = self.cases.truth[self.rows][self.single]
        have = self.members > 0
        single: tuple[Any, ...] = (positive, ~positive, slice(None))
        groups_ = (*have, have.any(axis=0))
        return np.stack(
            [
                np.bincount(np.append(self.key[self.single[own]], self.key_of_group[others]),
                            minlength=self.size)
                for own, others in zip(single, groups_, strict=True)
            ]
        )  # fmt: skip

    @property
    def equal_numbers(self) -> "Array":
        """Effective numbers of clusters with positives, and with negatives, per key."""
        assert self.weights is not None
        ends = np.searchsorted(self.key_of_group, np.arange(1, self.size))
        sums = (
            np.bincount(group, weight, len(self.key_of_group))
            for group, weight in zip(self.group, self.weights, strict=True)
        )
        return np.array([[equal_units(own[own > 0]) for own in np.split(of, ends)] for of in sums])

    @property
    def has_shared(self) -> "Array":
        """Whether cases of each key share a cluster."""
        shared = self.key_of_group[self.members.sum(axis=0) > 1]
        has_shared: Array = np.bincount(shared, minlength=self.size) > 0
        return has_shared

    def placed(self, place: "Array", positives: int, key: "Array", totals: "Array") -> "Placed":
        """The cases at places: so many of positives come first, each of which has a key.

        `totals` are the cases of the class of a place.
        """
        counts = None
        if self.single.size:
            counts = np.bincount(place[self.single], minlength=len(key))
        with np.errstate(divide="ignore"):
            shares = 1 / totals
        shared = tuple(place[own] for own in self.shared)
        return Placed(self, positives, key, shares, counts, shared)

    def by_class(self, totals: "Array") -> "Placed":
        """The cases of a key and class at one place; `totals` of positives, then of negatives."""
        place = self.key + self.size * ~self.cases.truth[self.rows]
        return self.placed(place, self.size, np.tile(np.arange(self.size), 2), totals)

    def on_segments(self, segments: Segments, own: "Array") -> "Placed":
        """The cases on segments, which the keys `own` have, at the places of `of_segments`."""
        cases, first = self.cases, self.rows.start
        size = len(segments.pos)
        of_cells = slice(cases.areas.starts[self.keys.start], cases.areas.starts[self.keys.stop])
        number = np.arange(size)
        of_key = np.diff(cases.areas.starts[self.keys.start : self.keys.stop + 1])
        key = np.repeat(np.arange(self.size), of_key)
        # Of each segment the level run before it and the cases with its score, of each key the
        # rest.
        run, rest = 2 * number + key, 2 * np.cumsum(of_key) + np.arange(self.size)
        ends, places = np.empty((2, 2 * size + self.size), np.int64)
        ends[run], ends[run + 1] = cases.tied[of_cells] - first, cases.ends[of_cells] - first
        places[run], places[run + 1] = 2 * size + number, size + number
        ends[rest] = cases.starts[self.keys.start + 1 : self.keys.stop + 1] - first
        places[rest] = 3 * size + np.arange(self.size)
        place = np.repeat(places, np.diff(ends, prepend=0))
        place -= size * cases.truth[self.rows]
        totals = np.ones((2, self.size))
        totals[:, own - self.keys.start] = segments.positives, segments.negatives
        keys = np.concatenate([key, key, key, np.arange(self.size)])
        return self.placed(
            place, size, keys, np.concatenate([totals[0][key], totals[1][keys[size:]]])
        )

    def of_segments(self, moved: SegmentInfluence, own: "Array") -> "Array":
        """The influence at each place: of positives, negatives, level runs, and the rest."""
        rest = np.zeros(self.size)
        rest[own - self.keys.start] = moved.rest
        return np.concatenate([moved.pos, moved.neg, moved.level, rest])


class Placed(NamedTuple):
    """Cases of a block at places. Cases at one place have the same influence."""

    block: Block
    positives: int  # how many places of positives there are, which come first
    key: "Array"  # of each place
    shares: "Array"  # of each place, one over the cases of its class
    counts: "Array | None"  # how many `single` cases each place has
    shared: "tuple[Array, ...]"  # the places of the others, by class

    def moments(self, values: "Array") -> "Array":
        """The squares of the sums over clusters, by class, and their products; by key."""
        values = values * self.shares
        block = self.block
        moved = [values[place] for place in self.shared]
        if block.weights is not None:
            moved = [own * weight for own, weight in zip(moved, block.weights, strict=True)]
        of_pos, of_neg = (
            np.bincount(group, own, len(block.key_of_group))
            for group, own in zip(block.group, moved, strict=True)
        )
        found = np.stack(
            [
                np.bincount(block.key_of_group, one, block.size)
                for one in (of_pos**2, of_neg**2, of_pos * of_neg)
            ],
            dtype=float,
        )
        if self.counts is not None:
            squares = np.where(self.counts > 0, self.counts * values**2, 0.0)
            for class_, own in enumerate((slice(self.positives), slice(self.positives, None))):
                found[class_] += np.bincount(self.key[own], squares[own], block.size)
        return found


@dataclass(frozen=True, eq=False)
class Units:
    """The independent units: cases, or clusters of cases."""

    # Of each key: cases of the class, or clusters that have such cases; of weighted ones as many
    # equal ones as say as much.
    positives: "Array"
    negatives: "Array"
    of_prior: "Array"  # the variance of the log-odds of the observed prior of each key
    least: "Array"  # how many units of each class a key needs for limits
    weighted: bool = False  # whether `positives` and `negatives` are effective numbers
    blocks: Sequence[Block] = ()  # of clusters, by groups of keys
    clusters: "Array | None" = None  # how many each key has

    @property
    def enough(self) -> "Array":
        """Whether a key has as many units of each class as limits need."""
        enough: Array = np.minimum(self.positives, self.negatives) >= self.least
        return enough

    def variances(
        self,
        positives: "Array",
        negatives: "Array",
        moments: "Array",
        more: "Sequence[tuple[float, float]] | None" = None,
    ) -> "Array":
        """Variances from mean squares of the influence of cases, by place, measure and key.

        `moments` are those of sums over clusters, without pseudo-cases:
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
            if self.clusters is None:
                independent: Array = own[0] + own[1]
                return independent
            numbers = np.stack([self.positives, self.negatives, self.clusters])
            return _between(own, numbers, moments)

    def moments_of_losses(self, scores: pl.DataFrame, measures: Sequence[Measure]) -> "Array":
        """The moments of means of losses, of cases with the numbers of their clusters."""
        moments = np.full((3, len(measures), len(self.positives)), np.nan)
        if self.clusters is None:
            return moments
        for i, measure in enumerate(measures):
            loss = case_loss(measure)
            if loss is None:
                continue
            parts = []
            for of_case, (count, total) in zip(
                (loss.positive, loss.negative), CLASSES, strict=True
            ):
                # A score of 0 or 1 may be infinitely wrong for cases that are not there.
                own = pl.when(pl.col(count) > 0).then(loss.scale * of_case).otherwise(0.0)
                share = pl.col(count) / pl.col(total)
                mean = (share * own).sum().over(KEY_INDEX)
                parts.append((share * (own - mean)).alias(count))
            pos, neg = pl.col("pos"), pl.col("neg")
            by_key = (
                scores.lazy()
                .select(KEY_INDEX, CLUSTER, *parts)
                .group_by(KEY_INDEX, CLUSTER)
                .agg(pos.sum(), neg.sum())
                .group_by(KEY_INDEX)
                .agg(
                    (pos**2).sum().alias("0"),
                    (neg**2).sum().alias("1"),
                    (pos * neg).sum().alias("2"),
                )
                .collect()
            )
            moments[:, i, by_key[KEY_INDEX].to_numpy()] = by_key.select("0", "1", "2").to_numpy().T
        return moments


def _between(own: "Sequence[Array]", numbers: "Array", moments: "Array") -> "Array":
    """The variances between clusters, from those of independent cases of either class."""
    between = (numbers / (numbers - 1))[:, None] * moments
    of_classes = [
        class_counts * np.where(class_counts[0] > NO_VARIANCE, whole / class_counts[0], 1.0)
        for class_counts, whole in zip(own, between[:2], strict=True)
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
    size = len(cases.starts) - 1
    keys = [
        slice(int(own[0]), int(own[-1]) + 1) for own in groups(cases.areas.starts, np.arange(size))
    ]
    numbers, of_prior = np.zeros((3, size)), np.zeros(size)
    has_shared = np.zeros(size, bool)

    def block_of(own: slice) -> Block:
        block = _block(cases, own)
        numbers[:, own], has_shared[own] = block.numbers, block.has_shared
        if weighted:
            numbers[:2, own] = block.equal_numbers
        with np.errstate(all="ignore"):
            whole = np.concatenate([cases.totals[name][own] for _, name in CLASSES])
            of_pos, of_neg, both = block.by_class(whole).moments(np.ones(len(whole)))
            of_prior[own] = of_pos + of_neg - 2 * both
        return block

    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        blocks = list(pool.map(block_of, keys))
    # Clusters of one case each are cases.
    least = np.where(has_shared, FEWEST_CLUSTERS, 2)
    positives, negatives, clusters = numbers
    return Units(positives, negatives, of_prior, least, weighted, blocks, clusters)


def _block(cases: ClusteredCases, keys: slice) -> Block:
    """The cases of consecutive keys."""
    starts = cases.starts[keys.start : keys.stop + 1]
    rows = slice(int(starts[0]), int(starts[-1]))
    key = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    cluster = cases.clusters[rows]
    many = int(cluster.max(initial=0)) + 1
    first = _first_alike(key * many + cluster, (len(starts) - 1) * many)
    is_shared = np.ones(len(first), bool)
    if cases.weight is None:
        is_shared = np.bincount(first, minlength=len(first))[first] > 1
    is_group, truth = is_shared & (first == np.arange(len(first))), cases.truth[rows]
    number = np.cumsum(is_group) - 1
    shared = np.flatnonzero(is_shared & truth), np.flatnonzero(is_shared & ~truth)
    return Block(
        cases, keys, rows, key, np.flatnonzero(~is_shared), shared,
        (number[first[shared[0]]], number[first[shared[1]]]), key[is_group],
    )  # fmt: skip


def _first_alike(codes: "Array", span: int) -> "Array":
    """One row with the code of each row, the same for all of them; codes are below `span`."""
    if span <= ROOM * len(codes):
        # Rows are put into places by their codes, and the last put there stays.
        last = np.empty(span, np.int64)
        last[codes] = np.arange(len(codes))
        return last[codes]
    _, first, code = np.unique(codes, return_index=True, return_inverse=True)
    return first[code]
