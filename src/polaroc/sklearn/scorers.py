"""Measures inside scikit-learn: of two arrays, as in `sklearn.metrics`, and as scorers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.checks import check_factors, is_number, refuse_unused, unless
from polaroc.curves.surface import OF_NEGATIVES, OF_POSITIVES
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, higher_is_better, select_measures
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import OBSERVED, check_prior, skew
from polaroc.sklearn.estimators import ONE_VS_REST, binary_target, need_scikit_learn
from polaroc.thresholds.named_rates import AT_THRESHOLD, LESS_IS_BETTER, OF_COSTS, rate_at
from polaroc.typing import Array, Interpolation, Label, Prior


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
        The positive label; needed unless the labels are 0 and 1, or false and true.
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §4); ``"linear"``, straight
        in precision-recall space (P-ROC Eq. 4); ``"step"``, average precision;
        ``"hull"``, exact on the convex hull of the ROC, the achievable curve.

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
    return measure_score(
        y_true, y_score, measure="auprec", prior=prior, over=None, interpolation=interpolation,
        pos_label=pos_label, sample_weight=sample_weight,
    )  # fmt: skip


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
    y_true
        Labels, one per case, of two classes.
    y_score
        Scores of the positive class, one per case; a higher score means more
        likely positive.
    over
        A range (lo, hi) of priors in (0, 1), or a belief about the prior:
        `polaroc.uniform`, `polaroc.beta`.
    sample_weight
        Case weights ≥ 0.
    pos_label
        The positive label; needed unless the labels are 0 and 1, or false and true.
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §4); ``"linear"``, straight
        in precision-recall space (P-ROC Eq. 4); ``"step"``, average precision;
        ``"hull"``, exact on the convex hull of the ROC, the achievable curve.

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

    Examples
    --------
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> round(iauprec_score(y_true, y_score, over=(0.05, 0.20)), 4)
    0.5871
    """
    return measure_score(
        y_true, y_score, measure="iauprec", prior="observed", over=over,
        interpolation=interpolation, pos_label=pos_label, sample_weight=sample_weight,
    )  # fmt: skip


def measure_score(
    y_true: Any,
    y_score: Any,
    *,
    measure: str,
    prior: Prior,
    over: tuple[float, float] | Belief | None,
    interpolation: Interpolation,
    pos_label: Label | None = None,
    sample_weight: Any = None,
) -> float:
    """A measure of one test set, NaN with a warning where it is undefined."""
    need_scikit_learn()
    from sklearn.exceptions import UndefinedMetricWarning

    target = binary_target(y_true, pos_label, "y_true")
    check_prior(prior, allow_observed=True)
    n = len(target.labels)
    columns = {"truth": target.truth, "score": one_per_case(y_score, "y_score", n)}
    if sample_weight is not None:
        columns["weight"] = one_per_case(sample_weight, "sample_weight", n)
    measures = evaluate(
        pl.DataFrame(columns),
        weight=None if sample_weight is None else "weight",
        priors=prior, over=over, interpolation=interpolation, measure=measure,
    )  # fmt: skip
    estimate, note = measures.select("estimate", "note").row(0)
    if estimate is None:
        warnings.warn(f"{measure} is undefined: {note}.", UndefinedMetricWarning, stacklevel=3)
        return float("nan")
    return float(estimate)


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


def scorer(
    measure: str = "iauprec",
    *,
    prior: Prior = "observed",
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    threshold: float | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    pos_label: Label | None = None,
) -> Any:
    """A measure as a scorer, for `cross_validate`, `GridSearchCV` and their kin.

    Parameters
    ----------
    measure
        The name of a measure, as in `polaroc.evaluate`; or of a rate of what is called positive,
        as in `polaroc.surface`, such as "precision"; or "expected_cost" or "net_benefit".
    prior
        Where "auprec", rates and costs are taken: a prior in (0, 1), or ``"observed"`` for the
        share of positives in each test set.
    over
        For measures over a range, costs and net benefit: a range (lo, hi) of priors, or a belief.
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §4); ``"linear"``, straight
        in precision-recall space (P-ROC Eq. 4); ``"step"``, average precision;
        ``"hull"``, exact on the convex hull of the ROC, the achievable curve.
    threshold
        For rates, costs and net benefit: scores from it on are called positive. By default the
        classifier's own calls, of `predict`: so
        `sklearn.model_selection.TunedThresholdClassifierCV` tries all thresholds.
    cost_fn, cost_fp
        For "expected_cost" and "net_benefit": costs > 0 of a missed positive and of a false alarm.
        The net benefit weighs a false alarm by cost_fp/cost_fn.
    pos_label
        The positive label; needed unless the labels are 0 and 1, or false and true.

    Returns
    -------
    scorer
        As from `sklearn.metrics.make_scorer`. It takes `predict_proba`, or
        `decision_function` of classifiers without it; of rates and costs without `threshold`
        `predict`. Case weights come as the metadata `sample_weight`. For measures where less is
        better, such as "accsens" and "expected_cost", it is the negative.

    Raises
    ------
    InvalidArgument
        For an unknown measure, a missing range, or a prior outside what is allowed.
        When it scores: for more than two classes.
    MissingExtra
        Without scikit-learn.

    Examples
    --------
    >>> import polaroc as pr
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> data = pr.datasets.sonar()
    >>> search = GridSearchCV(
    ...     LogisticRegression(max_iter=1000),
    ...     {"C": [0.1, 10]},
    ...     scoring=scorer("iauprec", over=(0.02, 0.10)),
    ... )
    >>> search.fit(data.drop("class"), data["class"] == "mine").best_params_
    {'C': 0.1}
    """
    need_scikit_learn()
    from sklearn.metrics import make_scorer

    check_choice("measure", measure, (*CATALOG, *AT_THRESHOLD))
    check_prior(prior, allow_observed=True)
    costs = {"cost_fn": cost_fn, "cost_fp": cost_fp}
    check_factors(**costs)
    if measure not in OF_COSTS:
        refuse_unused(
            "for costs and net benefit", f"measure is {measure!r}",
            cost_fn=unless(1, cost_fn), cost_fp=unless(1, cost_fp),
        )  # fmt: skip
    asked: dict[str, Any] = {"measure": measure, "prior": prior, "over": over}
    scores = ("predict_proba", "decision_function")
    if measure in CATALOG:
        refuse_unused("for rates and costs", f"measure is {measure!r}", threshold=threshold)
        _refuse_other_priors(measure, prior, over)
        select_measures([measure], prior, over, interpolation)
        return make_scorer(
            measure_score, greater_is_better=higher_is_better(measure), response_method=scores,
            **asked, interpolation=interpolation, pos_label=pos_label,
        )  # fmt: skip
    refuse_unused(
        "for areas", f"measure is {measure!r}", interpolation=unless("exact", interpolation)
    )
    if over is not None and measure not in OF_COSTS:
        refuse_unused("for areas and costs", f"measure is {measure!r}", over=over)
    if over is not None:
        refuse_unused("for one prior", "over is given", prior=unless(OBSERVED, prior))
        asked["over"] = resolve_belief(over)
    if not (threshold is None or is_number(threshold)):
        raise InvalidArgument(
            f"threshold is {threshold!r}, allowed is a number.", hint="leave it out for predict."
        )
    return make_scorer(
        rate_score, greater_is_better=measure not in LESS_IS_BETTER,
        response_method="predict" if threshold is None else scores,
        **asked, threshold=threshold, **costs, pos_label=pos_label,
    )  # fmt: skip


def _refuse_other_priors(measure: str, prior: Prior, over: object) -> None:
    """Refuse a prior, or a range, that has no bearing on a measure."""
    definition, why = CATALOG[measure], f"measure is {measure!r}"
    if not definition.at_priors:
        refuse_unused("for measures at one prior", why, prior=unless(OBSERVED, prior))
    if definition.over is None:
        refuse_unused("for measures over a range", why, over=over)


def rate_score(
    y_true: Any,
    y_called: Any,
    *,
    measure: str,
    prior: Prior,
    over: Belief | None,
    threshold: float | None,
    cost_fn: float,
    cost_fp: float,
    pos_label: Label | None = None,
    sample_weight: Any = None,
) -> float:
    """A rate or cost of one test set, of scores at a threshold or of the labels of `predict`."""
    from sklearn.exceptions import UndefinedMetricWarning

    target = binary_target(y_true, pos_label, "y_true")
    truth, n = target.truth, len(target.labels)
    if threshold is None:
        called = np.asarray(y_called) == target.positive
    else:
        called = one_per_case(y_called, "y_score", n) >= threshold
    weight = np.ones(n)
    if sample_weight is not None:
        weight = one_per_case(sample_weight, "sample_weight", n)
    totals = np.array([weight[truth].sum(), weight[~truth].sum()])
    needed = measure not in OF_NEGATIVES, measure not in OF_POSITIVES
    for name, total, is_needed in zip(("positives", "negatives"), totals, needed, strict=True):
        if is_needed and not total:
            said = f"{measure} is undefined: no {name}."
            warnings.warn(said, UndefinedMetricWarning, stacklevel=2)
            return float("nan")
    at = totals[0] / totals.sum() if prior == OBSERVED else prior
    at = at if over is None else over.mean
    if not all(needed):
        # Rates of one class are the same at any prior.
        at = 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        tpr, fpr = np.array([weight[own & called].sum() for own in (truth, ~truth)]) / totals
        return float(rate_at(measure, skew(at), cost_fn, cost_fp)(tpr, fpr))
