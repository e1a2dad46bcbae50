"""Estimators of the prior from labelled and unlabelled scores: by likelihood, and by counts."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from polaroc.base.lazy import np
from polaroc.typing import Array

AT_AN_END = "the estimate is {:g}, outside (0, 1): it cannot be passed on as a prior"
UNIDENTIFIED = "the scores do not tell the prior"
# Distance from 0 and 1 at which the likelihood is still finite.
TINY = 1e-300
ALMOST_ONE = 1 - 2.0**-53


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
    if not 0 < mean < 1:
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
