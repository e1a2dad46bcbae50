"""Estimators of the prior from labelled and unlabelled scores, and the test of what they assume."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from polaroc.base.rounding import p_in_words
from polaroc.typing import Array

AT_AN_END = "the estimate is {:g}, outside (0, 1): it cannot be passed on as a prior"
UNIDENTIFIED = "the scores do not tell the prior"
# Distance from 0 and 1 at which the likelihood is still finite.
TINY = 1e-300
ALMOST_ONE = 1 - 2.0**-53
# The mean of posteriors of which squares, and those of its inverse, are still finite.
SMALLEST_MEAN = 1e-100


@dataclass(frozen=True)
class Labelled:
    """Distinct scores, the best first, with the positives and the negatives that have them."""

    score: "Array"
    pos: "Array"
    neg: "Array"


@dataclass(frozen=True)
class Unlabelled:
    """Distinct scores, the best first, with the cases that have them."""

    score: "Array"
    count: "Array"


@dataclass(frozen=True)
class Estimate:
    """A prior with its interval; all None, with a `note`, where the scores do not identify it."""

    prior: float | None = None
    lower: float | None = None
    upper: float | None = None
    std_error: float | None = None
    note: str | None = None


@dataclass(frozen=True)
class Mixture:
    """Cases drawn from the positives with probability π, the prior, else from the negatives.

    The densities of each score in either class are known up to a common factor.
    """

    positive: "Array"
    negative: "Array"
    count: "Array"

    def density(self, prior: float) -> "Array":
        """The density of each score at a prior."""
        return prior * self.positive + (1 - prior) * self.negative

    def log_likelihood(self, prior: float) -> float:
        """Concave in the prior."""
        return float(self.count @ np.log(self.density(prior)))

    def slopes(self, prior: float) -> "Array":
        """The contribution of a case of each score to the slope of the log likelihood."""
        with np.errstate(divide="ignore"):
            return (self.positive - self.negative) / self.density(prior)

    def peak(self) -> float:
        """The prior of greatest likelihood, from 0 to 1: the fixed point of EM."""
        if self.count @ self.slopes(0.0) <= 0:
            return 0.0
        if self.count @ self.slopes(1.0) >= 0:
            return 1.0
        # Times π(1−π), the slope is the finite step of EM.
        return _root(lambda prior: float(self.count @ (prior * (1 - prior) * self.slopes(prior))))


def em_prior(labelled: Labelled, unlabelled: Unlabelled, z: float) -> Estimate:
    """The prior of greatest likelihood where scores are posteriors, as `estimate_prior` says."""
    size = labelled.pos + labelled.neg
    mean = float(size @ labelled.score) / float(size.sum())
    if not SMALLEST_MEAN < mean < 1:
        return Estimate(note=UNIDENTIFIED)
    # The mean of posteriors estimates their prior with less noise than the share of positives.
    mixture = Mixture(
        unlabelled.score / mean, (1 - unlabelled.score) / (1 - mean), unlabelled.count
    )
    prior = mixture.peak()
    information = float(mixture.count @ mixture.slopes(prior) ** 2)
    if information == 0:
        return Estimate(note=UNIDENTIFIED)
    # Derivative of the estimate by the logit of the mean, and the variance of that.
    by_logit = mixture.positive * mixture.negative / mixture.density(prior) ** 2
    moved = float(mixture.count @ by_logit) / information
    noise = (
        float(size @ (labelled.score - mean) ** 2) / (float(size.sum()) * mean * (1 - mean)) ** 2
    )
    variance = 1 / information + moved**2 * noise
    # Scale the likelihood by the inflation of the variance, as Rao and Scott do for
    # clustered samples.
    weight = 1 / (information * variance)
    top = mixture.log_likelihood(prior)

    def beyond(other: float) -> float:
        """Positive outside of the interval."""
        return 2 * weight * (top - mixture.log_likelihood(other)) - z**2

    lower = 0.0 if prior == 0 or beyond(TINY) < 0 else _root(beyond, TINY, prior)
    upper = 1.0 if prior == 1 or beyond(ALMOST_ONE) < 0 else _root(beyond, prior)
    if (lower, upper) == (0, 1):
        return Estimate(note=UNIDENTIFIED)
    if prior in (0, 1):
        return Estimate(prior, lower, upper, note=AT_AN_END.format(prior))
    return Estimate(prior, lower, upper, sqrt(variance))


def _root(function: Callable[[float], float], lo: float = TINY, hi: float = ALMOST_ONE) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, lo, hi, xtol=TINY, rtol=1e-15))


@dataclass(frozen=True)
class ThresholdRates:
    """Shares called positive at one threshold: of positives, negatives and unlabelled cases.

    `sizes` are the numbers of these cases.
    """

    tpr: float
    fpr: float
    share: float
    sizes: tuple[float, ...]

    @property
    def prior(self) -> float:
        """The adjusted share, which may leave the range from 0 to 1."""
        return (self.share - self.fpr) / (self.tpr - self.fpr)

    def std_error(self, prior: float) -> float:
        """The standard error by the delta method, from three binomial variances."""
        variance_t, variance_f, variance_share = (
            rate * (1 - rate) / size
            for rate, size in zip((self.tpr, self.fpr, self.share), self.sizes, strict=True)
        )
        total = variance_share + prior**2 * variance_t + (1 - prior) ** 2 * variance_f
        return sqrt(total) / (self.tpr - self.fpr)

    def separation(self, z: float) -> tuple[float, float]:
        """TPr − FPr, and z times its standard error, with pseudo-counts."""
        (t, variance_t), (f, variance_f), _ = self._smoothed(z)
        return t - f, z * sqrt(variance_t + variance_f)

    def limits(self, z: float) -> tuple[float, float] | None:
        """Fieller's interval: priors p at which share − f is z standard errors from p(t − f)."""
        separation, error = self.separation(z)
        if separation <= error or self.tpr <= self.fpr:
            return None
        _, (f, variance_f), (share, variance_share) = self._smoothed(z)
        denominator = separation**2 - error**2
        middle = ((share - f) * separation - z**2 * variance_f) / denominator
        level = ((share - f) ** 2 - z**2 * (variance_share + variance_f)) / denominator
        half = sqrt(max(middle**2 - level, 0.0))
        return middle - half, middle + half

    def _smoothed(self, z: float) -> list[tuple[float, float]]:
        """Rates and variances with pseudo-counts, so that no variance is zero."""
        pseudo_counts = (1.0, 1.0, z**2 / 2)
        rates = []
        for rate, size, pseudo_count in zip(
            (self.tpr, self.fpr, self.share), self.sizes, pseudo_counts, strict=True
        ):
            total = size + 2 * pseudo_count
            shrunk = (rate * size + pseudo_count) / total
            rates.append((shrunk, shrunk * (1 - shrunk) / total))
        return rates


def adjusted_count(labelled: Labelled, unlabelled: Unlabelled, z: float) -> Estimate:
    """The prior from the share called positive, adjusted by TPr and FPr of the reference."""
    rates_at = _rates_by_prior(labelled, unlabelled)
    point = rates_at(0.5)
    limits = point.limits(z)
    if limits is None:
        separation, error = point.separation(z)
        explanation = ": are the scores reversed?" if separation < -error else f": {UNIDENTIFIED}"
        return Estimate(note=f"TPr − FPr = {separation:.2g} ± {error:.2g}{explanation}")
    if not _overlaps_unit(limits):
        return Estimate(
            note=f"no prior explains the share called positive, {point.share:.2g} (TPr "
            f"{point.tpr:.2g}, FPr {point.fpr:.2g}): more than the prior has shifted"
        )
    # Rare positives need a high threshold: take that of the prior in the first interval that
    # is nearest to ½, which is rarely too high.
    at_threshold = rates_at(min(max(0.5, limits[0]), limits[1]))
    narrower = at_threshold.limits(z)
    if narrower is not None and _overlaps_unit(narrower):
        point, limits = at_threshold, narrower
    prior = min(max(point.prior, 0.0), 1.0)
    lower, upper = max(min(limits[0], prior), 0.0), min(max(limits[1], prior), 1.0)
    if prior in (0, 1):
        note = f"clipped from {point.prior:.2g}; " if point.prior != prior else ""
        return Estimate(prior, lower, upper, note=note + AT_AN_END.format(prior))
    return Estimate(prior, lower, upper, point.std_error(prior))


def _overlaps_unit(limits: tuple[float, float]) -> bool:
    return limits[0] <= 1 and limits[1] >= 0


def _rates_by_prior(
    labelled: Labelled, unlabelled: Unlabelled
) -> Callable[[float], ThresholdRates]:
    """A function of a prior: the rates at the reference threshold of its balanced point."""
    t, f = (counts.cumsum() / counts.sum() for counts in (labelled.pos, labelled.neg))
    sizes = tuple(float(counts.sum()) for counts in (labelled.pos, labelled.neg, unlabelled.count))
    above = np.concatenate(([0], unlabelled.count.cumsum())) / sizes[2]

    def rates_at(prior: float) -> ThresholdRates:
        at = int(np.abs(prior * (1 - t) - (1 - prior) * f).argmin())
        passed = np.searchsorted(-unlabelled.score, -labelled.score[at], side="right")
        return ThresholdRates(float(t[at]), float(f[at]), float(above[passed]), sizes)

    return rates_at


# Below this p-value an estimate of the prior has no interval.
SHIFTED = 0.01
BINS = 20
EM_STEPS = 60
# Where the steps start, of a prior at its end: from there they would not move.
MIN_SHARE = 1e-3
# Sizes of the batches of draws, 999 in all; ten draws beyond the observed fit end the test.
BATCHES = (49, 200, 750)
ENOUGH = 10
# Draws that equal the observed fit but for rounding count as beyond it.
NEARLY = 1 - 1e-9


def shift_note(p_value: float) -> str:
    """Why an estimate has no interval."""
    return (
        "more than the prior has shifted: no mixture of the positives and negatives of the "
        f"reference gives these scores ({p_in_words(p_value)}), so there is no interval"
    )


def mixture_p_value(labelled: Labelled, unlabelled: Unlabelled) -> float | None:
    """How often a mixture of the classes fits worse; None where all scores are one.

    The Anderson-Darling distance between the binned distribution of the unlabelled scores and
    the nearest mixture. Its null distribution is drawn from the mixture of greatest likelihood,
    the reference anew each time, until ten draws fit worse (Besag and Clifford, 1991).
    """
    counts = _binned(labelled, unlabelled)
    if counts[0].size < 2:
        return None
    observed = float(mixture_distance(*counts))
    positive, negative, prior = _fitted(*counts)
    shares = positive, negative, prior * positive + (1 - prior) * negative
    # The same tables have the same p-value.
    rng = np.random.default_rng(0)
    worse, drawn = 0, 0
    for size in BATCHES:
        samples = [_drawn(rng, n, share, size) for n, share in zip(counts, shares, strict=True)]
        beyond = mixture_distance(*samples) >= observed * NEARLY
        if worse + beyond.sum() >= ENOUGH:
            last = int(np.flatnonzero(beyond)[ENOUGH - worse - 1])
            return ENOUGH / (drawn + last + 1)
        worse, drawn = worse + int(beyond.sum()), drawn + size
    return (worse + 1) / (drawn + 1)


def mixture_distance(positive: "Array", negative: "Array", unlabelled: "Array") -> "Array":
    """The distance of counts in bins, the last axis, from the nearest mixture of two others.

    Squared differences of cumulative shares, each over its variance, of the reference too.
    """
    sizes = [counts.sum(axis=-1, keepdims=True) for counts in (positive, negative, unlabelled)]
    t, f, share = (
        counts.cumsum(axis=-1)[..., :-1] / size
        for counts, size in zip((positive, negative, unlabelled), sizes, strict=True)
    )
    prior, weight = np.full((*share.shape[:-1], 1), 0.5), np.ones_like(share)
    # The variance depends on the prior: two steps are enough.
    for _ in range(2):
        mixture = prior * t + (1 - prior) * f
        weight = 1 / (
            smoothed_variance(mixture, sizes[2])
            + prior**2 * smoothed_variance(t, sizes[0])
            + (1 - prior) ** 2 * smoothed_variance(f, sizes[1])
        )
        prior = nearest_prior(t, f, share, weight)
    squares: Array = (weight * (share - prior * t - (1 - prior) * f) ** 2).mean(axis=-1)
    return squares


def nearest_prior(t: "Array", f: "Array", share: "Array", weight: "Array") -> "Array":
    """The prior in [0, 1] with the least weighted squares of the shares' distance from it."""
    apart = weight * (t - f)
    spread = (apart * (t - f)).sum(axis=-1, keepdims=True)
    fitted = (apart * (share - f)).sum(axis=-1, keepdims=True) / np.maximum(spread, 1e-300)
    prior: Array = np.clip(fitted, 0.0, 1.0)
    return prior


def smoothed_variance(share: "Array", size: "Array | int") -> "Array":
    """The variance of a share, with half a case more of either kind so that none is zero."""
    smoothed = (share * size + 0.5) / (size + 1)
    variance: Array = smoothed * (1 - smoothed) / size
    return variance


def _drawn(rng: "np.random.Generator", counts: "Array", share: "Array", draws: int) -> "Array":
    sample: Array = rng.multinomial(round(counts.sum()), share / share.sum(), draws).astype(float)
    return sample


def _binned(labelled: Labelled, unlabelled: Unlabelled) -> list["Array"]:
    """Numbers of positives, negatives and unlabelled cases, in bins that share all three."""
    samples: Sequence[tuple[Array, Array]] = (
        (labelled.score, labelled.pos),
        (labelled.score, labelled.neg),
        (unlabelled.score, unlabelled.count),
    )
    score = np.concatenate([score for score, _ in samples])
    share = np.concatenate([count / count.sum() for _, count in samples])
    order = np.argsort(score, kind="stable")
    cumulative = share[order].cumsum() / len(samples)
    edges = np.unique(score[order][np.searchsorted(cumulative, np.arange(1, BINS) / BINS)])
    counts = [
        np.bincount(np.searchsorted(edges, s, side="right"), n, edges.size + 1) for s, n in samples
    ]
    used = sum(counts) > 0
    return [count[used] for count in counts]


def _fitted(
    positive: "Array", negative: "Array", unlabelled: "Array"
) -> tuple["Array", "Array", float]:
    """Shares of the bins in either class, and the prior, of greatest likelihood together."""
    sizes = [float(counts.sum()) for counts in (positive, negative, unlabelled)]
    p, q = ((counts + 0.5) / (counts + 0.5).sum() for counts in (positive, negative))
    # The steps are slow where few cases are labelled: from a far prior they would not arrive.
    t, f, share = (of.cumsum()[:-1] for of in (p, q, unlabelled / sizes[2]))
    nearest = float(nearest_prior(t, f, share, np.ones_like(share))[0])
    prior = min(max(nearest, MIN_SHARE), 1 - MIN_SHARE)
    for _ in range(EM_STEPS):
        density = np.maximum(prior * p + (1 - prior) * q, 1e-300)
        members = unlabelled * (prior * p / density)
        total = float(members.sum())
        p = (positive + members) / (sizes[0] + total)
        # Rounding may leave less than none.
        q = (negative + np.maximum(unlabelled - members, 0)) / (sizes[1] + sizes[2] - total)
        prior = total / sizes[2]
    return p, q, prior
