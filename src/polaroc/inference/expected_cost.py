"""Expected cost where the prior, and the cost of a miss, are uncertain, with limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
import polars as pl

from polaroc.base.checks import check_bool, check_share, refuse_unused, unless
from polaroc.base.columns import (
    COSTS_WITH_LIMITS,
    COVERAGE,
    PRIOR_LIMITS,
    curve_keys,
    parts_by_key,
    with_level,
)
from polaroc.base.text import joined_notes
from polaroc.curves.curve import cases_or_curve, curves_of, in_order, like
from polaroc.inference.least_costs import (
    CostLimits,
    limits_of_least_cost,
    losses_of,
)
from polaroc.inference.scored_cases import ScoredCases, scored_by_key
from polaroc.predictions.cases import Cases, frame_of_cases
from polaroc.predictions.columns import Columns
from polaroc.predictions.deferred import deferred
from polaroc.predictions.dependence import dependence, with_note
from polaroc.priors.beliefs import Belief
from polaroc.priors.distributions import Atoms, Distribution
from polaroc.priors.in_use import check_level, is_estimate
from polaroc.thresholds.expected_cost import (
    Beliefs,
    beliefs_about,
    calling_all_or_none,
    costs_of,
    expected_costs,
    least_cost,
)
from polaroc.thresholds.interval_columns import limit_columns
from polaroc.typing import Table

OF_CURVE = "limits take the cases of the curve as independent"
NOT_COUNTS = "weights are not counts of cases: no interval"


@frame_of_cases
def expected_cost(
    curve: Table | Cases[Any],
    *,
    over: tuple[float, float] | float | Belief | pl.DataFrame | pl.LazyFrame,
    cost: float | Belief = 0.5,
    cost_fn: float | None = None,
    cost_fp: float | None = None,
    intervals: bool = False,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.DataFrame | pl.LazyFrame:
    """The least expected cost of each curve where prior and cost of a miss are uncertain.

    A miss costs c and a false alarm 1 − c, so that a threshold with the rates t and f costs
    cπ(1−t) + (1−c)(1−π)f per case. Prior and c are independent. Or a miss and a false alarm cost
    what `cost_fn` and `cost_fp` say.

    Parameters
    ----------
    curve
        The result of `curve`, of a tuning table; or predictions, one row per case: any table that
        `cases` takes, or its result. Only with predictions do limits allow for the `cluster` and
        the `weight`.
    over
        The prior: a range (lo, hi), in which all are equally likely, a belief (`uniform` or
        `beta`), a single prior, or the result of `estimate_prior`: of each key
        its own estimate, half normal to either side within its interval.
    cost
        The share c of the cost that a miss carries, in (0, 1), or a belief about it.
    cost_fn, cost_fp
        In place of `cost`: what a missed positive and a false alarm cost, > 0, 1 for the one that
        is not given. Costs are then in their unit, per case.
    intervals
        Whether to give limits of the costs.
    level
        Coverage of the limits, in (0, 1); an estimated prior must have an interval of the same.
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
        `prior_upper` and `level`, as in `operating_points`. With intervals also, all Float64,
        `cost_fixed_lower`, `cost_fixed_upper`, `cost_following_…`, `cost_informed_…` and `level`;
        `note` says where there are none.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    The least cost over the hull is a sum over its vertices, each of which is best in a range
    of the odds cπ/((1−c)(1−π)); of that, expectations are partial means of the beliefs, in
    closed form where one of them is a number or a few, by quadrature to 1e-10 otherwise
    (costs as in Drummond and Holte 2006).
    On the table that a threshold was chosen on, its cost is too low: judge it elsewhere.
    Like `hull`, the plan holds a Python function.

    Limits are of what the best thresholds cost on other cases like these, where they are not known.
    The lower one is from the cost on the hull of all cases, which is too low, the upper one from
    that of a tenth of the cases on the hull of the others. Both are symmetric in the logarithm of
    the cost, Student's, by `cluster` and with the `weight` of cases.
    A belief about the prior, also that of an estimate, is taken as it is.
    There are none where λ/N is above 0.2, since few cases then carry the cost, and where the best
    thresholds call all cases of a class alike (``just simulate rates_costs``).

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> costs = pr.expected_cost(curves, over=(0.05, 0.5), cost=0.8)
    >>> costs.select(pl.col("cost_fixed", "cost_following", "worth_of_prior").round(4)).row(0)
    (0.1165, 0.0947, 0.0218)

    How sure that is:

    >>> sure = pr.datasets.twenty_scores().pipe(
    ...     pr.expected_cost, truth="truth", score="score", over=0.4, intervals=True
    ... )
    >>> ends = sure.select("cost_fixed", "cost_fixed_lower", "cost_fixed_upper")
    >>> ends.select(pl.all().round(2)).row(0)
    (0.13, 0.06, 0.2)
    """
    check_bool("intervals", intervals)
    if not intervals:
        refuse_unused("for intervals", "intervals is False", level=unless(0.95, level))
    check_share("level", level)
    of_costs = costs_of(cost, cost_fn, cost_fp)
    priors, beliefs = beliefs_about(over)
    given = cases_or_curve(curve, columns)
    found = expected_costs(given, priors, beliefs, *of_costs)
    if not intervals:
        return like(given, found)
    if isinstance(priors, pl.DataFrame):
        check_level(priors, level)
    made = partial(_with_limits, given, priors, beliefs, of_costs, level)
    schema = dict(found.collect_schema())
    schema.pop(COVERAGE, None)
    first = [name for name in schema if name != "note"]
    limits = dict.fromkeys((*limit_columns(COSTS_WITH_LIMITS), COVERAGE), pl.Float64())
    shown = {**{name: schema[name] for name in first}, **limits, "note": pl.String()}
    is_held = isinstance(given.rows if isinstance(given, Cases) else given, pl.DataFrame)
    return made() if is_held else deferred(made, shown)


def _with_limits(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    priors: float | pl.DataFrame,
    beliefs: Beliefs,
    of_costs: tuple[Belief | None, float, float],
    level: float,
) -> pl.DataFrame:
    """The costs, with limits."""
    held = curve.collect() if isinstance(curve, Cases) else curve.lazy().collect()
    found = expected_costs(held, priors, beliefs, *of_costs).collect().drop(COVERAGE, strict=False)
    keys = curve_keys(curves_of(held))
    scored = _of_curves(held, keys) if isinstance(held, pl.DataFrame) else scored_by_key(held, keys)
    doubt = OF_CURVE if isinstance(held, pl.DataFrame) else dependence(held)
    nothing = CostLimits(np.nan, np.nan, np.nan, None if scored else NOT_COUNTS)
    share, fn, fp = of_costs
    expected = Atoms((fn / (fn + fp),), (1.0,))
    informed = expected if share is None else share.distribution
    rows = []
    for row in found.iter_rows(named=True):
        one = scored.get(tuple(row[key] for key in keys))
        at = tuple(row[name] for name in ("prior", *PRIOR_LIMITS) if name in row)
        known = beliefs.get(at if is_estimate(priors) else ())
        if one is None or known is None or row["prior"] is None:
            rows.append([nothing] * len(COSTS_WITH_LIMITS))
            continue
        limits = (
            _limits_of(one, prior, of_cost, known.skews, level)
            for prior, of_cost in (
                (Atoms((known.mean,), (1.0,)), expected),
                (known.distribution, expected),
                (known.distribution, informed),
            )
        )
        rows.append([own.times(fn + fp) for own in limits])
    ends = pl.DataFrame(
        [[end for own in row for end in own[:2]] for row in rows],
        schema=dict.fromkeys(limit_columns(COSTS_WITH_LIMITS), pl.Float64),
        orient="row",
    ).fill_nan(None)
    why = ["; ".join(dict.fromkeys(own.why for own in row if own.why)) or None for row in rows]
    noted = (
        found.hstack(ends)
        .with_columns(joined_notes("note", pl.lit(pl.Series(why, dtype=pl.String))))
        .select(pl.exclude("note"), "note")
    )
    has_limits = pl.any_horizontal(
        pl.col(f"{name}_lower").is_not_null() for name in COSTS_WITH_LIMITS
    )
    return with_note(with_level(noted.lazy(), level), doubt, has_limits).collect()


def _of_curves(curves: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], ScoredCases]:
    """The cases of each key that curves count; none of weighted curves."""
    if not curves.schema["pos"].is_integer():
        return {}
    cells = in_order(curves.lazy(), keys).drop_nulls("threshold").collect()
    parts = parts_by_key(cells, keys)
    found = {}
    for key, own in parts.items():
        score, pos, neg = (own[name].to_numpy() for name in ("threshold", "pos", "neg"))
        cases = np.concatenate([np.repeat(score, pos), np.repeat(score, neg)])
        truth = np.arange(cases.size) < pos.sum()
        found[key] = ScoredCases([None], [cases], truth)
    return found


def _limits_of(
    cases: ScoredCases, prior: Distribution, share: Distribution, skews: Any, level: float
) -> CostLimits:
    """Limits of the least cost; calling all or none positive never costs less."""
    found = limits_of_least_cost(cases, losses_of(prior, share), skews, level)
    most = least_cost(*calling_all_or_none(), prior, share)
    return found._replace(lower=np.minimum(found.lower, most), upper=np.minimum(found.upper, most))
