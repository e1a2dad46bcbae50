"""How sure one is of a cost at the best thresholds, which are not known."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from polaroc.inference.evidence import FITTED, quantile
from polaroc.inference.influence import CaseInfluence
from polaroc.inference.intervals import NO_SPREAD
from polaroc.inference.scored_cases import ScoredCases
from polaroc.inference.test_sets import ALL_ALIKE, evidence_from_influences
from polaroc.priors.distributions import Distribution
from polaroc.thresholds.expected_cost import partial_means
from polaroc.typing import Array

# The costs of a positive and of a negative in a block of the hull, from the slopes Δf/Δt of blocks.
Losses: TypeAlias = Callable[[Array], tuple[Array, Array]]
FOLDS = 10
# Above it, too few cases carry the cost at the prior (`just simulate rates_costs`).
MAX_SKEW = 0.2
TOO_FEW = "too few {} for this prior: no interval"


class CostLimits(NamedTuple):
    """A cost with its limits and standard error, NaN where there are none, and why."""

    lower: float
    upper: float
    std_error: float
    why: str | None = None

    def times(self, unit: float) -> "CostLimits":
        """The same cost in another unit."""
        return CostLimits(unit * self.lower, unit * self.upper, unit * self.std_error, self.why)


def limits_of_least_cost(
    cases: ScoredCases, losses: Losses, skews: Sequence[float], level: float
) -> CostLimits:
    """Limits of the mean cost of cases where each slope of the true curve has its best threshold.

    On the cases that it is fitted to, the hull costs less than the best thresholds do, on other
    cases it costs more. So the lower limit is that of the cost on the hull of all cases, and the
    upper one that of the cost of folds on the hulls of the others. Each is Student's on the
    logarithm of the cost, from the costs of single cases, as if thresholds were known.
    """
    nothing = CostLimits(np.nan, np.nan, np.nan)
    costs = _on_hulls(cases, losses)
    means = costs.estimates
    if not (costs.positives.size and costs.negatives.size):
        return nothing
    evidence = evidence_from_influences(cases, [costs], FITTED, ALL_ALIKE)
    if evidence.influences is None:
        return nothing._replace(why=evidence.why_no_limits)
    positives, negatives = evidence.influences.counts
    for count, name, most in (
        (negatives, "negatives", max(skews)), (positives, "positives", 1 / min(skews))
    ):  # fmt: skip
        if most / count > MAX_SKEW:
            return nothing._replace(why=TOO_FEW.format(name))
    if not (means.min() > 0 and evidence.is_known):
        return nothing._replace(why=NO_SPREAD)
    errors = np.sqrt(evidence.covariance[:, 0, 0])
    reach = float(quantile(level, min(positives, negatives) - 1.0))
    relative = errors / means
    lower = means[0] * np.exp(-reach * relative[0])
    upper = means.max() * np.exp(reach * relative.max())
    return CostLimits(float(lower), float(upper), float(errors[0]))


def _on_hulls(cases: ScoredCases, losses: Losses) -> CaseInfluence:
    """Costs of the cases of one model on the hull of all of them, and on hulls of the others."""
    (score,), truth = cases.scores, cases.truth
    weight = np.ones(score.size) if cases.weights is None else cases.weights
    if truth.all() or not truth.any():
        unknown = (np.full((2, np.count_nonzero(own)), np.nan) for own in (truth, ~truth))
        return CaseInfluence(np.full(2, np.nan), *unknown)
    fold = _folds(cases)
    on_hull = _costs(score, truth, weight, np.zeros((1, score.size), bool), losses)
    on_others = _costs(
        score, truth, weight, np.array([fold == one for one in range(fold.max() + 1)]), losses
    )
    centred, means = [], np.zeros(2)
    for own in (truth, ~truth):
        costs = np.stack([on_hull[own], on_others[own]])
        mean = np.average(costs, axis=1, weights=weight[own])
        means += mean
        centred.append(costs - mean[:, None])
    return CaseInfluence(means, *centred)


def losses_of(prior: Distribution, share: Distribution) -> Losses:
    """Costs of cases at independent priors π and shares c of the cost that a miss carries."""

    def losses(slopes: Array) -> tuple[Array, Array]:
        misses, alarms = partial_means(np.append(slopes, np.inf), prior, share)
        # Weighted to the prior already: a positive is missed where odds are below the slope.
        return misses[:-1], alarms[-1] - alarms[:-1]

    return losses


def _folds(cases: ScoredCases) -> "Array":
    """A fold for each case, the same in any order of the rows; cases of a cluster share theirs."""
    (score,), truth = cases.scores, cases.truth
    unit = np.arange(score.size) if cases.clusters is None else cases.clusters
    _, unit, size = np.unique(unit, return_inverse=True, return_counts=True)
    positives = np.bincount(unit, truth)
    has_positives = positives > 0
    mean = np.bincount(unit, score) / size
    order = np.lexsort((positives, size, mean, has_positives))
    folds = max(2, min(FOLDS, int(has_positives.sum()), int((positives < size).sum())))
    rng = np.random.default_rng(0)
    fold = np.empty(size.size, int)
    for own in (order[~has_positives[order]], order[has_positives[order]]):
        fold[rng.permutation(own)] = np.arange(own.size) % folds
    return fold[unit]


def _costs(
    score: "Array", truth: "Array", weight: "Array", parts: "Array", losses: Losses
) -> "Array":
    """The cost of each case of a part on the hull of all others; of an empty part, of all on it."""
    costs = np.full(score.size, np.nan)
    for part in parts:
        if part.all():
            # There are no others.
            continue
        judged = part if part.any() else ~part
        starts, slopes = _hull(score[~part], truth[~part], weight[~part])
        place = np.searchsorted(starts, score[judged], side="right") - 1
        of_pos, of_neg = (own[place.clip(0)] for own in losses(slopes))
        costs[judged] = np.where(truth[judged], of_pos, of_neg)
    return costs


def _hull(score: "Array", truth: "Array", weight: "Array") -> tuple["Array", "Array"]:
    """The least score of each block of the hull, ascending, and its slope Δf/Δt."""
    from scipy.optimize import isotonic_regression

    levels, place = np.unique(score, return_inverse=True)
    of_pos, total = np.bincount(place, weight * truth), np.bincount(place, weight)
    found = isotonic_regression(of_pos / total, weights=total)
    first = np.asarray(found.blocks[:-1])
    share = np.clip(found.x[first], 0, 1)
    # Where a class has one unit, hulls of the others have none: then there are no limits.
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (1 - share) / share * (of_pos.sum() / (total - of_pos).sum())
    return levels[first], slopes
