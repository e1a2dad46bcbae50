"""Measures inside scikit-learn: of two arrays, as in `sklearn.metrics`, and as scorers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.checks import check_factors
from polaroc.curves.surface import OF_NEGATIVES, OF_POSITIVES, RATES
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.evaluation.evaluate import evaluate
from polaroc.measures.catalog import CATALOG, higher_is_better, select_measures
from polaroc.priors.beliefs import Over, resolve_belief
from polaroc.priors.grids import OBSERVED, check_prior, skew
from polaroc.sklearn.predictions import SCORES, binary_labels, need_scikit_learn
from polaroc.typing import Interpolation, Label, Prior

# Rates and costs of what is called positive; less of some is better.
AT_THRESHOLD = ("expected_cost", *(name for name in RATES if name != "loss"))
LESS_IS_BETTER = ("expected_cost", "error", "fnr", "posfrac", "likelihood_ratio_negative")


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
        y_true, y_score, measure="auprec", priors=prior, interpolation=interpolation,
        pos_label=pos_label, sample_weight=sample_weight,
    )  # fmt: skip


def iauprec_score(
    y_true: Any,
    y_score: Any,
    *,
    over: Over,
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
        As in `auprec_score`.

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
        y_true, y_score, measure="iauprec", over=over, interpolation=interpolation,
        pos_label=pos_label, sample_weight=sample_weight,
    )  # fmt: skip


def measure_score(
    y_true: Any, y_score: Any, *, pos_label: Label | None = None, sample_weight: Any = None,
    **options: Any,
) -> float:  # fmt: skip
    """A measure of `evaluate` of one test set, NaN with a warning if it is undefined."""
    need_scikit_learn()
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.utils import check_consistent_length
    from sklearn.utils.validation import column_or_1d

    labels, positive = binary_labels(y_true, pos_label, "y_true")
    check_consistent_length(labels, y_score, sample_weight)
    columns = {"truth": labels == positive, "score": column_or_1d(y_score)}
    if sample_weight is not None:
        columns["weight"] = column_or_1d(sample_weight)
    weight = None if sample_weight is None else "weight"
    measures = evaluate(pl.DataFrame(columns), weight=weight, **options)
    estimate, note = measures.select("estimate", "note").row(0)
    if estimate is None:
        sentence = f"{options['measure']} is undefined: {note}."
        warnings.warn(sentence, UndefinedMetricWarning, stacklevel=3)
        return float("nan")
    return float(estimate)


def scorer(
    measure: str = "iauprec",
    *,
    prior: Prior = "observed",
    over: Over | None = None,
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
        Where "auprec", rates and costs are taken: one prior in (0, 1), or ``"observed"`` for the
        share of positives in each test set.
    over
        For measures over a range, costs and net benefit: a range (lo, hi) of priors, or a belief.
    interpolation
        As in `auprec_score`.
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
        better, such as "accsens" and "expected_cost", it is the negative. Where a measure is
        undefined, such as the precision if nothing is called positive, it is NaN, with an
        `UndefinedMetricWarning`; searches of scikit-learn rank NaN last.

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
    check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
    if measure in CATALOG:
        used = {"interpolation"}
        used |= {"prior"} if CATALOG[measure].at_priors else set()
        used |= {"over"} if CATALOG[measure].over is not None else set()
    elif measure in ("expected_cost", "net_benefit"):
        used = {"threshold", "cost_fn", "cost_fp", "prior" if over is None else "over"}
    else:
        used = {"prior", "threshold"}
    changed = {
        "prior": prior != OBSERVED, "over": over is not None, "threshold": threshold is not None,
        "interpolation": interpolation != "exact", "cost_fn": cost_fn != 1, "cost_fp": cost_fp != 1,
    }  # fmt: skip
    unused = [name for name, is_changed in changed.items() if is_changed and name not in used]
    if unused:
        raise InvalidArgument(
            f"the measure {measure!r} does not depend on {quoted(unused)}.", hint="leave it out."
        )
    if measure in CATALOG:
        select_measures([measure], prior, over, interpolation)
        return make_scorer(
            measure_score, greater_is_better=higher_is_better(measure), response_method=SCORES,
            measure=measure, priors=prior, over=over, interpolation=interpolation,
            pos_label=pos_label,
        )  # fmt: skip
    return make_scorer(
        rate_score, greater_is_better=measure not in LESS_IS_BETTER,
        response_method="predict" if threshold is None else SCORES, measure=measure,
        prior=prior if over is None else resolve_belief(over).mean, threshold=threshold,
        cost_fn=cost_fn, cost_fp=cost_fp, pos_label=pos_label,
    )  # fmt: skip


def rate_score(
    y_true: Any,
    y_called: Any,
    *,
    measure: str,
    prior: Prior,
    threshold: float | None,
    cost_fn: float,
    cost_fp: float,
    pos_label: Label | None = None,
    sample_weight: Any = None,
) -> float:
    """A rate or cost of one test set, of scores at a threshold or of the labels of `predict`.

    Costs are linear in the prior, so that a mean over a range is the cost at the mean prior.
    """
    from sklearn.exceptions import UndefinedMetricWarning

    labels, positive = binary_labels(y_true, pos_label, "y_true")
    truth = labels == positive
    called = np.asarray(y_called) == positive if threshold is None else y_called >= threshold
    weight = np.ones(len(truth)) if sample_weight is None else np.asarray(sample_weight)
    totals = {"positives": weight @ truth, "negatives": weight @ ~truth}
    for of_other, (name, total) in zip((OF_NEGATIVES, OF_POSITIVES), totals.items(), strict=True):
        if not total and measure not in of_other:
            sentence = f"{measure} is undefined: no {name}."
            warnings.warn(sentence, UndefinedMetricWarning, stacklevel=2)
            return float("nan")
    positives, negatives = totals.values()
    if measure in (*OF_POSITIVES, *OF_NEGATIVES):
        # Rates of a single class are the same at every prior.
        prior = 0.5
    at = skew(positives / (positives + negatives) if prior == OBSERVED else prior)
    with np.errstate(divide="ignore", invalid="ignore"):
        t, f = weight @ (truth & called) / positives, weight @ (~truth & called) / negatives
        if measure == "expected_cost":
            # A loss counts each of the two kinds of error with a weight of one half.
            value = 2 * rates.loss(t, f, at, cost_fn=cost_fn, cost_fp=cost_fp)
        elif measure == "net_benefit":
            value = rates.net_benefit(t, f, at, threshold=cost_fp / (cost_fn + cost_fp))
        else:
            value = RATES[measure](t, f, at)
    if np.isnan(value):
        sentence = f"{measure} is undefined: 0/0, as all cases or none are called positive."
        warnings.warn(sentence, UndefinedMetricWarning, stacklevel=2)
    return float(value)
