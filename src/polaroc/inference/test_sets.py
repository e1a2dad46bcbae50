"""Evidence on fitted models from the cases of one test set, which are summed by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from math import inf, isinf

import numpy as np
import polars as pl

from polaroc.base.statistics import equal_units
from polaroc.inference.evidence import (
    FEWEST_CLUSTERS,
    FITTED,
    NOTHING,
    Evidence,
    UnitInfluences,
)
from polaroc.inference.influence import CaseInfluence, influence_of_cases, influence_on_rate
from polaroc.inference.scored_cases import ScoredCases
from polaroc.measures.scoring import case_loss
from polaroc.measures.spec import Measure
from polaroc.thresholds.named_rates import OfRates
from polaroc.typing import Array

# Cases from which on models have threads of their own.
MANY = 20_000
AT_THRESHOLDS = FITTED.replace("models", "models with these thresholds,")
INDEPENDENT = "which must be independent"
CLUSTERS = "whose clusters must be independent"
TOO_FEW = "a class has fewer than {} {}"
FEW_EFFECTIVE = "because of the weights, a class has an effective number of {1} below {0}"
UNKNOWN = "the measure is not known of every model"
SAME_SCORE = "each model gives all cases the same score, which does not tell the classes apart"
PERFECT = (
    "the models separate the classes perfectly, so that these cases do not tell how much others "
    "would change that"
)
ALL_ALIKE = (
    "the thresholds treat all cases of a class alike, so that these cases do not tell how much "
    "others would change that"
)


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

    if cases.truth.size < MANY:
        # To start threads takes longer.
        influences = [*map(influence, cases.scores)]
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            influences = [*pool.map(influence, cases.scores)]
    varied = any((score[:1] != score).any() for score in cases.scores)
    largest = None
    if unseen:
        largest = np.array(
            [[np.abs(own).max(initial=0.0) for own in one[1:]] for one in influences]
        )
        # A model that no case influences may be influenced by an unseen one as far as others are;
        # where no case influences any model, nothing is known of one.
        largest = np.where(largest > 0, largest, largest.max(axis=0))
        largest = largest if largest.any() else None
    evidence = evidence_from_influences(
        cases, influences, FITTED, PERFECT if varied else SAME_SCORE, largest
    )
    units = evidence.influences
    if units is None:
        return evidence
    # The AUC moves by no more than its share with any unit, unless weights differ. Losses of few
    # cases may be most of the sum.
    independent, weighted = isinf(evidence.degrees_of_freedom), cases.unequal_weights is not None
    degrees_of_freedom = [evidence.degrees_of_freedom] + [
        units.degrees_of_freedom(units.difference(first, second, place))
        for place, measure in enumerate(measures)
        if case_loss(measure) is not None
        or (not independent and (measure.bias_skew is not None or weighted))
        for first, second in combinations(range(len(evidence.models)), 2)
    ]
    return replace(evidence, degrees_of_freedom=min(degrees_of_freedom))


def evidence_at_thresholds(
    cases: ScoredCases, thresholds: Sequence[float | None], rate: OfRates
) -> Evidence:
    """Evidence on a rate, or cost, of fitted models at fixed thresholds, None to call no case."""
    influences = [
        influence_on_rate(score, cases.truth, threshold, rate, cases.weights)
        for score, threshold in zip(cases.scores, thresholds, strict=True)
    ]
    return evidence_from_influences(cases, influences, AT_THRESHOLDS, ALL_ALIKE)


def evidence_from_influences(
    cases: ScoredCases,
    influences: Sequence[CaseInfluence],
    about: str,
    no_variation: str,
    unseen: Array | None = None,
) -> Evidence:
    """Evidence from the influences of the cases on each model.

    `no_variation` says why there is none, `unseen`, models × classes, is the influence of one more
    case of each class, which influences no other model.
    """
    in_clusters, unequal = cases.share_clusters, cases.unequal_weights
    by_class = zip(*(one[1:] for one in influences), strict=True)
    stacked = [np.stack(of_class, axis=1) for of_class in by_class]
    clusters = cases.clusters if in_clusters else None
    units = _unit_influences(stacked, cases.truth, clusters, unequal)
    if unseen is not None:
        units = _with_unseen(units, unseen)
    covariance, fewest = units.covariance(), min(units.counts)
    unit, least = ("clusters", FEWEST_CLUSTERS) if in_clusters else ("cases", 2)
    if fewest < least:
        covariance *= np.nan
    evidence = Evidence(
        cases.models,
        np.stack([one.estimates for one in influences], axis=1),
        covariance,
        fewest - 1.0 if in_clusters or unequal is not None else inf,
        f"{about}, {CLUSTERS if in_clusters else INDEPENDENT}",
        influences=None if fewest < least else units,
    )
    if evidence.is_known:
        return evidence
    why = UNKNOWN if np.isnan(covariance).any() else no_variation
    if fewest < least:
        few = TOO_FEW if unequal is None else FEW_EFFECTIVE
        why = few.format("two" if least == 2 else least, unit)
    return replace(evidence, doubts=(NOTHING.format(why),))


def _with_unseen(units: UnitInfluences, influence: Array) -> UnitInfluences:
    """The same with one more unit of each class for each model, which influences it alone."""
    models, sums = len(influence), []
    for place, (own, count) in enumerate(zip(units.sums, units.counts, strict=True)):
        # No unit has cases of both classes.
        more = np.zeros((2, models, models))
        more[place] = np.diag(influence[:, place]) / max(count, 1)
        added = np.broadcast_to(np.concatenate(more, axis=1), (len(own), models, 2 * models))
        sums.append(np.concatenate([own, added], axis=2))
    return units._replace(sums=tuple(sums))


def _unit_influences(
    influences: Sequence[Array], truth: Array, clusters: Array | None, weights: Array | None
) -> UnitInfluences:
    """The influences of cases or clusters on estimates, from those of the cases of each class.

    The number of weighted ones is effective.
    """
    classes = truth, ~truth
    if weights is None:
        shares = [np.full(own.shape[-1], 1 / max(own.shape[-1], 1)) for own in influences]
    else:
        shares = [weights[own] / weights[own].sum() for own in classes]
    sums = [own * share for own, share in zip(influences, shares, strict=True)]
    if clusters is None:
        counts = [len(own) if weights is None else equal_units(own) for own in shares]
        return UnitInfluences(
            tuple(sums), tuple(map(_factor, counts)), tuple(counts),
            shares=None if weights is None else shares[0],
        )  # fmt: skip
    # Numbers of clusters may have gaps, which have no influence.
    size = int(clusters.max()) + 1
    members = [clusters[own] for own in classes]
    of_clusters = [
        np.array([[np.bincount(cluster, one, size) for one in of_measure] for of_measure in own])
        for cluster, own in zip(members, sums, strict=True)
    ]
    cases = [None, None] if weights is None else shares
    sizes = [np.bincount(*own) for own in zip(members, cases, strict=True)]
    sizes = [own[own > 0] for own in sizes]
    counts = [len(own) if weights is None else equal_units(own) for own in sizes]
    whole = int(np.count_nonzero(np.bincount(clusters)))
    return UnitInfluences(
        tuple(of_clusters), tuple(map(_factor, counts)), tuple(counts), _factor(whole), "clusters",
        sizes[0] / sizes[0].sum(),
    )  # fmt: skip


def _factor(units: int) -> float:
    return units / (units - 1) if units > 1 else float("nan")
