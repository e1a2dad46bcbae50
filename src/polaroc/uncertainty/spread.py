"""Estimates and variances of measures for each key, as they are and with pseudo-cases."""

from collections.abc import Sequence
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
from polaroc.uncertainty.influence import on_segments
from polaroc.uncertainty.pseudo_cases import PLACES, PSEUDO, with_pseudo_cases

# Smaller variances are rounding error, since measures are of order 1.
NO_VARIANCE = 1e-26


class Spread(NamedTuple):
    """Estimates and variances by place of pseudo-cases, measure and key; NaN where there are none.

    Variances are null with fewer than two units of a class, and zero where all have the same
    influence.
    """

    estimates: "Array"
    variances: "Array"


class Between(NamedTuple):
    """Variances of measures from sums over clusters, without pseudo-cases, by measure and key.

    Attributes
    ----------
    positives, negatives
        Of the sums over positives, and over negatives.
    both
        Twice the covariance of the two.
    """

    positives: "Array"
    negatives: "Array"
    both: "Array"


@dataclass(frozen=True, eq=False)
class Units:
    """What is independent: cases, or clusters of them.

    Attributes
    ----------
    positives, negatives
        Of each key: cases of the class, or clusters that have such cases.
    of_prior
        The variance of the log-odds of the observed prior of each key.
    areas, losses
        Where units are clusters, the variances of the areas and of the losses asked for.
    """

    positives: "Array"
    negatives: "Array"
    of_prior: "Array"
    areas: Between | None = None
    losses: Between | None = None

    @property
    def clustered(self) -> bool:
        """Whether units are clusters."""
        return self.areas is not None or self.losses is not None

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
            product_ = own[0] * own[1]
            ratio = np.where(product_[0] > 0, product_ / product_[0], 0.0)
            summed: Array = own[0] + own[1] + between.both * np.sqrt(ratio)
            return np.maximum(summed, 0.0)


def cases_as_units(positives: "Array", negatives: "Array") -> Units:
    """Cases that are independent."""
    with np.errstate(all="ignore"):
        return Units(positives, negatives, 1 / positives + 1 / negatives)


def spread_of_areas(cells: CellArrays, measures: Sequence[Measure], units: Units) -> Spread:
    """Of areas and points of curves, from cells with positives."""
    shape = len(PLACES), len(measures), len(cells.starts) - 1
    estimates, of_pos, of_neg = (np.full(shape, np.nan) for _ in range(3))
    keys = np.flatnonzero(np.diff(cells.starts))

    def job(task: tuple[int, "Array"]) -> None:
        place, own = task
        segments = segments_of(cells, own, (units.positives, units.negatives))
        with np.errstate(all="ignore"):
            more = (
                PSEUDO * segments.positives / units.positives[own],
                PSEUDO * segments.negatives / units.negatives[own],
            )
            segments = with_pseudo_cases(segments, place, *more)
        for i, moved in enumerate(on_segments(segments, measures)):
            estimates[place, i, own] = moved.estimates
            of_pos[place, i, own], of_neg[place, i, own] = moved.mean_squares(segments)

    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        list(pool.map(job, product(PLACES, groups(cells.starts, keys))))
    return Spread(estimates, units.variances(of_pos, of_neg, units.areas))
