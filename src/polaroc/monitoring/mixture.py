"""The share of positives in a mixture of two classes, from the binned scores of three samples.

Positives and negatives of the reference, and cases in use, are counted in the same bins of
scores. If only the prior π has changed, the share of cases in use in bin k is π·p + (1−π)·q, where
p and q are the shares of positives and negatives there. The likelihood of all three samples is
maximised over p, q and π together (empirical likelihood, Qin 1999), so that the sampling error of
the reference is part of everything that follows from it:

- the estimate is the π of greatest likelihood;
- its interval has every π at which twice the log likelihood is lower by at most a quantile;
- the shape test compares it with the likelihood of bins whose shares in use may be anything.

Clusters make counts smaller by their mean design effect. The quantile is multiplied by the ratio of
the cluster-robust variance of the estimate to the variance that the smaller counts imply (Rao and
Scott 1984). Batches of the reference, such as days or sites, show how far cases in use may differ
beyond the prior.

Only the order of the scores matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple, Self

import numpy as np

from polaroc.typing import Array

# At least ten cases of the rarer class per bin, but never fewer than three bins.
MOST_BINS, LEAST_BINS, CASES_PER_BIN = 10, 3, 10
# Pseudo-cases of each class, over all bins: a bin without positives may have some in use.
PSEUDO_CASES = 0.5
# Between these priors the likelihood has one maximum at most.
PRIORS = (0.0, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 0.9999, 1.0)
# Level of the intervals from which the error of the estimate for a batch is derived.
LEVEL = 0.95


@dataclass(frozen=True)
class Sample:
    """Scores of cases, with the number of the cluster of each, from 0 on, if they are clustered."""

    score: Array
    cluster: Array | None = None

    @cached_property
    def units(self) -> int:
        """The number of independent units: clusters, or cases."""
        return self.score.size if self.cluster is None else distinct(self.cluster)

    def where(self, mask: Array) -> Sample:
        """Some of the cases."""
        return Sample(self.score[mask], None if self.cluster is None else self.cluster[mask])

    def bins(self, edges: Array) -> Array:
        """The bin of each case."""
        return np.searchsorted(edges, self.score, side="right")

    def counts(self, edges: Array) -> Array:
        """The number of cases in each bin, divided by their design effect."""
        counts = np.bincount(self.bins(edges), minlength=edges.size + 1).astype(float)
        if self.cluster is None or not self.score.size:
            return counts
        if self.units < 2:
            return np.zeros_like(counts)
        # Variances between clusters of the shares below each edge, over binomial ones.
        below = self.bins(edges)[:, None] <= np.arange(edges.size)
        share = below.mean(axis=0)
        binomial = share * (1 - share) / self.score.size
        effects = [
            _variance_of_means([(self, column.astype(float))]) / variance
            for column, variance in zip(below.T, binomial, strict=True)
            if variance > 0
        ]
        return counts / max(float(np.mean(effects or 1.0)), 1.0)


def _variance_of_means(samples: Sequence[tuple[Sample, Array]]) -> float:
    """The variance of the sum of the mean values of samples, which may have clusters in common."""
    deviations = [(values - values.mean()) / values.size for _, values in samples]
    if samples[0][0].cluster is None:
        return float(sum(one @ one for one in deviations))
    cluster = np.concatenate([np.asarray(sample.cluster) for sample, _ in samples])
    sums, number = np.bincount(cluster, np.concatenate(deviations)), distinct(cluster)
    return float(sums @ sums) * number / max(number - 1, 1)


def distinct(numbers: Array) -> int:
    """The number of different whole numbers."""
    return int(np.count_nonzero(np.bincount(numbers)))


class Fit(NamedTuple):
    """A fitted mixture: the prior with limits, and how badly it fits, per degree of freedom."""

    prior: float
    lower: float
    upper: float
    misfit: float
    freedom: int


@dataclass(frozen=True)
class Reference:
    """The labelled cases of a reference, from whose bins the mixture is fitted."""

    positives: Sample
    negatives: Sample

    @classmethod
    def of(cls, cases: Sample, truth: Array) -> Self:
        """The cases of both classes."""
        return cls(cases.where(truth), cases.where(~truth))

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
        return edges[edges > score.min()]

    @cached_property
    def counts(self) -> tuple[Array, Array]:
        """Positives and negatives in each bin, with pseudo-cases."""
        extra = PSEUDO_CASES / (self.edges.size + 1)
        p, q = (one.counts(self.edges) + extra for one in (self.positives, self.negatives))
        return p, q

    def fit(self, used: Sample, level: float) -> Fit:
        """The mixture that fits the scores in use best, with limits of its prior."""
        from scipy.stats import f

        mixture = Mixture(*self.counts, used.counts(self.edges))
        prior = mixture.best_prior()
        quantile = float(f.ppf(level, 1, self.freedom)) * self.design_effect(mixture, prior, used)
        return Fit(prior, *mixture.limits(prior, quantile), *mixture.misfit(prior))

    def design_effect(self, mixture: Mixture, prior: float, used: Sample) -> float:
        """The cluster-robust variance of the prior over that of the mixture, at least 1.

        The estimate is a contrast of means: that of a function of the score in use, less π times
        that of the positives and 1−π times that of the negatives.
        """
        samples = self.positives, self.negatives, used
        if all(one.cluster is None for one in samples):
            return 1.0
        function, variance = mixture.contrast(prior)
        if not variance > 0:
            return 1.0
        positives, negatives, in_use = (
            (one, factor * function[one.bins(self.edges)])
            for one, factor in zip(samples, (-prior, prior - 1, 1.0), strict=True)
        )
        robust = _variance_of_means([positives, negatives]) + _variance_of_means([in_use])
        return max(robust / variance, 1.0)


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
        # After this, an error of the shift enters only by its square.
        p, q = p / p.sum(), q / q.sum()
        return self._log_likelihood(p, q, prior * p + (1 - prior) * q)

    def _log_likelihood(self, p: Array, q: Array, mixed: Array) -> float:
        from scipy.special import xlogy

        pairs = (self.positives, p), (self.negatives, q), (self.mixed, mixed)
        return float(sum(xlogy(counts, share).sum() for counts, share in pairs))

    def best_prior(self) -> float:
        """The prior of greatest likelihood."""
        from scipy.optimize import brentq

        # With few labels and many scores there may be local maxima at the ends.
        slopes = [self.slope(prior) for prior in PRIORS]
        maxima = [end for end, rises in ((0.0, -slopes[0]), (1.0, slopes[-1])) if rises >= 0]
        maxima += [
            brentq(self.slope, *PRIORS[at : at + 2])
            for at in range(len(PRIORS) - 1)
            if slopes[at] > 0 >= slopes[at + 1]
        ]
        return float(max((self.log_likelihood(prior), prior) for prior in maxima)[1])

    def limits(self, prior: float, quantile: float) -> tuple[float, float]:
        """The priors where twice the log likelihood is below that at the best by a quantile."""
        from scipy.optimize import brentq

        top = self.log_likelihood(prior)

        def beyond(other: float) -> float:
            """Positive outside the interval; nearly linear."""
            return float(max(2 * (top - self.log_likelihood(other)), 0.0) ** 0.5 - quantile**0.5)

        lower = brentq(beyond, 0.0, prior, xtol=1e-8) if beyond(0.0) > 0 else 0.0
        upper = brentq(beyond, prior, 1.0, xtol=1e-8) if beyond(1.0) > 0 else 1.0
        return lower, upper

    def misfit(self, prior: float) -> tuple[float, int]:
        """Twice the log likelihood ratio to free shares per degree of freedom, and their number."""
        counts = zip((self.positives, self.negatives, self.mixed), self.sizes, strict=True)
        free = self._log_likelihood(*(count / max(size, 1e-300) for count, size in counts))
        freedom = max(self.mixed.size - 2, 0)
        ratio = 2 * (free - self.log_likelihood(prior))
        return max(ratio, 0.0) / freedom if freedom else 0.0, freedom

    def contrast(self, prior: float) -> tuple[Array, float]:
        """A function of the bin whose means in the three samples give the prior, and its variance.

        With the covariance Σ of the shares in use less π·p and (1−π)·q it is Σ⁻(p − q), scaled so
        that its mean is one more among positives than among negatives (generalised least squares).
        """
        positives, negatives, total = self.sizes
        p, q = self.positives / positives, self.negatives / negatives
        if not total:
            return p - q, 0.0
        shares = p, q, prior * p + (1 - prior) * q
        covariance = sum(
            factor**2 / size * (np.diag(share) - np.outer(share, share))
            for share, factor, size in zip(shares, (prior, 1 - prior, 1.0), self.sizes, strict=True)
        )
        function = np.linalg.lstsq(covariance, p - q)[0]
        information = float(function @ (p - q))
        if not information > 0:
            return function, 0.0
        return function / information, 1 / information


class Spread(NamedTuple):
    """Differences of batches: their number, mean size, error of the prior, and misfit."""

    batches: int
    size: float
    deviation: float
    misfit: float

    def limits(self, fit: Fit, level: float) -> tuple[float, float]:
        """The limits of a fit, with room for how a further batch may differ."""
        from scipy.stats import t

        room = t.ppf((1 + level) / 2, self.batches - 1) * self.deviation
        below, above = fit.prior - fit.lower, fit.upper - fit.prior
        lower, upper = fit.prior - sqrt(below**2 + room**2), fit.prior + sqrt(above**2 + room**2)
        return max(lower, 0.0), min(upper, 1.0)


def spread_of_batches(cases: Sample, truth: Array, batch: Array) -> Spread | None:
    """Estimate the prior of each batch from all others, and compare it with its true share.

    Errors beyond sampling are what batches differ by (DerSimonian and Laird 1986). None if fewer
    than two batches can be left out.
    """
    from scipy.stats import f

    errors, variances, misfits, sizes = [], [], [], []
    for name in np.unique(batch):
        inside = batch == name
        if truth[~inside].all() or not truth[~inside].any():
            continue
        others = Reference.of(cases.where(~inside), truth[~inside])
        fit = others.fit(cases.where(inside), LEVEL)
        sizes.append(np.count_nonzero(inside))
        errors.append(fit.prior - truth[inside].mean())
        half = (fit.upper - fit.lower) / 2
        variances.append(half**2 / f.ppf(LEVEL, 1, others.freedom))
        misfits.append(fit.misfit)
    if len(errors) < 2:
        return None
    weight = 1 / np.array(variances)
    square = float(weight @ np.array(errors) ** 2 / weight.sum())
    excess = max(square - weight.size / float(weight.sum()), 0.0)
    # One standard error more, since sampling may hide that batches differ.
    excess += square * sqrt(2 / weight.size)
    return Spread(weight.size, float(np.mean(sizes)), sqrt(excess), float(np.mean(misfits)))


def shape_p_value(
    fit: Fit, reference: Reference, used: Sample, spread: Spread | None
) -> float | None:
    """The p-value of a test that the scores in use are a mixture of the reference's classes.

    Misfits of batches that fit badly, too, are the scale: they grow with the number of cases, and
    may all be in one direction, so that the test has one degree of freedom.
    """
    from scipy.stats import f

    if not fit.freedom:
        return None
    p_value = float(f.sf(fit.misfit, fit.freedom, reference.freedom))
    if spread is not None and spread.misfit > 1:
        scale = 1 + (spread.misfit - 1) * max(used.score.size / spread.size, 1)
        p_value = max(p_value, float(f.sf(fit.misfit / scale, 1, spread.batches - 1)))
    return p_value
