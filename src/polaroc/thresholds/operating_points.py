"""Operating points, chosen on curves by a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_factors, check_share, refuse_unused, unless
from polaroc.base.columns import (
    HAS_BOTH,
    OVER,
    OVER_ENDS,
    PRIOR_LIMITS,
    PROMISE,
    curve_keys,
    with_level,
)
from polaroc.base.private_columns import private
from polaroc.curves.curve import cases_or_curve, curves_of, like
from polaroc.curves.segments import segment_of_counts
from polaroc.curves.surface import with_rates
from polaroc.errors import InvalidArgument, check_choice, example, quoted
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.beliefs import Belief, belief_of_estimate, over_label, resolve_belief
from polaroc.priors.in_use import is_estimate, level_of, multiplied
from polaroc.thresholds.constraints import (
    Constraints,
    admissible,
    check_promise,
    depends_on_prior,
    promise,
    resolve_constraints,
)
from polaroc.thresholds.design_effects import read_once
from polaroc.thresholds.promises import LACK, PROMISED, promising_cases, with_promises
from polaroc.thresholds.rules import (
    CONSTRAINED,
    OVER_A_RANGE,
    RULES,
    WEIGHING_RULES,
    Rule,
    ThresholdRule,
    check_target,
    constrained_rule,
    lack_of_curve,
    priors_of,
    rules,
)
from polaroc.typing import Prior, Priors, Table

POINTS = (
    "rule", "prior", "threshold", "share", "tpr", "fpr", "precision", "positives", "negatives",
    "note",
)  # fmt: skip


@frame_of_cases
def operating_points(
    curve: Table | Cases[Any],
    rule: Rule | None = None,
    *,
    priors: Priors | None = None,
    over: tuple[float, float] | Belief | pl.DataFrame | pl.LazyFrame | None = None,
    target: float | None = None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    cost_fn: float = 1,
    cost_fp: float = 1,
    beta: float = 1,
    score_prior: Prior = "observed",
    **columns: Unpack[Columns],
) -> pl.DataFrame | pl.LazyFrame:
    """The point of each curve, with its threshold, that a rule chooses at each prior.

    Choose thresholds on a tuning table and apply them to other data with
    `apply_thresholds` (D&G §3): their rates on the table they were chosen on are too
    good. Rates move to other priors as in P-ROC. With `confidence` the constraints hold for the
    true rates.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`; or predictions, one row per case: any table that `cases`
        takes, or its result. A promise allows for `cluster` only with predictions.
    rule
        The rule for the threshold; by default ``"cost"`` where a cost is given,
        ``"max_recall"`` with `constraints`, else ``"balanced"``. ``"balanced"`` is where missed
        positives are as many as false alarms, π(1−t) = (1−π)f (AccSens; at prior 0.5 the
        equal-error point); ``"cost"``, least expected cost; ``"posterior"``, where the score,
        read as the probability of a positive at `score_prior` and re-weighted to
        the prior asked for, makes a positive call pay; ``"recall"``, highest
        threshold, and so lowest false positive rate, with at least the `target`
        recall; ``"precision"``, highest recall with at least the `target`
        precision; ``"fpr"``, highest recall with at most the `target` false
        positive rate; ``"f_measure"``, the greatest F; ``"informedness"``, or ``"youden"``, the
        greatest Youden's J, t − f; ``"threshold"``, score ≥ `target`; ``"capacity"``,
        highest recall with at most the `target` share of cases called positive;
        ``"max_recall"``, highest recall that the `constraints` allow.
    priors
        Priors in (0, 1), or ``"observed"``, the default, for each key's own. One,
        several, or a prior grid; or the result of `estimate_prior`, for each key's own
        estimate. Give either `priors` or `over`.
    over
        A range (lo, hi) of priors. Or a belief, or one row of `estimate_prior`, whose
        interval is the range. Constraints and targets are kept at
        every prior of it, and "cost" takes the least expected cost over it. Not for
        "balanced", "posterior" and "f_measure", which need one prior.
    target
        The value that the rules "recall", "precision", "fpr", "capacity" (from 0 to 1) and
        "threshold" aim at.
    constraints
        Limits, in (0, 1), that the threshold has to keep, such as ``{"precision":
        0.8, "posfrac": 0.05}``: recall, precision, specificity, npv, accuracy and
        informedness are at least, fpr, fnr, posfrac and error at most their limit.
        Not for "balanced", "posterior" and "threshold".
    confidence
        In (0, 1): with this probability, over the draw of the tuning table, the
        *true* rates at the threshold keep all constraints, and the target of the
        rule, at the prior, or at every prior of `over` or of the interval of an estimate.
        With None, the default, they hold on the tuning table only.
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm, for "cost" and
        "posterior". If each case has its own cost, give it as the `weight` of the case, and the
        mean costs of the two classes here.
    beta
        Weight > 0 of recall, for "f_measure".
    score_prior
        For "posterior", the prior at which scores are right as they stand: a prior in (0, 1), such
        as 0.5 for a model trained on balanced cases, or ``"observed"``, each key's own. Other rules
        do not depend on it.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind given
        One row per key and prior, sorted by key: the keys; `rule` String; `prior`
        Float64; `threshold` Float64, null where nothing is called positive;
        `share` Float64, the chance with which cases that score just the
        threshold are called positive (1 but for "balanced", whose point lies on
        a segment); `tpr`, `fpr`, `precision` at the prior, Float64 or null;
        `positives`, `negatives`; `note`, null or why there is no point. With `over`
        also `over`, String, with its ends `over_lower` and `over_upper`, Float64 (of `beta`,
        which has none, those of its middle 99 %), and `prior` is its mean; with `confidence` also
        `promise`, String, the promise in one sentence, null where there is
        none: then `note` says how many more positives or negatives
        it would take if the curve stays as it looks, or that no number would do. At
        estimated priors also `prior_lower`, `prior_upper` and their `level`, which
        `apply_thresholds` carries into its limits; keys that only the estimates have, such as the
        day, are keys of the result.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        For an unknown rule, or a target, constraint, cost or prior outside what is
        allowed; where the columns or rows of a curve are missing; with `confidence`, for
        a `weight`, or for a curve of weights.

    Notes
    -----
    A promise holds for independent cases from any distributions of scores, ties included, and, over
    a range, where only the prior shifts. Cases of a `cluster` count as so many independent ones as
    tell rates as well (by their design effect, Kish 1965), which kept promises in simulation
    (``just simulate promises_clusters``). A promise holds for all promised thresholds of a curve at
    once, so that any rule may choose among them. For several models of predictions, told apart by
    `model` or by their columns of scores, all promises hold at once, so that any model may be
    picked: each of K has the error rate over K (``just simulate promises_models``). A curve table
    does not say which of its keys are models. There each keeps its own promise, and the one that is
    picked may not. At an estimated prior the promise is kept if the interval holds the prior. A
    plan with `confidence` holds a Python function.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> points = curves.pipe(pr.operating_points, "recall", target=0.5)
    >>> points.select("threshold", "tpr", "fpr").row(0)
    (0.54, 0.5, 0.1)

    Half of the positives were found; with 95 % confidence a fifth will be:

    >>> points = curves.pipe(pr.operating_points, "recall", target=0.2, confidence=0.95)
    >>> points.select("threshold", "tpr", "promise").row(0)
    (0.54, 0.5, 'With 95 % confidence at least 2 of 10 positives are found.')
    """
    if isinstance(over, pl.DataFrame | pl.LazyFrame):
        over = belief_of_estimate(over)
    given = cases_or_curve(curve, columns)
    given = given if confidence is None else read_once(given)
    cases = promising_cases(given, confidence)
    curves = curves_of(given)
    if is_estimate(priors):
        curves = multiplied(curves, priors)
    check_factors(beta=beta, cost_fn=cost_fn, cost_fp=cost_fp)
    if rule is None:
        rule = _usual_rule(constraints, weighs=not cost_fn == cost_fp == 1)
    keys = curve_keys(curves)
    request = _request(rule, priors, over, target, constraints, confidence)
    _refuse_other_rules(rule, cost_fn, cost_fp, beta)
    selection = rules(keys, target or 0.0, cost_fn, cost_fp, beta, score_prior)[rule]()
    limits_of_prior = PRIOR_LIMITS if request.estimated else ()
    groups = [*keys, "prior", "skew", *limits_of_prior]
    points = with_rates(curves, request.priors)
    limits = request.constraints
    why = pl.lit(selection.lack)
    if confidence is not None:
        points = with_promises(points, cases, keys, groups, limits, confidence)
        selection = constrained_rule(selection, rule, pl.col(PROMISED))
        why = pl.coalesce(LACK, pl.lit("no point was chosen"))
    elif constraints is not None or (over is not None and limits.limits):
        selection = constrained_rule(selection, rule, admissible(limits))
        why = pl.lit("no threshold keeps the constraints")
    kept = [LACK] if confidence is not None else []
    chosen = _selected(points, groups, selection, kept)
    t, f, no_point = pl.col("tpr"), pl.col("fpr"), pl.when(pl.col("share").is_null())
    added = [column.meta.output_name() for column in request.columns]
    result = (
        chosen.with_columns(
            pl.lit(rule).alias("rule"),
            rates.precision(t, f, pl.col("skew")).fill_nan(None).alias("precision"),
            pl.coalesce(lack_of_curve(), no_point.then(why)).alias("note"),
            *request.columns,
        )
        .select(*keys, *POINTS, *limits_of_prior, *added)
        .sort(*keys, "prior", nulls_last=True)
    )
    if cases is not None and confidence is not None:
        result = with_note(result, dependence(cases), pl.col("share").is_not_null())
    result = with_level(result, level_of(priors)) if is_estimate(priors) else result
    return like(given, result)


def _usual_rule(constraints: Mapping[str, float] | None, *, weighs: bool) -> Rule:
    """The default rule: "cost" where errors are weighed."""
    unconstrained: Rule = "balanced" if constraints is None else "max_recall"
    return "cost" if weighs else unconstrained


def _refuse_other_rules(rule: str, cost_fn: float, cost_fp: float, beta: float) -> None:
    """Refuse costs and weights that the rule does not use."""
    why = f"rule is {rule!r}"
    if rule not in WEIGHING_RULES:
        costs: dict[str, Any] = {"cost_fn": unless(1, cost_fn), "cost_fp": unless(1, cost_fp)}
        refuse_unused(f"for the rules {quoted(WEIGHING_RULES)}", why, **costs)
    if rule != "f_measure":
        refuse_unused("for the rule 'f_measure'", why, beta=unless(1, beta))


@dataclass(frozen=True)
class _Request:
    """The priors at which points are chosen, their constraints, and the confidence."""

    priors: Priors
    constraints: Constraints
    over: tuple[float, float] | Belief | None
    confidence: float | None

    @property
    def estimated(self) -> bool:
        """Whether each curve has its own, estimated prior."""
        return is_estimate(self.priors)

    @property
    def columns(self) -> list[pl.Expr]:
        """The columns of the range and of the promise."""
        columns = list[pl.Expr]()
        if self.over is not None:
            of_range = zip(OVER_ENDS, resolve_belief(self.over).range, strict=True)
            columns.append(pl.lit(over_label(self.over)).alias(OVER))
            columns += [pl.lit(end, pl.Float64).alias(name) for name, end in of_range]
        if self.confidence is None:
            return columns
        limits, ends = self.constraints.limits, self.constraints.ends
        if ends is not None or not any(map(depends_on_prior, limits)):
            sentence = pl.lit(promise(limits, self.confidence, ends))
        else:
            confidence, at = self.confidence, PRIOR_LIMITS if self.estimated else ("prior",)
            known = pl.when(pl.all_horizontal(pl.col(at).is_not_null()))
            # Where limits are null there is no list, and nothing is promised.
            sentence = known.then(pl.concat_list(at)).map_elements(
                lambda priors: promise(limits, confidence, priors.to_list()),
                return_dtype=pl.String,
            )
        has_threshold = pl.col("threshold").is_not_null()
        return [*columns, pl.when(has_threshold).then(sentence).alias(PROMISE)]


def _request(
    rule: str,
    priors: Priors | None,
    over: tuple[float, float] | Belief | None,
    target: float | None,
    constraints: Mapping[str, float] | None,
    confidence: float | None,
) -> _Request:
    """The request, refused where its parts do not fit."""
    check_choice("rule", rule, RULES)
    check_target(rule, target)
    if confidence is not None:
        check_share("confidence", confidence)
    limits = resolve_constraints(constraints, rule, target, over)
    if (constraints is not None or confidence is not None) and rule not in CONSTRAINED:
        raise InvalidArgument(
            f"the rule {rule!r} leaves no choice among the thresholds that keep constraints.",
            hint="take 'max_recall' or 'cost' with constraints, and another call for this rule.",
        )
    if confidence is not None:
        check_promise(limits, rule, target)
    if rule == "max_recall" and constraints is None:
        raise InvalidArgument(
            "the rule 'max_recall' needs constraints: without any, everything is positive.",
            hint=example("constraints", {"precision": 0.8}),
        )
    at = priors_of(priors, over)
    if over is None:
        return _Request(at, limits, None, confidence)
    if rule not in OVER_A_RANGE:
        raise InvalidArgument(
            f"the rule {rule!r} needs one prior, and over is a range.",
            hint="give priors=0.05, or the costs of errors, such as cost_fn=5.",
        )  # fmt: skip
    return _Request(at, limits, over, confidence)


def _along(start: pl.Expr, rise: pl.Expr, share: pl.Expr, rate: str) -> pl.Expr:
    """A rate at a share of the segment that ends at its column."""
    # The sum may miss the end by rounding: a rate of 1 would be less than 1.
    return pl.when(share == 1).then(rate).otherwise(start + share * rise).alias(rate)


def _selected(
    surface: pl.LazyFrame, groups: Sequence[str], rule: ThresholdRule, kept: Sequence[str]
) -> pl.LazyFrame:
    """The point that the rule selects of each curve at each prior."""
    t0, f0, _, _, dt, df, *_ = segment_of_counts()
    may, worth, order = (private(name) for name in ("may", "worth", "order"))
    # An estimated prior may be missing, 0 or 1.
    is_defined = HAS_BOTH & pl.col("skew").is_not_null()
    # Cached, so that the curve is computed once.
    placed = surface.select(
        *groups,
        SCORE,
        "positives",
        "negatives",
        *kept,
        (is_defined & rule.admissible).alias(may),
        rule.objective.alias(worth),
        (pl.col("tp") + pl.col("fp")).alias(order),
        rule.share.alias("share"),
        _along(t0, dt, rule.share, "tpr"),
        _along(f0, df, rule.share, "fpr"),
    ).cache()
    best = placed.group_by(groups).agg(
        pl.col(worth).filter(may).max(),
        pl.col("positives", "negatives").max(),
        pl.col(kept).first(),
    )
    on = [*groups, worth]
    points = placed.filter(may).select(*groups, worth, order, SCORE, "share", "tpr", "fpr")
    first_of_best = (
        points.join(best.select(on), on=on, how="semi", nulls_equal=True)
        .sort(order)
        .unique(groups, keep="first", maintain_order=True)
    )
    chosen = best.join(first_of_best, on=on, how="left", nulls_equal=True)
    return chosen.drop(worth, order)
