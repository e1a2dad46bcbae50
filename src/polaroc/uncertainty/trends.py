"""Evidence of one model in several periods, and the trend of its estimates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt

from polaroc.base.lazy import np
from polaroc.typing import Array
from polaroc.uncertainty.evidence import FITTED, NO_ERROR, Evidence, Moved, quantile
from polaroc.uncertainty.influence import CaseInfluence
from polaroc.uncertainty.test_sets import moved_by_units

# A line has two ends; more periods tell how much they differ.
ENDS = 2


@dataclass(frozen=True, eq=False)
class PeriodEvidence:
    """Evidence of one measure in several periods, and what each class adds to it."""

    evidence: Evidence  # periods stand where models do
    variances: "Array"  # of each class and period
    units: "Array"  # the cases or clusters of each class and period
    # The share of the cases of each class and period that each cluster has, if there are any.
    shares: "Array | None"

    def freedom(self, slope: "Array", working: "Array") -> float:
        """The degrees of freedom of a sum over periods (Satterthwaite).

        With clusters it is one less than how many equal ones count as much as these, of which
        some are in periods that matter more (Carter, Schnepel and Steigerwald 2017).
        """
        parts = slope**2 * working
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = parts.sum() ** 2 / (parts**2 / (self.units - 1)).sum()
        most = inf
        if self.shares is not None:
            # The other class says nothing about a rate of one.
            weight = working.mean(axis=1) * self.units.mean(axis=1)
            size = weight @ np.einsum("k,ckg->cg", slope, self.shares) ** 2
            most = max(float(size.sum() ** 2 / (size**2).sum()) - 1, 1.0)
        return float(min(freedom, most)) if np.isfinite(freedom) else most


@dataclass(frozen=True)
class Trend:
    """The slope of estimates over the places of their periods.

    `spread` is the standard deviation between periods beyond chance, about the line; None for two.
    """

    estimate: float
    lower: float
    upper: float
    std_error: float
    p_value: float
    spread: float | None
    fitted: "Array"


def of_periods(
    influences: Sequence[CaseInfluence],
    truths: "Sequence[Array]",
    clusters: "Sequence[Array] | None" = None,
) -> PeriodEvidence:
    """Evidence of one measure from the influences of the cases of each period.

    Each period has two cases, or clusters, of each class. Clusters are numbered from 0 on alike
    in all periods, which have a covariance where they share some.
    """
    of_cases: Sequence[Array | None] = clusters or [None] * len(truths)
    groups = [
        moved_by_units(
            [one.positives[:1, None], one.negatives[:1, None]], truth,
            None if cluster is None else [cluster],
        )
        for one, truth, cluster in zip(influences, truths, of_cases, strict=True)
    ]  # fmt: skip
    variances = np.array(
        [
            [
                factor * float((part**2).sum())
                for factor, part in zip(g.factors, g.parts, strict=True)
            ]
            for g in groups
        ]
    ).T
    estimates = np.array([[one.estimates[0] for one in influences]])
    shares = None if clusters is None else _shares(truths, clusters)
    moved = None if shares is None else _crossing(groups, shares)
    if moved is None:
        covariance = np.diag([float(group.covariance()[0, 0, 0]) for group in groups])[None]
    else:
        covariance = moved.covariance()
    freedom = inf if moved is None else min(moved.counts) - 1.0
    evidence = Evidence(range(len(groups)), estimates, covariance, freedom, FITTED, moved=moved)
    units = np.array([group.counts for group in groups], dtype=float).T
    return PeriodEvidence(evidence, variances, units, shares)


def _shares(truths: "Sequence[Array]", clusters: "Sequence[Array]") -> "Array":
    """The share of the cases of each class and period that each cluster has."""
    number = max(int(own.max()) for own in clusters) + 1
    shares: Array = np.array(
        [
            [np.bincount(own[of], minlength=number) / np.count_nonzero(of)
             for own, of in zip(clusters, of_class, strict=True)]
            for of_class in (truths, [~truth for truth in truths])
        ]
    )  # fmt: skip
    return shares


def _crossing(groups: Sequence[Moved], shares: "Array") -> Moved:
    """By how much each cluster moves the estimates of all periods.

    As a jackknife tells it: without a cluster, its period has so many fewer cases.
    """
    parts = []
    for of_class, share in enumerate(shares):
        part = np.zeros((1, *share.shape))
        for place, group in enumerate(groups):
            own = group.parts[of_class][0, 0]
            part[0, place, : own.size] = own / (1 - share[place, : own.size])
        parts.append(part)
    counts = tuple(int((share > 0).any(axis=0).sum()) for share in shares)
    return Moved(tuple(parts), (1.0, 1.0), counts, (1.0,), "clusters")


def trend(periods: PeriodEvidence, place: "Array", level: float) -> Trend:
    """The line through the estimates of periods at these places, by weighted least squares.

    The standard error of its slope is the larger one of two, each with its own quantile of
    Student's t: that of the cases or clusters and of how much periods differ beyond, and that of
    the estimates about the line (Knapp and Hartung 2003).
    """
    estimates, covariance = periods.evidence.estimates[0], periods.evidence.covariance[0]
    # Variances that do not depend on the estimate of the period.
    pooled = periods.variances.sum(axis=1) / (1 / periods.units).sum(axis=1)
    working = pooled[:, None] / periods.units
    own = working.sum(axis=0)
    size = max(1.0, float(np.abs(estimates).max()))
    own = np.maximum(own, (NO_ERROR * size) ** 2)
    line = _line(place, own)
    count = len(estimates)
    spread = None
    if count > ENDS:
        spread = _between(estimates, covariance, place, own)
        line = _line(place, own + spread**2)
    fitted = np.stack([np.ones(count), place], axis=1) @ (line @ estimates)
    slope = line[1]
    of_cases = max(float(slope @ covariance @ slope), 0.0)
    errors = [(sqrt(of_cases), periods.freedom(slope, working))]
    if spread is not None:
        beyond = float(slope @ slope) * spread**2
        errors[0] = _added(of_cases, errors[0][1], beyond, count - float(ENDS))
        weight = 1 / (own + spread**2)
        square = float((weight * (estimates - fitted) ** 2).sum()) / (count - ENDS)
        about = place - (weight * place).sum() / weight.sum()
        errors.append((sqrt(square / float((weight * about**2).sum())), count - float(ENDS)))
    estimate = float(slope @ estimates)
    error, freedom = max(errors, key=lambda one: float(quantile(level, one[1])) * one[0])
    reach = float(quantile(level, freedom)) * error
    return Trend(
        estimate, estimate - reach, estimate + reach, error,
        max(_p_value(estimate, *one) for one in errors), spread, fitted,
    )  # fmt: skip


def _added(own: float, freedom: float, other: float, its_freedom: float) -> tuple[float, float]:
    """The standard error of two variances, and its degrees of freedom (Satterthwaite)."""
    both = own + other
    if both == 0:
        return 0.0, freedom
    return sqrt(both), both**2 / (own**2 / freedom + other**2 / its_freedom)


def _p_value(estimate: float, error: float, freedom: float) -> float:
    from scipy.special import ndtr, stdtr

    if estimate == 0:
        return 1.0
    if error == 0:
        return 0.0
    t = -abs(estimate) / error
    return float(2 * (ndtr(t) if freedom == inf else stdtr(freedom, t)))


def _line(place: "Array", variances: "Array") -> "Array":
    """What the level at 0 and the slope are of the estimates: two rows of weights."""
    design = np.stack([np.ones(len(place)), place], axis=1)
    weighted = design / variances[:, None]
    weights: Array = np.linalg.solve(weighted.T @ design, weighted.T)
    return weights


def _between(estimates: "Array", covariance: "Array", place: "Array", variances: "Array") -> float:
    """The standard deviation between periods about a line, beyond that of their covariance.

    By moments, as that of DerSimonian and Laird (1986).
    """
    design = np.stack([np.ones(len(place)), place], axis=1)
    residual = np.eye(len(place)) - design @ _line(place, variances)
    squares = residual.T @ (residual / variances[:, None])
    excess = estimates @ squares @ estimates - float((squares * covariance).sum())
    return sqrt(max(float(excess) / float(squares.trace()), 0.0))
