"""Evidence on fitted models from the cases of one test set, which are summed by cluster."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from math import inf, isinf
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.statistics import equal_units
from polaroc.inference.evidence import (
    FEWEST_CLUSTERS,
    FITTED,
    NOTHING,
    UNRELATED,
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
    clusters that of Obuchowski (1997). With `unseen` the variance has a case of each class more for
    each model, which moves it alone, as far as any case does.
    """

    def moved(own: "tuple[Array, Array, Array | None]") -> CaseInfluence:
        score, truth, weight = own
        return influence_of_cases(score, truth, measures, weight)

    if cases.size < MANY:
        # To start threads takes longer.
        influences = [*map(moved, cases.by_model)]
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            influences = [*pool.map(moved, cases.by_model)]
    same = PERFECT if any((own[:1] != own).any() for own in cases.scores) else SAME_SCORE
    most = np.array([[np.abs(own).max(initial=0.0) for own in one[1:]] for one in influences])
    # A model that no case moves may be moved by an unseen one as far as others are; where no case
    # moves any model, nothing is known of one.
    most = np.where(most > 0, most, most.max(axis=0))
    evidence = evidence_from_influences(
        cases, influences, FITTED, same, most if unseen and most.any() else None
    )
    # The AUC moves by no more than its share with any unit, unless weights differ. Losses of few
    # cases may be most of the sum.
    independent, weighted = isinf(evidence.degrees_of_freedom), cases.unequal_weights is not None
    uneven = [
        place
        for place, measure in enumerate(measures)
        if case_loss(measure) is not None
        or (not independent and (measure.bias_skew is not None or weighted))
    ]
    return replace(evidence, degrees_of_freedom=_freedom(evidence, uneven))


def _freedom(evidence: Evidence, measures: Sequence[int]) -> float:
    """The fewest degrees of freedom of the differences of two models on some measures."""
    moved = evidence.influences
    if moved is None:
        return evidence.degrees_of_freedom
    apart = (
        moved.degrees_of_freedom(moved.difference(first, second, measure))
        for measure in measures
        for first, second in combinations(range(len(evidence.models)), 2)
    )
    return min(evidence.degrees_of_freedom, *apart, inf)


def evidence_at_thresholds(
    cases: ScoredCases,
    thresholds: Sequence[float | None],
    rate: OfRates,
) -> Evidence:
    """Evidence on a rate, or cost, of fitted models at fixed thresholds, None to call no case."""
    influences = [
        influence_on_rate(score, truth, threshold, rate, weight)
        for (score, truth, weight), threshold in zip(cases.by_model, thresholds, strict=True)
    ]
    about = FITTED.replace("models", "models with these thresholds,")
    return evidence_from_influences(cases, influences, about, ALL_ALIKE)


def evidence_from_influences(
    cases: ScoredCases,
    influences: Sequence[CaseInfluence],
    about: str,
    alike: str,
    unseen: "Array | None" = None,
) -> Evidence:
    """Evidence from the influences of the cases on each model; `alike` says why there is none.

    `unseen`, models × classes, is the influence of one more case of each class, which moves no
    other model.
    """
    nothing: Sequence[Any] = [None] * len(influences)
    in_clusters, unequal = cases.share_clusters, cases.unequal_weights
    clusters, weights = (in_clusters and cases.clusters) or nothing, unequal or nothing
    estimates = np.stack([one.estimates for one in influences], axis=1)
    moved = None
    if cases.paired:
        both = [np.stack(own, axis=1) for own in zip(*(one[1:] for one in influences), strict=True)]
        moved = moved_by_units(both, cases.truths[0], clusters[0], weights[0])
        if unseen is not None:
            moved = _with_unseen(moved, unseen)
        covariance, counts = moved.covariance(), moved.counts
    else:
        groups = [
            moved_by_units([own[:, None] for own in one[1:]], truth, cluster, weight)
            for one, truth, cluster, weight in zip(
                influences, cases.truths, clusters, weights, strict=True
            )
        ]
        covariance = np.zeros((len(estimates), len(influences), len(influences)))
        for place, group in enumerate(groups):
            covariance[:, place, place] = group.covariance()[:, 0, 0]
        counts = tuple(count for group in groups for count in group.counts)
    fewest = min(counts)
    of, least = ("clusters", FEWEST_CLUSTERS) if in_clusters else ("cases", 2)
    if fewest < least:
        covariance *= np.nan
    evidence = Evidence(
        cases.models,
        estimates,
        covariance,
        fewest - 1.0 if in_clusters or unequal is not None else inf,
        f"{about}, {CLUSTERS if in_clusters else INDEPENDENT}",
        () if cases.paired else (UNRELATED,),
        moved if fewest >= least else None,
        is_bound=not cases.paired,
    )
    if evidence.is_known:
        return evidence
    if fewest < least:
        few = TOO_FEW if unequal is None else FEW_EFFECTIVE
        alike = few.format("two" if least == 2 else least, of)
    elif np.isnan(covariance).any():
        alike = UNKNOWN
    return replace(evidence, doubts=(NOTHING.format(alike),), is_bound=False)


def _with_unseen(moved: UnitInfluences, influence: "Array") -> UnitInfluences:
    """The same with a unit of each class for each model, which moves this model alone."""
    models = len(influence)
    parts = []
    for place, part in enumerate(moved.sums):
        # No unit has cases of both classes.
        own = np.zeros((2, models, models))
        own[place] = np.diag(influence[:, place]) / moved.counts[place]
        more = np.broadcast_to(np.concatenate(own, axis=1), (len(part), models, 2 * models))
        parts.append(np.concatenate([part, more], axis=2))
    return moved._replace(sums=tuple(parts))


def moved_by_units(
    influences: Sequence["Array"],
    truth: "Array",
    clusters: "Array | None",
    weights: "Array | None" = None,
) -> UnitInfluences:
    """By how much each case or cluster moves the estimates, from influences per class.

    Weighted ones count as many as there are equal ones that say as much.
    """
    shares: list[Any] = [1 / max(own.shape[-1], 1) for own in influences]
    if weights is not None:
        shares = [own / own.sum() for own in (weights[truth], weights[~truth])]
    parts = tuple(own * share for own, share in zip(influences, shares, strict=True))
    if clusters is None:
        counts = tuple(part.shape[-1] for part in parts)
        if weights is not None:
            counts = tuple(equal_units(own) for own in shares)
        factors = tuple(_factor(n) for n in counts)
        return UnitInfluences(parts, factors, counts, shares=None if weights is None else shares[0])
    # Numbers of clusters may have gaps, which move nothing.
    number = int(clusters.max()) + 1
    members = clusters[truth], clusters[~truth]
    sums = tuple(
        np.array([[np.bincount(own, one, number) for one in of_measure] for of_measure in part])
        for own, part in zip(members, parts, strict=True)
    )
    of_cases = (None, None) if weights is None else shares
    sizes = [np.bincount(*own) for own in zip(members, of_cases, strict=True)]
    sizes = [own[own > 0] for own in sizes]
    counts = tuple(len(own) if weights is None else equal_units(own) for own in sizes)
    whole = int(np.count_nonzero(np.bincount(clusters)))
    factors = tuple(_factor(n) for n in counts)
    return UnitInfluences(
        sums, factors, counts, _factor(whole), "clusters", sizes[0] / sizes[0].sum()
    )


def _factor(units: int) -> float:
    return units / (units - 1) if units > 1 else float("nan")
