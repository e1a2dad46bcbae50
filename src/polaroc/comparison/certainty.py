"""How far the models' means may be off: their covariance, over folds or of one test set."""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.checks import check_ratio
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.comparison.choice_measures import one_prior
from polaroc.comparison.half_splits import ModelMeans
from polaroc.comparison.measure_rows import SAME, range_rows
from polaroc.errors import Hint
from polaroc.measures.catalog import label, mean_name, select_measures
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief
from polaroc.typing import Array
from polaroc.uncertainty.evidence import Evidence, without
from polaroc.uncertainty.scored_cases import read_cases
from polaroc.uncertainty.test_sets import UNRELATED, WEIGHTED, of_test_set

# Test sets as large as training sets: the most that is usual.
MAX_RATIO = 1.0


class Certainty(NamedTuple):
    """The covariance of the models' means, and what it rests on."""

    covariance: "Array | None"  # models × models; None where nothing is known of it
    basis: str  # in a sentence
    freedom: float = inf
    is_bound: bool = False  # larger than it need be, for want of something


def of_folds(values: "Array", test_train_ratio: float | None) -> Certainty:
    """The covariance of means over folds (folds × models), as Nadeau and Bengio correct it."""
    folds = len(values)
    ratio = MAX_RATIO if test_train_ratio is None else test_train_ratio
    check_ratio(ratio)
    covariance = np.cov(values, rowvar=False) * (1 / folds + ratio)
    about = "The probability refers to models trained anew on other samples of this size"
    basis: str
    if test_train_ratio is None:
        basis = Hint(
            f"{about}. The folds were taken to test on as many cases as they train on, which "
            "understates it: give {test_train_ratio} for 80/20 hold-outs, 1/(k-1) for k folds, or "
            "predictions with {case}.",
            test_train_ratio=0.25,
            case="id",
        )
    else:
        basis = (
            f"{about}: the {folds} folds, which share cases, count as "
            f"{1 / (1 / folds + ratio):.1f} independent ones."
        )
        if ratio > MAX_RATIO:
            basis += (
                f" The ratio of {ratio:.3g} says that folds test on more cases than they train on: "
                "it is test over training, 0.25 for 80/20."
            )
    return Certainty(covariance, basis, folds - 1, test_train_ratio is None)


def of_halves(means: ModelMeans) -> Certainty:
    """The covariance of means over folds, from the measure in disjoint halves of the cases."""
    return Certainty(
        means.covariance,
        "The probability refers to models trained anew on other samples of this size, by the "
        "variance between disjoint halves of these cases.",
        means.df,
    )


def of_evidence(evidence: Evidence) -> Certainty:
    """What evidence on fitted models says of them."""
    if not evidence.is_known:
        return Certainty(None, evidence.doubts[0])
    basis: str = Hint(f"The probability refers to {evidence.about}.")
    for doubt in evidence.doubts:
        basis = basis + " " + doubt
    return Certainty(
        evidence.covariance[0], basis, evidence.freedom, is_bound=UNRELATED in evidence.doubts
    )


def of_fitted_models(
    cases: Cases[pl.DataFrame], measure: str, over: tuple[float, float] | Belief | None
) -> Evidence:
    """Evidence on fitted models on one test set: a measure over a range, or at one prior.

    Paired by case; where no column tells the cases apart, as if every model had a test set of its
    own.
    """
    if cases.weight is not None:
        return without(WEIGHTED)
    at, mean = one_prior(over), mean_name(measure)
    if at is None and mean is None:
        return without(
            f"of the {label(measure)} averaged over priors it is known at a single prior, or from "
            "several folds",
        )
    chosen = (
        select_measures(mean, "observed", over, "exact", ARRAYS, score_prior=cases.score_prior)
        if at is None
        else select_measures(measure, [at], None, "exact", ARRAYS, score_prior=cases.score_prior)
    )
    (one,) = chosen.measures
    if not (one.gradient_terms or one.case_loss):
        return without(
            "the cases of one test set do not tell by how much the "
            f"{label(measure)} varies, several folds do",
        )
    return of_test_set(read_cases(cases, unpaired=cases.case is None).only, [one])


def of_errors(
    measures: pl.DataFrame,
    models: pl.Series,
    measure: str,
    over: "tuple[float, float] | Belief | None",
    grid: Sequence[float],
) -> Certainty:
    """Variances on one test set, from standard errors, as if those of models were unrelated."""
    named = pl.col("measure").cast(pl.String) == measure
    rows = measures.clear()
    mean = mean_name(measure)
    if mean is not None and over is not None and range_rows(measures, mean, over):
        rows = measures.filter(pl.col("measure").cast(pl.String) == mean)
    elif len(grid) == 1:
        rows = measures.filter(named & ((pl.col("prior") - grid[0]).abs() <= SAME))
    if "std_error" in rows.columns and rows.height == len(models):
        known = rows.select(models.name, "std_error")
        errors = join_on(models.to_frame(), known, [models.name], "left", order="left")["std_error"]
        if not errors.null_count():
            return Certainty(
                np.diag(errors.to_numpy() ** 2),
                Hint(
                    "The probability refers to these fitted models on other cases like these. "
                    "Their errors were taken for unrelated, which understates it where they were "
                    "tested on the same cases: give predictions with {case}.",
                    case="id",
                ),
                is_bound=True,
            )
    return Certainty(
        None,
        Hint(
            "To know how sure the choice is, give predictions with {case}, which names the cases "
            "of one test set, or measures of several folds: each model was measured once.",
            case="id",
        ),
    )
