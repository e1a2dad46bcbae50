"""Classifiers by name, what is passed to their `fit`, their scores, and the labels they learn."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.text import is_missing_text
from polaroc.errors import InvalidArgument, InvalidPredictions, MissingExtra, check_choice, quoted
from polaroc.predictions.row_checks import NEGATIVE_WORDS, POSITIVE_WORDS
from polaroc.typing import Array, Label

ONE_VS_REST = (
    "polaroc.one_vs_rest makes a table with each class against the rest, which "
    "polaroc.evaluate takes."
)


class BinaryTarget(NamedTuple):
    """The label of each case, the distinct labels in order, and the positive one."""

    labels: Array
    distinct: list[Any]
    positive: Any

    @property
    def truth(self) -> Array:
        """Whether each case is positive."""
        is_positive: Array = self.labels == self.positive
        return is_positive


def binary_target(y: Any, pos_label: Label | None, name: str = "y") -> BinaryTarget:
    """The target, refused where it has more than two labels, or where none is known as positive.

    Parameters
    ----------
    y, name
        The labels, and the name of the argument.
    pos_label
        The positive label, needed unless the labels are 0 and 1, or false and true.
    """
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import column_or_1d

    _refuse_missing(y, pos_label, name)
    try:
        kind = type_of_target(y, input_name=name)
        labels = column_or_1d(y)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{name} cannot be read: {error}", hint="give one label per case, of two classes."
        ) from None
    if kind != "binary":
        # In the words that scikit-learn's checks of estimators look for.
        several = "Only binary classification is supported. The type of the target is"
        problem = several if kind.startswith("multi") else "Unknown label type:"
        raise InvalidArgument(
            f"{name} has other than two classes. {problem} {kind}.",
            hint=ONE_VS_REST
            if kind == "multiclass"
            else "give one label per case, of two classes.",
        )
    if not len(labels):
        raise InvalidArgument(f"{name} is empty.", hint="give one label per case.")
    distinct = np.unique(labels).tolist()
    return BinaryTarget(labels, distinct, _positive(distinct, pos_label, name))


def _refuse_missing(y: Any, pos_label: Label | None, name: str) -> None:
    """Refuse texts that stand for a missing label, such as "NA"."""
    labels = np.asarray(y)
    if labels.dtype.kind not in "OUT":
        return
    texts = [label for label in labels.ravel() if isinstance(label, str) and label != pos_label]
    label = pl.col("label")
    missing = pl.DataFrame({"label": texts}, {"label": pl.String}).filter(is_missing_text(label))
    if missing.height:
        raise InvalidPredictions(
            f"{name} is missing for {missing.height} cases: "
            f"{quoted(missing['label'].unique().sort().to_list())}.",
            hint="drop these cases before.",
        )


def _positive(distinct: list[Any], pos_label: Label | None, name: str) -> Any:
    """The positive label: as named, else 1 or true, which scikit-learn sorts last."""
    if pos_label is None:
        clear = [_is_positive(label) for label in distinct]
        if clear in ([False, True], [True]):
            return distinct[-1]
        if clear == [False]:
            return "1" if isinstance(distinct[0], str) else 1
    elif len(distinct) < 2 or pos_label in distinct:
        return pos_label
    raise InvalidArgument(
        f"{name} has the labels {quoted(distinct)}, and pos_label is {pos_label!r}.",
        hint="name the positive label, pos_label=...; without it allowed are 0/1 and false/true.",
    )


def _is_positive(label: Any) -> bool | None:
    """Whether a label is positive without being named so; None if that is not clear."""
    if not isinstance(label, str):
        return {0: False, 1: True}.get(label)
    words = dict.fromkeys(NEGATIVE_WORDS, False) | dict.fromkeys(POSITIVE_WORDS, True)
    return words.get(label.lower())


AUTO = ("predict_proba", "decision_function")


def need_scikit_learn() -> None:
    """Refuse to go on without scikit-learn.

    Examples
    --------
    >>> need_scikit_learn()
    """
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "scikit-learn is needed, which is not installed.",
            hint="pip install 'polaroc[sklearn]'.",
        ) from None


def named_estimators(estimators: Any) -> dict[str, Any]:
    """The classifiers by name; those without one are named after their class."""
    if isinstance(estimators, Mapping):
        named = dict(estimators)
    else:
        listed = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        named = {}
        for estimator in listed:
            name = class_name(estimator)
            same = sum(name == class_name(other) for other in listed)
            count = sum(key.split(" ")[0] == name for key in named) + 1
            named[f"{name} {count}" if same > 1 else name] = estimator
    check_estimators(
        named, "estimators", "a classifier, a list of them, or a mapping from names to them"
    )
    return named


def class_name(estimator: Any) -> str:
    """The class of a classifier, or of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def check_estimators(estimators: object, name: str, allowed: str) -> None:
    """Raise unless `estimators` is a mapping from names to classifiers."""
    if not isinstance(estimators, Mapping):
        problem = f"{name} is of type {type(estimators).__qualname__}"
    elif not estimators:
        problem = f"{name} is empty"
    elif unnamed := [key for key in estimators if not isinstance(key, str)]:
        problem = f"{name} has the name {quoted(unnamed[:1])}"
    elif wrong := [
        key
        for key, one in estimators.items()
        if isinstance(one, type)
        or not all(hasattr(one, method) for method in ("fit", "get_params"))
    ]:
        problem = f"{name} has no classifier under {quoted(wrong[:1])}"
    else:
        return
    raise InvalidArgument(
        f"{problem}, allowed is {allowed}.",
        hint="for example {'logistic': LogisticRegression()}.",
    )


def fit_arguments(estimator: Any, metadata: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The metadata that goes to the `fit` of an estimator.

    With metadata routing that is what it requests. Without, it is everything but
    the groups, and an estimator that takes no case weights is refused.
    """
    from sklearn import get_config
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
    from sklearn.utils.validation import has_fit_parameter

    given = {key: value for key, value in metadata.items() if value is not None}
    if get_config()["enable_metadata_routing"]:
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner="polaroc.sklearn")
        router.add(estimator=estimator, method_mapping=mapping)
        return dict(router.route_params(caller="fit", params=given).estimator.fit)
    given.pop("groups", None)
    if "sample_weight" in given and not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidArgument(
            f"the model {name!r} takes no sample_weight in fit.",
            hint="sklearn.set_config(enable_metadata_routing=True) says which step takes them; "
            "or leave sample_weight out, and join the weights to the table by case.",
        )
    return given


def of_cases(values: Any, cases: Array, n: int) -> Any:
    """The values of some cases, where metadata has one per case; else the metadata as it is."""
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != n:
        return values
    return rows(values if hasattr(values, "shape") else np.asarray(values), cases)


def rows(table: Any, cases: Array) -> Any:
    """Rows of an array, a sparse matrix, or a data frame of Polars or pandas."""
    return table.iloc[cases] if hasattr(table, "iloc") else table[cases]


def response_methods(response_method: str | Sequence[str]) -> tuple[str, ...]:
    """The methods that give scores, the preferred one first."""
    if isinstance(response_method, str):
        check_choice("response_method", response_method, ("auto", *AUTO))
        return AUTO if response_method == "auto" else (response_method,)
    for method in response_method:
        check_choice("response_method", method, AUTO)
    return tuple(response_method)


def positive_scores(
    estimator: Any, X: Any, positive: Any, methods: tuple[str, ...], name: str
) -> Array:
    """Scores of the positive class from a fitted classifier."""
    method = next((method for method in methods if hasattr(estimator, method)), None)
    if method is None:
        raise InvalidArgument(
            f"the model {name!r} has no {' or '.join(methods)}.",
            hint="for example LogisticRegression(), SVC() or CalibratedClassifierCV(...) have one.",
        )
    classes = list(getattr(estimator, "classes_", (0, 1)))
    if len(classes) != 2 or positive not in classes:
        raise InvalidPredictions(
            f"the model {name!r} was trained on the classes {quoted(classes)}, needed are two, "
            f"{positive!r} one of them.",
            hint="take fewer folds or a stratified splitter, or check which label is positive.",
        )
    response: Array = getattr(estimator, method)(X)
    if method == "predict_proba":
        return response[:, classes.index(positive)]
    return response if classes[1] == positive else -response
