"""Adjusted count: the prior from the share called positive."""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

from polaroc.deployment.types import AT_AN_END, UNTOLD, Estimate, Labelled, Unlabelled


@dataclass(frozen=True)
class ThresholdRates:
    """Shares called positive at one threshold.

    Attributes
    ----------
    tpr, fpr, share
        The share of the labelled positives, of the labelled negatives and of the
        unlabelled cases.
    sizes
        How many there are of each.
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
        """By the delta method, from three binomial variances."""
        of_t, of_f, of_share = (
            rate * (1 - rate) / size
            for rate, size in zip((self.tpr, self.fpr, self.share), self.sizes, strict=True)
        )
        total = of_share + prior**2 * of_t + (1 - prior) ** 2 * of_f
        return sqrt(total) / (self.tpr - self.fpr)

    def height(self, z: float) -> tuple[float, float]:
        """TPr − FPr and z of its standard errors, with pseudo-counts."""
        (t, of_t), (f, of_f), _ = self._smoothed(z)
        return t - f, z * sqrt(of_t + of_f)

    def limits(self, z: float) -> tuple[float, float] | None:
        """Fieller's interval: priors p at which share − f is z standard errors from p(t − f)."""
        height, error = self.height(z)
        if height <= error or self.tpr <= self.fpr:
            return None
        _, (f, of_f), (share, of_share) = self._smoothed(z)
        curved = height**2 - error**2
        middle = ((share - f) * height - z**2 * of_f) / curved
        level = ((share - f) ** 2 - z**2 * (of_share + of_f)) / curved
        half = sqrt(max(middle**2 - level, 0.0))
        return middle - half, middle + half

    def _smoothed(self, z: float) -> list[tuple[float, float]]:
        """Rates and variances with pseudo-counts, so that no variance is zero."""
        added = (1.0, 1.0, z**2 / 2)
        rates = []
        for rate, size, extra in zip(
            (self.tpr, self.fpr, self.share), self.sizes, added, strict=True
        ):
            total = size + 2 * extra
            shrunk = (rate * size + extra) / total
            rates.append((shrunk, shrunk * (1 - shrunk) / total))
        return rates


def adjusted_count(labelled: Labelled, unlabelled: Unlabelled, z: float) -> Estimate:
    """The share called positive, adjusted by the rates of the reference; for any scores."""
    called = _calling(labelled, unlabelled)
    point = called(0.5)
    limits = point.limits(z)
    if limits is None:
        height, error = point.height(z)
        doubt = ": are the scores reversed?" if height < -error else f": {UNTOLD}"
        return Estimate(note=f"TPr − FPr = {height:.2g} ± {error:.2g}{doubt}")
    if not _meets_unit(limits):
        return Estimate(
            note=f"no prior explains the share called positive, {point.share:.2g} (TPr "
            f"{point.tpr:.2g}, FPr {point.fpr:.2g}): more than the prior has shifted"
        )
    # Rare positives need a strict threshold; that of the prior nearest to ½ in a first
    # interval is rarely too strict.
    better = called(min(max(0.5, limits[0]), limits[1]))
    narrowed = better.limits(z)
    if narrowed is not None and _meets_unit(narrowed):
        point, limits = better, narrowed
    prior = min(max(point.prior, 0.0), 1.0)
    lower, upper = max(min(limits[0], prior), 0.0), min(max(limits[1], prior), 1.0)
    if prior in (0, 1):
        note = f"clipped from {point.prior:.2g}; " if point.prior != prior else ""
        return Estimate(prior, lower, upper, note=note + AT_AN_END.format(prior))
    return Estimate(prior, lower, upper, point.std_error(prior))


def _meets_unit(limits: tuple[float, float]) -> bool:
    return limits[0] <= 1 and limits[1] >= 0


def _calling(labelled: Labelled, unlabelled: Unlabelled) -> Callable[[float], ThresholdRates]:
    """Rates at the reference threshold where the errors of a prior balance."""
    import numpy as np

    t, f = (counts.cumsum() / counts.sum() for counts in (labelled.pos, labelled.neg))
    sizes = tuple(float(counts.sum()) for counts in (labelled.pos, labelled.neg, unlabelled.count))
    above = np.concatenate(([0], unlabelled.count.cumsum())) / sizes[2]

    def called(prior: float) -> ThresholdRates:
        at = int(np.abs(prior * (1 - t) - (1 - prior) * f).argmin())
        passed = np.searchsorted(-unlabelled.score, -labelled.score[at], side="right")
        return ThresholdRates(float(t[at]), float(f[at]), float(above[passed]), sizes)

    return called
