"""Costs of curves: at each cost and prior, above each threshold, and where both are uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.checks import (
    check_bool,
    check_factors,
    check_share,
    none_if,
    pair_of,
    refuse_unused,
    shares,
)
from polaroc.base.columns import (
    EXPECTED_COSTS,
    HAS_BOTH,
    PRIOR_LIMITS,
    as_lazy,
    collect_like,
    curve_keys,
    join_by_key,
    private,
    require,
    with_level,
    within,
)
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.curve import cases_or_curve, curves_of, result_like, whole_curves
from polaroc.curves.hull import hulls_of
from polaroc.curves.surface import at_priors
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, Over, belief_of_estimate, discrete, resolve_belief
from polaroc.priors.grids import PRIOR_AND_LIMITS, reweighted, skew_at
from polaroc.priors.in_use import NO_INTERVAL, level_of
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rate_limits import COUNTS, notes_on_limits, rate_at, read_once, with_limits
from polaroc.typing import Array, Frame, PolarsFrame, Priors, Table

PROBABILITY_COST = "probability_cost"
# Whether the scores of a key are from 0 to 1, and the score at which a positive call pays.
ARE_SHARES, SOUGHT = private("shares"), private("sought")
Pairs: TypeAlias = tuple[Array, Array, Array]
NODES = 200
# The vertices of a hull, and the costs that depend on all of them.
TPR, FPR = private("tpr"), private("fpr")
LEAST: dict[str, pl.DataType] = dict.fromkeys(
    ("cost_following", "cost_informed", "cost_trivial"), pl.Float64()
)


def cost_curve(curve: Frame, probability_cost: int | Sequence[float] = 101) -> Frame:
    """The least normalised expected cost of each curve, for all priors and costs.

    Prior and costs act together through the probability cost
    x = πc₁/(πc₁ + (1−π)c₂), with c₁ the cost of a missed positive and c₂ that of
    a false alarm. A point of the ROC is the line (1−t)x + f(1−x); the least of
    all of them is the lower envelope, in the shape of the ROC hull.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    probability_cost
        Values from 0 to 1, or how many of them, evenly spaced, at least 2.

    Returns
    -------
    Frame of the kind given
        One row per key and value, sorted: the keys; `probability_cost`; `cost`,
        from 0 to 0.5; `threshold` (null for calling nothing positive), `tpr` and
        `fpr` of the point that reaches it; all Float64. Keys without positives,
        without negatives or with rows that cannot be ranked have no rows.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    Drummond and Holte (2006). Like `hull`, the plan holds a Python function.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(pr.cost_curve(curves, [0.5])["cost"].item(), 12)
    0.3
    """
    curves = whole_curves(curve)
    keys = curve_keys(curves)
    grid = pl.LazyFrame({PROBABILITY_COST: shares("probability_cost", probability_cost)})
    x, t, f = pl.col(PROBABILITY_COST), pl.col("tpr"), pl.col("fpr")
    cost, called = (1 - t) * x + f * (1 - x), pl.col("tp") + pl.col("fp")
    least = (
        hulls_of(curves, keys)
        .filter(HAS_BOTH)
        .join(grid.cast(pl.Float64), how="cross")
        .with_columns(cost=cost)
        .group_by(*keys, PROBABILITY_COST)
        .agg(pl.col("cost", "threshold", "tpr", "fpr").sort_by("cost", called).first())
        .sort(*keys, PROBABILITY_COST, nulls_last=True)
    )
    return collect_like(curve, least)


@frame_of_cases
def decision_curve(
    curve: Table | Cases[Any],
    thresholds: int | Sequence[float] = 100,
    priors: Priors = "observed",
    *,
    score_prior: float | Literal["observed"] | None = "observed",
    intervals: bool = False,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> PolarsFrame:
    """Net benefit of acting on scores, read as probabilities, above each threshold.

    A probability that is calibrated at one prior is not at another. So scores are
    re-weighted to each prior before they are compared with a threshold: their odds
    are multiplied by π/(1−π) of that prior over that of `score_prior`, as in the rule
    "posterior" of `operating_points`.

    Parameters
    ----------
    curve
        The result of `curve`, of scores that are probabilities; or predictions, one row per case:
        any table that `cases` takes, or its result. Only with predictions do limits allow for the
        `cluster` and the `weight`.
    thresholds
        Threshold probabilities p with 0 ≤ p < 1, or how many of them, evenly
        spaced from 0.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or a prior grid.
        Where the own prior of a key is, up to rounding, another one of them, it counts once.
    score_prior
        The prior at which scores are right as they stand: a prior in (0, 1);
        ``"observed"``, each key's own; or None, every prior asked for, which leaves
        scores as they are.
    intervals
        Whether to give limits of the net benefit at each threshold.
    level
        Coverage of the limits, in (0, 1).
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind given
        One row per key, prior and p, sorted: the keys; `prior`; `threshold` (p);
        `tpr`, `fpr` of calling positive where the re-weighted score is at least p;
        `net_benefit` = πt − (1−π)f·p/(1−p), in true positives per case;
        `treat_all`, that of calling all positive (calling none has 0); all Float64;
        `note` String, null, or that the scores of the key are not probabilities:
        then its rates and net benefit are null. With intervals also `lower`, `upper` and `level`
        Float64; `note` says where there are none, as of few clusters. Keys without positives,
        without negatives or with rows that cannot be ranked have no rows.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    Vickers and Elkin (2006). For case-control data with a given prevalence, dcurves
    takes scores as right in the population: `score_prior=None` does.

    Priors, the observed one too, are taken as known. Limits at each threshold are those of the cost
    of a threshold in `apply_thresholds`, of which the net benefit is a linear function
    (``just simulate rates_decisions``). Cases of a `cluster` count by their design effect, as in
    `apply_thresholds`.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> pr.decision_curve(curves, [0.5]).select("tpr", "fpr").row(0)
    (0.6, 0.4)

    At 20 % positives a score of 0.8 on these balanced cases stands for even odds:

    >>> pr.decision_curve(curves, [0.5], priors=0.2).select("tpr", "fpr").row(0)
    (0.2, 0.0)

    How sure that is:

    >>> sure = pr.decision_curve(curves, [0.5], intervals=True)
    >>> sure.select(pl.col("net_benefit", "lower", "upper").round(2)).row(0)
    (0.1, -0.16, 0.31)
    """
    check_bool("intervals", intervals)
    check_share("level", level)
    source = cases_or_curve(curve, columns)
    source = read_once(source) if intervals else source
    curves = curves_of(source)
    keys = curve_keys(curves)
    requested = pl.LazyFrame({"threshold": shares("thresholds", thresholds, closed=False)})
    ranked, scores = curves.filter(HAS_BOTH), pl.col("threshold")
    totals = (
        ranked.group_by(keys)
        .agg(
            pl.col("positives", "negatives").max(),
            ((scores.min() >= 0) & (scores.max() <= 1)).alias(ARE_SHARES),
        )
        # Without keys there is a row even if no curve has both classes.
        .filter(pl.col("positives").is_not_null())
    )
    sought = at_priors(totals.join(requested, how="cross"), priors).with_columns(
        _raw_threshold(score_prior).alias(SOUGHT)
    )
    t, f, skewed, p = map(pl.col, ("tpr", "fpr", "skew", "threshold"))
    decided = (
        _rates_at_thresholds(ranked, sought, keys)
        .with_columns(pl.when(ARE_SHARES).then(pl.col("tpr", "fpr")))
        .with_columns(
            net_benefit=rates.net_benefit(t, f, skewed, threshold=p),
            # In this form it is 0, not nearly 0, where the threshold is the prior.
            treat_all=(pl.col("prior") - p) / (1 - p),
            note=pl.when(~pl.col(ARE_SHARES)).then(pl.lit("scores are not probabilities")),
        )
    )
    if intervals:
        cases = source if isinstance(source, Cases) else None
        decided = _with_limits(decided, cases, keys, level)
    ends = ("lower", "upper") if intervals else ()
    result = decided.select(
        *keys, "prior", "threshold", "tpr", "fpr", "net_benefit", "treat_all", *ends, "note"
    ).sort(*keys, "prior", "threshold", nulls_last=True)
    return result_like(source, with_level(result, level) if intervals else result)


def _raw_threshold(score_prior: float | Literal["observed"] | None) -> pl.Expr:
    """The raw score whose probability is `threshold` at the prior."""
    p, skewed = pl.col("threshold"), pl.col("skew")
    if score_prior is None:
        return p
    right_at = skew_at(score_prior, pl.col("positives"), pl.col("negatives"), "score_prior")
    # A score that equals p up to rounding is called positive.
    raw = reweighted(p, skewed, right_at) * (1 - ROUNDING)
    return pl.when((skewed / right_at - 1).abs() <= ROUNDING).then(p).otherwise(raw)


def _rates_at_thresholds(
    ranked: pl.LazyFrame, sought: pl.LazyFrame, keys: Sequence[str]
) -> pl.LazyFrame:
    """The requested thresholds with the rates of calling positive from each on."""
    at, is_requested = pl.col("threshold").fill_null(float("inf")), pl.col(ARE_SHARES).is_not_null()
    points = ranked.select(*keys, "tpr", "fpr", at.alias(SOUGHT))
    last = within(pl.col("tpr", "fpr").forward_fill().fill_null(0.0), keys)
    # In descending order, the last point before a request has the least threshold not below it.
    return (
        pl.concat([points, sought], how="diagonal")
        .sort(
            *keys, SOUGHT, is_requested, nulls_last=True, maintain_order=True,
            descending=[*[False] * len(keys), True, False],
        )
        .with_columns(last)
        .filter(is_requested)
    )  # fmt: skip


def _with_limits(
    decided: pl.LazyFrame, cases: Cases[Any] | None, keys: Sequence[str], level: float
) -> pl.LazyFrame:
    """Limits of the net benefit: the prior less those of the cost, with false alarms at p/(1 − p).

    Sums of weights in a curve are no numbers of cases, and have none.
    """
    prior, p = pl.col("prior"), pl.col("threshold")
    are_sums = cases is None and not decided.collect_schema()["positives"].is_integer()
    called = ((pl.col("tpr") * pl.col("positives")), (pl.col("fpr") * pl.col("negatives")))
    rows = decided.with_columns(
        pl.when(not are_sums).then(count.round(9)).alias(name)
        for name, count in zip(COUNTS, called, strict=True)
    ).with_columns(prior_lower=prior, prior_upper=prior)
    rows = with_limits(rows, cases, keys, ["cost"], level, cost_fp=p / (1 - p))
    no_counts = pl.when(are_sums).then(pl.lit("weights are not counts of cases: no interval"))
    return rows.with_columns(
        joined_notes(
            "note", no_counts, *notes_on_limits(cases, pl.col("cost_lower").is_not_null())
        ),
        lower=prior - pl.col("cost_upper"),
        upper=prior - pl.col("cost_lower"),
    )


@frame_of_cases
def expected_cost(
    curve: Table | Cases[Any],
    *,
    over: float | Over | PolarsFrame,
    cost: float | Belief = 0.5,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    **columns: Unpack[Columns],
) -> PolarsFrame:
    """The least expected cost of each curve where prior and cost of a miss are uncertain.

    A miss costs c and a false alarm 1 − c, so that a threshold with the rates t and f costs
    cπ(1−t) + (1−c)(1−π)f per case. Prior and c are independent. Or a miss and a false alarm cost
    what `cost_fn` and `cost_fp` say.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`; or predictions, one row per case: any table that `cases`
        takes, or its result.
    over
        A range (lo, hi) of priors, every one of them equally likely; a prior; a belief, `uniform`
        or `beta`; or the result of `estimate_prior`: of each key
        its own estimate, half normal to either side within its interval.
    cost
        The share c of the cost that a miss carries, in (0, 1), or a belief about it.
    cost_fn, cost_fp
        In place of `cost`: what a missed positive and a false alarm cost, > 0, 1 for the one that
        is not given. Costs are then in their unit, per case.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind given
        One row per key, sorted, with the columns of `operating_points`, so that the best
        fixed threshold can be given to `apply_thresholds`: `rule` is "cost", `prior` the
        expected one, and the point the one of least expected cost. Then, all Float64:
        `cost_fixed`, the expected cost of that point; `cost_following`, that of a threshold
        which is set anew for each prior, and so knows it; `worth_of_prior`, the difference;
        `cost_informed`, that of a threshold which knows c, too; and `cost_trivial`, that of
        calling all or none positive with the same knowledge. Costs of keys without
        positives, without negatives or with rows that cannot be ranked are null, and those
        at an estimate without an interval. For estimates also `prior_lower`,
        `prior_upper` and `level`, as in `operating_points`.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    Costs as in Drummond and Holte (2006). Expectations are sums over 200 Gauss-Legendre nodes of
    each belief, with a relative error of about 1e-5; a number, and the few nodes of an estimate,
    are themselves. On the table that a threshold was chosen on its cost is too low: the cost of the
    fixed threshold on other cases, with limits, is that of `apply_thresholds`.
    Like `hull`, the plan holds a Python function.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> costs = pr.expected_cost(curves, over=(0.05, 0.5), cost=0.8)
    >>> costs.select(pl.col("cost_fixed", "cost_following", "worth_of_prior").round(4)).row(0)
    (0.1165, 0.0947, 0.0218)
    """
    if cost_fn is None and cost_fp is None:
        about_cost = _belief("cost", cost)
        fn, fp = about_cost.mean, 1 - about_cost.mean
    else:
        refuse_unused("the share of a miss", "cost_fn or cost_fp says it", cost=none_if(cost, 0.5))
        fn, fp = check_factors(cost_fn=cost_fn, cost_fp=cost_fp)
        about_cost = discrete([fn / (fn + fp)])
    source = cases_or_curve(curve, columns)
    curves = curves_of(source)
    keys = curve_keys(curves)
    hulls = hulls_of(curves, keys).cache()
    priors, beliefs = _beliefs(over)
    points = operating_points(hulls, "cost", priors=priors, cost_fn=fn, cost_fp=fp).lazy()
    names = points.collect_schema().names()
    limits = [name for name in PRIOR_LIMITS if name in names]
    vertices = (
        hulls.filter(HAS_BOTH)
        .sort(pl.col("tp") + pl.col("fp"))
        .group_by(keys, maintain_order=True)
        .agg(pl.col("tpr").alias(TPR), pl.col("fpr").alias(FPR))
    )
    placed = join_by_key(points, vertices, keys)
    expected_share = discrete([fn / (fn + fp)])
    # For each belief, pairs with the expected share of a miss, and pairs with each share.
    pairs = {
        row: [_pairs(belief, share) for share in (expected_share, about_cost)]
        for row, belief in beliefs.items()
    }

    def costs(frame: pl.DataFrame) -> pl.DataFrame:
        """The rows with the least costs on their hulls."""
        rows = list[list[float | None]]()
        for t, f, *row in frame.select(TPR, FPR, "prior", *limits).iter_rows():
            if tuple(row) not in pairs or not t:
                rows.append([None] * 3)
                continue
            fixed, both = pairs[tuple(row)]
            least = (
                _least_cost(t, f, fixed), _least_cost(t, f, both), _least_cost([0, 1], [0, 1], both)
            )  # fmt: skip
            rows.append([(fn + fp) * cost for cost in least])
        return frame.hstack(pl.DataFrame(rows, schema=LEAST, orient="row"))

    p, following = pl.col("prior"), pl.col("cost_following")
    cost_of_point = rate_at("cost", pl.col("tpr"), pl.col("fpr"), (1 - p) / p, fn, fp)
    has_cost = following.is_not_null()
    is_lacking = p.is_not_null() & ~has_cost & pl.col("note").is_null()
    result = (
        placed.map_batches(costs, schema={**placed.collect_schema(), **LEAST})
        .with_columns(
            cost_fixed=pl.when(has_cost).then(cost_of_point),
            note=pl.when(is_lacking).then(pl.lit(NO_INTERVAL)).otherwise("note"),
        )
        .with_columns(worth_of_prior=(pl.col("cost_fixed") - following).clip(0))
        .select(*names[: names.index("note") + 1], *limits, *EXPECTED_COSTS)
        .sort(*names[: names.index("rule")], "prior", nulls_last=True)
    )
    return result_like(
        source, with_level(result, level_of(priors)) if isinstance(priors, pl.DataFrame) else result
    )


def _beliefs(over: object) -> tuple[float | pl.DataFrame, dict[tuple[float, ...], Belief]]:
    """The priors of points, which are means of beliefs; and the beliefs by mean and interval."""
    if not isinstance(over, PolarsFrame):
        belief = _belief("over", over)
        return belief.mean, {(belief.mean,): belief}
    require(as_lazy(over), PRIOR_AND_LIMITS, source="estimate_prior(...)")
    table, beliefs, means = as_lazy(over).collect(), dict[tuple[float, ...], Belief](), []
    for row in table.iter_slices(1):
        prior, *limits = row.select(PRIOR_AND_LIMITS).row(0)
        if None not in (prior, *limits):
            belief = belief_of_estimate(row)
            prior = belief.mean
            beliefs[prior, *limits] = belief
        means.append(prior)
    return table.with_columns(pl.Series("prior", means, pl.Float64)), beliefs


def _belief(argument: str, value: object) -> Belief:
    """A belief; of a number the one that is certain, of a pair that of the range."""
    if isinstance(value, Belief) or pair_of(value) is not None:
        return resolve_belief(value)
    check_share(argument, value)
    return discrete([float(value)])  # type: ignore[arg-type]


def _pairs(prior: Belief, share: Belief) -> Pairs:
    """The odds cπ/((1−c)(1−π)) of pairs, ascending, with E[cπ] and E[(1−c)(1−π)] up to each."""
    (p, p_weights), (c, c_weights) = prior.even_nodes(NODES), share.even_nodes(NODES)
    misses, alarms = np.outer(p, c).ravel(), np.outer(1 - p, 1 - c).ravel()
    odds, weights = misses / alarms, np.outer(p_weights, c_weights).ravel()
    order = np.argsort(odds)
    of_misses, of_alarms = (
        np.append(0.0, np.cumsum((values * weights)[order])) for values in (misses, alarms)
    )
    return odds[order], of_misses, of_alarms


def _least_cost(t: Sequence[float], f: Sequence[float], pairs: Pairs) -> float:
    """E[min over the vertices of cπ(1−t) + (1−c)(1−π)f]."""
    odds, misses, alarms = pairs
    with np.errstate(divide="ignore"):
        # From these odds on, a vertex is better than the one before.
        slopes = np.diff(f) / np.diff(t)
    edges = np.concatenate(([0], np.searchsorted(odds, slopes), [odds.size]))
    return float((1 - np.array(t)) @ np.diff(misses[edges]) + f @ np.diff(alarms[edges]))
