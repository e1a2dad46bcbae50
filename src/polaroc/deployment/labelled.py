"""Prediction-powered estimates: some labels from use, and all scores (Angelopoulos et al. 2023)."""

from dataclasses import dataclass

from polaroc.base.lazy import np
from polaroc.base.statistics import binomial_band
from polaroc.deployment.alarms import Terms
from polaroc.deployment.limits import Reference
from polaroc.typing import Array

Estimates = dict[str, tuple[float, float, float]]
UNKNOWN = float("nan"), float("nan"), float("nan")


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
        order = np.argsort(reference.cuts)
        pos, neg, count = (
            -np.diff([total, *at_or_above[order], 0])
            for at_or_above, total in (
                (reference.tp, reference.positives),
                (reference.fp, reference.negatives),
                (above, cases),
            )
        )
        # Half a case more, so that no class is ruled out.
        p, q = ((one + 0.5) / (one + 0.5).sum() for one in (pos, neg))
        expected = prior * p / (prior * p + (1 - prior) * q)
        called = np.concatenate([[0.0], reference.own[order].cumsum()])
        return cls(count, expected, called)


@dataclass(frozen=True)
class Labels:
    """Cases with their truth: the bin of each, and the chance with which it was drawn.

    The chance is NaN where it is not known. Labels that are not `of_all` cases stand for alarms
    alone.
    """

    place: "Array"
    truth: "Array"
    inclusion: "Array"
    of_all: bool = True


def labelled_estimates(bins: Bins, labels: Labels, terms: Terms, level: float) -> Estimates:
    """Prior, precision and cost with limits, each at the level alone."""
    called, everything = bins.called, np.ones(bins.count.size)
    # The cost of a negative and of a positive of each bin.
    costs = terms.cost_fp * called, terms.cost_fn * (1 - called)
    is_positive = 0 * called, everything
    told = {
        "prior_labelled": (everything, is_positive),
        "precision_labelled": (called, is_positive),
        "cost_labelled": (everything, costs),
    }
    return {
        name: _mean(bins, labels, domain, values, level)
        if labels.of_all or domain is called
        else UNKNOWN
        for name, (domain, values) in told.items()
    }


def _mean(
    bins: Bins, labels: Labels, domain: "Array", values: tuple["Array", "Array"], level: float
) -> tuple[float, float, float]:
    """The mean, weighted by `domain`, of the values of negatives and positives."""
    inside = domain[labels.place] > 0
    size, weights = int(inside.sum()), bins.count * domain
    place, inclusion = labels.place[inside], labels.inclusion[inside]
    if size < 2 or weights.sum() == 0 or np.isnan(inclusion).any():
        return UNKNOWN
    weight = domain[place] / inclusion
    expected = (1 - bins.expected) * values[0] + bins.expected * values[1]
    value = np.where(labels.truth[inside], values[1][place], values[0][place])
    predicted = expected[place]
    mean, mean_predicted = (float(weight @ one / weight.sum()) for one in (value, predicted))
    # How much of the prediction is used is what the labels say it explains.
    spread = float(weight @ (predicted - mean_predicted) ** 2)
    together = float(weight @ ((value - mean) * (predicted - mean_predicted)))
    part = min(max(together / spread, 0.0), 1.0) if spread > 0 else 0.0
    top = float(max(values[0].max(), values[1].max()))
    estimate = part * (float(weights @ expected / weights.sum()) - mean_predicted) + mean
    estimate = min(max(estimate, 0.0), top)
    smoothed = (estimate * size + top / 2) / (size + 1)
    widest = smoothed * (top - smoothed)
    left = value - part * predicted
    left = left - weight @ left / weight.sum()
    error = weight**2 * (1 - inclusion) @ left**2
    # Half a case more of this time, whichever, about which the prediction is wholly wrong: of a
    # kind that is rare, or rarely drawn, the labels may hold none, and show no variance.
    error += float(weight @ (weight**2 * (1 - inclusion)) / weight.sum()) * top**2 / 2
    variance = float(error) / float(weight.sum()) ** 2 * size / (size - 1)
    # Nor is the error less than if the reference were right about each bin.
    binomial = (values[1] - values[0]) ** 2 * bins.expected * (1 - bins.expected)
    drawn = weight**2 * (1 - inclusion) @ binomial[place] / weight.sum() ** 2
    usual = float(weights @ binomial / weights.sum()) * (1 - float(inclusion.mean())) / size
    least = float(drawn) if np.ptp(inclusion) > 0 else usual
    # The cases of this time are themselves a sample.
    sampled = float(weight @ (value - mean) ** 2 / weight.sum()) + widest / size
    variance = max(variance, least) + sampled / float(weights.sum())
    # The limits of as many independent cases as would have this variance.
    size_of_variance = widest / variance
    band = binomial_band(estimate / top * size_of_variance, size_of_variance, 1 - level)
    return estimate, float(band.lower) * top, float(band.upper) * top
