"""How sure a choice is: the posterior of the models' true means, by a hierarchical model."""

from collections.abc import Iterable
from dataclasses import replace
from math import inf, log
from typing import Any, NamedTuple

import numpy as np

from polaroc.inference.evidence import Evidence, quantile
from polaroc.typing import Array


class Spread(NamedTuple):
    """A prior of how far apart models are, chosen by simulation (`just simulate choices_known`).

    Of the true SD of pairwise differences, in standard errors of a difference: its square is
    scaled inverse χ², unless all models are equal.
    """

    scale: float
    freedom: float
    equal: float  # the probability of all models being equal


# For which model is the best, and for the size of the measures.
OF_BEST, OF_EXPECTED = Spread(0.7, 3.0, 0.15), Spread(2.0, 2.0, 0.5)
# Spreads considered, in standard errors of a difference, and their number.
SPREADS, NODES = (0.05, 500.0), 96
MIN_DRAWS, MAX_DRAWS, DRAWN_VALUES = 4_000, 20_000, 2_000_000
# A model is clearly worse so many standard errors of a difference behind, and with a p-value below.
FAR, CLEARLY = 5.0, 1e-3
# Models whose difference and its variance are smaller, relative to the others, are the same.
SAME = 1e-12
HALVINGS, NEGLIGIBLE = 20, 1e-7
# Below so many degrees of freedom (five folds) nothing tells which model varies more.
FEW_FREEDOM = 5
# Variance of the logarithms of variances up to which models are taken to be equally variable.
LIKE_VARIANCES = 0.05


# Limits of the expected measure, beside those of the measure itself elsewhere.
EXPECTED_LIMITS = ("expected_lower", "expected_upper")
COLUMNS = ("expected", *EXPECTED_LIMITS, "probability_best", "expected_loss")


class Posterior(NamedTuple):
    """The posterior of the true means, one number per model."""

    expected: "Array"
    lower: "Array"
    upper: "Array"
    probability_best: "Array"
    expected_loss: "Array"


def posterior_columns(known: Posterior | None, models: int) -> dict[str, Any]:
    """Columns of the posterior of so many models; null if there is none."""
    values: Iterable[Any] = [[None] * models] * len(COLUMNS) if known is None else known
    return dict(zip(COLUMNS, values, strict=True))


def posterior(
    evidence: Evidence,
    *,
    higher: bool = True,
    level: float = 0.95,
    limits: tuple[float | None, float | None] = (None, None),
    draws: int | None = None,
    seed: int = 0,
) -> Posterior | None:
    """The posterior of the true means of the first measure of some evidence.

    None where nothing varies, or only what all models share. `limits` are the least and the
    greatest value that a mean may have: they matter with few degrees of freedom, where a loss
    without limits may have no mean. There are 20,000 random draws by default, fewer from a hundred
    models on.

    Notes
    -----
    Given the covariance the estimates are normal around the true means, these are normal around
    a level of which nothing is known, with variance τ²; the SD √2 τ of true pairwise differences,
    in standard errors of a difference, has a scaled inverse χ² as its prior. The scale of the
    covariance is integrated out. A covariance with ν degrees of freedom is drawn towards one
    correlation with weight 1 − ν/(ν + k(k − 1) − 2), and variances towards each other as far as
    they differ by chance. With fewer than five degrees of freedom the models share one variance,
    and the variances of differences stay.

    All models being equal has a prior probability of one half for `expected`, `lower` and `upper`:
    without it the best of two equal models would keep half of its lead; of 0.15 for
    `probability_best`, which of equal models is the same for each; `expected_loss` is of models
    that differ. The prior of the spread has the scale 2 and 2 degrees of freedom for the former,
    0.7 and 3 for the latter two. Models that are five standard errors of a difference behind
    the one with the highest mean, and have p < 0.001 against it, do not count for the spread of
    the others.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.inference.evidence import evidence_from_folds
    >>> folds = np.random.default_rng(0).normal([0.81, 0.78], 0.05, (25, 2))
    >>> result = posterior(evidence_from_folds(folds, 0))
    >>> result.probability_best.round(2).tolist()
    [0.71, 0.29]
    >>> result.expected.round(3).tolist()
    [0.802, 0.798]
    """
    means, covariance = evidence.estimates[0], evidence.covariance[0]
    if not evidence.is_known:
        return None
    if not higher:
        least, most = (None if limit is None else -limit for limit in limits)
        mirrored = replace(evidence, estimates=-evidence.estimates)
        known = posterior(mirrored, level=level, limits=(most, least), draws=draws, seed=seed)
        if known is None:
            return None
        return known._replace(expected=-known.expected, lower=-known.upper, upper=-known.lower)
    freedom = evidence.degrees_of_freedom

    def of_models(some: "Array") -> Posterior | None:
        among = covariance[np.ix_(some, some)]
        return _posterior(means[some], among, freedom, level, limits, draws, seed)

    every, ahead = np.arange(len(means)), _contenders(means, covariance, freedom)
    known = of_models(every)
    if known is None or len(ahead) in (1, len(means)):
        return known
    rest = of_models(ahead)
    return known if rest is None else _joined(known, rest, ahead)


def _contenders(means: "Array", covariance: "Array", freedom: float) -> "Array":
    """The places of the models that are not clearly worse than the one with the highest mean.

    How far a clearly worse model is behind says nothing of how far apart the others are.
    """
    from scipy.special import stdtr

    top, variance = means.argmax(), covariance.diagonal()
    error = np.sqrt(np.maximum(variance[top] + variance - 2 * covariance[top], 0))
    behind = means[top] - means
    apart = np.divide(behind, error, out=np.zeros_like(behind), where=error > 0)
    is_close = (apart < FAR) | (stdtr(min(freedom, 1e9), -apart) >= CLEARLY)
    return np.flatnonzero(is_close)


def _joined(known: Posterior, rest: Posterior, ahead: "Array") -> Posterior:
    """The posterior of all models, where that of the contenders is of themselves alone."""
    joined = Posterior(*(values.copy() for values in known))
    for values, of_rest in zip(joined, rest, strict=True):
        values[ahead] = of_rest
    left = 1 - known.probability_best.sum() + known.probability_best[ahead].sum()
    joined.probability_best[ahead] *= left
    return joined


def _posterior(
    means: "Array",
    covariance: "Array",
    freedom: float,
    level: float,
    limits: tuple[float | None, float | None],
    draws: int | None,
    seed: int,
) -> Posterior | None:
    """The posterior of models that are all taken to be of one spread."""
    own, copies, first = _distinct(means, covariance)
    if len(own) == 1:
        return _one(means[own][0], float(covariance[own[0], own[0]]), freedom, level, copies)
    center = means.mean()
    is_few = freedom < FEW_FREEDOM
    if is_few:
        covariance = _of_one_variance(covariance)
    among = covariance[np.ix_(own, own)]
    fit = _fit(means[own] - center, among, freedom, OF_BEST)
    sized = _fit(means[own] - center, among, freedom, OF_EXPECTED)
    if fit is None or sized is None:
        return None
    low, high = (None if one is None or not is_few else one - center for one in limits)
    usual = int(min(max(DRAWN_VALUES / len(own), MIN_DRAWS), MAX_DRAWS))
    best, loss = _best(fit, draws or usual, seed, low, high)
    expected = sized.means @ sized.weights
    lower, upper = (_quantile(sized, share) for share in ((1 - level) / 2, (1 + level) / 2))
    of_means = ((center + expected)[first], (center + lower)[first], (center + upper)[first])
    return Posterior(*of_means, (best / copies)[first], loss[first])


def at_least_own(
    known: Posterior | None,
    evidence: Evidence,
    level: float,
    few: "tuple[Array, Array] | None" = None,
) -> Posterior | None:
    """The posterior with limits that reach as far as those of each model by itself.

    Where models differ by several standard errors, more than the prior expects, a mean is drawn
    too far towards the others, and its limits with it. `few` are limits that hold with few
    clusters, whose areas are biased upward: no posterior knows of that. NaN stands for none.
    """
    if known is None:
        return None
    lower, upper = (ends[0] for ends in evidence.limits(level))
    if few is not None:
        lower, upper = np.fmin(lower, few[0]), np.fmax(upper, few[1])
    return known._replace(
        lower=np.minimum(known.lower, lower), upper=np.maximum(known.upper, upper)
    )


def half_moved(expected: "Array", means: "Array", *, higher: bool = True) -> "Array":
    """The corrected means, where those of models that lose are moved half as far.

    Moved as far as the winner's they are farther from the truth than what was measured, where
    models differ by several standard errors (`just simulate choices_known`). None passes the
    winner.

    Examples
    --------
    >>> half_moved(np.array([0.8, 0.76]), np.array([0.82, 0.74])).round(2).tolist()
    [0.8, 0.75]
    """
    best, reach = (np.max, np.minimum) if higher else (np.min, np.maximum)
    is_first = means == best(means)
    first = expected[is_first][0]
    moved: Array = np.where(is_first, expected, reach((expected + means) / 2, first))
    return moved


class _Fit(NamedTuple):
    """Given each spread (last axis, the first being that of equal models)."""

    basis: "Array"  # eigenvectors of the covariance, models × directions
    weights: "Array"  # posterior of the spreads
    means: "Array"  # models × spreads
    directions: "Array"  # SDs in the directions, directions × spreads
    common: "Array"  # SD of the level, seen in the directions
    freedom: float  # of the scale of the covariance


def _distinct(means: "Array", covariance: "Array") -> tuple["Array", "Array", "Array"]:
    """Places of different models, how many are the same as each, and for every model its place."""
    variance = covariance.diagonal()
    apart = variance[:, None] + variance - 2 * covariance
    tiny = SAME * max(variance.max(initial=0.0), SAME)
    difference = np.abs(means[:, None] - means)
    same = (apart <= tiny) & (difference <= SAME * np.abs(means).max(initial=0.0))
    own, first, copies = np.unique(same.argmax(axis=1), return_inverse=True, return_counts=True)
    return own, copies, first


def _one(mean: float, variance: float, freedom: float, level: float, copies: "Array") -> Posterior:
    """All models are the same one."""
    reach = quantile(level, freedom) * variance**0.5
    each = np.ones(int(copies.sum()))
    return Posterior(
        mean * each, (mean - reach) * each, (mean + reach) * each, each / each.sum(), 0 * each
    )


def _of_one_variance(covariance: "Array") -> "Array":
    """The covariance of models of one variance, whose differences vary as before.

    From few folds the common level would be drawn far beyond all models.
    """
    variances = covariance.diagonal()
    shift = (variances.mean() - variances) / 2
    shared: Array = covariance + shift[:, None] + shift
    return shared


def _fit(means: "Array", covariance: "Array", freedom: float, beforehand: Spread) -> _Fit | None:
    """The posterior of the spread, and of the means given it."""
    count, error = len(means), _error(covariance)
    if error <= SAME * covariance.trace() / count:
        return None
    used, pooled = _smoothed(covariance, freedom)
    sizes, basis = np.linalg.eigh(used)
    sizes = np.maximum(sizes, 0.0)[:, None]
    seen, ones = (basis.T @ means)[:, None], basis.sum(axis=0)[:, None]
    spreads = np.geomspace(*SPREADS, NODES)
    model = error * spreads**2
    total = sizes + model
    information = (ones**2 / total).sum(axis=0)
    level = (ones * seen / total).sum(axis=0) / information
    rest = seen - ones * level
    misfit = (rest**2 / total).sum(axis=0)
    likelihood = -0.5 * (np.log(total).sum(axis=0) + np.log(information))
    if pooled == inf:
        likelihood -= misfit / 2
    else:
        likelihood -= (pooled + count - 1) / 2 * np.log1p(misfit / pooled)
    prior = -beforehand.freedom * (np.log(spreads) + beforehand.scale**2 / (2 * spreads**2))
    # The least spread stands for equal models: it has no other part.
    prior[0] = -inf
    prior -= np.logaddexp.reduce(prior)
    prior += log(1 - beforehand.equal)
    prior[0] = log(beforehand.equal)
    weights = np.exp(likelihood + prior - (likelihood + prior).max())
    return _Fit(
        basis,
        weights / weights.sum(),
        basis @ (ones * level + model / total * rest),
        np.sqrt(model * sizes / total),
        sizes / total * ones / np.sqrt(information),
        pooled,
    )


def _error(covariance: "Array") -> float:
    """Half the mean variance of a difference."""
    count = len(covariance)
    return float(count * covariance.trace() - covariance.sum()) / (count * (count - 1))


def _smoothed(covariance: "Array", freedom: float) -> tuple["Array", float]:
    """The covariance without what chance made of it, and its degrees of freedom.

    Logarithms of estimated variances differ by chance, with the variance trigamma(ν/2), and those
    of like models because the variance falls as the measure rises: taken as they are, the common
    level would be drawn to the luckiest.
    """
    from scipy.special import polygamma

    count, variances = len(covariance), covariance.diagonal()
    floor = SAME * variances.max()
    logs = np.log(np.maximum(variances, floor))
    by_chance = LIKE_VARIANCES + (0.0 if freedom == inf else float(polygamma(1, freedom / 2)))
    pulled = min(by_chance / max(logs.var(ddof=1), SAME), 1.0)
    sd = np.exp((logs + pulled * (np.log(variances.mean()) - logs)) / 2)
    root = np.sqrt(np.maximum(variances, floor))
    correlation = covariance / np.outer(root, root)
    if freedom == inf:
        smooth = np.outer(sd, sd) * correlation
        # Where models are all but equal their variances are most of what they differ by.
        return smooth * (_error(covariance) / max(_error(smooth), floor)), inf
    shared = (correlation.sum() - correlation.trace()) / (count * (count - 1))
    # One error that all models share and one of each: what noisier models share with others is no
    # reason to move the others.
    least = sd.min() ** 2
    alike = shared * least + np.diag(sd**2 - shared * least)
    # Two models have one variance of a difference, k models k(k − 1)/2.
    trust = freedom / (freedom + count * (count - 1) - 2)
    return trust * covariance + (1 - trust) * alike, freedom * (1 + (1 - trust) * (count - 2))


def _best(
    fit: _Fit, draws: int, seed: int, least: float | None, most: float | None
) -> tuple["Array", "Array"]:
    """How often each model is the best, and its mean loss where models differ."""
    rng = np.random.default_rng(seed)
    weights = fit.weights[1:] / fit.weights[1:].sum()
    half = draws // 2
    # Evenly through the posterior of the spread.
    drawn = np.searchsorted(weights.cumsum()[:-1], (np.arange(half) + 0.5) / half) + 1
    scale = np.ones(half)
    if fit.freedom < inf:
        scale = np.sqrt(fit.freedom / rng.chisquare(fit.freedom, half))
    count = len(fit.basis)
    # Turned to the directions, so that it does not matter which of those of one size are taken.
    turned = fit.basis.T @ rng.standard_normal((count, half))
    moved = fit.directions[:, drawn] * turned
    moved += fit.common[:, drawn] * rng.standard_normal(half)
    moved = scale * (fit.basis @ moved)
    best, loss = np.zeros(count), np.zeros(count)
    # Each draw and its mirror image: equal models are equally often the best.
    for means in (fit.means[:, drawn] + moved, fit.means[:, drawn] - moved):
        best += np.bincount(means.argmax(axis=0), minlength=count)
        if least is not None or most is not None:
            means = np.clip(means, least, most)
        loss += means.max(axis=0).sum() - means.sum(axis=1)
    # Equal models are equally often the best.
    equal = fit.weights[0]
    return equal / count + (1 - equal) * best / (2 * half), loss / (2 * half)


def _quantile(fit: _Fit, share: float) -> "Array":
    """Quantile of each model's mean, by bisection of the mixture over spreads."""
    from scipy.special import ndtr, ndtri, stdtr, stdtrit

    kept = fit.weights > NEGLIGIBLE
    means, weights = fit.means[:, kept], fit.weights[kept] / fit.weights[kept].sum()
    variance = fit.basis**2 @ fit.directions[:, kept] ** 2 + (fit.basis @ fit.common[:, kept]) ** 2
    errors = np.maximum(np.sqrt(variance), np.finfo(float).tiny)
    of_one = ndtri(share) if fit.freedom == inf else stdtrit(fit.freedom, share)
    # The quantile of a mixture lies between those of its parts.
    ends = means + of_one * errors
    low, high = ends.min(axis=1), ends.max(axis=1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        distance = (middle[:, None] - means) / errors
        chance = ndtr(distance) if fit.freedom == inf else stdtr(fit.freedom, distance)
        above = chance @ weights > share
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    quantile: Array = (low + high) / 2
    return quantile
