"""Measures as scorers for the model selection of scikit-learn."""

from typing import Any

from polaroc.base.docstrings import described_as
from polaroc.errors import check_choice
from polaroc.measures.catalog import CATALOG, higher_is_better, select_measures
from polaroc.measures.functions import auprec
from polaroc.priors.beliefs import Belief
from polaroc.sklearn.estimators import need_scikit_learn
from polaroc.sklearn.scores import check_one_prior, measure_of
from polaroc.sklearn.targets import binary_target
from polaroc.typing import Interpolation, Label, Prior


@described_as(auprec)
def scorer(
    measure: str = "iauprec",
    *,
    prior: Prior = "observed",
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    pos_label: Label | None = None,
) -> Any:
    """A measure as a scorer, for `cross_validate`, `GridSearchCV` and their kin.

    Parameters
    ----------
    measure
        The name of a measure, as in `polaroc.evaluate`.
    prior
        Where "auprec" is taken: a prior in (0, 1), or ``"observed"`` for the
        share of positives in each test set.
    over
        For measures over a range: a range (lo, hi) of priors, or a belief.
    pos_label
        The positive label; by default the second of the classifier's ``classes_``.

    Returns
    -------
    scorer
        As from `sklearn.metrics.make_scorer`. It takes `predict_proba`, or
        `decision_function` of classifiers without it; case weights come as the
        metadata `sample_weight`. Of measures where less is better, such as
        "accsens", it is the negative.

    Raises
    ------
    InvalidArgument
        For an unknown measure, a missing range, or a prior outside what is allowed.
        When it scores: for more than two classes.
    MissingExtra
        Without scikit-learn.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> data = pr.datasets.sonar()
    >>> search = GridSearchCV(
    ...     LogisticRegression(max_iter=1000),
    ...     {"C": [0.1, 10]},
    ...     scoring=scorer("iauprec", over=(0.02, 0.10)),
    ... )
    >>> search.fit(data.drop("class"), data["class"] == "mine").best_params_
    {'C': 0.1}
    """
    need_scikit_learn()
    from sklearn.metrics import make_scorer

    check_choice("measure", measure, tuple(CATALOG))
    check_one_prior(prior)
    select_measures([measure], prior, over, interpolation)
    return make_scorer(
        measure_score,
        greater_is_better=higher_is_better(measure),
        response_method=("predict_proba", "decision_function"),
        measure=measure,
        prior=prior,
        over=over,
        interpolation=interpolation,
        pos_label=pos_label,
    )


def measure_score(
    y_true: Any,
    y_score: Any,
    *,
    measure: str,
    prior: Prior,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
    pos_label: Label | None = None,
    sample_weight: Any = None,
) -> float:
    """A measure of one test set, in the signature that `make_scorer` needs."""
    return measure_of(
        binary_target(y_true, pos_label, "y_true"), y_score, measure, prior, over, interpolation,
        sample_weight=sample_weight,
    )  # fmt: skip
