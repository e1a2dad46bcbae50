"""Evidence: estimates of several models, how far they may be off together, and their contrasts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.statistics import ROUNDING, satterthwaite
from polaroc.typing import Array

FITTED = "these fitted models on other cases like these"
NOTHING = "Nothing says how sure this is: {}."
NO_CASE = "which rows are the same case is not known; give predictions with case='id'"
# Standard errors below are rounding, as are differences below `ROUNDING`; measures are of order 1.
NO_ERROR = 1e-13
# Clusters of the rarer class below which limits were not simulated.
FEWEST_CLUSTERS = 5
# Test sets as large as training sets: the most that is usual.
MAX_RATIO = 1.0
# Variances of a difference below this share of those of both models come from the differences.
SIMILAR = 1e-3


class UnitInfluences(NamedTuple):
    """The centred influence of each independent unit (a case, cluster or fold) on estimates.

    A covariance is the sum of products over the units of each class, times its factor. Clusters
    may have cases of both classes: then it is also the sum of products over both, times `joint`.
    """

    sums: tuple[Array, ...]  # positives and negatives, or folds: measures × models × units
    factors: tuple[float, ...]
    counts: tuple[int, ...]  # the (effective) number of units with cases of each class
    joint: float | None = None  # of clusters, which are the same in both arrays

    def covariance(self, sums: Sequence[Array] | None = None) -> Array:
        """The covariance of the estimates, or of the quantities of other sums, rows × units."""
        sums = self.sums if sums is None else sums
        # Influences are NaN where a measure of a model is undefined.
        with np.errstate(invalid="ignore"):
            total = np.asarray(
                sum(
                    factor * (influence @ influence.swapaxes(-1, -2))
                    for factor, influence in zip(self.factors, sums, strict=True)
                )
            )
            if self.joint is not None:
                both = sums[0] @ sums[1].swapaxes(-1, -2)
                total = total + self.joint * (both + both.swapaxes(-1, -2))
        return total

    def difference(self, first: int, second: int, measure: int = 0) -> list[Array]:
        """The influence of the units on the difference of two models."""
        return [influence[measure, first] - influence[measure, second] for influence in self.sums]

    def degrees_of_freedom(self, influences: Sequence[Array]) -> float:
        """Degrees of freedom of the variance of a sum of influences of the units."""
        if self.joint is None:
            return satterthwaite(np.concatenate(influences))
        return satterthwaite(influences[0] + influences[1])


NO_UNITS = UnitInfluences((), (), ())


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of measures of models, their covariance, and what these are about."""

    models: Sequence[object] | pl.Series
    estimates: Array  # measures × models
    covariance: Array  # measures × models × models; NaN where nothing is known of it
    degrees_of_freedom: float  # of Student's t; infinite for the normal distribution
    about: str  # what the covariance is about, after "about"
    warnings: tuple[str, ...] = ()
    # The influences of the units that models share; none where nothing is known.
    influences: UnitInfluences = NO_UNITS
    is_bound: bool = False  # whether the covariance is an upper bound

    @property
    def is_known(self) -> bool:
        """Whether there is a covariance, and any model varies; else `warnings` say why."""
        variances = self.covariance.diagonal(axis1=1, axis2=2)
        return bool((variances.max(axis=1, initial=0.0) > NO_ERROR**2).all())

    def limits(self, level: float) -> tuple[Array, Array]:
        """The lower and upper limits of the estimates, measures × models."""
        errors = np.sqrt(self.covariance.diagonal(axis1=1, axis2=2))
        reach = quantile(level, self.degrees_of_freedom) * errors
        return self.estimates - reach, self.estimates + reach


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Differences of pairs of models, one number per pair in each array."""

    first: Array  # places of the models
    second: Array
    difference: Array  # first minus second
    std_error: Array
    degrees_of_freedom: float

    @property
    def statistic(self) -> Array:
        """Student's t: 0 where the difference is 0, ±∞ where only its standard error is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.difference / self.std_error
        return np.where(self.difference == 0, 0.0 * self.std_error, ratio)

    @property
    def p_value(self) -> Array:
        """The two-sided p-value of no difference."""
        from scipy.special import stdtr

        return 2 * stdtr(self.degrees_of_freedom, -np.abs(self.statistic))

    def limits(self, level: float | Array) -> tuple[Array, Array]:
        """The lower and upper limits of the differences, at one level or one for each."""
        reach = quantile(level, self.degrees_of_freedom) * self.std_error
        return self.difference - reach, self.difference + reach


def evidence_from_folds(
    values: Array, ratio: float | None, models: Sequence[object] | pl.Series = ()
) -> Evidence:
    """Evidence from one number per fold and model, whose folds share training cases.

    The variance of the means is that of Nadeau and Bengio (2003). Values are folds × models. The
    ratio is that of test to training cases of a fold; 0 for folds that share nothing; None where it
    is not known, and the most that is usual is taken.

    Examples
    --------
    >>> import numpy as np
    >>> evidence = evidence_from_folds(np.array([[0.9, 0.8], [0.8, 0.8], [0.7, 0.6]]), 0.25)
    >>> pairs = all_pairs(evidence)
    >>> pairs.difference.round(4).tolist(), pairs.std_error.round(4).tolist()
    ([0.0667], [0.0441])
    """
    folds, means = len(values), values.mean(axis=0)
    factor = 1 / folds + (MAX_RATIO if ratio is None else ratio)
    units = UnitInfluences(((values - means).T[None],), (factor / (folds - 1),), (folds,))
    return Evidence(
        models, means[None], units.covariance(), float(folds - 1),
        "models trained again on other samples of this size",
        tuple(_warnings_of_folds(folds, ratio)), units, is_bound=ratio is None,
    )  # fmt: skip


def _warnings_of_folds(folds: int, ratio: float | None) -> Iterator[str]:
    """Assumptions of the corrected variance about folds with this ratio."""
    if ratio is None:
        yield (
            "The folds were assumed to test on as many cases as they train on, which understates "
            "how sure it is: give test_train_ratio=0.25 for 80/20 hold-outs, 1/(k-1) for k folds, "
            "or predictions with case='id'."
        )
    elif ratio == 0:
        yield (
            f"test_train_ratio=0 treats the {folds} folds as independent. That is right only if "
            "no two share training or test cases, such as different datasets."
        )
    else:
        rounded = float(f"{ratio:.3g}")
        yield (
            f"With test_train_ratio={rounded!r} the {folds} folds, which share cases, count as "
            f"{1 / (1 / folds + ratio):.1f} independent ones."
        )
        if ratio > 1:
            yield (
                f"test_train_ratio={rounded} means more test than training cases: is it turned "
                "around?"
            )


def common_variance(evidence: Evidence) -> float:
    """Half the mean variance of a difference: that of each model if they share no error.

    Examples
    --------
    >>> import numpy as np
    >>> common_variance(evidence_from_folds(np.array([[0.5, 0.25], [0.5, 0.75]]), 0))
    0.03125
    """
    # Deviations from the mean of all models are taken first: what models have in common may be so
    # large that their differences would be lost in rounding.
    centred = [part[0] - part[0].mean(axis=0) for part in evidence.influences.sums]
    total = evidence.influences.covariance(centred).trace()
    variance = float(total) / (evidence.estimates.shape[1] - 1)
    size = max(1.0, float(np.abs(evidence.estimates[0]).max(initial=0.0)))
    return variance if variance > (NO_ERROR * size) ** 2 else 0.0


def no_evidence(why: str) -> Evidence:
    """The evidence where nothing says how sure estimates are, and why."""
    return Evidence((), np.empty((1, 0)), np.empty((1, 0, 0)), inf, FITTED, (NOTHING.format(why),))


def contrasts(evidence: Evidence, first: Array, second: Array) -> Contrasts:
    """The differences of the models at the places `first` and `second`, pair by pair."""
    estimates = evidence.estimates[0]
    difference = estimates[first] - estimates[second]
    size = float(np.abs(estimates[np.isfinite(estimates)]).max(initial=1.0))
    covariance = evidence.covariance[0]
    both = covariance[first, first] + covariance[second, second]
    variance = both - 2 * covariance[first, second]
    # The variance of models that are nearly equal would be lost in the rounding of three variances.
    # One pair at a time, since there may be millions of cases.
    for place in np.flatnonzero(variance < SIMILAR * both):
        influences = evidence.influences.difference(int(first[place]), int(second[place]))
        rows = [part[None] for part in influences]
        variance[place] = evidence.influences.covariance(rows).item()
    std_error = np.sqrt(np.maximum(variance, 0.0))
    return Contrasts(
        first, second,
        np.where(np.abs(difference) <= ROUNDING * size, 0.0, difference),
        np.where(std_error <= NO_ERROR * size, 0.0, std_error),
        evidence.degrees_of_freedom,
    )  # fmt: skip


def all_pairs(evidence: Evidence) -> Contrasts:
    """The differences of every two models."""
    return contrasts(evidence, *np.triu_indices(evidence.estimates.shape[1], 1))


def quantile(level: float | Array, freedom: float | Array = inf) -> Array:
    """The quantile of Student's t that holds `level` between it and its negative.

    With infinite degrees of freedom it is that of the normal distribution.

    Examples
    --------
    >>> quantile(0.95).round(3).item(), quantile(0.95, 1).round(3).item()
    (1.96, 12.706)
    """
    from scipy.special import stdtrit

    return -stdtrit(freedom, (1 - np.asarray(level)) / 2)


class Adjusted(NamedTuple):
    """The adjustment of pairs for their number.

    The interval of a pair at its level excludes 0 if and only if its p-value is below 1 − the
    level that was asked for.
    """

    p_value: Array
    level: Array  # of each pair


def by_holm(pairs: Contrasts, level: float) -> Adjusted:
    """Adjust p-values and limits by Holm's step-down method; NaN does not count.

    Examples
    --------
    >>> import numpy as np
    >>> folds = np.array([[0.9, 0.8, 0.7], [0.8, 0.8, 0.6], [0.8, 0.6, 0.7]])
    >>> pairs = all_pairs(evidence_from_folds(folds, 0.25))
    >>> pairs.p_value.round(3).tolist(), by_holm(pairs, 0.95).p_value.round(3).tolist()
    ([0.321, 0.063, 0.625], [0.641, 0.19, 0.641])
    """
    p_values = pairs.p_value
    # NaN is sorted last.
    order = np.argsort(p_values, kind="stable")
    ranked = p_values[order]
    steps = np.maximum(np.count_nonzero(~np.isnan(ranked)) - np.arange(len(ranked)), 1.0)
    stepped = np.maximum.accumulate(steps * ranked)
    factors = np.empty(len(ranked))
    factors[order] = np.where(ranked > 0, stepped / np.where(ranked > 0, ranked, 1.0), steps)
    return Adjusted(np.minimum(factors * p_values, 1), 1 - (1 - level) / factors)
