"""The least expected cost of curves where the prior, and the cost of a miss, are uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_factors, check_share, pair_of, refuse_unused, unless
from polaroc.base.columns import (
    EXPECTED_COSTS,
    HAS_BOTH,
    PRIOR_LIMITS,
    as_lazy,
    curve_keys,
    private,
    require,
    with_level,
)
from polaroc.curves.curve import cases_or_curve, curves_of, like
from polaroc.curves.hull import hulls_of
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.priors.beliefs import Belief, belief_of_estimate, discrete, resolve_belief
from polaroc.priors.grids import PRIOR_AND_LIMITS
from polaroc.priors.in_use import NO_INTERVAL, level_of
from polaroc.thresholds.operating_points import operating_points
from polaroc.thresholds.rate_limits import rate_at
from polaroc.typing import Array, Table

Pairs: TypeAlias = tuple[Array, Array, Array]
NODES = 200
# The vertices of a hull, and the costs that depend on all of them.
TPR, FPR = private("tpr"), private("fpr")
LEAST: dict[str, pl.DataType] = dict.fromkeys(
    ("cost_following", "cost_informed", "cost_trivial"), pl.Float64()
)


@frame_of_cases
def expected_cost(
    curve: Table | Cases[Any],
    *,
    over: tuple[float, float] | float | Belief | pl.DataFrame | pl.LazyFrame,
    cost: float | Belief = 0.5,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    **columns: Unpack[Columns],
) -> pl.DataFrame | pl.LazyFrame:
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
        refuse_unused("the share of a miss", "cost_fn or cost_fp says it", cost=unless(0.5, cost))
        fn, fp = (1.0 if one is None else one for one in (cost_fn, cost_fp))
        check_factors(cost_fn=fn, cost_fp=fp)
        about_cost = discrete([fn / (fn + fp)])
    given = cases_or_curve(curve, columns)
    hulls = hulls_of(curves_of(given)).cache()
    priors, beliefs = _beliefs(over)
    points = operating_points(hulls, "cost", priors=priors, cost_fn=fn, cost_fp=fp).lazy()
    names, keys = points.collect_schema().names(), curve_keys(hulls)
    limits = [name for name in PRIOR_LIMITS if name in names]
    vertices = (
        hulls.filter(HAS_BOTH)
        .sort(pl.col("tp") + pl.col("fp"))
        .group_by(keys, maintain_order=True)
        .agg(pl.col("tpr").alias(TPR), pl.col("fpr").alias(FPR))
    )
    placed = points.join(vertices, on=keys or pl.lit(0), how="left", nulls_equal=True)
    shares = discrete([fn / (fn + fp)]), about_cost

    @cache
    def pairs(*row: float) -> tuple[Pairs, Pairs, float]:
        """Pairs with the expected share and with each share, and the least cost without scores."""
        known, both = (_pairs(beliefs[row], share) for share in shares)
        return known, both, _least_cost([0, 1], [0, 1], both)

    def costs(frame: pl.DataFrame) -> pl.DataFrame:
        """The rows with the least costs on their hulls."""
        rows = list[list[float | None]]()
        for t, f, *row in frame.select(TPR, FPR, "prior", *limits).iter_rows():
            if tuple(row) not in beliefs or not t:
                rows.append([None] * 3)
                continue
            known, both, trivial = pairs(*row)
            least = _least_cost(t, f, known), _least_cost(t, f, both), trivial
            rows.append([(fn + fp) * cost for cost in least])
        return frame.hstack(pl.DataFrame(rows, schema=LEAST, orient="row"))

    p, following = pl.col("prior"), pl.col("cost_following")
    fixed = rate_at("cost", pl.col("tpr"), pl.col("fpr"), (1 - p) / p, fn, fp)
    has_cost = following.is_not_null()
    is_lacking = p.is_not_null() & ~has_cost & pl.col("note").is_null()
    result = (
        placed.map_batches(costs, schema={**placed.collect_schema(), **LEAST})
        .with_columns(
            pl.when(has_cost).then(fixed).alias("cost_fixed"),
            pl.when(is_lacking).then(pl.lit(NO_INTERVAL)).otherwise("note").alias("note"),
        )
        .with_columns(worth_of_prior=(pl.col("cost_fixed") - following).clip(0))
        .select(*names[: names.index("note") + 1], *limits, *EXPECTED_COSTS)
        .sort(*names[: names.index("rule")], "prior", nulls_last=True)
    )
    return like(
        given, with_level(result, level_of(priors)) if isinstance(priors, pl.DataFrame) else result
    )


def _beliefs(over: object) -> tuple[float | pl.DataFrame, dict[tuple[float, ...], Belief]]:
    """The priors of points, which are means of beliefs; and the beliefs by mean and interval."""
    if not isinstance(over, pl.DataFrame | pl.LazyFrame):
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
    (priors, chances), (shares, weights) = prior.even_nodes(NODES), share.even_nodes(NODES)
    misses, alarms = np.outer(priors, shares).ravel(), np.outer(1 - priors, 1 - shares).ravel()
    odds, chance = misses / alarms, np.outer(chances, weights).ravel()
    order = np.argsort(odds)
    of_misses, of_alarms = (
        np.append(0.0, np.cumsum((one * chance)[order])) for one in (misses, alarms)
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
