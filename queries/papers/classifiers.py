"""The sources' classifiers that scikit-learn does not have, with its conventions.

Principal components, scaling, the Fisher mapping (`LinearDiscriminantAnalysis` as
a transformer), linear and quadratic Bayes and support vectors are scikit-learn's.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

Array = np.ndarray

__all__ = ["GaussianMixtures", "NearestNeighbours", "NearestPrototypes", "Parzen", "SigmoidOutput"]

# Number of widths that are tried, about a factor of 1.6 apart, before refinement.
STEPS_PER_FACTOR_TEN = 5


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """A binary classifier with posteriors.

    A subclass has `_learn`, from features and whether a case is of the second
    class, and `_posterior`, of the second class.
    """

    def fit(self, X: Any, y: Any) -> "BinaryClassifier":
        """Train on features (cases × features) and two labels."""
        features, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, coded = np.unique(labels, return_inverse=True)
        if len(self.classes_) != 2:
            # Wording that the checks of scikit-learn expect.
            count = len(self.classes_)
            raise ValueError(f"Only binary classification is supported: got {count} class(es).")
        self._learn(features, coded == 1)
        return self

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities of the two classes, shape (cases, 2)."""
        posterior = self._posterior(self._checked(X))
        return np.column_stack([1 - posterior, posterior])

    def predict(self, X: Any) -> Array:
        """The likelier class of each case."""
        likelier = (self.predict_proba(X)[:, 1] > 0.5).astype(int)
        labels: Array = self.classes_[likelier]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _checked(self, X: Any) -> Array:
        check_is_fitted(self)
        features: Array = validate_data(self, X, dtype=np.float64, reset=False)
        return features

    def _learn(self, features: Array, truth: Array) -> None:
        raise NotImplementedError

    def _posterior(self, features: Array) -> Array:
        raise NotImplementedError


class LogOddsClassifier(BinaryClassifier):
    """A binary classifier with log-odds, which do not saturate.

    A subclass has `_log_odds`, of the second class.
    """

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the second class, shape (cases,)."""
        return self._log_odds(self._checked(X))

    def _posterior(self, features: Array) -> Array:
        posterior: Array = expit(self._log_odds(features))
        return posterior

    def _log_odds(self, features: Array) -> Array:
        raise NotImplementedError


class GaussianMixtures(LogOddsClassifier):
    """Bayes' rule with a mixture of Gaussians as the density of each class (`mogc`).

    Parameters
    ----------
    components
        Gaussians per class, or a pair: of the first and of the second class.
    random_state
        Seed, or a numpy Generator, of the mixtures: first of the second class,
        then of the first.

    Notes
    -----
    P-ROC §6, AccSens Table 2. The log-odds, unlike posteriors, do not saturate.

    Examples
    --------
    >>> X, y = [[0.0], [0.1], [0.3], [2.0], [2.1], [2.3]], [0, 0, 0, 1, 1, 1]
    >>> GaussianMixtures(1).fit(X, y).predict([[0.2], [2.2]]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        components: int | tuple[int, int] = 3,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.components = components
        self.random_state = random_state

    def _learn(self, features: Array, truth: Array) -> None:
        rng = np.random.default_rng(self.random_state)
        given = self.components
        negative, positive = (given, given) if isinstance(given, int) else given

        def mixture(components: int, of: Array) -> GaussianMixture:
            state = int(rng.integers(2**31))
            return GaussianMixture(components, random_state=state).fit(features[of])

        self.positive_ = mixture(positive, truth)
        self.negative_ = mixture(negative, ~truth)
        self.prior_log_odds_ = np.log(truth.sum()) - np.log((~truth).sum())

    def _log_odds(self, features: Array) -> Array:
        odds: Array = (
            self.positive_.score_samples(features)
            - self.negative_.score_samples(features)
            + self.prior_log_odds_
        )
        return odds


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


class NearestPrototypes(BinaryClassifier):
    """The nearest of training cases drawn at random: the dissimilarity approach of P-ROC §6.

    Parameters
    ----------
    prototypes
        How many are drawn from all training cases; drawn again where a class
        has none.
    random_state
        Seed, or a numpy Generator, of the draw.

    Notes
    -----
    The posterior is d₀/(d₀ + d₁), of the distances to the nearest prototype of
    the first and of the second class.

    Examples
    --------
    >>> model = NearestPrototypes(2, random_state=0).fit([[0.0], [3.0]], [0, 1])
    >>> model.predict_proba([[1.0]])[0].round(3).tolist()
    [0.667, 0.333]
    """

    def __init__(
        self, prototypes: int = 15, random_state: int | np.random.Generator | None = None
    ) -> None:
        self.prototypes = prototypes
        self.random_state = random_state

    def _learn(self, features: Array, truth: Array) -> None:
        rng = np.random.default_rng(self.random_state)
        size = self.prototypes
        if not 2 <= size <= len(features):
            raise ValueError(f"prototypes is {size}, allowed are 2 to {len(features)}.")
        chosen = rng.choice(len(features), size, replace=False)
        while truth[chosen].all() or not truth[chosen].any():
            chosen = rng.choice(len(features), size, replace=False)
        self.prototypes_, self.truth_ = features[chosen], truth[chosen]

    def _posterior(self, features: Array) -> Array:
        distance = pairwise_distances(features, self.prototypes_)
        return distance_share(distance, self.truth_)


def distance_share(distance: Array, truth: Array) -> Array:
    """Distance to the nearest negative, as a share of that and of the nearest positive.

    Parameters
    ----------
    distance
        Shape (cases, training cases).
    truth
        Whether each training case is positive.

    Examples
    --------
    >>> distance_share(np.array([[1.0, 3.0, 2.0]]), np.array([True, True, False])).round(3)
    array([0.667])
    """
    to_positive = distance[:, truth].min(axis=1)
    to_negative = distance[:, ~truth].min(axis=1)
    both = to_negative + to_positive
    # A case equal to one of each class is as near to both.
    share: Array = np.divide(to_negative, both, out=np.full(len(distance), 0.5), where=both > 0)
    return share


class NearestNeighbours(BinaryClassifier):
    """The k nearest neighbours with the posteriors of AccSens Table 2 (`knnc`).

    Parameters
    ----------
    neighbours
        k ≥ 1.

    Notes
    -----
    With n of k neighbours in the second class its posterior is (n + 1)/(k + 2).
    One neighbour would leave two posteriors only: for k = 1 it is
    d₀²/(d₀² + d₁²), of the distances to the nearest case of each class.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]
    >>> NearestNeighbours(3).fit(X, y).predict_proba([[4.4]])[0].round(3).tolist()
    [0.4, 0.6]
    >>> NearestNeighbours(1).fit(X, y).predict_proba([[2.0]])[0].round(3).tolist()
    [0.8, 0.2]
    """

    def __init__(self, neighbours: int = 3) -> None:
        self.neighbours = neighbours

    def _learn(self, features: Array, truth: Array) -> None:
        if not 1 <= self.neighbours <= len(features):
            raise ValueError(f"neighbours is {self.neighbours}, allowed are 1 to {len(features)}.")
        self.features_, self.truth_ = features, truth

    def _posterior(self, features: Array) -> Array:
        if self.neighbours == 1:
            squares = pairwise_distances(features, self.features_, metric="sqeuclidean")
            return distance_share(squares, self.truth_)
        search = NearestNeighbors(n_neighbors=self.neighbours).fit(self.features_)
        nearest = search.kneighbors(features, return_distance=False)
        posterior: Array = (self.truth_[nearest].sum(axis=1) + 1) / (self.neighbours + 2)
        return posterior


class SigmoidOutput(LogOddsClassifier):
    """A classifier whose output is passed through the likeliest sigmoid on its training cases.

    scikit-learn's `CalibratedClassifierCV` fits a sigmoid to smoothed labels of
    held-out cases; the sources fit it to the training cases themselves.

    Parameters
    ----------
    estimator
        A classifier with `decision_function`, such as a support vector machine.

    Notes
    -----
    AccSens Table 2 (`svc`). An increasing sigmoid leaves the ROC curve as it is.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> SigmoidOutput(SVC(kernel="linear")).fit(X, y).predict([[0.0], [3.0]]).tolist()
    [0, 1]
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def _learn(self, features: Array, truth: Array) -> None:
        self.estimator_ = clone(self.estimator).fit(features, truth)
        output = self.estimator_.decision_function(features)
        self.sigmoid_ = LogisticRegression(C=np.inf).fit(output[:, None], truth)

    def _log_odds(self, features: Array) -> Array:
        output = self.estimator_.decision_function(features)
        odds: Array = self.sigmoid_.decision_function(output[:, None])
        return odds
