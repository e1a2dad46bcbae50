"""Operating points, chosen on curves by a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polaroc import rates
from polaroc.base.checks import check_factors, check_share, refuse_unused
from polaroc.base.columns import (
    HAS_BOTH,
    OVER,
    OVER_ENDS,
    PRIOR_LIMITS,
    PROMISE,
    join_by_key,
    private,
    with_level,
)
from polaroc.base.statistics import ROUNDING
from polaroc.curves.curve import cases_or_curve, curves_of, result_like
from polaroc.curves.surface import at_priors, surface_keys
from polaroc.errors import InvalidArgument, check_choice
from polaroc.predictions.audit import dependence, with_note
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import SCORE, UNRANKED
from polaroc.predictions.table import one_class_note
from polaroc.priors.beliefs import Belief, Over, belief_of_estimate, resolve_belief
from polaroc.priors.grids import is_estimate, range_of
from polaroc.priors.in_use import AT_AN_END, NOT_ESTIMATED, level_of, with_estimates, within_unit
from polaroc.thresholds.promises import LACK, PROMISED, check_promising, with_promises
from polaroc.thresholds.rate_limits import read_once
from polaroc.thresholds.rules import (
    CALLED,
    RULES,
    SKEW,
    Constraints,
    F,
    Options,
    T,
    checked_limits,
    promise,
    rule_of,
)
from polaroc.typing import PolarsFrame, Prior, Priors, Table

POINTS = (
    "rule", "prior", "threshold", "tpr", "fpr", "precision", "positives", "negatives", "note",
)  # fmt: skip


@frame_of_cases
def operating_points(
    curve: Table | Cases[Any],
    rule: str | None = None,
    *,
    priors: Priors | None = None,
    over: Over | PolarsFrame | None = None,
    target: float | None = None,
    constraints: Mapping[str, float] | None = None,
    confidence: float | None = None,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    beta: float = 1,
    score_prior: Prior = "observed",
    **columns: Unpack[Columns],
) -> PolarsFrame:
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
        The rule for the threshold; by default ``"cost"`` where a cost is given, with
        `constraints` ``"fewest_alarms"`` if they limit missed positives alone (recall, fnr) and
        ``"max_recall"`` otherwise, else ``"balanced"``. ``"balanced"`` is the threshold at
        which missed positives are most nearly as many as false alarms, π(1−t) = (1−π)f (AccSens;
        at prior 0.5 the equal-error point); ``"cost"``, least expected cost;
        ``"posterior"``, where the score, read as the probability of a positive at
        `score_prior` and re-weighted to the prior asked for, makes a positive call
        pay; ``"recall"``, highest
        threshold, and so lowest false positive rate, with at least the `target`
        recall; ``"precision"``, highest recall with at least the `target`
        precision; ``"fpr"``, highest recall with at most the `target` false
        positive rate; ``"f_measure"``, the greatest F; ``"informedness"``, or ``"youden"``, the
        greatest Youden's J, t − f; ``"threshold"``, score ≥ `target`; ``"capacity"``,
        highest recall with at most the `target` share of cases called positive;
        ``"max_recall"``, highest recall that the `constraints` allow; ``"fewest_alarms"``, highest
        threshold that they allow.
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
        Costs > 0 of a missed positive and of a false alarm, for "cost" and "posterior", 1 for one
        that is not given. If each case has its own cost, give it as the `weight` of the case, and
        the mean costs of the two classes here.
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
        Float64; `threshold` Float64, null where nothing is called positive: the
        best is to raise no alarm (`tpr` and `fpr` are 0), or there is no such
        threshold (they are null), and `note` says which, and why; `tpr`, `fpr`,
        `precision` at the prior, Float64 or null; `positives`, `negatives`; `note`,
        null or String. With `over`
        also `over`, String, with its ends `over_lower` and `over_upper`, Float64 (of `beta`,
        which has none, those of its middle 99 %), and `prior` is its mean; with `confidence` also
        `promise`, String, the promise in one sentence, null where there is none. At
        estimated priors also `prior_lower`, `prior_upper` and their `level`, which
        `apply_thresholds` carries into its limits; keys that only the estimates have, such as the
        day, are keys of the result.

    Raises
    ------
    InvalidArgument, InvalidTable, InvalidPredictions
        For an unknown rule, or a target, constraint, cost or prior outside what is
        allowed; where the columns or rows of a curve are missing.
    NotSupported
        With `confidence`, for a `weight`, or for a curve of weights.

    Notes
    -----
    A promise holds for independent cases from any distributions of scores, ties included, and, over
    a range, where only the prior shifts. Cases of a `cluster` count as so many independent ones as
    tell rates as well (by their design effect, Kish 1965), which kept promises in simulation
    (``just simulate promises_clusters``). A promise holds for all promised thresholds of a curve at
    once, so that any rule may choose among them (learn then test, Angelopoulos et al. 2021, on
    exact limits: ``just simulate promises_tables``). For several models of predictions, told apart
    by `model` or by their columns of scores, all promises hold at once, so that any model may be
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
    if priors is not None and over is not None:
        raise InvalidArgument(
            "priors and over are both given, allowed is one of the two.",
            hint="give over=(0.05, 0.20) for a range, priors=[0.05] for single priors.",
        )
    if isinstance(over, PolarsFrame):
        over = belief_of_estimate(over)
    belief = None if over is None else resolve_belief(over)
    source = cases_or_curve(curve, columns)
    beta, missed, alarm = check_factors(beta=beta, cost_fn=cost_fn, cost_fp=cost_fp)
    constraints = checked_limits(constraints)
    if rule is None:
        without = rule_of(constraints) if constraints else "balanced"
        rule = "cost" if cost_fn or cost_fp else without
    limits = _limits_of(rule, belief, target, constraints, confidence)
    why = f"rule is {rule!r}"
    if not missed == alarm == 1 and rule not in ("cost", "posterior"):
        refuse_unused("for the rules 'cost' and 'posterior'", why, cost_fn=cost_fn, cost_fp=cost_fp)
    if beta != 1 and rule != "f_measure":
        refuse_unused("for the rule 'f_measure'", why, beta=beta)

    if confidence is not None:
        check_promising(source)
        source = read_once(source)
    cases = source if isinstance(source, Cases) else None
    at: Priors = "observed" if priors is None else priors
    if belief is not None:
        # Costs are linear in the prior, so that a range is as its mean.
        at = belief.mean if belief is over else sum(range_of(over)) / 2
    curves = curves_of(source)
    points = with_estimates(curves, at) if is_estimate(at) else at_priors(curves, at)
    keys = surface_keys(points)
    interval = PRIOR_LIMITS if is_estimate(at) else ()
    groups = [*keys, "prior", "skew", *interval]

    # Without limits all may be.
    may_be_chosen = pl.all_horizontal(True, *limits.kept(T, F, SKEW))
    lack: pl.Expr = pl.lit(_lack(rule, constraints))
    if confidence is not None:
        points = with_promises(points, cases, keys, groups, limits, confidence)
        may_be_chosen, lack = pl.col(PROMISED), pl.coalesce(LACK, lack)
    if RULES[rule].must_call:
        may_be_chosen &= T > 0
    options = Options(keys, target, missed, alarm, beta, score_prior)
    chosen = _selected(points, groups, may_be_chosen, RULES[rule].objective(options), lack)

    added = dict[str, pl.Expr]()
    if belief is not None:
        ends = map(pl.lit, map(float, belief.range))
        added = {OVER: pl.lit(belief.name), **dict(zip(OVER_ENDS, ends, strict=True))}
    if confidence is not None:
        added[PROMISE] = _promise(limits, interval, confidence)
    result = (
        chosen.with_columns(
            rule=pl.lit(rule), precision=rates.precision(T, F, SKEW).fill_nan(None),
            note=_note(rule), **added,
        )
        .select(*keys, *POINTS, *interval, *added)
        .sort(*keys, "prior", nulls_last=True)
    )  # fmt: skip
    if cases is not None and confidence is not None:
        result = with_note(result, dependence(cases), T.is_not_null())
    return result_like(source, with_level(result, level_of(at)) if is_estimate(at) else result)


def _lack(rule: str, constraints: Mapping[str, float]) -> str:
    """The reason why a curve has no point that may be chosen."""
    if rule == "posterior":
        return "scores are not probabilities"
    if constraints:
        return "no threshold keeps the constraints"
    return "no threshold reaches the target" if RULES[rule].limits else "no such threshold"


def _promise(limits: Constraints, interval: Sequence[str], confidence: float) -> pl.Expr:
    """The promise of a threshold at the prior, or over its interval or range, in one sentence."""
    kept_at = [*map(pl.lit, limits.ends or ())] or interval or "prior"
    is_chosen = pl.col("threshold").is_not_null()
    return pl.when(is_chosen).then(pl.concat_list(kept_at)).map_elements(
        lambda ends: promise(limits.limits, confidence, ends.to_list()), pl.String
    )  # fmt: skip


def _note(rule: str) -> pl.Expr:
    """The reason why nothing is called positive, or why there is no point; null otherwise."""
    has_point = T.is_not_null()
    by_rule = ": that costs least" if rule == "cost" else f" by the rule {rule!r}"
    reason = pl.coalesce("note", pl.lit(f"nothing is called positive{by_rule}"))
    return pl.coalesce(
        pl.when(pl.col("positives").is_null()).then(pl.lit(UNRANKED)),
        one_class_note(),
        pl.when(pl.col("prior").is_null()).then(pl.lit(NOT_ESTIMATED)),
        pl.when(SKEW.is_null()).then(pl.lit(AT_AN_END)),
        pl.when(~has_point).then("note"),
        pl.when(has_point & pl.col(SCORE).is_null()).then(pl.format("raise no alarm: {}", reason)),
    )


def _limits_of(
    rule: str,
    over: Belief | None,
    target: float | None,
    constraints: Mapping[str, float],
    confidence: float | None,
) -> Constraints:
    """The constraints and the target of a rule; raise where the arguments do not fit it."""
    check_choice("rule", rule, tuple(RULES))
    limited, limits = RULES[rule].limits, {**constraints}
    if limited is None and (rule == "threshold") == (target is None):
        needed = "needs a number" if target is None else "aims at nothing"
        raise InvalidArgument(
            f"target is {target!r}, but the rule {rule!r} {needed}.",
            hint="name the rule of a target: operating_points(..., 'precision', target=0.8); "
            "'threshold', 'recall', 'fpr' and 'capacity' have one, too.",
        )
    if over is not None and RULES[rule].needs_one_prior:
        raise InvalidArgument(
            f"the rule {rule!r} needs one prior, and over is a range.",
            hint="give priors=0.05, or the costs of errors, such as cost_fn=5.",
        )
    if limited is not None:
        # No sample can be confident of 0 or 1.
        check_share("target", target, closed=confidence is None)
        if limited in limits:
            raise InvalidArgument(
                f"{limited} is limited twice: to {limits[limited]:g} in constraints, and to the "
                f"target {target:g} of the rule.",
                hint="leave it out of the constraints, or give no rule and no target.",
            )
        limits[limited] = float(target or 0)
    if (limits or confidence is not None) and not RULES[rule].takes_constraints:
        raise InvalidArgument(
            f"the rule {rule!r} leaves no choice among the thresholds that keep constraints.",
            hint="take 'max_recall' or 'cost' with constraints, and another call for this rule.",
        )
    if not limits and (rule in ("max_recall", "fewest_alarms") or confidence is not None):
        raise InvalidArgument(
            f"{'confidence' if confidence is not None else repr(rule)} needs constraints to keep.",
            hint="give constraints={'precision': 0.8}, or a rule with a target: 'recall'.",
        )
    if confidence is not None:
        check_share("confidence", confidence)
    if over is None or not limits:
        return Constraints(limits)
    if over.ends is None:
        raise InvalidArgument(
            f"over is {over!r}, a belief without ends: constraints are kept at every prior of a "
            "range.",
            hint="give the range: over=(0.05, 0.20).",
        )
    return Constraints(limits, within_unit(*over.ends))


def _selected(
    surface: pl.LazyFrame, groups: list[str], allowed: pl.Expr, objective: pl.Expr, lack: pl.Expr
) -> pl.LazyFrame:
    """The allowed point of each curve where an objective is greatest; of equals the first.

    Where there is none, threshold and rates are null; `note` is why no positive call is allowed.
    """
    worth, called = private("worth"), private("called")
    # An estimated prior may be missing, 0 or 1.
    may = HAS_BOTH & pl.col("skew").is_not_null() & allowed
    # Cached, so that the curve is computed once.
    placed = surface.select(
        *groups, SCORE, "tpr", "fpr", "positives", "negatives", lack.alias("note"),
        pl.when(may).then(objective).alias(worth), CALLED.alias(called),
    ).cache()  # fmt: skip
    may_call = (pl.col(worth).is_not_null() & (pl.col(called) > 0)).any()
    best = placed.group_by(groups).agg(
        pl.col("positives", "negatives").max(), pl.when(~may_call).then(pl.col("note").first())
    )
    # Equal but for rounding.
    least = pl.col(worth).max() - ROUNDING * pl.col(worth).abs().max()
    points = (
        placed.drop_nulls(worth)
        .filter(pl.col(worth) >= least.over(groups))
        .sort(called)
        .unique(groups, keep="first", maintain_order=True)
    )
    return join_by_key(best, points.select(*groups, SCORE, "tpr", "fpr"), groups)
