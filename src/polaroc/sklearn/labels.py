"""Labels of two classes, of which one is positive, and scores of the positive class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.text import is_missing_text
from polaroc.errors import InvalidArgument, InvalidPredictions, MissingExtra, quoted
from polaroc.predictions.row_checks import NEGATIVE_WORDS, POSITIVE_WORDS
from polaroc.typing import Array, Label

# The methods that give scores, the preferred one first.
SCORES = ("predict_proba", "decision_function")


def need_scikit_learn() -> None:
    """Raise if scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "scikit-learn is needed, which is not installed.",
            hint="pip install 'polaroc[sklearn]'.",
        ) from None


def binary_labels(y: Any, pos_label: Label | None, name: str = "y") -> tuple[Array, Any]:
    """The labels as an array, and the positive one.

    Without `pos_label` this is 1 of the labels 0 and 1, or true of false and true, also as text.
    Other labels are refused, and so are texts such as "NA" that stand for a missing label.
    """
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import column_or_1d

    texts = [one for one in np.ravel(np.asarray(y)) if isinstance(one, str) and one != pos_label]
    missing = pl.DataFrame({"label": texts}, {"label": pl.String}).filter(
        is_missing_text(pl.col("label"))
    )
    if missing.height:
        raise InvalidPredictions(
            f"{name} is missing for {missing.height} cases: "
            f"{quoted(missing['label'].unique().sort().to_list())}.",
            hint="drop these cases before.",
        )
    kind = type_of_target(y, input_name=name)
    if kind != "binary":
        # In the words that scikit-learn's checks of estimators look for.
        several = "Only binary classification is supported. The type of the target is"
        problem = several if kind.startswith("multi") else "Unknown label type:"
        raise InvalidArgument(
            f"{name} has other than two classes. {problem} {kind}.",
            hint="polaroc.one_vs_rest makes a table with each class against the rest.",
        )
    labels = column_or_1d(y, warn=True)
    if not len(labels):
        raise InvalidArgument(f"{name} is empty.", hint="give one label per case.")
    distinct = np.unique(labels).tolist()
    known: dict[Any, bool] = {0: False, 1: True}
    known |= dict.fromkeys(NEGATIVE_WORDS, False) | dict.fromkeys(POSITIVE_WORDS, True)
    meaning = [known.get(one.lower() if isinstance(one, str) else one) for one in distinct]
    if pos_label is None and meaning in ([False, True], [True]):
        return labels, distinct[-1]
    if pos_label is None and meaning == [False]:
        return labels, "1" if isinstance(distinct[0], str) else 1
    if pos_label is None or (len(distinct) > 1 and pos_label not in distinct):
        raise InvalidArgument(
            f"{name} has the labels {quoted(distinct)}, and pos_label is {pos_label!r}.",
            hint="name the positive label, pos_label=...; without it allowed are 0/1 and "
            "false/true.",
        )
    return labels, pos_label


def positive_scores(
    estimator: Any, X: Any, positive: Any, response_method: str | Sequence[str]
) -> Array:
    """Scores of the positive class from a fitted classifier, by its first method that is there."""
    methods = [response_method] if isinstance(response_method, str) else response_method
    method = next((one for one in methods if one in SCORES and hasattr(estimator, one)), None)
    if method is None:
        raise InvalidArgument(
            f"{type(estimator).__name__} has no {' or '.join(methods)} that gives scores.",
            hint="for example LogisticRegression(), SVC() or CalibratedClassifierCV(...) have one.",
        )
    classes = list(estimator.classes_)
    if len(classes) != 2 or positive not in classes:
        raise InvalidPredictions(
            f"{type(estimator).__name__} was trained on the classes {quoted(classes)}, needed are "
            f"two, {positive!r} one of them.",
            hint="take fewer folds or a stratified splitter, or check which label is positive.",
        )
    response: Array = getattr(estimator, method)(X)
    if method == "predict_proba":
        return response[:, classes.index(positive)]
    return response if classes[1] == positive else -response
