"""Gradients of areas and balanced points with respect to the segments of a curve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.columns import within
from polaroc.base.private_columns import PRIVATE
from polaroc.base.statistics import legendre
from polaroc.curves.segments import CELLS
from polaroc.measures.balanced import prior_at
from polaroc.priors.grids import skew
from polaroc.typing import Interpolation, Quantity

# The negatives on the level run before a segment.
LEVEL = PRIVATE + "level"
# Relative rise of t + λf within a segment below which the closed form loses digits, and the
# number of terms of the series that replaces it.
NARROW = 0.01
TERMS = 6
# Replaces t + λf = 0 at the origin as a divisor of zeros.
NONZERO = 1e-30
SIDES = ("t0", "f0", "dt", "df")
ENDS = ("start", "rise", "bend")
# Names of the sums over nodes of ∫ uⁱ/(1 + ux)ʲ du by i and j, see `_exact_gradient`.
MOMENTS = tuple(PRIVATE + name for name in ("m01", "m11", "m02", "m12", "m22"))
# Standard errors by which a ray may miss a segment that counts for the slope of the ROC
# where the ray crosses it.
NEAR = 2
NODES = 8
PRIOR_COLUMNS = tuple(PRIVATE + name for name in ("leaves_at", "starts_at", "ends_at"))
ON_SEGMENT, BY_SHARE = PRIVATE + "on_segment", PRIVATE + "by_share"


@dataclass(frozen=True)
class Gradient:
    """The derivatives of a quantity of a curve with respect to the segment that ends at a cell.

    They are with respect to the start (t0, f0) of the segment and of the level run of negatives
    before it, and to its rise dt and run df. They are written with the columns that `stages`
    make one after the other, since Polars computes shared columns, not shared expressions, once.
    """

    t0: pl.Expr
    f0: pl.Expr
    dt: pl.Expr
    df: pl.Expr
    stages: tuple[Mapping[str, pl.Expr], ...] = ()


def auc_gradient() -> Gradient:
    """Gradient of the AUC; by Δt it is the placement value of the positives at a cell."""
    _, (_, f1), (dt, df) = CELLS.segment
    return Gradient(pl.lit(0.0), -dt, 1 - f1 + df / 2, -dt / 2)


def area_gradient(
    nodes: Sequence[tuple[Quantity, float]], interpolation: Interpolation, label: str = ""
) -> Gradient:
    """Gradient of the weighted sum of AUPREC at `nodes` of (skew, weight).

    Precision at recall 0 is the limit; the names of the columns end with `label`.
    """
    if interpolation == "exact":
        return _exact_gradient(nodes, label)
    gradients = [_end_gradient(skewed, interpolation) for skewed, _ in nodes]
    weights = [weight for _, weight in nodes]
    t0, f0, dt, df = (
        pl.sum_horizontal(
            weight * getattr(gradient, side)
            for gradient, weight in zip(gradients, weights, strict=True)
        )
        for side in SIDES
    )
    return Gradient(t0, f0, dt, df)


def _end_gradient(skewed: Quantity, interpolation: Interpolation) -> Gradient:
    """Gradient of an area of Δt times the precision at the end, or the mean of both ends."""
    (t0, f0), (t1, f1), (dt, _) = CELLS.segment
    q0, q1 = t0 + skewed * f0, t1 + skewed * f1
    end, by_t, by_f = t1 / q1, skewed * f1 / q1**2, -skewed * t1 / q1**2
    if interpolation == "step":
        return Gradient(dt * by_t, dt * by_f, end + dt * by_t, dt * by_f)
    # Precision is constant along the first segment.
    first = CELLS.is_first
    half = pl.when(first).then(1.0).otherwise(0.5) * dt
    begin = pl.when(first).then(end).otherwise(t0 / q0)
    begin_by_t = pl.when(first).then(0.0).otherwise(skewed * f0 / q0**2)
    begin_by_f = pl.when(first).then(0.0).otherwise(-skewed * t0 / q0**2)
    return Gradient(
        half * (begin_by_t + by_t),
        half * (begin_by_f + by_f),
        (begin + end) / 2 + half * by_t,
        half * by_f,
    )


def _exact_gradient(nodes: Sequence[tuple[Quantity, float]], label: str) -> Gradient:
    """Gradient of Δt ∫ n/q du from 0 to 1, where n = t₀ + u Δt and q = n + λ(f₀ + u Δf).

    With x = Δq/q₀, λ enters only by the moments mᵢⱼ = ∫ uⁱ/(1 + ux)ʲ du, which follow from
    m₂₂, divided by q₀ʲ and, for j = 2, multiplied by λ.
    """
    (t0, f0), _, (dt, df) = CELLS.segment
    first = CELLS.is_first
    starts, rises, bends = {}, {}, {}
    twice_m01, twice_m11, m02, twice_m12, m22 = [], [], [], [], []
    for i, (skewed, weight) in enumerate(nodes):
        q0, x, bend = (pl.col(f"{PRIVATE}{name}_{i}{label}") for name in ENDS)
        starts[q0.meta.output_name()] = pl.when(first).then(NONZERO).otherwise(t0 + skewed * f0)
        rises[x.meta.output_name()] = (dt + skewed * df) / q0
        bends[bend.meta.output_name()] = x * second_moment(x)
        inverse = 1 / (1 + x)
        twice_m01.append(weight * (1 + inverse - x * bend) / q0)
        twice_m11.append(weight * (inverse + bend) / q0)
        scale = weight * skewed / (q0 * q0)
        m02.append(scale * inverse)
        twice_m12.append(scale * (inverse - bend))
        m22.append(scale * bend / x)
    moments = twice_m01, twice_m11, m02, twice_m12, m22
    sums = {
        name + label: pl.sum_horizontal(terms) for name, terms in zip(MOMENTS, moments, strict=True)
    }
    sum_01, sum_11, sum_02, sum_12, sum_22 = (pl.col(name + label) for name in MOMENTS)
    sum_01, sum_11 = sum_01 / 2, sum_11 / 2
    sum_12 = pl.when(first).then(0.0).otherwise(sum_12 / 2)
    # The first segment starts at the origin, which does not move.
    by_start = pl.when(first).then(0.0).otherwise(dt)
    return Gradient(
        by_start * (f0 * sum_02 + df * sum_12),
        -by_start * (t0 * sum_02 + dt * sum_12),
        t0 * sum_01 + dt * sum_11 + dt * (f0 * sum_12 + df * sum_22),
        -dt * (t0 * sum_12 + dt * sum_22),
        stages=(starts, rises, bends, sums),
    )


def second_moment(x: Quantity) -> pl.Expr:
    """∫ u²/(1 + ux)² du from 0 to 1, for x ≥ 0.

    Examples
    --------
    >>> pl.select(second_moment(pl.lit(0.0))).item() == 1 / 3
    True
    """
    closed = (1 + 1 / (1 + x) - 2 * x.log1p() / x) / (x * x)
    series: Quantity = 0.0
    for k in reversed(range(TERMS)):
        series = (k + 1) / (k + 3) - x * series
    return pl.when(x < NARROW).then(series).otherwise(closed)


def point_gradient(prior: float, keys: Sequence[str] = ()) -> Gradient:
    """Gradient of the false positive rate at the balanced point of a prior.

    The slope of the empirical curve at one point, 0 or ∞, does not estimate that of the
    underlying curve: the slope is that of a chord over the points near the ray.
    """
    skewed = skew(prior)
    (t0, f0), (t1, f1), (dt, df) = CELLS.segment
    before = (CELLS.fp - CELLS.neg - pl.col(LEVEL)) / CELLS.negatives
    crossed = (1 - t1 <= skewed * f1) & (1 - t0 > skewed * before)
    # A cell of negatives only is part of the level run before a segment.
    rising = CELLS.pos > 0
    on_chord = rising & (crossed | _near((t0 + t1) / 2, (f0 + f1) / 2, skewed))
    rises, runs = (within(pl.when(on_chord).then(share).sum(), keys) for share in (dt, df))
    runs = runs + within(_near_on_level(t0, before, f0, skewed).sum(), keys)
    total = rises + skewed * runs
    share = ((1 - t0 - skewed * f0) / (dt + skewed * df)).clip(0, 1)
    by_t = pl.when(crossed).then(-runs / total).otherwise(0.0)
    by_f = pl.when(crossed).then(rises / total).otherwise(0.0)
    return Gradient(by_t, by_f, share * by_t, share * by_f)


def mean_error_gradient(over: tuple[float, float]) -> Gradient:
    """Gradient of 1 − 1/(hi−lo) ∫ 2(1−π) f dπ, where f is the FPr of the balanced point."""
    lo, hi = over
    start, end, (dt, df) = CELLS.segment
    before = start[0], (CELLS.fp - CELLS.neg - pl.col(LEVEL)) / CELLS.negatives
    points = dict(zip(PRIOR_COLUMNS, (before, start, end), strict=True))
    priors = {name: prior_at(point).clip(lo, hi) for name, point in points.items()}
    level_start, first, last = (pl.col(name) for name in priors)
    middle, half = (first + last) / 2, (last - first) / 2
    nodes, weights = legendre(NODES)
    by_point, by_length = [], []
    for node, weight in zip(nodes, weights, strict=True):
        prior = middle + node * half
        reach = df + prior * (dt - df)
        short = prior * (1 - start[0]) - (1 - prior) * start[1]
        change = 2 * weight * prior * (1 - prior) / reach
        by_point.append(change)
        by_length.append(change * (short / reach).clip(0, 1))
    passed = pl.when(half > 0).then(half / (hi - lo)).otherwise(0.0)
    on_segment, by_share = (
        pl.when(half > 0).then(passed * pl.sum_horizontal(terms)).otherwise(0.0)
        for terms in (by_point, by_length)
    )
    # On the level run before it, the error is 2π(1 − t).
    on_level = (first**2 - level_start**2) / (hi - lo)
    stages = (priors, {ON_SEGMENT: on_segment, BY_SHARE: by_share})
    on_segment, by_share = pl.col(ON_SEGMENT), pl.col(BY_SHARE)
    return Gradient(
        df * on_segment + on_level, -dt * on_segment, df * by_share, -dt * by_share, stages
    )


def _near_on_level(t: pl.Expr, start: pl.Expr, end: pl.Expr, skewed: float) -> pl.Expr:
    """How much of the level run at a TPr is as near to the ray of a skew as `_near` asks.

    A run may be long, such as that between the worst positives of a good score: only its part
    about the ray belongs to the chord.
    """
    ray = ((1 - t) / skewed).clip(0, 1)
    variance = t * (1 - t) / CELLS.positives + skewed**2 * ray * (1 - ray) / CELLS.negatives
    reach = NEAR * variance.sqrt() / skewed
    return (pl.min_horizontal(end, ray + reach) - pl.max_horizontal(start, ray - reach)).clip(0)


def _near(t: pl.Expr, f: pl.Expr, skewed: float) -> pl.Expr:
    """Whether the ray of a skew misses a point by at most `NEAR` standard errors."""
    variance = t * (1 - t) / CELLS.positives + skewed**2 * f * (1 - f) / CELLS.negatives
    near: pl.Expr = (1 - t - skewed * f) ** 2 <= NEAR**2 * variance
    return near
