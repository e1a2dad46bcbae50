"""Cross-validated scores of classifiers within halves of the cases."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.checks import check_whole
from polaroc.base.lazy import np
from polaroc.errors import Hint, InvalidPredictions
from polaroc.files.progress import Progress
from polaroc.sklearn.estimators import named_estimators, need_scikit_learn
from polaroc.sklearn.fitting import LabelledCases, Split, labelled_cases
from polaroc.sklearn.predictions import fitted_on_splits
from polaroc.typing import Label

MAX_SPLITS, MAX_FOLDS = 10_000, 1_000


def half_split_predictions(
    estimators: Any,
    X: Any,
    y: Any,
    *,
    splits: int = 25,
    folds: int = 5,
    repeats: int = 2,
    sample_weight: Any = None,
    params: Mapping[str, Any] | None = None,
    pos_label: Label | None = None,
    response_method: str | Sequence[str] = "auto",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
) -> pl.DataFrame:
    """Scores of classifiers cross-validated in halves of the cases, for `polaroc.compare`.

    The cases are divided at random into two halves, several times, and in either half the
    classifiers are cross-validated on its cases alone. How much two halves, which share no
    case, differ tells how much the whole would differ in other samples. Nadeau and Bengio
    (2003) take such halves, without the step to all cases, in their conservative Z.

    Parameters
    ----------
    estimators, X, y
        As in `cross_val_predictions`; cases are independent of each other.
    splits
        How often the cases are divided, 2 or more. With more the variance is known better:
        it has 1/(1/`splits` + 1/(n − 1)) degrees of freedom, n the cases of the smaller class.
    folds
        Stratified folds in each half, 2 or more; the smaller class needs twice as many cases.
    repeats
        How often each half is divided into folds.
    sample_weight, params, pos_label, response_method, n_jobs, progress
        As in `cross_val_predictions`. There are `splits` · 2 · `folds` · `repeats` fits of each
        classifier, on nearly half the cases each.
    seed
        Of the divisions.

    Returns
    -------
    DataFrame
        `model` String; Int64 from 1: `split`, `half` (1 or 2), `repeat` and `fold` in the half,
        folds counted on through the repeats; `case` Int64, the row of `X` from 0; `truth`
        Boolean; `score` Float64; `weight` Float64, where weights are given. Sorted by
        model, split, half, fold and case.

    Raises
    ------
    InvalidArgument, InvalidPredictions, MissingExtra
        As in `cross_val_predictions`, and where a class has too few cases.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.naive_bayes import GaussianNB
    >>> data = pr.datasets.sonar()
    >>> X, y = data.drop("class"), data["class"] == "mine"
    >>> models = {"linear": LinearDiscriminantAnalysis(), "naive": GaussianNB()}
    >>> columns = {"truth": "truth", "score": "score", "measures": "auc"}
    >>> whole = pr.sklearn.cross_val_predictions(models, X, y, cv=10).pipe(pr.evaluate, **columns)
    >>> halves = half_split_predictions(models, X, y, splits=5, repeats=1).pipe(
    ...     pr.evaluate, **columns
    ... )
    >>> pr.compare(whole, "auc", halves=halves).omnibus["test"].item()
    'largest |t|, half-split variance'
    """
    need_scikit_learn()
    check_whole("splits", splits, 2, MAX_SPLITS)
    check_whole("folds", folds, 2, MAX_FOLDS)
    check_whole("repeats", repeats, 1, MAX_SPLITS)
    check_whole("seed", seed, 0)
    named = named_estimators(estimators)
    cases = labelled_cases(X, y, pos_label, sample_weight)
    _check_enough(cases, folds)
    metadata = {"sample_weight": cases.weight, **(params or {})}
    drawn = list(_splits(cases, splits, folds, repeats, seed))
    return fitted_on_splits(named, cases, drawn, metadata, response_method, n_jobs, progress)


def _check_enough(cases: LabelledCases, folds: int) -> None:
    fewest = int(np.unique(cases.target.labels, return_counts=True)[1].min())
    if fewest < 2 * folds:
        raise InvalidPredictions(
            f"the smaller class has {fewest} cases, needed are {2 * folds}: one per half and fold.",
            hint=Hint(
                "take more cases" + (", or {folds}." if fewest >= 4 else "."),
                folds=max(2, fewest // 2),
            ),
        )


def _splits(
    cases: LabelledCases, splits: int, folds: int, repeats: int, seed: int
) -> Iterator[Split]:
    """The folds of every repeat in every half."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    rng = np.random.RandomState(seed)
    labels = cases.target.labels
    divisions = RepeatedStratifiedKFold(n_splits=2, n_repeats=splits, random_state=rng)
    for number, (_, half) in enumerate(divisions.split(labels, labels)):
        of = {"split": number // 2 + 1, "half": number % 2 + 1}
        own = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=rng)
        for place, (train, test) in enumerate(own.split(half, labels[half])):
            yield Split(place // folds + 1, place + 1, half[train], half[test], of)
