"""Base classes of binary classifiers, with posteriors or log-odds."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from polaroc.typing import Array


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
