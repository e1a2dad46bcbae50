"""Evidence on fitted models from the cases of one test set, which are summed by cluster."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf

import polars as pl

from polaroc.base.lazy import np
from polaroc.measures.spec import Measure
from polaroc.typing import Array
from polaroc.uncertainty.evidence import FITTED, NOTHING, UNRELATED, Evidence, Moved
from polaroc.uncertainty.influence import CaseInfluence, of_cases
from polaroc.uncertainty.scored_cases import ScoredCases

# Cases from which on models have threads of their own.
MANY = 20_000
INDEPENDENT = "which must be independent"
CLUSTERS = "whose clusters must be independent"
WEIGHTED = "that of one test set is not known for weighted cases"
TOO_FEW = "a class has fewer than two {}"
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


def of_test_set(cases: ScoredCases, measures: Sequence[Measure]) -> Evidence:
    """Evidence on measures of fitted models, from the influences of the cases.

    Its covariance is NaN where a class has fewer than two cases or clusters, its estimates where
    a class has none. For the AUC it is that of DeLong, DeLong and Clarke-Pearson (1988), with
    clusters that of Obuchowski (1997).
    """

    def moved(score: Array, truth: Array) -> CaseInfluence:
        has_both = 0 < np.count_nonzero(truth) < truth.size
        return of_cases(score, truth, measures) if has_both else _unknown(truth, measures)

    if cases.size < MANY:
        influences = [*map(moved, cases.scores, cases.truths)]
    else:
        with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
            influences = [*pool.map(moved, cases.scores, cases.truths)]
    same = PERFECT if any((own[0] != own).any() for own in cases.scores) else SAME_SCORE
    return _of_influences(cases, influences, FITTED, same)


def of_thresholds(
    cases: ScoredCases, thresholds: Sequence[float | None], cost_fn: float, cost_fp: float
) -> Evidence:
    """Evidence on what fitted models cost at fixed thresholds.

    Parameters
    ----------
    cases
        The cases.
    thresholds
        That of each model; None where it calls no case positive.
    cost_fn, cost_fp
        The cost of missing all positives, and that of an alarm at every negative.
    """
    influences = []
    for score, truth, threshold in zip(cases.scores, cases.truths, thresholds, strict=True):
        alarm = np.zeros(score.size, bool) if threshold is None else score >= threshold
        missed, false = cost_fn * ~alarm[truth], cost_fp * alarm[~truth]
        means = [own.mean() if own.size else float("nan") for own in (missed, false)]
        influences.append(
            CaseInfluence(
                np.array([sum(means)]), (missed - means[0])[None], (false - means[1])[None]
            )
        )
    about = FITTED.replace("models", "models with these thresholds,")
    return _of_influences(cases, influences, about, ALL_ALIKE)


def _unknown(truth: "Array", measures: Sequence[Measure]) -> CaseInfluence:
    """What there is to know where a class has no cases."""
    sizes = int(truth.sum()), int((~truth).sum())
    return CaseInfluence(
        np.full(len(measures), np.nan), *(np.full((len(measures), n), np.nan) for n in sizes)
    )


def _of_influences(
    cases: ScoredCases, influences: Sequence[CaseInfluence], about: str, alike: str
) -> Evidence:
    """Evidence from the influences of the cases on each model; `alike` says why there is none."""
    clusters: Sequence[Array | None] = cases.clusters or [None] * len(influences)
    estimates = np.stack([one.estimates for one in influences], axis=1)
    if cases.paired:
        both = [np.stack(own, axis=1) for own in zip(*(one[1:] for one in influences), strict=True)]
        groups = [moved_by_units(both, cases.truths[0], clusters[0])]
        covariance = groups[0].covariance()
    else:
        groups = [
            moved_by_units([own[:, None] for own in one[1:]], truth, cluster)
            for one, truth, cluster in zip(influences, cases.truths, clusters, strict=True)
        ]
        covariance = np.zeros((len(estimates), len(influences), len(influences)))
        for place, group in enumerate(groups):
            covariance[:, place, place] = group.covariance()[:, 0, 0]
    fewest = min(min(group.counts) for group in groups)
    of = "cases" if cases.clusters is None else "clusters"
    if fewest < 2:
        covariance *= np.nan
    evidence = Evidence(
        cases.models,
        estimates,
        covariance,
        inf if cases.clusters is None else fewest - 1.0,
        f"{about}, {INDEPENDENT if cases.clusters is None else CLUSTERS}",
        () if cases.paired else (UNRELATED,),
        groups[0] if cases.paired and fewest > 1 else None,
        is_bound=not cases.paired,
    )
    if evidence.is_known:
        return evidence
    if fewest < 2:
        alike = TOO_FEW.format(of)
    elif np.isnan(covariance).any():
        alike = UNKNOWN
    return replace(evidence, doubts=(NOTHING.format(alike),), is_bound=False)


def moved_by_units(
    influences: Sequence["Array"], truth: "Array", clusters: "Array | None"
) -> Moved:
    """By how much each case or cluster moves the estimates, from influences per class."""
    parts = tuple(own / own.shape[-1] for own in influences)
    if clusters is None:
        counts = tuple(part.shape[-1] for part in parts)
        return Moved(parts, tuple(_factor(n) for n in counts), counts)
    # Numbers of clusters may have gaps, which move nothing.
    number = int(clusters.max()) + 1
    members = clusters[truth], clusters[~truth]
    sums = tuple(
        np.array([[np.bincount(own, one, number) for one in of_measure] for of_measure in part])
        for own, part in zip(members, parts, strict=True)
    )
    counts = tuple(int(np.count_nonzero(np.bincount(own))) for own in members)
    whole = int(np.count_nonzero(np.bincount(clusters)))
    return Moved(sums, tuple(_factor(n) for n in counts), counts, _factor(whole), "clusters")


def _factor(units: int) -> float:
    return units / (units - 1) if units > 1 else float("nan")
