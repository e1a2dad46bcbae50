"""Areas at a prior from two arrays, as functions in the manner of `sklearn.metrics`."""

import warnings
from typing import Any

import polars as pl

from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.functions import auprec
from polaroc.predictions.resolved import keyed
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import OBSERVED, check_prior
from polaroc.sklearn.estimators import need_scikit_learn
from polaroc.sklearn.targets import ONE_VS_REST, BinaryTarget, binary_target
from polaroc.typing import Array, Interpolation, Label, Prior


@described_as(auprec)
def auprec_score(
    y_true: Any,
    y_score: Any,
    *,
    prior: Prior,
    sample_weight: Any = None,
    pos_label: Label | None = None,
    interpolation: Interpolation = "exact",
) -> float:
    """Area under the precision-recall curve at a prior.

    Parameters
    ----------
    y_true
        Labels, one per case, of two classes.
    y_score
        Scores of the positive class, one per case; a higher score means more
        likely positive.
    prior
        The share of positives that the area is taken at, in (0, 1), or
        ``"observed"`` for the share in `y_true`.
    sample_weight
        Case weights ≥ 0.
    pos_label
        The positive label; by default 1 where the labels are 0 and 1, or −1 and 1.

    Returns
    -------
    float
        From 0 to 1; NaN, with an `UndefinedMetricWarning`, where `y_true` has one
        class only.

    Raises
    ------
    InvalidArgument, InvalidPredictions
        For arrays of different lengths, more than two classes, missing scores, or
        a prior outside what is allowed.
    MissingExtra
        Without scikit-learn.

    Notes
    -----
    At the observed prior and with interpolation ``"step"`` it is
    `sklearn.metrics.average_precision_score`. The default interpolates between two
    points of the ROC as D&G do, in place of taking steps.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> round(auprec_score(y_true, y_score, prior="observed", interpolation="step"), 4)
    0.8333
    >>> round(auprec_score(y_true, y_score, prior=0.1), 4)
    0.5711
    """
    need_scikit_learn()
    target = binary_target(y_true, pos_label, "y_true", greater_is_positive=False)
    return measure_of(
        target, y_score, "auprec", prior, None, interpolation, sample_weight=sample_weight
    )


@described_as(auprec_score)
def iauprec_score(
    y_true: Any,
    y_score: Any,
    *,
    over: tuple[float, float] | Belief,
    sample_weight: Any = None,
    pos_label: Label | None = None,
    interpolation: Interpolation = "exact",
) -> float:
    """Area under the precision-recall curve, averaged over a range of priors (P-ROC Eq. 5).

    Parameters
    ----------
    over
        A range (lo, hi) of priors in (0, 1), or a belief about the prior:
        `polaroc.uniform`, `polaroc.beta`, `polaroc.points`.

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> round(iauprec_score(y_true, y_score, over=(0.05, 0.20)), 4)
    0.5871
    """
    need_scikit_learn()
    target = binary_target(y_true, pos_label, "y_true", greater_is_positive=False)
    return measure_of(
        target, y_score, "iauprec", "observed", over, interpolation, sample_weight=sample_weight
    )


def measure_of(
    target: BinaryTarget,
    y_score: Any,
    measure: str,
    prior: Prior,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
    *,
    sample_weight: Any = None,
) -> float:
    """A measure of the scores of one model, NaN with a warning where it is undefined."""
    from sklearn.exceptions import UndefinedMetricWarning

    check_one_prior(prior)
    n = len(target.labels)
    columns = {"truth": target.truth, "score": one_per_case(y_score, "y_score", n)}
    if sample_weight is not None:
        columns["weight"] = one_per_case(sample_weight, "sample_weight", n)
    measures = evaluate(
        keyed(
            pl.DataFrame(columns), truth="truth", score="score",
            weight=None if sample_weight is None else "weight",
        ),
        priors=prior, over=over, interpolation=interpolation, measures=measure,
    )  # fmt: skip
    estimate, note = measures.select("estimate", "note").row(0)
    if estimate is None:
        warnings.warn(f"{measure} is undefined: {note}.", UndefinedMetricWarning, stacklevel=3)
        return float("nan")
    return float(estimate)


def check_one_prior(prior: object) -> None:
    """Refuse what is neither one prior nor "observed"."""
    if not (isinstance(prior, str) and prior == OBSERVED):
        check_prior(prior)


def one_per_case(values: Any, name: str, n: int) -> Array:
    """An array with one number per case."""
    array = np.asarray(values)
    if array.ndim != 1:
        two_columns = array.ndim == 2 and array.shape[1] == 2
        raise InvalidArgument(
            f"{name} has the shape {array.shape}, allowed is one number per case.",
            hint="give the column of the positive class, such as predict_proba(X)[:, 1]."
            if two_columns
            else ONE_VS_REST,
        )
    if len(array) != n:
        raise InvalidArgument(
            f"{name} has {len(array)} numbers for {n} cases.", hint="give one per case."
        )
    missing = int(np.isnan(array).sum()) if array.dtype.kind == "f" else 0
    if missing:
        raise InvalidPredictions(f"{name} is NaN for {missing} cases.", hint="drop them first.")
    return array
