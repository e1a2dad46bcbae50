"""Posteriors from the output of a classifier, by a maximum likelihood sigmoid."""

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from polaroc.experiments.classifiers.binary import LogOddsClassifier
from polaroc.typing import Array


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
