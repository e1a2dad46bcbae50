"""Evidence: estimates of several models, how far they may be off together, and their contrasts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import erfc, inf, isinf, sqrt
from typing import NamedTuple, overload

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING, normal
from polaroc.typing import Array

FITTED = "these fitted models on other cases like these"
NOTHING = "Nothing says how sure this is: {}."
TRAINED_ANEW = "models trained anew on other samples of this size"
# Standard errors below are rounding, as are differences below `ROUNDING`; measures are of order 1.
NO_ERROR = 1e-13
# Variances of a difference below this share of those of both models come from the differences.
SIMILAR = 1e-3


class Moved(NamedTuple):
    """By how much each unit (a case, a cluster, a fold) moves the estimates, centred.

    A covariance is the sum of squares and products of these over the units of a part, times its
    factor; of clusters that have cases of both classes also over both parts, times `joint`.
    """

    parts: tuple["Array", ...]  # positives and negatives, or folds: measures × models × units
    factors: tuple[float, ...]
    counts: tuple[int, ...]  # of units that a part has
    joint: float = 0.0  # where parts have the same units in the same order
    units: str = "cases"

    def products(self, own: Sequence["Array"], other: Sequence["Array"]) -> "Array":
        """The covariance of two sums of influences, one for each row of `own` and `other`."""
        pairs = zip(self.factors, own, other, strict=True)
        total = sum(factor * _dot(a, b) for factor, a, b in pairs)
        if self.joint:
            total = total + self.joint * (_dot(own[0], other[1]) + _dot(own[1], other[0]))
        return np.asarray(total)

    def apart(self, first: int, second: int, measure: int = 0) -> list["Array"]:
        """By how much the units move the difference of two models."""
        return [part[measure, first] - part[measure, second] for part in self.parts]

    def covariance(self) -> "Array":
        """The covariance of all models: measures × models × models."""
        pairs = zip(self.factors, self.parts, strict=True)
        total = sum(factor * part @ part.swapaxes(-1, -2) for factor, part in pairs)
        if self.joint:
            both = self.parts[0] @ self.parts[1].swapaxes(-1, -2)
            total = total + self.joint * (both + both.swapaxes(-1, -2))
        return np.asarray(total)


def _dot(own: "Array", other: "Array") -> "Array":
    """The sums of products along the last axis, without a table of these."""
    total: Array = np.einsum("...i,...i->...", own, other)
    return total


@dataclass(frozen=True, eq=False)
class Evidence:
    """Estimates of measures of models, their covariance, and what these are about."""

    models: Sequence[object]
    estimates: "Array"  # measures × models
    covariance: "Array"  # measures × models × models; NaN where nothing is known of it
    freedom: float  # of the covariance, for Student's t; infinite for the normal distribution
    about: str  # what the covariance is about, after "about"
    doubts: tuple[str, ...] = ()
    moved: Moved | None = None  # where models have the same units

    @property
    def is_known(self) -> bool:
        """Whether there is a covariance, of models of which any varies; else `doubts` says why."""
        variances = self.covariance.diagonal(axis1=1, axis2=2)
        return bool((variances.max(axis=1, initial=0.0) > NO_ERROR**2).all())


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Differences of pairs of models, one number per pair in each array."""

    first: "Array"  # places of the models
    second: "Array"
    difference: "Array"  # first minus second
    std_error: "Array"
    freedom: float

    @property
    def constant(self) -> "Array":
        """Whether a difference that is not 0 shows no variation."""
        constant: Array = (self.std_error == 0) & (self.difference != 0)
        return constant

    @property
    def statistic(self) -> "Array":
        """Student's t: 0 where the difference is 0, ±∞ where only its standard error is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.difference / self.std_error
        return np.where(self.difference == 0, 0.0 * self.std_error, ratio)

    @property
    def p_value(self) -> "Array":
        """The two-sided p-value of no difference."""
        if isinf(self.freedom):
            return np.array([erfc(abs(t) / sqrt(2)) for t in self.statistic])
        from scipy.special import stdtr

        p: Array = 2 * stdtr(self.freedom, -np.abs(self.statistic))
        return p

    def limits(self, level: "float | Array") -> tuple["Array", "Array"]:
        """The lower and upper limits of the differences, at one level or one for each."""
        reach = quantile(level, self.freedom) * self.std_error
        return self.difference - reach, self.difference + reach


def of_folds(values: "Array", ratio: float, models: Sequence[object] = ()) -> Evidence:
    """Evidence from one number per fold and model, whose folds share training cases.

    The variance of the means is that of Nadeau and Bengio (2003).

    Parameters
    ----------
    values
        Folds × models.
    ratio
        Test cases over training cases of a fold; 0 for folds that share nothing.
    models
        Their names.

    Examples
    --------
    >>> import numpy as np
    >>> evidence = of_folds(np.array([[0.9, 0.8], [0.8, 0.8], [0.7, 0.6]]), 0.25)
    >>> pairs = all_pairs(evidence)
    >>> pairs.difference.round(4).tolist(), pairs.std_error.round(4).tolist()
    ([0.0667], [0.0441])
    """
    folds = len(values)
    factor = (1 / folds + ratio) / (folds - 1)
    moved = Moved(((values - values.mean(axis=0)).T[None],), (factor,), (folds,), units="folds")
    return Evidence(
        models,
        values.mean(axis=0)[None],
        moved.covariance(),
        float(folds - 1),
        TRAINED_ANEW,
        (),
        moved,
    )


def of_halves(
    means: "Array", covariance: "Array", freedom: float, models: Sequence[object] = ()
) -> Evidence:
    """Evidence from means over folds and their covariance, as disjoint halves of the cases give it.

    Examples
    --------
    >>> import numpy as np
    >>> all_pairs(of_halves(np.array([0.9, 0.8]), np.diag([0.0008, 0.0008]), 19)).statistic
    array([2.5])
    """
    return Evidence(models, means[None], covariance[None], freedom, TRAINED_ANEW)


def without(why: str) -> Evidence:
    """The evidence where nothing says how sure estimates are, and why."""
    return Evidence((), np.empty((1, 0)), np.empty((1, 0, 0)), inf, FITTED, (NOTHING.format(why),))


def contrasts(evidence: Evidence, first: "Array", second: "Array", measure: int = 0) -> Contrasts:
    """The differences of the models at the places `first` and `second`, each pair on its own."""
    estimates = evidence.estimates[measure]
    difference = estimates[first] - estimates[second]
    size = float(np.abs(estimates[np.isfinite(estimates)]).max(initial=1.0))
    covariance = evidence.covariance[measure]
    own, other = covariance[first, first], covariance[second, second]
    variance = own + other - 2 * covariance[first, second]
    if evidence.moved is not None:
        # Models that are all but equal would drown in the rounding of three variances. One pair
        # at a time, since there may be millions of cases.
        for place in np.flatnonzero(variance < SIMILAR * (own + other)):
            apart = evidence.moved.apart(int(first[place]), int(second[place]), measure)
            variance[place] = evidence.moved.products(apart, apart)
    std_error = np.sqrt(np.maximum(variance, 0.0))
    return Contrasts(
        first, second,
        np.where(np.abs(difference) <= ROUNDING * size, 0.0, difference),
        np.where(std_error <= NO_ERROR * size, 0.0, std_error),
        evidence.freedom,
    )  # fmt: skip


def all_pairs(evidence: Evidence, measure: int = 0) -> Contrasts:
    """The differences of every two models."""
    return contrasts(evidence, *pair_places(evidence.estimates.shape[1]), measure)


def pair_places(models: int) -> tuple["Array", "Array"]:
    """The places of the first and of the second model of each pair."""
    pairs = np.array(list(combinations(range(models), 2)), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


@overload
def quantile(level: float, freedom: float = inf) -> float: ...


@overload
def quantile(level: "Array", freedom: float = inf) -> "Array": ...


def quantile(level: "float | Array", freedom: float = inf) -> "float | Array":
    """The quantile of Student's t that holds `level` between it and its negative.

    Examples
    --------
    >>> round(float(quantile(0.95)), 3), round(float(quantile(0.95, 1)), 3)
    (1.96, 12.706)
    """
    if isinf(freedom):
        return normal(level) if isinstance(level, float) else np.array([*map(normal, level)])
    from scipy.special import stdtrit

    found: Array = -stdtrit(freedom, (1 - np.asarray(level)) / 2)
    return float(found) if isinstance(level, float) else found
