"""Estimates and variances of measures for each key, as they are and with pseudo-cases."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import polars as pl

from polaroc.base.lazy import np
from polaroc.curves.ranking import CellArrays
from polaroc.measures.spec import Measure
from polaroc.typing import Array
from polaroc.uncertainty.cells import groups, segments_of
from polaroc.uncertainty.cluster_sums import Between, Clusters
from polaroc.uncertainty.influence import on_segments
from polaroc.uncertainty.pseudo_cases import NONE, PLACES, PSEUDO, with_pseudo_cases

# Smaller variances are rounding error, since measures are of order 1.
NO_VARIANCE = 1e-26


class Spread(NamedTuple):
    """Estimates and variances by place of pseudo-cases, measure and key; NaN where there are none.

    Variances are null with fewer than two units of a class, and zero where all have the same
    influence.
    """

    estimates: "Array"
    variances: "Array"


@dataclass(frozen=True, eq=False)
class Units:
    """What is independent: cases, or clusters of them.

    Attributes
    ----------
    positives, negatives
        Of each key: cases of the class, or clusters that have such cases.
    of_prior
        The variance of the log-odds of the observed prior of each key.
    clusters
        Where units are clusters, these.
    """

    positives: "Array"
    negatives: "Array"
    of_prior: "Array"
    clusters: Clusters | None = None

    @property
    def enough(self) -> "Array":
        """Whether a key has two units of each class."""
        enough: Array = np.minimum(self.positives, self.negatives) > 1
        return enough

    def variances(
        self,
        positives: "Array",
        negatives: "Array",
        between: Between | None,
        more: "Sequence[tuple[float, float]] | None" = None,
    ) -> "Array":
        """Variances from mean squares of the influence of cases, by place, measure and key.

        `more` are units that a place adds to each class. Variances of clusters have the ratio
        to these of independent ones that they have without pseudo-cases.
        """
        added = np.array([(0, 0)] * len(positives) if more is None else more)
        with np.errstate(all="ignore"):
            own = [
                squares / (count + extra[:, None, None] - 1)
                for squares, count, extra in zip(
                    (positives, negatives), (self.positives, self.negatives), added.T, strict=True
                )
            ]
            if between is None:
                independent: Array = own[0] + own[1]
                return independent
            for of_class, whole in zip(own, between[:2], strict=True):
                of_class *= np.where(of_class[0] > NO_VARIANCE, whole / of_class[0], 1.0)
            # What is rounding in one class has no covariance with the other.
            known = (own[0][0] > NO_VARIANCE) & (own[1][0] > NO_VARIANCE)
            ratio = (own[0] * own[1]) / (own[0][0] * own[1][0])
            summed: Array = own[0] + own[1] + between.both * np.sqrt(np.where(known, ratio, 0.0))
            return np.maximum(summed, 0.0)


def cases_as_units(positives: "Array", negatives: "Array") -> Units:
    """Cases that are independent."""
    with np.errstate(all="ignore"):
        return Units(positives, negatives, 1 / positives + 1 / negatives)


def clusters_as_units(clusters: Clusters) -> Units:
    """Clusters that are independent."""
    return Units(clusters.numbers[0], clusters.numbers[1], clusters.of_prior, clusters)


def spread_of_areas(
    cells: CellArrays,
    measures: Sequence[Measure],
    units: Units,
    sums: "Mapping[str, Array] | None" = None,
) -> Spread:
    """Of areas and points of curves, from cells with positives.

    `sums` are the columns by key that estimates are written with, where they are known.
    """
    size = len(cells.starts) - 1
    shape = len(PLACES), len(measures), size
    estimates, of_pos, of_neg = (np.full(shape, np.nan) for _ in range(3))
    clusters, between = units.clusters, np.full(shape, np.nan)

    def job(task: "tuple[int, tuple[int, Array]]") -> None:
        place, (number, keys) = task
        own = keys[cells.starts[keys] < cells.starts[keys + 1]]
        if not own.size:
            return
        segments = segments_of(cells, own, (units.positives, units.negatives))
        block = clusters.blocks[number] if clusters is not None and place == NONE else None
        placed = None if block is None else block.on_segments(segments, own)
        with np.errstate(all="ignore"):
            more = (
                PSEUDO * segments.positives / units.positives[own],
                PSEUDO * segments.negatives / units.negatives[own],
            )
            segments = with_pseudo_cases(segments, place, *more)
        known = None
        if sums is not None and place == NONE:
            known = {name: values[own] for name, values in sums.items()}
        for i, moved in enumerate(on_segments(segments, measures, known)):
            estimates[place, i, own] = moved.estimates
            of_pos[place, i, own], of_neg[place, i, own] = moved.mean_squares(segments)
            if block is not None and placed is not None:
                with np.errstate(all="ignore"):
                    moments = placed.moments(block.of_segments(moved, own))
                between[:, i, own] = moments[:, own - keys[0]]

    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        tasks = product(PLACES, enumerate(groups(cells.starts, np.arange(size))))
        list(pool.map(job, tasks))
    whole = None if clusters is None else clusters.factored(between)
    return Spread(estimates, units.variances(of_pos, of_neg, whole))
