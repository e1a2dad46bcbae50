"""The H-measure, with limits."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, Unpack

import polars as pl

from polaroc.base.columns import curve_keys, refuse_clash
from polaroc.base.docstrings import described_as
from polaroc.base.joins import attach
from polaroc.base.lazy import np
from polaroc.curves.curve import curves_of
from polaroc.curves.hull import hulls_of
from polaroc.curves.surface import at_priors
from polaroc.curves.whole import OF_CURVES
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import UNRANKED
from polaroc.predictions.table import one_class_note
from polaroc.predictions.takes_cases import frame_of_cases
from polaroc.priors.beliefs import Belief, beta
from polaroc.priors.distributions import Atoms
from polaroc.priors.grids import check_prior_or_observed, skew
from polaroc.thresholds.expected_cost import (
    belief_of,
    calling_all_or_none,
    least_cost,
    per_key_of_hulls,
)
from polaroc.typing import Array, Prior
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

H_MEASURE = ("prior", "h_measure", "positives", "negatives", "note")
LIMITS = ("lower", "upper", "level", "std_error")


@described_as(OF_CURVES)
@frame_of_cases(
    [*COUNTED_BY, "cluster"],
    no_bearing=[role for role in BESIDE if role != "cluster"],
    or_table=True,
)
def h_measure(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    *,
    cost: float | Belief | None = None,
    prior: Prior = "observed",
    intervals: Literal["logit"] | None = None,
    level: float = 0.95,
    **columns: Unpack[Columns],
) -> pl.LazyFrame:
    """The H-measure of each curve: the share of the cost of trivial calls that it saves.

    Costs are expected ones under a belief about the share c of the cost that a miss carries,
    with the best threshold for each c: 1 − E[least cost]/E[least cost of calling all or none
    positive].

    Parameters
    ----------
    curve
        The result of `curve`; or predictions, of which it is made: the result of `cases`, or any
        table that it takes. From these alone limits know the `cluster`, and a `weight` as what it
        is.
    **columns
    cost
        Belief about c: by default ``beta(2, 2)``; a number in (0, 1) for a single c.
        Hand's c is the share of a false alarm, 1 − c: his Beta(a, b) is ``beta(b, a)``
        here.
    prior
        A prior in (0, 1), or ``"observed"`` for each key's own.
    intervals
        ``"logit"`` for limits, None for none.

    Returns
    -------
    Frame of the kind given
        One row per key, sorted: the keys; `prior`; `h_measure` Float64 from 0 to 1, 0 where
        the hull is that of chance; with intervals `lower`, `upper`, `level` and `std_error`
        Float64; `positives`, `negatives`; `note`, null or why there is no value or no interval.

    Notes
    -----
    Closed form for a beta belief (Hand 2009; Hand and Anagnostopoulos 2014). It agrees with the
    R package hmeasure, whose ``severity.ratio=1`` is the default here; its own default ratio,
    that of positives to negatives r, is ``beta(1 + 1/r, 2)``. Like `hull`, the plan holds a
    Python function.

    Thresholds that are best on the cases save more there than the best thresholds do, and less on
    other cases. So the upper limit is that of what the hull saves on its own cases, and the lower
    one that of what hulls of nine tenths of the cases save on the rest; both are symmetric in the
    logarithm of the cost, Student's, by `cluster` and with the `weight` of cases. There are none
    where λ/N is above 0.2, since few cases then carry the cost. In simulation they held in 0.94 to
    1.00 of samples (``just applied-intervals hulls``).

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(pr.h_measure(curves)["h_measure"].item(), 6)
    0.255302
    """
    check_intervals(intervals, level)
    share = belief_of("cost", beta(2, 2) if cost is None else cost)
    check_prior_or_observed(prior)
    curves = curves_of(curve)
    keys = curve_keys(curves)
    found = _h_measures(curves, keys, share, prior)
    if intervals is None:
        return found
    refuse_clash(keys, LIMITS)
    made = partial(_with_limits, curve, share, prior, level)
    shown = [*keys, "prior", "h_measure", *LIMITS, "positives", "negatives", "note"]
    schema = found.collect_schema() | dict.fromkeys(LIMITS, pl.Float64())
    return now_or_later(curve, made, {name: schema[name] for name in shown})


def _h_measures(
    curves: pl.LazyFrame, keys: Sequence[str], share: Belief, prior: Prior
) -> pl.LazyFrame:
    def saved(t: Array, f: Array, own: float) -> float:
        at, costs = Atoms((own,), (1.0,)), share.distribution
        return 1 - least_cost(t, f, at, costs) / least_cost(*calling_all_or_none(), at, costs)

    hulls = hulls_of(curves).cache()
    placed = at_priors(hulls, prior)
    value = per_key_of_hulls(placed, keys, {"h_measure": saved}, "prior")
    positives, negatives = pl.col("positives"), pl.col("negatives")
    lack = (
        pl.when(positives.is_null())
        .then(pl.lit(UNRANKED))
        .otherwise(one_class_note(positives, negatives))
    )
    # Without keys an empty table has no row: there is none with a prior.
    rows = placed.group_by(*keys, "prior").agg(pl.col("positives", "negatives").max())
    return (
        attach(rows, value, keys, required=False)
        .with_columns(lack.alias("note"))
        .select(*keys, *H_MEASURE)
        .sort(*keys, "prior", nulls_last=True)
    )


def _with_limits(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame, share: Belief, prior: Prior, level: float
) -> pl.DataFrame:
    """The H-measures, with limits."""
    held = collected(curve)
    curves = curves_of(held)
    keys = curve_keys(curves)
    found = _h_measures(curves, keys, share, prior).collect()

    def limits_of(one: ScoredCases, row: dict[str, Any]) -> list[CostLimits]:
        return [_saved(one, row["prior"], share, level)]

    sure = beside_costs(found, held, limits_of, [("lower", "upper", "std_error")], level)
    return sure.select(*keys, "prior", "h_measure", *LIMITS, "positives", "negatives", "note")


def _saved(cases: ScoredCases, prior: float, share: Belief, level: float) -> CostLimits:
    """Limits of the share of the cost of trivial calls that is saved."""
    at, costs = Atoms((prior,), (1.0,)), share.distribution
    trivial = least_cost(*calling_all_or_none(), at, costs)

    found = limits_of_least_cost(cases, losses_of(at, costs), [skew(prior)], level)
    lower, upper = (float(np.clip(1 - end / trivial, 0, 1)) for end in (found.upper, found.lower))
    return CostLimits(lower, upper, found.std_error / trivial, found.why)
