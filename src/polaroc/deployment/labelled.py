"""Prediction-powered estimates: some labels from use, and all scores (Angelopoulos et al. 2023)."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from polaroc.base.statistics import ROUNDING, binomial_band
from polaroc.deployment.alarms import Terms
from polaroc.deployment.limits import Reference
from polaroc.typing import Array

# An estimate with its limits.
Estimate: TypeAlias = tuple[float, float, float]
Estimates: TypeAlias = dict[str, Estimate]
TOLD = "prior_labelled", "precision_labelled", "recall_labelled", "cost_labelled"
UNKNOWN = float("nan"), float("nan"), float("nan")
# Cases more of either class in each bin of a reference, so that none is ruled out.
PSEUDO = 0.5


@dataclass(frozen=True)
class Bins:
    """Cases in use between the cuts of a reference, from the lowest scores to the highest.

    `expected` is the share of positives that the reference and a prior let expect, `called`
    the share of cases called positive.
    """

    count: "Array"
    expected: "Array"
    called: "Array"

    @classmethod
    def at_prior(cls, reference: Reference, above: "Array", cases: int, prior: float) -> "Bins":
        """The bins of cases, of which so many are at or above each cut."""
        p, q = (
            in_bins(reference, at_or_above, total) + PSEUDO
            for at_or_above, total in (
                (reference.tp, reference.positives),
                (reference.fp, reference.negatives),
            )
        )
        p, q = p / p.sum(), q / q.sum()
        expected = prior * p / (prior * p + (1 - prior) * q)
        called = np.concatenate([[0.0], reference.own[np.argsort(reference.cuts)].cumsum()])
        return cls(in_bins(reference, above, cases), expected, called)


def in_bins(reference: Reference, above: "Array", cases: int) -> "Array":
    """The cases of each bin, of which so many are at or above each cut."""
    counts: Array = -np.diff([cases, *above[np.argsort(reference.cuts)], 0])
    return counts


@dataclass(frozen=True)
class Labels:
    """Cases with their truth: the bin of each, and the share of its time that was labelled."""

    place: "Array"
    truth: "Array"
    inclusion: "Array"


def labelled_estimates(bins: Bins, labels: Labels, terms: Terms, level: float) -> Estimates:
    """Prior, precision, recall and cost with limits, each at the level alone."""
    called, everything = bins.called, np.ones(bins.count.size)
    # The cost of a negative and of a positive of each bin.
    costs = terms.cost_fp * called, terms.cost_fn * (1 - called)
    is_positive = 0 * called, everything
    return {
        "prior_labelled": _mean(bins, labels, everything, is_positive, level),
        "precision_labelled": _mean(bins, labels, called, is_positive, level),
        "recall_labelled": _recall(bins, labels, level),
        "cost_labelled": _mean(bins, labels, everything, costs, level),
    }


def _recall(bins: Bins, labels: Labels, level: float) -> Estimate:
    """The share of positives that are called positive, and its limits.

    They are of the positives on either side of the threshold, each known with half of the error.
    """
    is_positive = np.zeros(bins.count.size), np.ones(bins.count.size)
    (found, *of_found), (missed, *of_missed) = (
        float(bins.count @ part) * np.array(_mean(bins, labels, part, is_positive, (1 + level) / 2))
        for part in (bins.called, 1 - bins.called)
    )
    with np.errstate(invalid="ignore"):
        ends = (found, missed), (of_found[0], of_missed[1]), (of_found[1], of_missed[0])
        estimate, lower, upper = (float(tp / (tp + fn)) for tp, fn in ends)
    return estimate, lower, upper


def _mean(
    bins: Bins, labels: Labels, domain: "Array", values: tuple["Array", "Array"], level: float
) -> Estimate:
    """The mean, weighted by `domain`, of the values of negatives and positives; its limits."""
    inside = domain[labels.place] > 0
    place, truth, inclusion = (
        own[inside] for own in (labels.place, labels.truth, labels.inclusion)
    )
    weights, size = bins.count * domain, place.size
    if size < 2 or weights.sum() == 0:
        return UNKNOWN
    weight = domain[place] / inclusion
    total = weight.sum()
    share = weight / total
    # The squares of weights, as far as cases were not drawn.
    squares = weight**2 * (1 - inclusion)
    expected = (1 - bins.expected) * values[0] + bins.expected * values[1]
    value = np.where(truth, values[1][place], values[0][place])
    predicted = expected[place]
    mean, mean_predicted = share @ value, share @ predicted
    # How much of the prediction is used is what the labels say it explains.
    off = predicted - mean_predicted
    spread = share @ off**2
    part = np.clip(share @ ((value - mean) * off) / spread, 0, 1) if spread > 0 else 0.0
    top = float(max(values[0].max(), values[1].max()))
    usual = float(weights @ expected / weights.sum())
    estimate = float(np.clip(part * (usual - mean_predicted) + mean, 0.0, top))
    smoothed = (estimate * size + top / 2) / (size + 1)
    left = value - part * predicted
    left = left - share @ left
    error = squares @ left**2
    # Half a case more of this time, whichever, about which the prediction is wholly wrong: of
    # a kind that is rare the labels may hold none, and show no variance.
    error += share @ (weight**2 * (1 - inclusion)) * top**2 / 2
    variance = error / total**2 * size / (size - 1)
    # Nor is the error less than if the reference were right about each bin.
    binomial = (values[1] - values[0]) ** 2 * bins.expected * (1 - bins.expected)
    if np.ptp(inclusion) > 0:
        least = squares @ binomial[place] / total**2
    else:
        least = float(weights @ binomial / weights.sum()) * (1 - inclusion[0]) / size
    # The cases of this time are themselves a sample; few may be all of one kind.
    sampled = share @ (value - mean) ** 2 + top**2 / 2 / (size + 1)
    variance = max(variance, least) + sampled / float(weights.sum())
    # The limits of as many independent cases as would have this variance.
    cases = smoothed * (top - smoothed) / variance
    lower, upper = map(float, binomial_band(estimate / top * cases, cases, 1 - level))
    # Of a quantile as small as that nothing is known.
    return estimate, top * (0.0 if lower < ROUNDING else lower), top * upper
