"""Maximum likelihood estimate of the prior from unlabelled posteriors."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from polaroc.deployment.types import AT_AN_END, UNTOLD, Estimate, Labelled, Unlabelled
from polaroc.typing import Array

# Distance from 0 and 1 at which the likelihood is still finite.
TINY = 1e-300
ALMOST_ONE = 1 - 2.0**-53


@dataclass(frozen=True)
class Mixture:
    """Cases drawn from the positives with probability π, the prior, else from the negatives.

    Attributes
    ----------
    positive, negative
        Density of each score in either class, up to a factor common to both.
    count
        The cases that have it.
    """

    positive: "Array"
    negative: "Array"
    count: "Array"

    def density(self, prior: float) -> "Array":
        """Of each score at a prior."""
        return prior * self.positive + (1 - prior) * self.negative

    def log_likelihood(self, prior: float) -> float:
        """Concave in the prior."""
        import numpy as np

        return float(self.count @ np.log(self.density(prior)))

    def slopes(self, prior: float) -> "Array":
        """What a case of each score adds to the slope of the log likelihood."""
        import numpy as np

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
    """The prior of greatest likelihood where scores are posteriors (Saerens et al., 2002)."""
    size = labelled.pos + labelled.neg
    mean = float(size @ labelled.score) / float(size.sum())
    if not 0 < mean < 1:
        return Estimate(note=UNTOLD)
    # The mean of posteriors estimates their prior with less noise than the share of positives.
    mixture = Mixture(
        unlabelled.score / mean, (1 - unlabelled.score) / (1 - mean), unlabelled.count
    )
    prior = mixture.peak()
    information = float(mixture.count @ mixture.slopes(prior) ** 2)
    if information == 0:
        return Estimate(note=UNTOLD)
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
        return Estimate(note=UNTOLD)
    if prior in (0, 1):
        return Estimate(prior, lower, upper, note=AT_AN_END.format(prior))
    return Estimate(prior, lower, upper, sqrt(variance))


def _root(function: Callable[[float], float], lo: float = TINY, hi: float = ALMOST_ONE) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, lo, hi, xtol=TINY, rtol=1e-15))
