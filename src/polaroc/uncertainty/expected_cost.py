"""Expected cost where the prior, and the cost of a miss, are uncertain, with limits."""

from functools import partial
from typing import Any, Literal, Unpack

import polars as pl

from polaroc.base.columns import COSTS_WITH_LIMITS, COVERAGE, PRIOR_LIMITS
from polaroc.base.docstrings import described_as
from polaroc.base.lazy import np
from polaroc.curves.whole import OF_CURVES
from polaroc.errors import InvalidArgument
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.takes_cases import frame_of_cases
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
from polaroc.typing import Cost
from polaroc.uncertainty.least_costs import (
    CostLimits,
    beside_costs,
    check_intervals,
    collected,
    limits_of_least_cost,
    losses_of,
    now_or_later,
)
from polaroc.uncertainty.scored_cases import ScoredCases


@described_as(OF_CURVES)
@frame_of_cases(
    [*COUNTED_BY, "cluster"],
    no_bearing=[role for role in BESIDE if role != "cluster"],
    or_table=True,
)
def expected_cost(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    *,
    over: tuple[float, float] | float | Belief | pl.DataFrame | pl.LazyFrame,
    cost: float | Belief = 0.5,
    cost_fn: Cost | None = None,
    cost_fp: Cost | None = None,
    intervals: Literal["logit"] | None = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """The least expected cost of each curve where prior and cost of a miss are uncertain.

    A miss costs c and a false alarm 1 − c, so that a threshold with the rates t and f costs
    cπ(1−t) + (1−c)(1−π)f per case. Prior and c are independent. Or a miss and a false alarm cost
    what `cost_fn` and `cost_fp` say, of each case its own.

    Parameters
    ----------
    curve
        The result of `curve`, of a tuning table; or predictions, of which it is made: the result
        of `cases`, or any table that it takes. From these alone limits know the `cluster`, and a
        `weight` as what it is.
    **columns
    over
        The prior: a range (lo, hi), in which all are equally likely, a belief (`uniform`,
        `beta` or `points`), a single prior, or the result of `estimate_prior`: of each key
        its own estimate, half normal to either side within its interval.
    cost
        The share c of the cost that a miss carries, in (0, 1), or a belief about it.
    cost_fn, cost_fp
        In place of `cost`: what a missed positive and a false alarm cost, 1 for the one that is not
        given. Numbers > 0; or of predictions the column that has what each case costs, or an
        expression, as in `savings`. Costs are then in their unit, per case.
    intervals
        ``"logit"`` for limits, None for none; where cases have their own costs `savings` has them.
    level
        Coverage of the limits, in (0, 1); an estimated prior must have an interval of the same.

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

    Notes
    -----
    The least cost over the hull is a sum over its vertices, each of which is best in a range
    of the odds cπ/((1−c)(1−π)); of that, expectations are partial means of the beliefs, in
    closed form where one of them is a number or a few, by quadrature to 1e-10 otherwise
    (costs as in Drummond and Holte 2006).
    On the table that a threshold was chosen on, its cost is too low: judge it elsewhere.
    Like `hull`, the plan holds a Python function.

    Limits are of what the best thresholds cost on other cases like these, where they are not known.
    They are made as those of `h_measure`: the lower one from the cost on the hull of all cases, the
    upper one from that of a tenth of the cases on the hull of the others, symmetric in the
    logarithm of the cost. A belief about the prior, also that of an estimate, is taken as it is.
    There are none where λ/N is above 0.2, since few cases then carry the cost, and where the best
    thresholds call all cases of a class alike (``just applied-intervals costs``).

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> costs = pr.expected_cost(curves, over=(0.05, 0.5), cost=0.8)
    >>> costs.select(pl.col("cost_fixed", "cost_following", "worth_of_prior").round(4)).row(0)
    (0.1165, 0.0947, 0.0218)

    How sure that is:

    >>> sure = pr.datasets.twenty_scores().pipe(
    ...     pr.expected_cost, truth="truth", score="score", over=0.4, intervals="logit"
    ... )
    >>> ends = sure.select("cost_fixed", "cost_fixed_lower", "cost_fixed_upper")
    >>> ends.select(pl.all().round(2)).row(0)
    (0.13, 0.06, 0.2)
    """
    check_intervals(intervals, level)
    of_costs = costs_of(curve, cost, cost_fn, cost_fp)
    priors, beliefs = beliefs_about(over)
    found = expected_costs(curve, priors, beliefs, *of_costs)
    if intervals is None:
        return found
    if isinstance(curve, Cases) and curve.costs is not None:
        raise InvalidArgument(
            "intervals are of costs that are the same for all cases.",
            hint="savings(...) has limits of what thresholds cost where each case has its own.",
        )
    if isinstance(priors, pl.DataFrame):
        check_level(priors, level)
    made = partial(_with_limits, curve, priors, beliefs, of_costs, level)
    schema = dict(found.collect_schema())
    schema.pop(COVERAGE, None)
    first = [name for name in schema if name != "note"]
    limits = dict.fromkeys((*limit_columns(COSTS_WITH_LIMITS), COVERAGE), pl.Float64())
    shown = {**{name: schema[name] for name in first}, **limits, "note": pl.String()}
    return now_or_later(curve, made, shown)


def _with_limits(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    priors: float | pl.DataFrame,
    beliefs: Beliefs,
    of_costs: tuple[Belief | None, float, float],
    level: float,
) -> pl.DataFrame:
    """The costs, with limits."""
    held = collected(curve)
    found = expected_costs(held, priors, beliefs, *of_costs).collect()
    share, fn, fp = of_costs
    expected = Atoms((fn / (fn + fp),), (1.0,))
    informed = expected if share is None else share.distribution

    def limits_of(one: ScoredCases, row: dict[str, Any]) -> list[CostLimits]:
        at = tuple(row[name] for name in ("prior", *PRIOR_LIMITS) if name in row)
        known = beliefs.get(at if is_estimate(priors) else ())
        if known is None:
            return [CostLimits(np.nan, np.nan, np.nan)] * len(COSTS_WITH_LIMITS)
        limits = (
            _limits_of(one, prior, of_cost, known.skews, level)
            for prior, of_cost in (
                (Atoms((known.mean,), (1.0,)), expected),
                (known.distribution, expected),
                (known.distribution, informed),
            )
        )
        return [own.times(fn + fp) for own in limits]

    columns = [limit_columns([name]) for name in COSTS_WITH_LIMITS]
    return beside_costs(found.drop(COVERAGE, strict=False), held, limits_of, columns, level)


def _limits_of(
    cases: ScoredCases, prior: Distribution, share: Distribution, skews: Any, level: float
) -> CostLimits:
    """Limits of the least cost; calling all or none positive never costs less."""
    found = limits_of_least_cost(cases, losses_of(prior, share), skews, level)
    most = least_cost(*calling_all_or_none(), prior, share)
    return found._replace(lower=np.minimum(found.lower, most), upper=np.minimum(found.upper, most))
