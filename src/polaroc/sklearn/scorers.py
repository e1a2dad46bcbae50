"""Measures as scorers for the model selection of scikit-learn."""

import warnings
from typing import Any

from polaroc.base.checks import check_factors, is_number, refuse_unused, unless
from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures.catalog import CATALOG, higher_is_better, select_measures
from polaroc.measures.functions import auprec
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.grids import OBSERVED, skew
from polaroc.sklearn.estimators import need_scikit_learn
from polaroc.sklearn.scores import check_one_prior, measure_of, one_per_case
from polaroc.sklearn.targets import binary_target
from polaroc.thresholds.named_rates import AT_THRESHOLD, LESS_IS_BETTER, OF_COSTS, rate_at
from polaroc.typing import Interpolation, Label, Prior


@described_as(auprec)
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
    threshold
        For rates, costs and net benefit: scores from it on are called positive. By default the
        classifier's own calls, of `predict`: so
        `sklearn.model_selection.TunedThresholdClassifierCV` tries all thresholds.
    cost_fn, cost_fp
        For "expected_cost" and "net_benefit": costs > 0 of a missed positive and of a false alarm.
        The net benefit weighs a false alarm by cost_fp/cost_fn.
    pos_label
        The positive label; by default the second of the classifier's ``classes_``.

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
    check_one_prior(prior)
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
    """A measure of one test set, in the signature that `make_scorer` needs."""
    return measure_of(
        binary_target(y_true, pos_label, "y_true"), y_score, measure, prior, over, interpolation,
        sample_weight=sample_weight,
    )  # fmt: skip


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
    if not totals.all():
        lacking = "negatives" if totals[0] else "positives"
        said = f"{measure} is undefined: no {lacking}."
        warnings.warn(said, UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    tpr, fpr = weight[truth & called].sum() / totals[0], weight[~truth & called].sum() / totals[1]
    at = totals[0] / totals.sum() if prior == OBSERVED else prior
    at = at if over is None else over.mean
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(rate_at(measure, skew(at), cost_fn, cost_fp)(tpr, fpr))
