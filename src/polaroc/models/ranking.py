"""Models in order of their means: their chances of being the best, expected losses and regrets."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.statistics import ROUNDING
from polaroc.inference.evidence import Evidence, common_variance, contrasts
from polaroc.typing import Array

EXPECTED_LIMITS = ("expected_lower", "expected_upper")
# Prior of the spread τ, chosen by simulation (docs/concepts/how_certain.md): its square is scaled
# inverse χ² with this scale and so many degrees of freedom. It is integrated on a grid.
SCALE, FREEDOM = 0.45, 0.5
SPREADS = np.geomspace(0.05, 500, 96)
# A model is clearly worse so many standard errors of a difference behind, with a p-value below.
FAR, CLEARLY = 5.0, 2e-3
DRAWS, DRAWN_VALUES = 20_000, 4_000_000


class Candidates(NamedTuple):
    """The measure or cost that models are chosen by, under a belief and at single priors."""

    models: pl.Series
    evidence: Evidence
    means: Array  # folds × models
    limits: tuple[Array, Array] | None  # of each model by itself, by default from the evidence
    at_priors: Array  # folds × models × priors
    priors: Sequence[float]
    higher: bool
    bounds: tuple[float, float] = (-inf, inf)
    regrets_known: bool = True


def ranked_models(candidates: Candidates, level: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The models, the best first, with what is known of their true means; and the priors."""
    models, higher, means = candidates.models, candidates.higher, candidates.means.mean(axis=0)
    priors = _at_priors(candidates)
    names = (
        "mean", "std_error", "expected", *EXPECTED_LIMITS, "probability_best", "expected_loss",
        "share", "worst_regret",
    )  # fmt: skip
    columns = dict.fromkeys(names, np.full(len(models), np.nan))
    columns |= {"mean": means, "share": _best_shares(candidates.means, higher)}
    if candidates.regrets_known:
        regrets = priors["regret"].to_numpy().reshape(len(candidates.priors), len(models))
        columns["worst_regret"] = regrets.max(axis=0)
    if candidates.evidence.is_known:
        columns["std_error"] = np.sqrt(candidates.evidence.covariance[0].diagonal())
    known = posterior(candidates.evidence, higher=higher, bounds=candidates.bounds)
    if known is not None:
        correction = known.expected - means
        lower, upper = candidates.limits or _limits_by_scale(candidates, level)
        # The interval of the model by itself, made wider by the correction.
        limits = np.minimum(lower, lower + correction), np.maximum(upper, upper + correction)
        columns |= zip(EXPECTED_LIMITS, np.clip(limits, *candidates.bounds), strict=True)
        columns |= known._asdict()
    series = (pl.Series(name, values, pl.Float64) for name, values in columns.items())
    ranked = pl.DataFrame([models, *series]).fill_nan(None)
    return ranked.sort("mean", descending=higher, maintain_order=True), priors


def _limits_by_scale(candidates: Candidates, level: float) -> tuple[Array, Array]:
    """The interval of each model by itself: on one test set of the log-odds, or the logarithm."""
    lower, upper = (ends[0] for ends in candidates.evidence.limits(level))
    means, is_area = candidates.evidence.estimates[0], candidates.higher
    if len(candidates.means) > 1 or candidates.bounds[0] != 0:
        return lower, upper
    # Odds of an area, which is at most 1, or the loss itself.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        left = 1 - means if is_area else np.ones(len(means))
        odds, factor = means / left, np.exp((upper - means) / (means * left))
        lower, upper = odds / factor, odds * factor
    return (lower / (1 + lower), upper / (1 + upper)) if is_area else (lower, upper)


def _at_priors(candidates: Candidates) -> pl.DataFrame:
    """The mean over folds and the regret of all models, at one prior after the other."""
    values, higher = candidates.at_priors, candidates.higher
    means, shares = values.mean(axis=0).T, _best_shares(values, higher).T
    best = means.max(axis=1, initial=-inf) if higher else means.min(axis=1, initial=inf)
    regrets = np.abs(best[:, None] - means)
    columns = {
        "mean": means, "share": shares, "regret": regrets,
        "best": regrets <= ROUNDING * np.abs(means),
    }  # fmt: skip
    priors = pl.DataFrame({"prior": candidates.priors}, {"prior": pl.Float64})
    return (
        priors.join(candidates.models.to_frame(), how="cross")
        .with_columns(pl.Series(name, values.ravel()) for name, values in columns.items())
        .fill_nan(None)
    )


def _best_shares(values: Array, higher: bool) -> Array:
    """The share of folds in which each model is the best, NaN without folds; ties share one."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)
    best = (values.max if higher else values.min)(axis=1, keepdims=True)
    ties = np.abs(values - best) <= ROUNDING * np.abs(best)
    return (ties / ties.sum(axis=1, keepdims=True)).mean(axis=0)


class Posterior(NamedTuple):
    """The posterior of the true means, one number per model."""

    expected: Array
    probability_best: Array
    expected_loss: Array


def posterior(
    evidence: Evidence, *, higher: bool = True, bounds: tuple[float, float]
) -> Posterior | None:
    """The posterior of the true means of the first measure; None where no difference varies.

    `bounds` are the least and the greatest value of a mean: with few folds an expected loss needs
    them.

    Notes
    -----
    The measured means are normal around the true means, with the covariance V. True means are
    normal around a common level; their SD is τ standard errors of each model. Given τ, a deviation
    from the level is kept by the share κ = τ²/(1 + τ²), and its covariance is κV. A covariance with
    ν degrees of freedom makes that a t distribution; as ν folds do not tell the correlations of k
    models, it is drawn towards errors that models do not share, by (k² − k − 2)/(ν + k² − k − 2).
    Models clearly worse than the first have no part in the level and in τ, and keep their means.

    Examples
    --------
    >>> from polaroc.inference.evidence import evidence_from_folds
    >>> folds = np.random.default_rng(0).normal([0.81, 0.78], 0.05, (25, 2))
    >>> known = posterior(evidence_from_folds(folds, 0), bounds=(0, 1))
    >>> known.probability_best.round(2).tolist(), known.expected.round(3).tolist()
    ([0.72, 0.28], [0.803, 0.8])
    """
    sign, count = (1 if higher else -1), evidence.estimates.shape[1]
    if count < 2 or not evidence.is_known or common_variance(evidence) == 0:
        return None
    # In the order of the means, so that draws do not depend on the names of models.
    order = np.argsort(-sign * evidence.estimates[0], kind="stable")
    means = sign * evidence.estimates[0, order]
    covariance, freedom = evidence.covariance[0][order][:, order], evidence.degrees_of_freedom
    leads = contrasts(evidence, np.full(count, order[0]), order)
    is_clear = (np.abs(leads.statistic) >= FAR) & (leads.p_value < CLEARLY)
    close = ~is_clear | (leads.std_error == 0)
    variances = _unshared_variances(covariance[close][:, close], freedom)
    if freedom < inf:
        unshared = np.diag(_unshared_variances(covariance, freedom))
        drawn = (count**2 - count - 2) / (freedom + count**2 - count - 2)
        covariance = covariance + drawn * (unshared - covariance)
        freedom *= 1 + drawn * (count - 2)

    level, kept, weights = means[0], np.ones(1), np.ones(1)
    if variances.max() > ROUNDING * covariance.diagonal().max():
        level, kept, weights = _shrinkage(means[close], variances, freedom)
    expected = np.where(close, level + (weights @ kept) * (means - level), means)

    rng, half = np.random.default_rng(0), min(DRAWS, DRAWN_VALUES // count) // 2
    sizes, basis = np.linalg.eigh(covariance)
    errors = rng.standard_normal((half, count)) * np.sqrt(np.maximum(sizes, 0)) @ basis.T
    if freedom < inf:
        errors *= np.sqrt(freedom / rng.chisquare(freedom, half))[:, None]
    # Values of τ at even quantiles of its posterior.
    places = np.searchsorted(weights.cumsum()[:-1], (np.arange(half) + 0.5) / half)
    share = np.where(close, kept[places][:, None], 1.0)
    best, loss = np.zeros(count), np.zeros(count)
    for signed in (errors, -errors):
        true = level + share * (means - level) + np.sqrt(share) * signed
        first = true >= true.max(axis=1, keepdims=True) - ROUNDING
        best += (first / first.sum(axis=1, keepdims=True)).mean(axis=0) / 2
        true = sign * np.clip(sign * true, *bounds)
        loss += (true.max(axis=1, keepdims=True) - true).mean(axis=0) / 2
    back = np.argsort(order)
    return Posterior(sign * expected[back], best[back], loss[back])


def _shrinkage(means: Array, variances: Array, freedom: float) -> tuple[float, Array, Array]:
    """The common level of means, and the share κ of a deviation at each τ, with its weight."""
    level = np.average(means, weights=1 / variances)
    misfit = ((means - level) ** 2 / variances).sum() / (1 + SPREADS**2)
    differences = len(means) - 1
    likelihood = -differences / 2 * np.log1p(SPREADS**2)
    if freedom < inf:
        likelihood -= (freedom + differences) / 2 * np.log1p(misfit / freedom)
    else:
        likelihood -= misfit / 2
    prior = -FREEDOM * (np.log(SPREADS) + SCALE**2 / (2 * SPREADS**2))
    weights = np.exp(prior + likelihood - (prior + likelihood).max())
    return level, SPREADS**2 / (1 + SPREADS**2), weights / weights.sum()


def _unshared_variances(covariance: Array, freedom: float) -> Array:
    """The error that each model shares with no other, in proportion to its variance.

    Their mean is half the mean variance of a difference. Logarithms of variances differ by chance,
    with the variance trigamma(ν/2), and are drawn together as far as that explains them.
    """
    from scipy.special import polygamma

    count, variances = len(covariance), covariance.diagonal()
    logs = np.log(np.maximum(variances, ROUNDING * variances.max() + ROUNDING**2))
    by_chance = float(polygamma(1, freedom / 2)) if freedom < inf else 0.0
    kept = max(1 - by_chance / max(logs.var(), ROUNDING), 0.0)
    relative = np.exp(kept * (logs - logs.mean()))
    mean = max(count * covariance.trace() - covariance.sum(), 0) / max(count * (count - 1), 1)
    return mean * relative / relative.mean()
