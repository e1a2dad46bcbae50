"""Cross-validated scores of classifiers as a table of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.tables import as_polars
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.sklearn.labels import SCORES, binary_labels, need_scikit_learn, positive_scores
from polaroc.typing import Array, Label


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
    named = named_estimators(estimators)
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
            scored = cases.scored(model, test, response_method)
            numbers = {"repeat": pl.lit(repeat, pl.Int64), "fold": pl.lit(fold, pl.Int64)}
            tables.append(scored.with_columns(model=pl.lit(name), **numbers))
    keys = ["model", "repeat", "fold"]
    table = pl.concat(tables).select(*keys, pl.exclude(keys)).sort("model", "fold", "case")
    if groups is None:
        return table
    group = as_polars({"group": groups}).lazy().collect()["group"]
    return table.with_columns(group.gather(table["case"]))


def named_estimators(estimators: Any) -> dict[str, Any]:
    """The classifiers by name; those without one are named after their class."""
    if isinstance(estimators, Mapping):
        named = dict(estimators)
    else:
        listed = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        names = [class_name(estimator) for estimator in listed]
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


def class_name(estimator: Any) -> str:
    """The class of a classifier, or of the last step of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


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
        """The cases; raise unless all that is given has one value per case."""
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
        found = check_cv(cv, self.labels, classifier=True).split(self.X, self.labels, self.groups)
        # Masks, too, become row numbers.
        splits = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in found]
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
        """The predictions of a fitted classifier: `case`, `truth`, `score` and `weight`."""
        from sklearn.utils import _safe_indexing

        columns = {
            "case": test,
            "truth": self.labels[test] == self.positive,
            "score": positive_scores(
                model, _safe_indexing(self.X, test), self.positive, response_method
            ),
        }
        if self.weight is not None:
            columns["weight"] = self.weight[test]
        types = {"case": pl.Int64, "score": pl.Float64, "weight": pl.Float64}
        return pl.DataFrame(columns).cast({name: types[name] for name in columns if name in types})


class _NoScore:
    """A scorer for `cross_validate` that takes no time, and weights that no classifier takes."""

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        return 0.0

    def get_metadata_routing(self) -> Any:
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner="polaroc")
        request.score.add_request(param="sample_weight", alias=True)
        return request
