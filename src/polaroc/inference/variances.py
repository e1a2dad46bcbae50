"""Variances of measures per key from the influences of cases, which are summed by cluster.

Clusters are independent, and so are cases without clusters (Obuchowski 1997).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import CLUSTER, KEY_INDEX, TEXTUAL, join_by_key, private
from polaroc.base.statistics import ROUNDING
from polaroc.curves.kernel import Ranked
from polaroc.inference.evidence import FEWEST_CLUSTERS, quantile
from polaroc.inference.influence import influence_on_segments, values
from polaroc.inference.segment_arrays import (
    NONE,
    PSEUDO_CASES,
    VARIANTS,
    CasePlaces,
    Segments,
    key_blocks,
)
from polaroc.measures.scoring import CaseLoss, case_loss
from polaroc.measures.spec import Measure
from polaroc.measures.table import expressions_of
from polaroc.predictions.row_checks import check_clusters
from polaroc.typing import Array

# Smaller variances are rounding, since measures are of order 1.
NO_VARIANCE = 1e-26
# Variances below this share of the mean loss of a case are rounding.
NO_LOSS_VARIANCE = 1e-13
# Possible numbers of clusters per row up to which integers are not ranked, which takes as long as
# the rest.
SPARSE = 4
CLASSES = ("positives", "negatives")
# Variants for losses: more positives and negatives, and whether with the greatest loss or none.
ONE_MORE = ((0, 0, False), (1, 0, True), (1, 0, False), (0, 1, True), (0, 1, False))
# What it exceeds the greatest observed loss by, where losses have no bound: a factor e² of p. With
# e the log loss of scores that are too extreme was above the limits in 6 % of sets of 20 positives.
BEYOND = 2.0


@dataclass(frozen=True, eq=False)
class ClusterBlock:
    """The cases of consecutive keys by cluster; each pair has the positives and the negatives."""

    places: CasePlaces
    counts: Array  # of each key the clusters with positives, with negatives, and of all
    effective_counts: Array  # of clusters with positives and with negatives
    # Cases that share a cluster: their place, cluster, and share of the weight of class and key.
    shared: tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]
    key: Array  # of each shared cluster, ascending: in different keys clusters are different
    alone: tuple[Array, Array]  # the sums by place of the squared shares of other cases

    @classmethod
    def of(
        cls, ranked: Ranked, numbers: Array, totals: Mapping[str, Array], keys: slice
    ) -> ClusterBlock:
        """The block of `keys`, by the numbers of the clusters of rows and the totals of keys."""
        starts, row_starts = (
            firsts[keys.start : keys.stop + 1] for firsts in (ranked.starts, ranked.row_starts)
        )
        rows = slice(int(row_starts[0]), int(row_starts[-1]))
        spans = tuple(ends[starts[0] : starts[-1]] - rows.start for ends in ranked.spans)
        places = CasePlaces.of((spans[0], spans[1]), starts - starts[0], row_starts - rows.start)
        size = len(starts) - 1
        key = np.repeat(np.arange(size), np.diff(row_starts))
        cluster, key_of = _clusters_in_keys(numbers[rows], key)
        truth = (ranked.codes[rows] & np.uint64(1)).astype(bool)
        weight = np.ones(len(key)) if ranked.weights is None else ranked.weights[rows]
        share = weight / np.where(truth, *(totals[name][keys][key] for name in CLASSES))
        is_shared = np.bincount(cluster, minlength=len(key_of)) > 1
        number = np.cumsum(is_shared) - 1
        counts, effective, shared, alone = [], [], [], []
        for among in (np.flatnonzero(truth), np.flatnonzero(~truth)):
            sums = np.bincount(cluster[among], share[among], len(key_of))
            counts.append(np.bincount(key_of, sums > 0, size))
            total, fourth = (np.bincount(key_of, sums**n, size) for n in (2, 4))
            # As `equal_units`, for each key.
            equal = np.divide(total**2, fourth, out=np.zeros_like(total), where=fourth > 0)
            effective.append(np.floor(equal * (1 + ROUNDING)))
            in_shared = is_shared[cluster[among]]
            single, among = among[~in_shared], among[in_shared]
            alone.append(np.bincount(places.place[single], share[single] ** 2, places.size))
            shared.append((places.place[among], number[cluster[among]], share[among]))
        counts.append(np.bincount(key_of, minlength=size))
        return cls(
            places, np.stack(counts), np.stack(effective),
            (shared[0], shared[1]), key_of[is_shared], (alone[0], alone[1]),
        )  # fmt: skip

    def moments(self, by_place: tuple[Array, Array]) -> Array:
        """Sums of squares of the cluster sums of influences, by class, and of their products."""
        of_pos, of_neg = (
            np.bincount(cluster, share * influence[place], len(self.key))
            for (place, cluster, share), influence in zip(self.shared, by_place, strict=True)
        )
        moments = np.zeros((3, self.counts.shape[1]))
        starts = np.flatnonzero(np.diff(self.key, prepend=-1))
        for i, products in enumerate((of_pos * of_pos, of_neg * of_neg, of_pos * of_neg)):
            moments[i, self.key[starts]] = np.add.reduceat(products, starts)
        for i, (squares, influence) in enumerate(zip(self.alone, by_place, strict=True)):
            moments[i] += np.add.reduceat(squares * influence**2, self.places.starts)
        return moments


@dataclass(frozen=True, eq=False)
class Units:
    """The independent units of each key: cases, or clusters of cases."""

    # Cases of a class, or clusters that have such cases; effective numbers if weighted.
    positives: Array
    negatives: Array
    least: Array  # how many units of each class limits need
    is_effective: bool = False
    clusters: Array | None = None  # the number of clusters
    blocks: Sequence[ClusterBlock] = ()  # by blocks of keys

    @property
    def fewest(self) -> Array:
        """The number of units of the rarer class."""
        return np.minimum(self.positives, self.negatives)

    @property
    def enough(self) -> Array:
        """Whether a key has as many units of each class as limits need."""
        return self.fewest >= self.least

    def quantile(self, level: float) -> Array:
        """Student's t, with one degree of freedom less than there are units of the rarer class."""
        return quantile(level, self.fewest - 1)

    def variances(
        self, positives: Array, negatives: Array, moments: Array, more: Array | None = None
    ) -> Array:
        """Variances from the mean squares of the influence of cases: variants × measures × keys.

        `moments` are those of `ClusterBlock` for the first variant, the sample as it is; in the
        others the variance between clusters is in the same ratio to that of independent cases.
        `more` units are added to each class of a variant.
        """
        added = np.zeros((2, len(positives))) if more is None else more
        with np.errstate(all="ignore"):
            of_pos, of_neg = (
                squares / (count + extra[:, None, None] - 1)
                for squares, count, extra in zip(
                    (positives, negatives), (self.positives, self.negatives), added, strict=True
                )
            )
            if self.clusters is None:
                return of_pos + of_neg
            numbers = np.stack([self.positives, self.negatives, self.clusters])
            between = (numbers / (numbers - 1))[:, None] * moments
            # A variance of one class that is only rounding has no covariance with the other class.
            varies = [variance[0] > NO_VARIANCE for variance in (of_pos, of_neg)]
            of_pos, of_neg = (
                variance * np.where(known, whole / variance[0], 1.0)
                for variance, known, whole in zip(
                    (of_pos, of_neg), varies, between[:2], strict=True
                )
            )
            ratio = np.where(varies[0] & varies[1], (of_pos * of_neg) / (of_pos[0] * of_neg[0]), 0)
            summed: Array = of_pos + of_neg + 2 * between[2] * np.sqrt(ratio)
            return np.maximum(summed, 0.0)


def cases_as_units(positives: Array, negatives: Array) -> Units:
    """Units that are the cases."""
    return Units(positives, negatives, np.full(len(positives), 2))


def clusters_as_units(ranked: Ranked, totals: Mapping[str, Array], *, weighted: bool) -> Units:
    """Units that are clusters of ranked rows, by effective numbers where these are `weighted`."""
    assert ranked.clusters is not None
    numbers = cluster_numbers(ranked.clusters)
    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        block_of = partial(ClusterBlock.of, ranked, numbers, totals)
        blocks = list(pool.map(block_of, key_blocks(ranked.starts)))
    # A table without rows has no block to concatenate.
    none = np.zeros((3, 0))
    positives, negatives, clusters = np.concatenate([none, *(one.counts for one in blocks)], axis=1)
    if weighted:
        counts = np.concatenate([none[:2], *(one.effective_counts for one in blocks)], axis=1)
        positives, negatives = counts
    # Clusters of one case each count as cases, of which two are enough.
    cases = np.diff(ranked.row_starts) if weighted else totals["positives"] + totals["negatives"]
    least = np.where(cases > clusters, FEWEST_CLUSTERS, 2)
    return Units(positives, negatives, least, weighted, clusters, blocks)


def cluster_numbers(clusters: pl.Series) -> Array:
    """The clusters of rows as numbers from 0 on, some of which may be left out."""
    check_clusters(clusters.null_count())
    if clusters.dtype in TEXTUAL:
        # Codes of categories are found faster than ranks of words, and their order is irrelevant.
        clusters = clusters.cast(pl.String).cast(pl.Categorical).to_physical()
    if clusters.dtype.is_integer() and len(clusters):
        ends: Any = clusters.min(), clusters.max()
        least, most = ends
        if most - least < SPARSE * len(clusters) and most < 2**63:
            return (clusters.cast(pl.Int64) - least).to_numpy()
    return (clusters.rank("dense").cast(pl.Int64) - 1).to_numpy()


def _clusters_in_keys(numbers: Array, key: Array) -> tuple[Array, Array]:
    """The place of each row's cluster among those of all keys, and the keys of these."""
    width = numbers.max(initial=0) + 1
    distinct, place = np.unique(key * width + numbers, return_inverse=True)
    return place, distinct // width


def area_variances(
    segments: Segments, measures: Sequence[Measure], units: Units, sums: Mapping[str, Array]
) -> tuple[Array, Array]:
    """Estimates and variances of areas and points of curves, from the segments of all keys.

    Both are by variant, measure and key, NaN if undefined. Variances are NaN with fewer than two
    units of a class, and 0 if all have the same influence. `sums` are the columns of estimates, by
    key.
    """
    shape = len(VARIANTS), len(measures), len(segments.positives)
    estimates, of_pos, of_neg = (np.full(shape, np.nan) for _ in range(3))
    moments = np.full((3, *shape[1:]), np.nan)

    def fill(task: tuple[int, tuple[int, slice]]) -> None:
        variant, (number, block) = task
        keys = np.arange(block.start, block.stop)
        keys = keys[np.diff(segments.starts)[block] > 0]
        if not keys.size:
            return
        selected = segments.select(keys)
        with np.errstate(all="ignore"):
            more = (
                PSEUDO_CASES * total / units_of_class
                for total, units_of_class in zip(
                    (selected.positives, selected.negatives), selected.units, strict=True
                )
            )
            selected = selected.with_pseudo_cases(variant, *more)
        known = {name: one[keys] for name, one in sums.items()} if variant == NONE else None
        influences = influence_on_segments(selected, measures, known)
        for i, (estimate, influence) in enumerate(influences):
            estimates[variant, i, keys] = estimate
            of_pos[variant, i, keys], of_neg[variant, i, keys] = influence.mean_squares(selected)
            if units.blocks and variant == NONE:
                clusters, within = units.blocks[number], keys - block.start
                by_place = influence.by_place(clusters.places, within)
                with np.errstate(all="ignore"):
                    moments[:, i, keys] = clusters.moments(by_place)[:, within]

    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        list(pool.map(fill, product(VARIANTS, enumerate(key_blocks(segments.starts)))))
    return estimates, units.variances(of_pos, of_neg, moments)


def loss_variances(
    scores: pl.DataFrame, measures: Sequence[Measure], totals: Mapping[str, Array], units: Units
) -> tuple[Array, Array]:
    """Estimates and variances of means of losses in the variants `ONE_MORE`.

    Few cases tell little about losses that are rare. Both results are as in `area_variances`.
    `scores` are the cases, in the columns of the losses; `totals` are `positives` and `negatives`.
    """
    shape = len(ONE_MORE), len(measures), len(totals["positives"])
    estimates, of_pos, of_neg = (np.zeros(shape) for _ in range(3))
    losses = [(i, loss) for i, one in enumerate(measures) if (loss := case_loss(one)) is not None]
    if not losses:
        return estimates, of_pos
    (sums,) = expressions_of([measures[i] for i, _ in losses], "score_sums")
    aggregates = {name: one.sum() for name, one in sums.items()}
    for i, loss in losses:
        aggregates |= _loss_sums(loss, i)
    by_key = scores.lazy().group_by(KEY_INDEX).agg(**aggregates)
    keys = pl.LazyFrame({KEY_INDEX: np.arange(shape[2])})
    known = join_by_key(keys, by_key, [KEY_INDEX]).collect()
    columns = dict(totals) | {
        name: known[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in known.columns if name != KEY_INDEX
    }  # fmt: skip
    moments = np.full((3, *shape[1:]), np.nan)
    with np.errstate(all="ignore"):
        for i, loss in losses:
            estimates[:, i], of_pos[:, i], of_neg[:, i] = _variants_of_loss(
                measures[i], loss, i, columns, units
            )
            if units.clusters is not None:
                known = _cluster_moments(scores, loss)
                moments[:, i, known[KEY_INDEX].to_numpy()] = known.drop(KEY_INDEX).to_numpy().T
    more_units = np.array([one[:2] for one in ONE_MORE]).T
    return estimates, units.variances(of_pos, of_neg, moments, more_units)


def _variants_of_loss(
    measure: Measure, loss: CaseLoss, number: int, columns: Mapping[str, Array], units: Units
) -> tuple[Array, list[Array], list[Array]]:
    """The estimates of a mean loss, and the mean squares of the influence of each class."""
    estimate, scale = values(measure.estimate, columns), values(loss.scale, columns)
    slope, is_skill = columns[_name(number, "slope")], measure.bounds[0] is None
    estimates, of_pos, of_neg = list[Array](), list[Array](), list[Array]()
    for *more, is_greatest in ONE_MORE:
        means = np.zeros(len(estimate))
        for of_class, name, weight, added in zip(
            (of_pos, of_neg), CLASSES, loss.weights, more, strict=True
        ):
            column, greatest = _name(number, name), values(weight, columns)
            if not loss.bounded:
                greatest = BEYOND * greatest + columns[f"{column}_greatest"]
            more_cases = added * columns[name] / getattr(units, name)
            added_loss = greatest if is_greatest else np.zeros(len(estimate))
            mean, square = _with_more(columns, column, columns[name], more_cases, added_loss)
            of_class.append(scale**2 * (square + slope**2))
            means = means + mean
        estimates.append(scale * means + is_skill)
    # The first variant is the sample as it is.
    estimates[0] = estimate
    return np.where(np.isnan(estimate), np.nan, estimates), of_pos, of_neg


def _name(number: int, what: str) -> str:
    return private(f"loss_{number}_{what}")


def _loss_sums(loss: CaseLoss, number: int) -> dict[str, pl.Expr]:
    """The sums of the losses of each class and of their squares, and the greatest."""
    sums: dict[str, pl.Expr] = {}
    for name, count, case in zip(
        CLASSES, ("pos", "neg"), (loss.positive, loss.negative), strict=True
    ):
        value = _of_class(count, case)
        sums |= {
            _name(number, name): (pl.col(count) * value).sum(),
            _name(number, name) + "_squared": (pl.col(count) * value**2).sum(),
            _name(number, name) + "_greatest": value.max(),
        }
    return sums | {_name(number, "slope"): _slope(loss)}


def _slope(loss: CaseLoss) -> pl.Expr:
    """The derivative of the mean loss by the log-odds of the observed prior.

    These rise by 1/P with a positive, and fall by 1/N with a negative.
    """
    if loss.by_score_prior is None:
        return pl.lit(0.0)
    return loss.by_score_prior.fill_nan(0.0).sum()


def _of_class(count: str, loss: pl.Expr) -> pl.Expr:
    """The loss where there are cases: a score of 0 or 1 may be infinitely wrong for others."""
    return pl.when(pl.col(count) > 0).then(loss).otherwise(0.0)


def _with_more(
    columns: Mapping[str, Array], name: str, count: Array, more: Array, loss: Array
) -> tuple[Array, Array]:
    """The mean loss of a class with `more` cases of this loss, and the mean square about it."""
    size = count + more
    mean = (columns[name] + more * loss) / size
    square = (columns[f"{name}_squared"] + more * loss**2) / size
    spread = square - mean**2
    # The difference of two moments may be rounding only.
    return mean, np.where(spread > NO_LOSS_VARIANCE * mean**2, spread, 0.0)


def _cluster_moments(scores: pl.DataFrame, loss: CaseLoss) -> pl.DataFrame:
    """The moments of `ClusterBlock` of the losses, by key."""
    shares = []
    for count, total, case, slope in zip(
        ("pos", "neg"), CLASSES, (loss.positive, loss.negative),
        (_slope(loss), -_slope(loss)), strict=True,
    ):  # fmt: skip
        value, share = _of_class(count, case), pl.col(count) / pl.col(total)
        centre = (slope - (share * value).sum()).over(KEY_INDEX)
        shares.append((share * loss.scale * (value + centre)).alias(count))
    pos, neg = pl.col("pos"), pl.col("neg")
    of_clusters = scores.lazy().select(KEY_INDEX, CLUSTER, *shares)
    return (
        of_clusters.group_by(KEY_INDEX, CLUSTER)
        .agg(pos.sum(), neg.sum())
        .group_by(KEY_INDEX)
        .agg(of_pos=(pos**2).sum(), of_neg=(neg**2).sum(), of_both=(pos * neg).sum())
        .collect()
    )
