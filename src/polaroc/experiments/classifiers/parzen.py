"""Parzen densities with a width chosen by leaving each case out."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.metrics import pairwise_distances

from polaroc.experiments.classifiers.binary import LogOddsClassifier
from polaroc.typing import Array

# Number of widths that are tried, about a factor of 1.6 apart, before refinement.
STEPS_PER_FACTOR_TEN = 5


class Parzen(LogOddsClassifier):
    """Bayes' rule with a Gaussian kernel density per class, of one common width (`parzenc`).

    Parameters
    ----------
    width
        Standard deviation of the kernel; by default the one under which the
        training cases are likeliest, each left out of its own class's density.

    Notes
    -----
    AccSens Table 2.

    Examples
    --------
    >>> X, y = [[0.0], [0.2], [0.5], [2.0], [2.1], [2.6]], [0, 0, 0, 1, 1, 1]
    >>> Parzen().fit(X, y).predict([[0.3], [2.2]]).tolist()
    [0, 1]
    """

    def __init__(self, width: float | None = None) -> None:
        self.width = width

    def _learn(self, features: Array, truth: Array) -> None:
        self.classes_features_ = features[~truth], features[truth]
        self.width_ = likeliest_width(self.classes_features_) if self.width is None else self.width
        if not 0 < self.width_ < np.inf:
            raise ValueError(f"width is {self.width_}, allowed are finite numbers > 0.")
        self.prior_log_odds_ = np.log(truth.sum()) - np.log((~truth).sum())

    def _log_odds(self, features: Array) -> Array:
        negative, positive = (self._log_density(features, of) for of in self.classes_features_)
        odds: Array = positive - negative + self.prior_log_odds_
        return odds

    def _log_density(self, features: Array, of: Array) -> Array:
        squares = pairwise_distances(features, of, metric="sqeuclidean")
        # The constant of the kernel cancels.
        density: Array = logsumexp(-squares / (2 * self.width_**2), axis=1) - np.log(len(of))
        return density


def likeliest_width(classes: tuple[Array, Array]) -> float:
    """The width with the greatest leave-one-out likelihood of all cases in their own class.

    Examples
    --------
    >>> round(likeliest_width((np.array([[0.0], [2.0]]), np.array([[0.0], [2.0]]))), 4)
    2.0
    """
    squares = [pairwise_distances(of, metric="sqeuclidean") for of in classes]
    for one in squares:
        np.fill_diagonal(one, np.inf)
    dimensions = classes[0].shape[1]

    def surprise(log_width: float) -> float:
        halved = -0.5 * np.exp(-2 * log_width)
        likelihood = sum(float(logsumexp(halved * one, axis=1).sum()) for one in squares)
        return float(dimensions * log_width * sum(map(len, squares)) - likelihood)

    nearest = np.concatenate([one.min(axis=1) for one in squares])
    apart = nearest[(nearest > 0) & np.isfinite(nearest)]
    if not apart.size:
        raise ValueError("cases of a class are all equal or single: no width can be chosen.")
    # At the likeliest width, no kernel is much narrower than the closest pair or
    # wider than the whole class.
    widest = max(float(one[np.isfinite(one)].max(initial=0)) for one in squares)
    low, high = np.log(apart.min()) / 2 - 2, np.log(widest) / 2 + 1
    steps = np.linspace(low, high, int((high - low) / np.log(10) * STEPS_PER_FACTOR_TEN) + 3)
    best = int(np.argmin([surprise(step) for step in steps]))
    around = float(steps[max(best - 1, 0)]), float(steps[min(best + 1, len(steps) - 1)])
    return float(np.exp(minimize_scalar(surprise, bounds=around, method="bounded").x))
