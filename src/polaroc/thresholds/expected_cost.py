"""The least expected cost of curves where the prior, and the cost of a miss, are uncertain."""

from collections.abc import Callable, Sequence
from functools import cache
from math import ceil
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from polaroc.base.checks import (
    check_factors,
    check_share,
    is_number,
    pair_of,
    refuse_unused,
    shortened,
    unless,
)
from polaroc.base.columns import (
    EXPECTED_COSTS,
    HAS_BOTH,
    PRIOR_LIMITS,
    as_lazy,
    curve_keys,
    require,
    with_level,
)
from polaroc.base.statistics import quadrature
from polaroc.curves.curve import curves_of
from polaroc.curves.hull import hulls_of
from polaroc.errors import InvalidArgument, example
from polaroc.predictions.cases import Cases
from polaroc.priors.beliefs import Belief, belief_of_estimate, discrete, resolve_belief
from polaroc.priors.distributions import Atoms, Distribution, Flat
from polaroc.priors.in_use import (
    METHOD,
    NO_INTERVAL,
    PRIOR_AND_LIMITS,
    is_estimate,
    level_of,
    multiplied,
    with_estimates,
)
from polaroc.thresholds.operating_points import POINTS, operating_points
from polaroc.typing import Array

# What a prior is said by: a range, a number, a belief, or estimates of it.
Uncertain: TypeAlias = tuple[float, float] | float | Belief | pl.DataFrame | pl.LazyFrame
# By prior and limits of an estimate; of other priors by nothing.
Beliefs: TypeAlias = dict[tuple[float, ...], Belief]
# Gauss-Legendre nodes on each panel of an integral, panels, and their length in log odds.
NODES, MIN_PANELS, LONGEST = 16, 10, 3.0


def expected_costs(
    curve: Cases[Any] | pl.LazyFrame | pl.DataFrame,
    priors: float | pl.DataFrame,
    beliefs: Beliefs,
    share: Belief | None,
    fn: float,
    fp: float,
) -> pl.LazyFrame:
    """The points and costs of `polaroc.expected_cost`, without limits.

    `fn` and `fp` are the expected costs of a miss and of a false alarm. `share` is the belief
    about what a miss carries of both, None where they are known.
    """
    curves = curves_of(curve)
    if is_estimate(priors):
        curves = multiplied(curves, priors)
    keys = curve_keys(curves)
    hulls = hulls_of(curves).cache()
    p, t, f = (pl.col(name) for name in ("prior", "tpr", "fpr"))
    fixed, following = pl.col("cost_fixed"), pl.col("cost_following")
    points = operating_points(hulls, "cost", priors=priors, cost_fn=fn, cost_fp=fp)
    known = Atoms((fn / (fn + fp),), (1.0,))
    informed = known if share is None else share.distribution
    placed, at = (
        (with_estimates(hulls, priors, keys).drop(METHOD), ("prior", *PRIOR_LIMITS))
        if is_estimate(priors)
        else (hulls, ())
    )

    @cache
    def trivial(*own: float) -> float | None:
        return least(*calling_all_or_none(), own, informed)

    def least(t: Array, f: Array, own: tuple[float, ...], of_cost: Distribution) -> float | None:
        belief = beliefs.get(own)
        if belief is None:
            return None
        return (fn + fp) * least_cost(t, f, belief.distribution, of_cost)

    costs = _per_key_of_hulls(
        placed,
        keys,
        {
            "cost_following": lambda t, f, *own: least(t, f, own, known),
            "cost_informed": lambda t, f, *own: least(t, f, own, informed),
            "cost_trivial": lambda t, f, *own: trivial(*own),
        },
        *at,
    )
    is_lacking = p.is_not_null() & following.is_null()
    result = (
        points.join(costs, on=keys or pl.lit(0), how="left", nulls_equal=True)
        .with_columns(
            pl.when(following.is_not_null())
            .then(fn * p * (1 - t) + fp * (1 - p) * f)
            .alias("cost_fixed"),
            pl.coalesce("note", pl.when(is_lacking).then(pl.lit(NO_INTERVAL))).alias("note"),
        )
        .with_columns((fixed - following).clip(0).alias("worth_of_prior"))
        .select(*keys, *POINTS, *at[1:], *EXPECTED_COSTS)
        .sort(*keys, "prior", nulls_last=True)
    )
    return with_level(result, level_of(priors)) if is_estimate(priors) else result


def costs_of(
    cost: float | Belief, cost_fn: float | None, cost_fp: float | None
) -> tuple[Belief | None, float, float]:
    """The belief about the share of a miss, None where costs are known, and both costs."""
    if cost_fn is None and cost_fp is None:
        share = _belief_of("cost", cost)
        return share, share.mean, 1 - share.mean
    refuse_unused("the share of a miss", "cost_fn or cost_fp says it", cost=unless(0.5, cost))
    fn, fp = (1.0 if one is None else one for one in (cost_fn, cost_fp))
    check_factors(cost_fn=fn, cost_fp=fp)
    return None, float(fn), float(fp)


def beliefs_about(over: Uncertain) -> tuple[float | pl.DataFrame, Beliefs]:
    """The expected prior and the belief; of estimates each moved to what it lets expect."""
    if not isinstance(over, pl.DataFrame | pl.LazyFrame):
        belief = _belief_of("over", over)
        return belief.mean, {(): belief}
    require(as_lazy(over), PRIOR_AND_LIMITS, source="estimate_prior(...)")
    table = as_lazy(over).collect()
    beliefs: Beliefs = {}
    expected = []
    for number, own in enumerate(table.select(PRIOR_AND_LIMITS).iter_rows()):
        mean = own[0]
        if None not in own:
            belief = belief_of_estimate(table[number])
            mean = belief.mean
            beliefs[mean, *own[1:]] = belief
        expected.append(mean)
    return table.with_columns(pl.Series("prior", expected, pl.Float64)), beliefs


def _belief_of(argument: str, value: object) -> Belief:
    """A belief; of a number the one that is certain, of a pair that of the range."""
    if isinstance(value, Belief):
        return value
    if is_number(value):
        check_share(argument, value)
        return discrete([float(value)])
    if pair_of(value) is None:
        raise InvalidArgument(
            f"{argument} is {shortened(value)}, allowed are a share in (0, 1), a range (lo, hi) "
            "of them, or a belief.",
            hint=example(argument, (0.05, 0.2) if argument == "over" else 0.9),
        )
    return resolve_belief(value)


def _per_key_of_hulls(
    hulls: pl.LazyFrame,
    keys: Sequence[str],
    values: dict[str, Callable[..., float | None]],
    *extra: str,
) -> pl.LazyFrame:
    """Functions of recall and false positive rate at the vertices, and of extra columns, by key."""
    vertices = (
        hulls.filter(HAS_BOTH)
        .sort(*keys, pl.col("tp") + pl.col("fp"), nulls_last=True)
        .group_by(keys, maintain_order=True)
        .agg("tpr", "fpr", *(pl.col(name).first() for name in extra))
        # Without keys there is a row even where no curve has both classes.
        .filter(pl.col("tpr").list.len() > 0)
    )
    schema = hulls.collect_schema()
    names: dict[str, pl.DataType | type[pl.DataType]] = {
        **{key: schema[key] for key in keys},
        **dict.fromkeys(values, pl.Float64),
    }

    def computed(frame: pl.DataFrame) -> pl.DataFrame:
        rows = [
            [value(np.array(t), np.array(f), *more) for value in values.values()]
            for t, f, *more in frame.select("tpr", "fpr", *extra).iter_rows()
        ]
        columns = pl.DataFrame(rows, schema=dict.fromkeys(values, pl.Float64), orient="row")
        return pl.concat([frame.select(keys), columns], how="horizontal") if keys else columns

    return vertices.map_batches(computed, schema=names)


def calling_all_or_none() -> tuple[Array, Array]:
    """The hull of calling all or none positive."""
    return np.array([0.0, 1.0]), np.array([0.0, 1.0])


def least_cost(t: Array, f: Array, prior: Distribution, share: Distribution) -> float:
    """E[min over the vertices of cπ(1−t) + (1−c)(1−π)f] of independent π and c."""
    # From these odds cπ/((1−c)(1−π)) on, a vertex is better than the one before.
    with np.errstate(divide="ignore"):
        odds = np.diff(f) / np.diff(t)
    misses, alarms = partial_means(np.concatenate(([0.0], odds, [np.inf])), prior, share)
    return float((1 - t) @ np.diff(misses) + f @ np.diff(alarms))


def partial_means(odds: Array, prior: Distribution, share: Distribution) -> tuple[Array, Array]:
    """E[cπ] and E[(1−c)(1−π)], where cπ/((1−c)(1−π)) is at most each of the odds, else 0."""
    # The two are alike: sum over the one that has few values, or integrate over the narrower.
    outer, inner = sorted((prior, share), key=_width)
    sums = []
    for one in odds:
        values, weights = _nodes(outer, inner, one)
        mean, rest = _given(one, inner, values)
        sums.append([mean @ (values * weights), rest @ ((1 - values) * weights)])
    misses, alarms = np.array(sums).T
    return misses, alarms


def _given(odds: float, inner: Distribution, values: Array) -> tuple[Array, Array]:
    """The partial mean of `inner`, and of 1 less it, where its odds times those of values are ≤."""
    bound = odds * (1 - values) / values
    with np.errstate(invalid="ignore"):
        limit = np.where(np.isinf(bound), 1.0, bound / (1 + bound))
    mean = inner.mean_below(limit)
    return mean, inner.below(limit) - mean


def _logit(value: Array) -> Array:
    return np.log(value) - np.log1p(-value)


def _width(distribution: Distribution) -> float:
    """The width of the middle two thirds, in log odds; 0 of a few values."""
    if isinstance(distribution, Atoms):
        return 0.0
    low, high = _logit(distribution.quantile(np.array([1 / 6, 5 / 6])))
    return float(high - low)


def _nodes(outer: Distribution, inner: Distribution, odds: float) -> tuple[Array, Array]:
    """Values of `outer` and weights, for a function of the limit of `inner`.

    In log odds both are smooth on panels short against the width of `outer` and the distance π
    of the nearest singularity, but at the ends of a flat `inner`.
    """
    if isinstance(outer, Atoms):
        return np.array(outer.values), np.array(outer.weights)
    low, high = outer.log_odds
    panels = max(MIN_PANELS, ceil((high - low) / LONGEST))
    edges = np.linspace(low, high, panels + 1)
    if isinstance(inner, Flat) and 0 < odds < np.inf:
        kinks = np.log(odds) - _logit(np.array([inner.lo, inner.hi]))
        edges = np.sort(np.concatenate([edges, kinks[(kinks > low) & (kinks < high)]]))
    unit, weights = map(np.array, zip(*quadrature(NODES), strict=True))
    lengths = np.diff(edges)[:, None]
    at = (edges[:-1, None] + lengths * unit).ravel()
    values = 1 / (1 + np.exp(-at))
    return values, (lengths * weights).ravel() * outer.density(values) * values * (1 - values)
