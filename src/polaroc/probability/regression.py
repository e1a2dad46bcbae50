"""Logistic regression of the truth on the log-odds of the score, by the GLM of statsmodels."""

import warnings
from typing import NamedTuple

import numpy as np

from polaroc.typing import Array

# Gradient per case at which a fit has converged.
CONVERGED = 1e-8


class Fit(NamedTuple):
    """A fitted regression: intercept and, if it is free, slope, with cluster-robust errors."""

    estimates: Array
    std_errors: Array
    freedom: float  # of the variance of the last parameter (Satterthwaite 1946)


def calibration_fit(
    score: "Array",
    truth: "Array",
    weight: "Array",
    clusters: "Array",
    *,
    free_slope: bool = False,
) -> Fit | None:
    """The fitted regression, of scores between 0 and 1.

    Parameters
    ----------
    clusters
        The number of the cluster of each case; its own for independent cases.
    free_slope
        Whether the slope is estimated; else it is 1 and the intercept is the only parameter.

    Returns
    -------
    Fit or None
        None where there is no estimate: scores of one class, equal scores or scores that separate
        the classes (with a free slope), or no convergence.
    """
    import statsmodels.api as sm

    inner = (score > 0) & (score < 1) & (weight > 0)
    score, truth, weight, clusters = score[inner], truth[inner], weight[inner], clusters[inner]
    of_positives, of_negatives = score[truth], score[~truth]
    if not of_positives.size or not of_negatives.size:
        return None
    separated = of_positives.min() >= of_negatives.max() or of_positives.max() <= of_negatives.min()
    if free_slope and (separated or np.ptp(score) == 0):
        return None
    log_odds = np.log(score) - np.log1p(-score)
    terms = np.stack([np.ones_like(log_odds), log_odds][: 1 + free_slope], axis=1)
    start = np.zeros(1 + free_slope)
    # statsmodels divides by these without a check.
    has_correction = clusters.min() < clusters.max() and len(score) > terms.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.GLM(
            truth.astype(float), terms, family=sm.families.Binomial(),
            offset=None if free_slope else log_odds, freq_weights=weight,
        )  # fmt: skip
        for start_by_bfgs in (False, True):
            if start_by_bfgs:
                # Iteratively reweighted least squares may diverge where scores are far off.
                start = model.fit(
                    start_params=start, method="bfgs", maxiter=1000, disp=False
                ).params
            # The robust covariances other than this one square the weights twice.
            fit = model.fit(
                start_params=start, maxiter=50, tol=1e-10, rtol=1e-12, tol_criterion="params",
                cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": has_correction},
            )  # fmt: skip
            gradient = terms.T @ (weight * (truth - fit.mu))
            if np.abs(gradient).max() < CONVERGED * weight.sum():
                influences = model.score_obs(fit.params) @ fit.normalized_cov_params
                squares = np.bincount(clusters, influences[:, -1]) ** 2
                freedom = max(float(squares.sum() ** 2 / (squares**2).sum()) - 1, 1.0)
                return Fit(fit.params, fit.bse, freedom)
    return None
