"""Prediction-powered estimates: some labels from use, and all scores (Angelopoulos et al. 2023)."""

from dataclasses import dataclass

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING, binomial_band
from polaroc.deployment.alarms import Terms
from polaroc.deployment.limits import Reference
from polaroc.typing import Array

Estimates = dict[str, tuple[float, ...]]
PRECISION = "precision_labelled"
TOLD = "prior_labelled", PRECISION, "recall_labelled", "cost_labelled"
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
    """Cases with their truth: the bin of each, and the chance with which it was drawn.

    The chance is NaN where it is not known. Labels that are not `of_all` cases stand for alarms
    alone. Each stands for a `number` of labels, the last axis; others are of several draws.
    """

    place: "Array"
    truth: "Array"
    inclusion: "Array"
    of_all: bool = True
    number: "Array | float" = 1.0

    def inside(self, domain: "Array") -> "Labels":
        """The labels of some bins, those where the domain is not 0."""
        inside = domain[self.place] > 0
        number = np.broadcast_to(self.number, (*np.shape(self.number)[:-1], inside.size))
        return Labels(
            self.place[inside], self.truth[inside], self.inclusion[inside], self.of_all,
            number[..., inside],
        )  # fmt: skip


def labelled_estimates(bins: Bins, labels: Labels, terms: Terms, level: float) -> Estimates:
    """Prior, precision, recall and cost with limits, each at the level alone."""
    called, everything = bins.called, np.ones(bins.count.size)
    # The cost of a negative and of a positive of each bin.
    costs = terms.cost_fp * called, terms.cost_fn * (1 - called)
    is_positive = 0 * called, everything
    found = {PRECISION: labelled_mean(bins, labels, called, is_positive, level)}
    if labels.of_all:
        found |= {
            "prior_labelled": labelled_mean(bins, labels, everything, is_positive, level),
            "recall_labelled": labelled_recall(bins, labels, level),
            "cost_labelled": labelled_mean(bins, labels, everything, costs, level),
        }
    numbers = {name: tuple(map(float, values)) for name, values in found.items()}
    return dict.fromkeys(TOLD, UNKNOWN) | numbers


def labelled_recall(
    bins: Bins, labels: Labels, level: float, design: float = 1.0
) -> tuple["Array", "Array", "Array"]:
    """The share of positives that are called positive, and its limits.

    They are of the positives on either side of the threshold, each known with half of the error.
    """
    is_positive = np.zeros(bins.count.size), np.ones(bins.count.size)
    parts = bins.called, 1 - bins.called
    (found, *of_found), (missed, *of_missed) = (
        [
            float(bins.count @ part) * one
            for one in labelled_mean(bins, labels, part, is_positive, (1 + level) / 2, design)
        ]
        for part in parts
    )
    with np.errstate(invalid="ignore"):
        ends = (found, missed), (of_found[0], of_missed[1]), (of_found[1], of_missed[0])
        estimate, lower, upper = (tp / (tp + fn) for tp, fn in ends)
    return estimate, lower, upper


def labelled_mean(
    bins: Bins,
    labels: Labels,
    domain: "Array",
    values: tuple["Array", "Array"],
    level: float,
    design: float = 1.0,
) -> tuple["Array", "Array", "Array"]:
    """The mean, weighted by `domain`, of the values of negatives and positives; its limits.

    Cases in use are a sample; `design` is the factor of its variance where they are of clusters.
    """
    own, weights = labels.inside(domain), bins.count * domain
    place, inclusion, number = own.place, own.inclusion, own.number
    size = np.asarray(number).sum(axis=-1)
    if place.size == 0 or weights.sum() == 0 or np.isnan(inclusion).any():
        nothing = np.full(size.shape, np.nan)
        return nothing, nothing, nothing
    weight = domain[place] / inclusion
    total = (number * weight).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = number * weight / total[..., None]
        # The squares of weights, as far as cases were not drawn.
        squares = number * weight**2 * (1 - inclusion)
        expected = (1 - bins.expected) * values[0] + bins.expected * values[1]
        value = np.where(own.truth, values[1][place], values[0][place])
        predicted = expected[place]
        mean, mean_predicted = share @ value, share @ predicted
        # How much of the prediction is used is what the labels say it explains.
        off = predicted - mean_predicted[..., None]
        spread = (share * off**2).sum(axis=-1)
        together = (share * (value - mean[..., None]) * off).sum(axis=-1)
        part = np.where(spread > 0, np.clip(together / np.where(spread > 0, spread, 1), 0, 1), 0)
        top = float(max(values[0].max(), values[1].max()))
        usual = float(weights @ expected / weights.sum())
        estimate = np.clip(part * (usual - mean_predicted) + mean, 0.0, top)
        smoothed = (estimate * size + top / 2) / (size + 1)
        widest = smoothed * (top - smoothed)
        left = value - part[..., None] * predicted
        left = left - (share * left).sum(axis=-1, keepdims=True)
        error = (squares * left**2).sum(axis=-1)
        # Half a case more of this time, whichever, about which the prediction is wholly wrong: of
        # a kind that is rare, or rarely drawn, the labels may hold none, and show no variance.
        error += share @ (weight**2 * (1 - inclusion)) * top**2 / 2
        variance = error / total**2 * size / (size - 1)
        # Nor is the error less than if the reference were right about each bin.
        binomial = (values[1] - values[0]) ** 2 * bins.expected * (1 - bins.expected)
        if np.ptp(inclusion) > 0:
            least = squares @ binomial[place] / total**2
        else:
            least = float(weights @ binomial / weights.sum()) * (1 - inclusion[0]) / size
        # The cases of this time are themselves a sample; few may be all of one kind.
        sampled = (share * (value - mean[..., None]) ** 2).sum(axis=-1) + top**2 / 2 / (size + 1)
        variance = np.maximum(variance, least) + design * sampled / float(weights.sum())
        # The limits of as many independent cases as would have this variance.
        cases = widest / variance
        band = binomial_band(estimate / top * cases, cases, 1 - level)
    few = size < 2
    # Of a quantile as small as that nothing is known.
    ends = (np.where(end < ROUNDING, 0.0, end) for end in band)
    lower, upper = (np.where(few, np.nan, end * top) for end in ends)
    return np.where(few, np.nan, estimate), lower, upper
