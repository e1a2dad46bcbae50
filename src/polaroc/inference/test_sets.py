"""The cases of one test set as arrays, and the evidence that they are on fitted models.

From cases to the covariance of models: the influence of each case on the measure of each model
(`influence`), sums by cluster, and sums of products over the units of each class. Differences,
their limits and p-values follow from it in `evidence`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf, isinf
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import PLACE, parts_by_key
from polaroc.base.statistics import equal_units
from polaroc.inference.evidence import FEWEST_CLUSTERS, FITTED, NOTHING, Evidence, UnitInfluences
from polaroc.inference.influence import CaseInfluence, influence_of_cases, influence_on_cost
from polaroc.inference.variances import cluster_numbers
from polaroc.measures.scoring import case_loss
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import each_counted
from polaroc.typing import Array

AT_THRESHOLDS = FITTED.replace("models", "models with these thresholds,")
TOO_FEW_EFFECTIVE = "because of the weights, a class has an effective number of {1} below {0}"
SAME_SCORE = "each model gives all cases the same score, which does not tell the classes apart"
SEPARATED = (
    "the models separate the classes perfectly, so that these cases do not tell how much others "
    "would change that"
)
ALL_ALIKE = (
    "the thresholds treat all cases of a class alike, so that these cases do not tell how much "
    "others would change that"
)


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """The cases of one test set, which all models scored."""

    models: Sequence[object] | pl.Series  # sorted
    scores: list[Array]  # of each model
    truth: Array
    clusters: Array | None = None  # numbers from 0 on
    weights: Array | None = None  # sampling weights

    @property
    def class_counts(self) -> tuple[int, int]:
        """The numbers of positives and negatives, of weighted ones their effective numbers."""
        if self.weights is None:
            positives = int(np.count_nonzero(self.truth))
            return positives, self.truth.size - positives
        return equal_units(self.weights[self.truth]), equal_units(self.weights[~self.truth])

    @property
    def share_clusters(self) -> bool:
        """Whether two cases are in one cluster: clusters of one case each are cases."""
        return self.clusters is not None and np.bincount(self.clusters).max(initial=0) > 1

    @property
    def unequal_weights(self) -> Array | None:
        """The weights, None where those of a class are equal, and so do not change variances."""
        if self.weights is None:
            return None
        by_class = (self.weights[self.truth], self.weights[~self.truth])
        are_equal = all(part.size == 0 or part.min() == part.max() for part in by_class)
        return None if are_equal else self.weights

    def of(self, places: Sequence[int]) -> ScoredCases:
        """These cases with the scores of the models at some places."""
        return replace(
            self,
            models=[self.models[place] for place in places],
            scores=[self.scores[place] for place in places],
        )


def scored_by_key(cases: Cases[Any], keys: Sequence[str]) -> dict[tuple[Any, ...], ScoredCases]:
    """The cases of each key, as those of one model.

    A cluster has one number in all keys; where none is named, each case is one.
    """
    rows = each_counted(cases.collect()).valid_rows
    if cases.weight is not None:
        rows = rows.filter(pl.col("weight") > 0)
    if cases.cluster is None and cases.case is not None:
        unit: pl.Expr = pl.col("case")
        if cases.count is not None:
            # A row with a count stands for as many cases, each of them a unit.
            unit = pl.struct("case", pl.int_range(pl.len()).over(*keys, "case").alias(PLACE))
        rows = rows.with_columns(cluster=unit)
    if "cluster" in rows.columns:
        rows = rows.with_columns(cluster=pl.Series(cluster_numbers(rows["cluster"])))
    return {
        key: ScoredCases(
            [None],
            [part["score"].to_numpy()],
            part["truth"].to_numpy(),
            part["cluster"].to_numpy() if "cluster" in part.columns else None,
            part["weight"].to_numpy() if "weight" in part.columns else None,
        )
        for key, part in parts_by_key(rows, keys).items()
    }


def evidence_from_cases(
    cases: ScoredCases, measures: Sequence[Measure], *, unseen: bool = False
) -> Evidence:
    """Evidence on measures of fitted models, from the influences of the cases.

    Its covariance is NaN where a class has fewer than two cases or five clusters, its estimates
    where a class has none. For the AUC it is that of DeLong, DeLong and Clarke-Pearson (1988), with
    clusters that of Obuchowski (1997). With `unseen` the variance has one more case of each class
    for each model, which influences this model alone, as much as any case does.
    """

    def influence(score: Array) -> CaseInfluence:
        return influence_of_cases(score, cases.truth, measures, cases.weights)

    # From so many cases on each model has a thread.
    if cases.truth.size < 20_000:
        influences = [*map(influence, cases.scores)]
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            influences = [*pool.map(influence, cases.scores)]
    varied = any((score[:1] != score).any() for score in cases.scores)
    evidence = _evidence(
        cases, influences, FITTED, SEPARATED if varied else SAME_SCORE, unseen=unseen
    )
    units = evidence.influences
    # A few units may cause most of the variance of a loss, of any measure if weights differ, and of
    # AUPREC in clusters; not that of the AUC, which a unit moves by its share of a class at most.
    independent, weighted = isinf(evidence.degrees_of_freedom), cases.unequal_weights is not None
    uneven = [
        place
        for place, measure in enumerate(measures)
        if case_loss(measure) is not None
        or (not independent and (measure.bias_skew is not None or weighted))
    ]
    degrees_of_freedom = [evidence.degrees_of_freedom] + [
        units.degrees_of_freedom(units.difference(first, second, place))
        for place in uneven
        for first, second in combinations(range(len(evidence.models)), 2)
    ]
    return replace(evidence, degrees_of_freedom=min(degrees_of_freedom))


def evidence_at_thresholds(
    cases: ScoredCases, thresholds: Sequence[float | None], missed: float, alarm: float
) -> Evidence:
    """Evidence on the cost of fitted models at fixed thresholds, None to call no case.

    All positives cost `missed` if none is found, all negatives `alarm` if all are called.
    """
    influences = [
        influence_on_cost(score, cases.truth, threshold, missed, alarm, cases.weights)
        for score, threshold in zip(cases.scores, thresholds, strict=True)
    ]
    return _evidence(cases, influences, AT_THRESHOLDS, ALL_ALIKE)


def _evidence(
    cases: ScoredCases, influences: Sequence[CaseInfluence], about: str, no_variation: str,
    *, unseen: bool = False,
) -> Evidence:  # fmt: skip
    """Evidence from the influences of the cases on each model; `no_variation` says why none."""
    in_clusters, weights = cases.share_clusters, cases.unequal_weights
    by_class = zip(*(one[1:] for one in influences), strict=True)
    stacked = [np.stack(of_class, axis=1) for of_class in by_class]
    units = _unit_influences(stacked, cases.truth, cases.clusters if in_clusters else None, weights)
    if unseen:
        units = _with_unseen(units, [np.abs(part).max((0, 2), initial=0.0) for part in stacked])
    covariance, fewest = units.covariance(), min(units.counts)
    unit, least = ("clusters", FEWEST_CLUSTERS) if in_clusters else ("cases", 2)
    if fewest < least:
        covariance = covariance * np.nan
    evidence = Evidence(
        cases.models,
        np.stack([one.estimates for one in influences], axis=1),
        covariance,
        fewest - 1.0 if in_clusters or weights is not None else inf,
        f"{about}, {'whose clusters' if in_clusters else 'which'} must be independent",
        influences=units,
    )
    if evidence.is_known:
        return evidence
    why = "the measure is not known of every model" if np.isnan(covariance).any() else no_variation
    if fewest < least:
        few = "a class has fewer than {} {}" if weights is None else TOO_FEW_EFFECTIVE
        why = few.format("two" if least == 2 else least, unit)
    return replace(evidence, warnings=(NOTHING.format(why),))


def _with_unseen(units: UnitInfluences, largest: Sequence[Array]) -> UnitInfluences:
    """Influences with one more unit of each class for each model, which influences it alone.

    A model that no case influences may be influenced by an unseen one as far as others are.
    """
    models = len(largest[0])
    sums = [[of_class] for of_class in units.sums]
    for place, (of_models, count) in enumerate(zip(largest, units.counts, strict=True)):
        influence = np.where(of_models > 0, of_models, of_models.max()) / max(count, 1)
        # The added units have cases of one class only.
        for other, parts in enumerate(sums):
            added = np.diag(influence) * (other == place)
            parts.append(np.broadcast_to(added, (len(parts[0]), models, models)))
    return units._replace(sums=tuple(np.concatenate(parts, axis=2) for parts in sums))


def _unit_influences(
    influences: Sequence[Array], truth: Array, clusters: Array | None, weights: Array | None
) -> UnitInfluences:
    """The influences of cases or clusters on estimates, from those of the cases of each class.

    The number of weighted ones is effective.
    """
    sums, counts = [], []
    for influence, among in zip(influences, (truth, ~truth), strict=True):
        weight = np.ones(influence.shape[-1]) if weights is None else weights[among]
        summed = influence * (weight / weight.sum())
        if clusters is not None:
            cluster, size = clusters[among], int(clusters.max()) + 1
            summed = np.array([[np.bincount(cluster, row, size) for row in of] for of in summed])
            weight = np.bincount(cluster, weight)
            weight = weight[weight > 0]
        sums.append(summed)
        counts.append(len(weight) if weights is None else equal_units(weight))
    joint = None if clusters is None else _factor(np.unique(clusters).size)
    return UnitInfluences(tuple(sums), tuple(map(_factor, counts)), tuple(counts), joint)


def _factor(units: int) -> float:
    """n/(n − 1), by which a sum of squares of n centred influences is a variance."""
    return units / (units - 1) if units > 1 else float("nan")
