"""A classifier whose threshold is set for the prior in use."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.model_selection import GroupShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from polaroc.errors import InvalidArgument
from polaroc.priors.beliefs import Over
from polaroc.sklearn.predictions import SCORES, LabelledCases, positive_scores
from polaroc.thresholds.operating_points import operating_points
from polaroc.typing import Array, Label, Prior


def _estimator_has(method: str) -> Callable[["PriorThresholdClassifier"], bool]:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


class PriorThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A binary classifier with its threshold set for the share of positives in use.

    The threshold is chosen by a rule on out-of-fold scores whose classes are
    re-weighted to the prior in use (AccSens, for "balanced"); then the classifier is fitted
    on all cases.
    `predict` takes the threshold, `predict_proba` and `decision_function` are those
    of the classifier.

    Parameters
    ----------
    estimator
        The binary classifier.
    prior
        The share of positives in use, in (0, 1), or ``"observed"`` for that of `y`.
        Give either `prior` or `over`.
    over
        A range (lo, hi) of priors, or a belief about the prior: then "cost" takes
        the least expected cost over it, and constraints and targets are kept at every
        prior of it. Not for "balanced", "posterior" and "f_measure".
    rule, target, constraints, cost_fn, cost_fp, beta, score_prior
        As in `polaroc.operating_points`.
    confidence
        As in `polaroc.operating_points`: with this probability the true rates of the
        fitted classifier keep the constraints. It needs a `cv` that sets the threshold
        on cases that this very classifier was not fitted on: ``"prefit"``, or a share.
    pos_label
        The positive label; needed unless the labels are 0 and 1, or false and true.
    response_method
        ``"predict_proba"``, ``"decision_function"``, or both in the order of preference.
    cv
        As in `cross_val_predictions`; or a share of the cases, such as 0.3, that sets
        the threshold of a classifier that is fitted on the others and not again; or
        ``"prefit"``, where the classifier is fitted already: then all cases given to
        `fit` set the threshold, none of which it should have been trained on.
    n_jobs
        How many fits run at once, as in scikit-learn.

    Attributes
    ----------
    estimator_
        The fitted classifier.
    threshold_ : float
        Cases that score at least this are positive; infinite where none is.
    operating_point_ : polars.DataFrame
        What the rule chose, as from `polaroc.operating_points`. Its rates are those
        of the cases it was chosen on, and so too good; with `confidence` its column
        `promise` says what holds.
    classes_, n_features_in_, feature_names_in_
        Those of the classifier.

    Notes
    -----
    At one threshold the rates of all folds together are the means of the folds'
    rates, so that scores of different folds may share a curve here; but the fitted
    classifier should score on the scale of the folds' classifiers, as probabilities
    do. A prior other than that of `y` is taken for a shift of the prior alone.
    scikit-learn's `TunedThresholdClassifierCV` takes the threshold by a score at the prior of
    the training cases.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.linear_model import LogisticRegression
    >>> data = pr.datasets.sonar()
    >>> X, y = data.drop("class"), data["class"] == "mine"
    >>> model = PriorThresholdClassifier(LogisticRegression(max_iter=1000), prior=0.05, cost_fn=5)
    >>> bool(model.fit(X, y).threshold_ > 0.5)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        prior: Prior | None = None,
        over: Over | None = None,
        rule: str = "cost",
        target: float | None = None,
        constraints: Mapping[str, float] | None = None,
        confidence: float | None = None,
        cost_fn: float = 1,
        cost_fp: float = 1,
        beta: float = 1,
        score_prior: Prior = "observed",
        pos_label: Label | None = None,
        response_method: str | Sequence[str] = SCORES,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.prior: Prior | None = prior
        self.over = over
        self.rule = rule
        self.target = target
        self.constraints = constraints
        self.confidence = confidence
        self.cost_fn = cost_fn
        self.cost_fp = cost_fp
        self.beta = beta
        self.score_prior: Prior = score_prior
        self.pos_label = pos_label
        self.response_method = response_method
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> "PriorThresholdClassifier":
        """Set the threshold and fit the classifier.

        Parameters
        ----------
        X, y
            Features and labels of two classes.
        sample_weight
            Case weights ≥ 0, for the classifier and for the threshold.
        groups
            The group of each case, for the splitter; a promise allows for them as for a `cluster`.
        **params
            Other arguments of the classifier's `fit`.

        Returns
        -------
        PriorThresholdClassifier
            Itself.
        """
        if (self.over is None) == (self.prior is None):
            raise InvalidArgument(
                f"prior is {self.prior!r} and over is {self.over!r}, needed is one of the two.",
                hint="give prior=0.05 or over=(0.02, 0.10).",
            )
        is_prefit = isinstance(self.cv, str) and self.cv == "prefit"
        is_share = isinstance(self.cv, float) and 0 < self.cv < 1
        if self.confidence is not None and not (is_prefit or is_share):
            raise InvalidArgument(
                f"confidence is {self.confidence!r} and cv is {self.cv!r}: thresholds of folds "
                "promise nothing of the classifier that is fitted anew on all cases.",
                hint="set it on a share of the cases, cv=0.3, or on all of them, cv='prefit'.",
            )
        cases = LabelledCases.of(X, y, self.pos_label, sample_weight, groups)
        every = np.arange(len(cases.labels))
        if is_prefit:
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            scored = [(self.estimator, every)]
        else:
            cv = self.cv
            if is_share:
                splitter = StratifiedShuffleSplit if groups is None else GroupShuffleSplit
                cv = splitter(n_splits=1, test_size=self.cv, random_state=0)
            splits = cases.splits(cv)
            # The last classifier is the one that is kept.
            training = splits if is_share else [*splits, (every, every)]
            models = cases.fitted(self.estimator, training, params, self.n_jobs)
            self.estimator_ = models[-1]
            scored = [(model, test) for model, (_, test) in zip(models, splits, strict=False)]
        predictions = pl.concat(
            cases.scored(model, test, self.response_method) for model, test in scored
        )
        self.operating_point_ = operating_points(
            predictions, self.rule, priors=self.prior, over=self.over, target=self.target,
            constraints=self.constraints, confidence=self.confidence, cost_fn=self.cost_fn,
            cost_fp=self.cost_fp, beta=self.beta, score_prior=self.score_prior,
            case=None, weight=None if sample_weight is None else "weight",
            cluster=None if groups is None else "group",
        )  # fmt: skip
        threshold, recall, note = self.operating_point_.select("threshold", "tpr", "note").row(0)
        if recall is None:
            raise InvalidArgument(
                f"the rule {self.rule!r} chose no threshold: {note}.",
                hint="give another rule, or a target that can be reached.",
            )
        self.threshold_ = float("inf") if threshold is None else float(threshold)
        self._positive = cases.positive
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Any) -> Array:
        """The label of each case, positive where it scores at least the threshold.

        Parameters
        ----------
        X
            Features, one row per case.

        Returns
        -------
        ndarray
            Labels.
        """
        check_is_fitted(self)
        scores = positive_scores(self.estimator_, X, self._positive, self.response_method)
        place = self.classes_.tolist().index(self._positive)
        return self.classes_[np.where(scores >= self.threshold_, place, 1 - place)]

    @property
    def classes_(self) -> Array:
        """The labels, in scikit-learn's order."""
        return self.estimator_.classes_

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the two classes, as the classifier has them."""
        return self._response("predict_proba", X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities of the two classes, as the classifier has them."""
        return self._response("predict_log_proba", X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Array:
        """The decision function of the classifier."""
        return self._response("decision_function", X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = get_tags(self.estimator).input_tags.sparse
        return tags

    def _response(self, method: str, X: Any) -> Array:
        check_is_fitted(self)
        return getattr(self.estimator_, method)(X)
