"""Cross-validated scores of classifiers as a table of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.columns import as_lazy
from polaroc.base.tables import as_polars
from polaroc.errors import InvalidArgument
from polaroc.files.progress import Progress, progress_callback
from polaroc.sklearn.estimators import (
    class_name,
    fit_arguments,
    named_estimators,
    need_scikit_learn,
    response_methods,
)
from polaroc.sklearn.fitting import (
    Fit,
    LabelledCases,
    Split,
    fitted_predictions,
    labelled_cases,
    numbered,
    scored,
    split_cases,
)
from polaroc.typing import Label


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
    response_method: str | Sequence[str] = "auto",
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
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
        Other arguments of `fit` by name. With metadata routing they, the weights
        and the groups go where they are requested.
    pos_label
        The positive label; needed unless the labels are 0 and 1, or false and true.
    response_method
        ``"predict_proba"``, ``"decision_function"``, both in the order of
        preference, or ``"auto"``, in that order.
    n_jobs
        How many fits run at once, as in scikit-learn.
    progress
        ``True`` for a bar, or a function called after each fit with the fits done
        and the fits in all.

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
        For more than two classes, training sets with one class only, splits that
        cannot be made, or models without scores.
    MissingExtra
        Without scikit-learn.

    Notes
    -----
    Scores of different folds come from different models. `polaroc.cases` finds model, folds and
    case by their names, so that all functions take measures by model and fold; it is told
    ``weight="weight"`` and ``cluster="group"`` where there are any. Training sets share cases,
    which `polaroc.compare` corrects for by `test_train_ratio`.

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
    cases = labelled_cases(X, y, pos_label, sample_weight)
    group = _group_column(groups, cases.n)
    splits = split_cases(cv, cases, groups)
    metadata = {"sample_weight": cases.weight, "groups": groups, **(params or {})}
    table = fitted_on_splits(named, cases, splits, metadata, response_method, n_jobs, progress)
    return _with_group(table, group)


def from_cross_validate(
    results: Mapping[str, Any],
    X: Any,
    y: Any,
    model: str | None = None,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Label | None = None,
    response_method: str | Sequence[str] = "auto",
) -> pl.DataFrame:
    """The predictions of models that `cross_validate` has fitted.

    Parameters
    ----------
    results
        The result of `sklearn.model_selection.cross_validate` with
        ``return_estimator=True`` and ``return_indices=True``.
    X, y
        The cases, as they were given to it.
    model
        The name of the model; by default that of its class.
    groups
        The group of each case, such as its patient, for the table only.
    sample_weight
        Case weights ≥ 0, for the table only.
    pos_label
        The positive label; needed unless the labels are 0 and 1, or false and true.
    response_method
        ``"predict_proba"``, ``"decision_function"``, both in the order of
        preference, or ``"auto"``, in that order.

    Returns
    -------
    DataFrame
        `model` String; `repeat` Int64, from 1: within one no case is tested twice;
        `fold` Int64, from 1, counted on through the repeats; `case` Int64, the row
        of `X` from 0; `truth` Boolean; `score` Float64; `weight` Float64, where
        weights are given; `group`, where groups are. Sorted by model, fold and case.

    Raises
    ------
    InvalidArgument, InvalidPredictions, MissingExtra
        As in `cross_val_predictions`, and where the results lack models or rows.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> data = pr.datasets.sonar()
    >>> X, y = data.drop("class"), data["class"] == "mine"
    >>> results = cross_validate(
    ...     LogisticRegression(max_iter=1000), X, y, return_estimator=True, return_indices=True
    ... )
    >>> from_cross_validate(results, X, y, model="logistic")["fold"].n_unique()
    5
    """
    need_scikit_learn()
    lacking = [
        option
        for option, key in (("return_estimator", "estimator"), ("return_indices", "indices"))
        if not isinstance(results, Mapping) or key not in results
    ]
    if lacking:
        raise InvalidArgument(
            f"the results were made without {' and '.join(lacking)}.",
            hint="cross_validate(..., return_estimator=True, return_indices=True).",
        )
    cases = labelled_cases(X, y, pos_label, sample_weight)
    group = _group_column(groups, cases.n)
    indices = results["indices"]
    splits = numbered(zip(indices["train"], indices["test"], strict=True), cases.n)
    methods = response_methods(response_method)
    name = class_name(results["estimator"][0]) if model is None else model
    table = pl.concat(
        scored(Fit(name, split, estimator), cases, methods)
        for split, estimator in zip(splits, results["estimator"], strict=True)
    )
    return _with_group(table.sort("model", "fold", "case"), group)


def test_train_ratio(predictions: pl.DataFrame | pl.LazyFrame, cases: int) -> float:
    """Test cases per training case, which the comparison of models over folds needs.

    Parameters
    ----------
    predictions
        A table with one row per test case, such as that of `cross_val_predictions`; the columns
        `model` and `fold`, if it has them, tell test sets apart.
    cases
        How many cases there are in all: those that are not in the test set were trained on.

    Returns
    -------
    float
        Mean size m of the test sets over that of the training sets, m/(cases − m): 0.25 for
        an 80/20 hold-out, 1/(k − 1) for k folds.

    Raises
    ------
    InvalidArgument
        Where the test sets are empty or as large as `cases`.

    Examples
    --------
    >>> import polaroc as pr
    >>> test_train_ratio(pr.datasets.satellite_predictions(), cases=6435)
    0.25
    """
    table = as_lazy(predictions)
    keys = [key for key in ("model", "fold") if key in table.collect_schema()]
    counts = table.group_by(keys).len() if keys else table.select(pl.len())
    tested = counts.select(pl.col("len").cast(pl.Int64)).mean().collect().item()
    if tested is None or not is_number(cases) or not 0 < tested < cases:
        raise InvalidArgument(
            f"the test sets have {tested} cases on average, of {cases} in all.",
            hint="cases is the number of rows of the raw table.",
        )
    return float(tested / (cases - tested))


def _group_column(groups: Any, n: int) -> pl.Series | None:
    """The group of each case; None where there are none."""
    if groups is None:
        return None
    column = as_polars({"group": groups}).lazy().collect()["group"]
    if len(column) != n:
        raise InvalidArgument(
            f"groups has {len(column)} values for {n} cases.", hint="give one per case."
        )
    return column


def _with_group(table: pl.DataFrame, group: pl.Series | None) -> pl.DataFrame:
    return table if group is None else table.with_columns(group.gather(table["case"]))


def fitted_on_splits(
    named: Mapping[str, Any],
    cases: LabelledCases,
    splits: Sequence[Split],
    metadata: Mapping[str, Any],
    response_method: str | Sequence[str],
    n_jobs: int | None,
    progress: Progress | bool | None = None,
) -> pl.DataFrame:
    """The predictions of each classifier, fitted anew on each split."""
    from sklearn.base import clone

    fits = (
        Fit(name, split, clone(estimator), fit_arguments(estimator, metadata, name))
        for name, estimator in named.items()
        for split in splits
    )
    return fitted_predictions(
        fits, cases, response_methods(response_method), n_jobs,
        progress_callback(progress, "fits"), len(named) * len(splits),
    )  # fmt: skip
