"""Models trained and scored on repeated splits of a table, as a table of predictions."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from polaroc.base.checks import check_whole, is_number
from polaroc.base.columns import as_lazy
from polaroc.base.docstrings import described_as
from polaroc.errors import InvalidArgument
from polaroc.experiments.cases import LabelledCases, read_cases
from polaroc.experiments.estimators import Models, models_of_fold
from polaroc.predictions.usual_keys import usual_names
from polaroc.sklearn.estimators import need_scikit_learn
from polaroc.sklearn.fitting import Fit, fitted_predictions, labelled_cases, split_cases
from polaroc.typing import Label

Progress: TypeAlias = Callable[[str, int], None]


def holdouts(
    data: pl.DataFrame | pl.LazyFrame,
    models: Models,
    *,
    truth: str = "class",
    positive: Label | Sequence[Label] | None = None,
    n: int = 20,
    test_size: float = 0.2,
    seed: int = 0,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Scores of models on the test sets of random hold-outs, the same ones for every model.

    Parameters
    ----------
    data
        One row per case: the labels, and numeric features in all other columns.
    models
        By name, classifiers that follow scikit-learn's conventions (`fit`, and
        `decision_function` or `predict_proba`). Each is cloned, and its
        `random_state`, where None, seeded from `seed`, the fold and its name, so
        that a model's scores do not depend on the other models. Or a function
        that makes such a mapping for each fold from a numpy Generator seeded by
        `seed` and the fold; then the models are taken as they come.
    truth
        Column of the labels: Boolean, 0/1, or any when `positive` names the
        positive one(s).
    positive
        The label(s) that count as positive.
    n
        Number of hold-outs, ≥ 1.
    test_size
        Share of cases in the test set, in (0, 1); each class keeps its share.
    seed
        Seed ≥ 0 of the splits and of the models.
    progress
        Called with the name of a model and the fold before each is trained.

    Returns
    -------
    DataFrame
        `model` String; `fold` Int64, from 1; `case` Int64, the row of `data`
        from 0; `truth` Boolean; `score` Float64, what `decision_function` says,
        or the probability of a positive. Sorted by model, fold and case.

    Raises
    ------
    InvalidArgument, InvalidPredictions, InvalidTable
        For a split outside what is allowed, a model without scores, a label or
        a feature that cannot be used.
    MissingExtra
        Without scikit-learn.

    Notes
    -----
    Hold-outs share training cases, so their results are correlated: a
    comparison needs `test_train_ratio`.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.linear_model import LogisticRegression
    >>> models = {"logistic": LogisticRegression(max_iter=1000)}
    >>> made = holdouts(pr.datasets.sonar(), models, positive="mine", n=2)
    >>> made.group_by("model", "fold").len().sort("fold").rows()
    [('logistic', 1, 42), ('logistic', 2, 42)]
    """
    need_scikit_learn()
    from sklearn.model_selection import StratifiedShuffleSplit

    check_whole("n", n, 1)
    check_whole("seed", seed, 0)
    if not is_number(test_size) or not 0 < test_size < 1:
        raise InvalidArgument(
            f"test_size is {test_size!r}, allowed is 0 < test_size < 1.",
            hint="0.2 keeps a fifth of the cases for the test.",
        )
    cases = read_cases(data, truth, positive)
    cases.check_least(2)
    splitter = StratifiedShuffleSplit(n, test_size=float(test_size), random_state=seed)
    return _scores(cases, models, splitter, seed, progress)


@described_as(holdouts)
def kfold(
    data: pl.DataFrame | pl.LazyFrame,
    models: Models,
    *,
    truth: str = "class",
    positive: Label | Sequence[Label] | None = None,
    k: int = 10,
    repeats: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Scores of models in stratified k-fold cross-validation, the same folds for every model.

    Parameters
    ----------
    k
        Number of folds, ≥ 2.
    repeats
        How often the cases are dealt out anew, ≥ 1.

    Returns
    -------
    DataFrame
        As `holdouts`; `fold` runs from 1 to k × repeats, and each case is in
        one fold of each k.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> made = kfold(pr.datasets.sonar(), {"naive": GaussianNB()}, positive="mine", k=4)
    >>> made.height, made["fold"].max()
    (208, 4)
    """
    need_scikit_learn()
    from sklearn.model_selection import RepeatedStratifiedKFold

    check_whole("k", k, 2)
    check_whole("repeats", repeats, 1)
    check_whole("seed", seed, 0)
    cases = read_cases(data, truth, positive)
    cases.check_least(k)
    splitter = RepeatedStratifiedKFold(n_splits=k, n_repeats=repeats, random_state=seed)
    return _scores(cases, models, splitter, seed, progress)


def test_train_ratio(
    predictions: pl.DataFrame | pl.LazyFrame,
    cases: int,
) -> float:
    """Test cases per training case, which the comparison of models over folds needs.

    Parameters
    ----------
    predictions
        The result of `holdouts` or `kfold`, or any table with one row per test
        case, whose models and folds have usual names.
    cases
        How many cases there are in all: those that are not in the test set were
        trained on.
    Returns
    -------
    float
        m/(cases − m), where m is the mean size of the test sets: 0.25 for an
        80/20 hold-out, 1/(k − 1) for k folds.

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
    rows = as_lazy(predictions)
    keys = usual_names(rows.collect_schema()).keys
    counts = rows.group_by(keys).len() if keys else rows.select(pl.len())
    sizes = counts.select(pl.col("len").cast(pl.Int64))
    tested = sizes.mean().collect().item()
    if tested is None or not is_number(cases) or not 0 < tested < cases:
        raise InvalidArgument(
            f"the test sets have {tested} cases on average, of {cases} in all.",
            hint="cases is the number of rows of the raw table.",
        )
    return float(tested / (cases - tested))


def _scores(
    cases: LabelledCases, models: Models, splitter: Any, seed: int, progress: Progress | None
) -> pl.DataFrame:
    scored = labelled_cases(cases.features, cases.labels, 1)

    def fits() -> Iterator[Fit]:
        for split in split_cases(splitter, scored):
            for name, estimator in models_of_fold(models, seed, split.fold):
                if progress is not None:
                    progress(name, split.fold)
                yield Fit(name, split, estimator)

    # One after the other, since models that draw from one generator do so in turn.
    return fitted_predictions(fits(), scored, ("decision_function", "predict_proba"), 1).drop(
        "repeat"
    )


def write_tables(tables: Mapping[str, Callable[[], pl.DataFrame]]) -> None:
    """Write each table as compact Parquet into the folder named on the command line.

    Without one it goes to the folder of `polaroc.datasets` itself.
    """
    named = sys.argv[1:2]
    folder = Path(named[0]) if named else Path(__file__).parents[1] / "datasets"
    for name, made in tables.items():
        file = folder / f"{name}.parquet"
        made().write_parquet(file, compression="zstd", compression_level=22, statistics=False)
        print(file)
