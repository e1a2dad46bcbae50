"""The share of positives in a mixture of two classes, from the binned scores of three samples.

Positives and negatives of the reference, and cases in use, are counted in the same bins of
scores. If only the prior π has changed, the share of cases in use in bin k is π·p + (1−π)·q, where
p and q are the shares of positives and negatives there. The likelihood of all three samples is
maximised over p, q and π together (empirical likelihood, Qin 1999), so that the sampling error of
the reference is part of everything that follows from it:

- the estimate is the π of greatest likelihood;
- its interval has every π at which twice the log likelihood is lower by at most a quantile;
- the shape test compares it with the likelihood of bins whose shares in use may be anything.

Only the order of the scores matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from polaroc.typing import Array

# Bins hold ten or more cases of the smaller class, but few cases still have three bins.
MOST_BINS, LEAST_BINS, CASES_PER_BIN = 10, 3, 10
# Pseudo-cases of each class, over all bins: a bin without positives may have some in use.
PSEUDO_CASES = 0.5
# Between these priors the likelihood has one maximum at most.
PRIORS = (0.0, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999, 1.0)


@dataclass(frozen=True)
class Sample:
    """Scores of cases, with the number of the cluster of each if rows are clustered."""

    score: Array
    cluster: Array | None = None

    @cached_property
    def units(self) -> int:
        """The number of independent units: clusters, or cases."""
        return self.score.size if self.cluster is None else np.unique(self.cluster).size

    def counts(self, edges: Array) -> Array:
        """The number of cases in each bin, divided by their design effect."""
        bins = np.searchsorted(edges, self.score, side="right")
        counts = np.bincount(bins, minlength=edges.size + 1).astype(float)
        if self.cluster is None or not self.score.size:
            return counts
        if self.units < 2:
            return np.zeros_like(counts)
        # Variances between clusters of the shares below each edge, over binomial ones.
        share = counts.cumsum() / counts.sum()
        binomial = share * (1 - share) / counts.sum()
        between = (self.residuals(edges, np.unique(self.cluster)) ** 2).sum(axis=0)
        between *= self.units / (self.units - 1)
        return counts / max(_mean_ratio(between, binomial), 1.0)

    def residuals(self, edges: Array, clusters: Array) -> Array:
        """The contribution of each cluster to the error of the share below each edge."""
        bins = np.searchsorted(edges, self.score, side="right")
        by_cluster = np.zeros((clusters.size, edges.size + 1))
        np.add.at(by_cluster, (np.searchsorted(clusters, np.asarray(self.cluster)), bins), 1)
        below = by_cluster.cumsum(axis=1)
        size = below[:, -1:]
        residuals: Array = (below - size * below.sum(axis=0) / size.sum()) / size.sum()
        return residuals


def _mean_ratio(variance: Array, other: Array) -> float:
    """The mean ratio of variances, where the other is not zero; 1 if it is everywhere."""
    inner = other > 1e-12 * max(other.max(), 1e-300)
    return float((variance[inner] / other[inner]).mean()) if inner.any() else 1.0


class Fit(NamedTuple):
    """A fitted mixture: the prior with limits, and how badly it fits, per degree of freedom."""

    prior: float
    lower: float
    upper: float
    misfit: float
    freedom: int


@dataclass(frozen=True)
class Reference:
    """The labelled cases."""

    positives: Sample
    negatives: Sample

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom: units of the smaller class minus one."""
        return max(min(self.positives.units, self.negatives.units) - 1, 1)

    @cached_property
    def edges(self) -> Array:
        """Edges between bins: quantiles of a mixture of equal parts of the two classes."""
        classes = self.positives.score, self.negatives.score
        bins = np.clip((self.freedom + 1) // CASES_PER_BIN, LEAST_BINS, MOST_BINS)
        score = np.concatenate(classes)
        order = np.argsort(score, kind="stable")
        mass = np.concatenate([np.full(one.size, 0.5 / one.size) for one in classes])[order]
        places = np.searchsorted(mass.cumsum(), np.arange(1, bins) / bins)
        edges = np.unique(score[order][np.minimum(places, score.size - 1)])
        # Below the least score there would be a bin without cases.
        above: Array = edges[edges > score.min()]
        return above

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """Positives and negatives in each bin, with pseudo-cases."""
        classes, together = (self.positives, self.negatives), 1.0
        if self.positives.cluster is not None and self.negatives.cluster is not None:
            # Clusters of both classes have errors of both in common.
            clusters = np.union1d(self.positives.cluster, self.negatives.cluster)
            errors = [one.residuals(self.edges, clusters) for one in classes]
            joint = ((errors[0] + errors[1]) ** 2).sum(axis=0)
            apart = (errors[0] ** 2 + errors[1] ** 2).sum(axis=0)
            together = _mean_ratio(joint, apart)
        extra = PSEUDO_CASES / (self.edges.size + 1)
        p, q = (one.counts(self.edges) / max(together, 1.0) + extra for one in classes)
        return p, q

    def fit(self, used: Sample, level: float) -> Fit:
        """The mixture that fits the scores in use best, with limits of its prior."""
        from scipy.stats import f

        mixture = Mixture(*self.counts, used.counts(self.edges))
        return mixture.fit(float(f.ppf(level, 1, self.freedom)))


@dataclass(frozen=True)
class Mixture:
    """The likelihood of counts by bin of positives, negatives, and cases of a mixture."""

    positives: Array
    negatives: Array
    mixed: Array

    @cached_property
    def sizes(self) -> tuple[float, float, float]:
        """The sizes of the three samples."""
        return float(self.positives.sum()), float(self.negatives.sum()), float(self.mixed.sum())

    def shares(self, prior: float, shift: float = 0.0) -> tuple[Array, Array, Array]:
        """The shares p and q of the bins, and the expected counts of mixed cases over them.

        p and q maximise the likelihood at this prior under two Lagrange multipliers, which are
        those of the best prior plus and minus a `shift`. They add up to 1 at one shift only. With
        x = mixed/(π·p + (1−π)·q), a bin has p = positives/(λ − π·x), q = negatives/(μ − (1−π)·x).
        x is the smaller root of a quadratic.
        """
        positives, negatives, total = self.sizes
        of_p = positives + prior * total + shift
        of_q = negatives + (1 - prior) * total - shift
        known = self.positives + self.negatives + self.mixed
        linear = prior * of_q * (self.positives + self.mixed)
        linear = linear + (1 - prior) * of_p * (self.negatives + self.mixed)
        product = of_p * of_q * self.mixed
        root = np.sqrt(np.maximum(linear**2 - 4 * prior * (1 - prior) * known * product, 0))
        x = 2 * product / (linear + root)
        return self.positives / (of_p - prior * x), self.negatives / (of_q - (1 - prior) * x), x

    def slope(self, prior: float) -> float:
        """A number with the sign of the derivative of the log likelihood by the prior."""
        p, q, x = self.shares(prior)
        return float(x @ (p - q))

    def log_likelihood(self, prior: float) -> float:
        """The greatest log likelihood at a prior."""
        from scipy.optimize import brentq

        positives, negatives, total = self.sizes
        low, high = -positives - prior * total, negatives + (1 - prior) * total
        margin = 1e-12 * (high - low)
        shift = 0.0
        if 0 < prior < 1:
            shift = brentq(
                lambda one: self.shares(prior, one)[0].sum() - 1,
                low + margin, high - margin, xtol=1e-7 * (high - low),
            )  # fmt: skip
        p, q, _ = self.shares(prior, shift)
        # The error of the shift now counts by its square.
        p, q = p / p.sum(), q / q.sum()
        return self._log_likelihood(p, q, prior * p + (1 - prior) * q)

    def _log_likelihood(self, p: Array, q: Array, mixed: Array) -> float:
        from scipy.special import xlogy

        pairs = (self.positives, p), (self.negatives, q), (self.mixed, mixed)
        return float(sum(xlogy(counts, share).sum() for counts, share in pairs))

    def fit(self, quantile: float) -> Fit:
        """The prior of greatest likelihood, the limits where it is lower, and the misfit."""
        from scipy.optimize import brentq

        # Few labels beside many scores have local maxima at the ends.
        slopes = [self.slope(prior) for prior in PRIORS]
        maxima = [end for end, rises in ((0.0, -slopes[0]), (1.0, slopes[-1])) if rises >= 0]
        maxima += [
            brentq(self.slope, *PRIORS[at : at + 2])
            for at in range(len(PRIORS) - 1)
            if slopes[at] > 0 >= slopes[at + 1]
        ]
        top, prior = max((self.log_likelihood(prior), prior) for prior in maxima)

        def beyond(other: float) -> float:
            """Positive outside the interval; nearly linear."""
            return float(max(2 * (top - self.log_likelihood(other)), 0.0) ** 0.5 - quantile**0.5)

        lower = brentq(beyond, 0.0, prior, xtol=1e-8) if beyond(0.0) > 0 else 0.0
        upper = brentq(beyond, prior, 1.0, xtol=1e-8) if beyond(1.0) > 0 else 1.0
        counts = zip((self.positives, self.negatives, self.mixed), self.sizes, strict=True)
        free = self._log_likelihood(*(count / max(size, 1e-300) for count, size in counts))
        freedom = max(self.mixed.size - 2, 0)
        misfit = max(2 * (free - top), 0.0) / freedom if freedom else 0.0
        return Fit(prior, lower, upper, misfit, freedom)
