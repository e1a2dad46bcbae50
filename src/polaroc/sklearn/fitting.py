"""Models fitted and scored on splits of labelled cases."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.tables import as_polars
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.files.progress import Progress
from polaroc.sklearn.estimators import BinaryTarget, binary_target, of_cases, positive_scores, rows
from polaroc.sklearn.scorers import one_per_case
from polaroc.typing import Array, Label

TYPES = {
    "model": pl.String, "repeat": pl.Int64, "fold": pl.Int64, "case": pl.Int64,
    "truth": pl.Boolean, "score": pl.Float64, "weight": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class LabelledCases:
    """Features, labels and weights of the cases.

    Attributes
    ----------
    X
        What `rows` can take rows of.
    target
        The labels.
    weight
        Case weights, None where there are none.
    """

    X: Any
    target: BinaryTarget
    weight: "Array | None" = None

    @property
    def n(self) -> int:
        """How many cases there are."""
        return len(self.target.labels)


class Split(NamedTuple):
    """Rows to train on and rows to test on, with the numbers of the repeat and fold."""

    repeat: int
    fold: int
    train: Array
    test: Array


@dataclass(frozen=True)
class Fit:
    """A model and the split that it is fitted and tested on.

    Attributes
    ----------
    model
        Its name.
    split
        Its training and test set.
    estimator
        The classifier.
    arguments
        Further arguments of its `fit`, for all cases.
    """

    model: str
    split: Split
    estimator: Any
    arguments: Mapping[str, Any] = field(default_factory=dict)


def labelled_cases(
    X: Any, y: Any, pos_label: Label | None, sample_weight: Any = None
) -> LabelledCases:
    """The cases, refused where features, labels and weights are not equally many."""
    from sklearn.utils import indexable

    target = binary_target(y, pos_label)
    n = len(target.labels)
    weight = None if sample_weight is None else one_per_case(sample_weight, "sample_weight", n)
    classes = np.unique(target.labels if weight is None else target.labels[weight != 0])
    if len(classes) < 2:
        count = "1 class" if len(classes) else "no class"
        where = "" if weight is None else " among cases whose weight is not zero"
        raise InvalidPredictions(
            f"y has {count}{where}, needed are 2.", hint="check the labels and the weights."
        )
    if hasattr(type(X), "__arrow_c_stream__") and not hasattr(X, "iloc"):
        # scikit-learn takes no rows of a PyArrow table or a DuckDB relation.
        X = as_polars(X)
    try:
        (features,) = indexable(X)
        features = features if hasattr(features, "shape") else np.asarray(features)
        height = features.shape[0]
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"X cannot be read: {error}",
            hint="give an array, a sparse matrix, or a data frame; collect a lazy frame first.",
        ) from None
    if height != n:
        raise InvalidArgument(f"X has {height} rows and y {n}.", hint="give one label per row.")
    return LabelledCases(features, target, weight)


def split_cases(cv: Any, cases: LabelledCases, groups: Any = None) -> list[Split]:
    """The splits of a splitter, of a number of folds, or those that are given."""
    from sklearn.model_selection import check_cv

    try:
        splitter = check_cv(cv, cases.target.labels, classifier=True)
        splits = list(splitter.split(cases.X, cases.target.labels, groups))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{cases.n} cases cannot be split so: {error}.".replace("..", "."),
            hint="change cv, name the groups where it needs them, or take more cases.",
        ) from None
    if not splits:
        raise InvalidArgument(
            "cv has no splits.", hint="for example cv=5, or pairs of training and test rows."
        )
    result = numbered(splits, cases.n)
    for split in result:
        _check_classes(split, cases)
    return result


def _check_classes(split: Split, cases: LabelledCases) -> None:
    """Refuse a training set without cases of both classes that count."""
    labels = cases.target.truth[split.train]
    if cases.weight is not None:
        labels = labels[cases.weight[split.train] != 0]
    if len(np.unique(labels)) < 2:
        raise InvalidPredictions(
            f"the training set of fold {split.fold} has cases of one class only.",
            hint="a stratified splitter, or fewer folds, keeps both in each.",
        )


def numbered(splits: Iterable[tuple[Any, Any]], n: int) -> list[Split]:
    """The splits with numbers; a repeat ends before a case would be tested again."""
    result: list[Split] = []
    repeat, tested = 1, np.zeros(n, dtype=bool)
    for fold, (train, test) in enumerate(splits, start=1):
        # Masks become row numbers.
        try:
            chosen, other = (np.arange(n)[np.asarray(part)] for part in (test, train))
        except IndexError as error:
            raise InvalidArgument(
                f"a split has rows that are not among the {n} cases: {error}.",
                hint="give the cases that were split.",
            ) from None
        if tested[chosen].any():
            repeat, tested = repeat + 1, np.zeros(n, dtype=bool)
        tested[chosen] = True
        result.append(Split(repeat, fold, other, chosen))
    return result


def fitted_predictions(
    fits: Iterable[Fit],
    cases: LabelledCases,
    methods: tuple[str, ...],
    n_jobs: int | None = None,
    callback: Progress | None = None,
    total: int = 0,
) -> pl.DataFrame:
    """Fit each model on its training set and score its test set."""
    from sklearn.utils.parallel import Parallel, delayed

    run: Callable[..., pl.DataFrame] = partial(fitted, cases=cases, methods=methods)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    parts: list[pl.DataFrame] = []
    for part in parallel(delayed(run)(fit) for fit in fits):
        parts.append(part)
        if callback is not None:
            callback(len(parts), total)
    # Folds are counted on through the repeats.
    return pl.concat(parts).sort("model", "fold", "case")


def fitted(fit: Fit, cases: LabelledCases, methods: tuple[str, ...]) -> pl.DataFrame:
    """The predictions of one model on one test set, once it is trained."""
    train = fit.split.train
    arguments = {name: of_cases(values, train, cases.n) for name, values in fit.arguments.items()}
    fit.estimator.fit(rows(cases.X, train), cases.target.labels[train], **arguments)
    return scored(fit, cases, methods)


def scored(fit: Fit, cases: LabelledCases, methods: tuple[str, ...]) -> pl.DataFrame:
    """The predictions of a trained model on its test set."""
    repeat, fold, _, test = fit.split
    target = cases.target
    columns = {
        "case": test,
        "truth": target.truth[test],
        "score": positive_scores(
            fit.estimator, rows(cases.X, test), target.positive, methods, fit.model
        ),
        **({} if cases.weight is None else {"weight": cases.weight[test]}),
    }
    keys = {"model": fit.model, "repeat": repeat, "fold": fold}
    table = pl.DataFrame(columns).with_columns(
        pl.lit(value).alias(key) for key, value in keys.items()
    )
    return table.select(pl.col(name).cast(TYPES[name]) for name in (*keys, *columns))
