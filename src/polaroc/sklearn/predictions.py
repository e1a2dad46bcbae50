"""Cross-validated predictions of classifiers as a table, and checks of binary labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.tables import as_polars
from polaroc.base.text import is_missing_text
from polaroc.errors import InvalidArgument, InvalidPredictions, MissingExtra, quoted
from polaroc.predictions.row_checks import NEGATIVE_WORDS, POSITIVE_WORDS
from polaroc.typing import Array, Label

# The methods that give scores, the preferred one first.
SCORES = ("predict_proba", "decision_function")


def cross_val_predictions(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
    pos_label: Label | None = None,
    response_method: str | Sequence[str] = SCORES,
    n_jobs: int | None = None,
) -> pl.DataFrame:
    """Scores of classifiers on the test sets of a cross-validation, the same for all of them.

    Parameters
    ----------
    estimators
        Classifiers that follow scikit-learn's conventions, which are cloned: a
        mapping from names to them, a list of them, or one; without a name they have
        that of their class.
    X
        Features, one row per case: an array, a sparse matrix, or a table
        of Polars, pandas, PyArrow or DuckDB.
    y
        Labels of two classes.
    cv
        A number of stratified folds, a splitter such as `RepeatedStratifiedKFold`,
        `ShuffleSplit` or `GroupKFold`, or an iterable of pairs of training and test
        rows.
    groups
        The group of each case, such as its patient: for the splitter, and in the table.
    sample_weight
        Case weights ≥ 0: for `fit`, and in the table.
    params
        Other arguments of `fit` by name. With metadata routing they and the weights
        go where they are requested, as in `cross_validate`.
    pos_label
        The positive label; needed unless the labels are 0 and 1, or false and true.
    response_method
        ``"predict_proba"``, ``"decision_function"``, or both in the order of preference.
    n_jobs
        How many fits run at once, as in scikit-learn.

    Returns
    -------
    DataFrame
        `model` String; `repeat` Int64, from 1: within one no case is tested twice;
        `fold` Int64, from 1, counted on through the repeats; `case` Int64, the row
        of `X` from 0; `truth` Boolean; `score` Float64; `weight` Float64, where
        weights are given; `group`, where groups are. Sorted by model, fold and case.

    Raises
    ------
    InvalidArgument, InvalidPredictions
        For more than two classes, training sets with one class only, or models without
        scores. Errors of scikit-learn, such as for splits that cannot be made, stay as they are.
    MissingExtra
        Without scikit-learn.

    Notes
    -----
    The models are those of `sklearn.model_selection.cross_validate`. Scores of different folds
    come from different models. `polaroc.cases` finds model, fold and case by their names, so that
    all functions take measures by model and fold; name ``weight="weight"`` and
    ``cluster="group"`` if there are any. Training sets share cases, which `polaroc.compare`
    corrects for.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> data = pr.datasets.sonar()
    >>> models = {"logistic": LogisticRegression(max_iter=1000), "naive": GaussianNB()}
    >>> table = cross_val_predictions(models, data.drop("class"), data["class"] == "mine")
    >>> table.columns
    ['model', 'repeat', 'fold', 'case', 'truth', 'score']
    >>> cases = pr.cases(table, truth="truth", score="score")
    >>> pr.evaluate(cases, over=(0.02, 0.10)).filter(measure="iauprec").height
    10
    """
    need_scikit_learn()
    named = _named_estimators(estimators)
    cases = LabelledCases.of(X, y, pos_label, sample_weight, groups)
    splits = cases.splits(cv)
    tables = []
    for name, estimator in named.items():
        fitted = cases.fitted(estimator, splits, params, n_jobs)
        repeat, tested = 1, np.zeros(len(cases.labels), bool)
        for fold, (model, (_, test)) in enumerate(zip(fitted, splits, strict=True), 1):
            if tested[test].any():
                repeat, tested = repeat + 1, np.zeros_like(tested)
            tested[test] = True
            key = pl.DataFrame({"model": [name], "repeat": [repeat], "fold": [fold]})
            scored = cases.scored(model, test, response_method)
            tables.append(key.join(scored, how="cross"))
    return pl.concat(tables).sort("model", "fold", "case")


def _named_estimators(estimators: Any) -> dict[str, Any]:
    """The classifiers by name; those without one are named after their class."""
    if isinstance(estimators, Mapping):
        named = dict(estimators)
    else:
        listed = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        # Pipelines are named after their last step.
        last = [one.steps[-1][1] if hasattr(one, "steps") else one for one in listed]
        names = [type(one).__name__ for one in last]
        # Classifiers of one class are numbered.
        numbers = [names[: i + 1].count(name) for i, name in enumerate(names)]
        named = {
            name if names.count(name) == 1 else f"{name} {number}": estimator
            for name, number, estimator in zip(names, numbers, listed, strict=True)
        }
    if not named:
        raise InvalidArgument(
            "estimators is empty, needed is at least one classifier.",
            hint="for example {'logistic': LogisticRegression()}.",
        )
    return named


class LabelledCases(NamedTuple):
    """Cases of two classes, to fit classifiers on some of them and score others."""

    X: Any
    labels: Array
    positive: Any
    weight: Array | None
    groups: Any

    @classmethod
    def of(
        cls, X: Any, y: Any, pos_label: Label | None, sample_weight: Any, groups: Any
    ) -> LabelledCases:
        """The cases; raise unless all arguments have one value per case."""
        from sklearn.utils import indexable
        from sklearn.utils.validation import column_or_1d

        labels, positive = binary_labels(y, pos_label)
        if hasattr(type(X), "__arrow_c_stream__") and not hasattr(X, "iloc"):
            # scikit-learn takes no rows of a DuckDB relation.
            X = as_polars(X)
        weight = None if sample_weight is None else column_or_1d(sample_weight)
        X, _, _, groups = indexable(X, labels, weight, groups)
        if len(np.unique(labels if weight is None else labels[weight != 0])) < 2:
            raise InvalidPredictions(
                "y has cases of one class only, needed are two, with weights that are not zero.",
                hint="check the labels and the weights.",
            )
        return cls(X, labels, positive, weight, groups)

    def splits(self, cv: Any) -> list[tuple[Array, Array]]:
        """Rows to train on and rows to test on."""
        from sklearn.model_selection import check_cv

        rows = np.arange(len(self.labels))
        pairs = check_cv(cv, self.labels, classifier=True).split(self.X, self.labels, self.groups)
        # Boolean masks become row numbers.
        splits = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in pairs]
        if not splits:
            raise InvalidArgument(
                "cv has no splits.", hint="for example cv=5, or pairs of training and test rows."
            )
        return splits

    def fitted(
        self,
        estimator: Any,
        splits: Sequence[tuple[Array, Array]],
        params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> list[Any]:
        """The classifier fitted on the training set of each split."""
        from sklearn.model_selection import cross_validate

        weight = {} if self.weight is None else {"sample_weight": self.weight}
        results = cross_validate(
            estimator, self.X, self.labels, cv=splits, scoring=_NoScore(),
            params={**weight, **(params or {})}, n_jobs=n_jobs, return_estimator=True,
            error_score="raise",
        )  # fmt: skip
        return list(results["estimator"])

    def scored(self, model: Any, test: Array, response_method: str | Sequence[str]) -> pl.DataFrame:
        """The predictions of a fitted classifier, with the `weight` and the `group` of cases."""
        from sklearn.utils import _safe_indexing

        columns = {
            "case": test,
            "truth": self.labels[test] == self.positive,
            "score": positive_scores(
                model, _safe_indexing(self.X, test), self.positive, response_method
            ),
        }
        if self.weight is not None:
            columns["weight"] = self.weight[test].astype(float)
        if self.groups is not None:
            columns["group"] = _safe_indexing(self.groups, test)
        return as_polars(columns).lazy().cast({"case": pl.Int64, "score": pl.Float64}).collect()


class _NoScore:
    """A scorer for `cross_validate` that takes no time, and weights that no classifier takes."""

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return 0.0

    def get_metadata_routing(self) -> Any:
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner="polaroc")
        request.score.add_request(param="sample_weight", alias=True)
        return request


def need_scikit_learn() -> None:
    """Raise if scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "scikit-learn is needed, which is not installed.",
            hint='in a clone of the repository: pip install ".[sklearn]"',
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
