"""How areas and balanced points change with the segments of a curve: what influence is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.columns import within
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.segments import CELLS
from polaroc.measures.balanced import prior_at
from polaroc.priors.grids import skew
from polaroc.typing import Interpolation, Quantity

# The negatives on the level run before a segment.
LEVEL = PRIVATE + "level"
# Rise of t + λf within a segment, as a share of what it starts from, below which
# the closed form loses digits; and how many terms the series then needs.
NARROW = 0.01
TERMS = 6
# Stands for t + λf at the origin, where all that it divides is zero.
NOTHING = 1e-30
SIDES = ("t0", "f0", "dt", "df")
ENDS = ("start", "rise", "bend")
MOMENTS = tuple(PRIVATE + name for name in ("once", "slope", "flat", "middle", "steep"))
# The slope of the ROC where a ray crosses it is that of a chord: of all segments
# that the ray misses by fewer standard errors than these.
NEAR = 2
NODES = 8
PASSES = tuple(PRIVATE + name for name in ("leaves_at", "starts_at", "ends_at"))
WHOLE, INNER = PRIVATE + "on_segment", PRIVATE + "by_share"


@dataclass(frozen=True)
class Gradient:
    """The derivatives of a number of a curve by the segment that ends at a cell.

    By where the segment, and the level run of negatives before it, starts, and by how far it
    rises and runs. They are written in columns, made in `stages`: Polars computes what
    expressions share once only where it stands in a column.
    """

    t0: pl.Expr
    f0: pl.Expr
    dt: pl.Expr
    df: pl.Expr
    stages: tuple[Mapping[str, pl.Expr], ...] = ()


def auc_gradient() -> Gradient:
    """Of the AUC: by Δt it is the placement of the positives at a cell."""
    _, (_, f1), (dt, df) = CELLS.segment
    return Gradient(pl.lit(0.0), -dt, 1 - f1 + df / 2, -dt / 2)


def area_gradient(
    nodes: Sequence[tuple[Quantity, float]], interpolation: Interpolation, label: str = ""
) -> Gradient:
    """Of the weighted sum of AUPREC at skews, with the limit as precision at recall 0.

    `nodes` are skews and their weights; the names of its columns end with `label`.
    """
    if interpolation == "exact":
        return _exact(nodes, label)
    parts = [_of_ends(skewed, interpolation) for skewed, _ in nodes]
    weights = [weight for _, weight in nodes]
    t0, f0, dt, df = (
        pl.sum_horizontal(
            weight * getattr(part, side) for part, weight in zip(parts, weights, strict=True)
        )
        for side in SIDES
    )
    return Gradient(t0, f0, dt, df)


def _of_ends(skewed: Quantity, interpolation: Interpolation) -> Gradient:
    """Where the area is Δt times the precision at the end, or the mean of both ends."""
    (t0, f0), (t1, f1), (dt, _) = CELLS.segment
    q0, q1 = t0 + skewed * f0, t1 + skewed * f1
    end, by_t, by_f = t1 / q1, skewed * f1 / q1**2, -skewed * t1 / q1**2
    if interpolation == "step":
        return Gradient(dt * by_t, dt * by_f, end + dt * by_t, dt * by_f)
    # On the first segment precision is that of its end all along.
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


def _exact(nodes: Sequence[tuple[Quantity, float]], label: str) -> Gradient:
    """Of Δt ∫ n/q du from 0 to 1, where n = t₀ + u Δt and q = n + λ(f₀ + u Δf).

    With x = Δq/q₀ all that depends on λ are ∫ uⁱ/(1 + ux)ʲ du, which follow
    from one of them, over q₀ʲ.
    """
    (t0, f0), _, (dt, df) = CELLS.segment
    first = CELLS.is_first
    starts, rises, bends = {}, {}, {}
    once, slope, flat, middle, steep = [], [], [], [], []
    for i, (skewed, weight) in enumerate(nodes):
        q0, x, bent = (pl.col(f"{PRIVATE}{name}_{i}{label}") for name in ENDS)
        starts[q0.meta.output_name()] = pl.when(first).then(NOTHING).otherwise(t0 + skewed * f0)
        rises[x.meta.output_name()] = (dt + skewed * df) / q0
        bends[bent.meta.output_name()] = x * square_share(x)
        level = 1 / (1 + x)
        once.append(weight * (1 + level - x * bent) / q0)
        slope.append(weight * (level + bent) / q0)
        scale = weight * skewed / (q0 * q0)
        flat.append(scale * level)
        middle.append(scale * (level - bent))
        steep.append(scale * bent / x)
    sums = {
        name + label: pl.sum_horizontal(terms)
        for name, terms in zip(MOMENTS, (once, slope, flat, middle, steep), strict=True)
    }
    whole, rising, level, twice, square = (pl.col(name + label) for name in MOMENTS)
    whole, rising = whole / 2, rising / 2
    twice = pl.when(first).then(0.0).otherwise(twice / 2)
    # Nothing starts above the first segment.
    by_start = pl.when(first).then(0.0).otherwise(dt)
    return Gradient(
        by_start * (f0 * level + df * twice),
        -by_start * (t0 * level + dt * twice),
        t0 * whole + dt * rising + dt * (f0 * twice + df * square),
        -dt * (t0 * twice + dt * square),
        stages=(starts, rises, bends, sums),
    )


def square_share(x: Quantity) -> pl.Expr:
    """∫ u²/(1 + ux)² du from 0 to 1, for x ≥ 0.

    Examples
    --------
    >>> pl.select(square_share(pl.lit(0.0))).item() == 1 / 3
    True
    """
    closed = (1 + 1 / (1 + x) - 2 * x.log1p() / x) / (x * x)
    series: Quantity = 0.0
    for k in reversed(range(TERMS)):
        series = (k + 1) / (k + 3) - x * series
    return pl.when(x < NARROW).then(series).otherwise(closed)


def point_gradient(prior: float, keys: Sequence[str] = ()) -> Gradient:
    """Of the false positive rate at the balanced point of a prior.

    The curve is a staircase there, whose own slope says nothing of what another
    sample would do: the slope is taken from a chord.
    """
    skewed = skew(prior)
    (t0, f0), (t1, f1), (dt, df) = CELLS.segment
    before = (CELLS.fp - CELLS.neg - pl.col(LEVEL)) / CELLS.negatives
    crossed = (1 - t1 <= skewed * f1) & (1 - t0 > skewed * before)
    # A row of negatives alone is part of the level run before a segment.
    rising = CELLS.pos > 0
    on_chord = rising & (crossed | _near((t0 + t1) / 2, (f0 + f1) / 2, skewed))
    level_on_chord = _near(t0, (before + f0) / 2, skewed)
    rises, runs, levels = (
        within(pl.when(near).then(share).sum(), keys)
        for near, share in (
            (on_chord, dt),
            (on_chord, df),
            (level_on_chord, f0 - before),
        )
    )
    runs = runs + levels
    total = rises + skewed * runs
    share = ((1 - t0 - skewed * f0) / (dt + skewed * df)).clip(0, 1)
    by_t = pl.when(crossed).then(-runs / total).otherwise(0.0)
    by_f = pl.when(crossed).then(rises / total).otherwise(0.0)
    return Gradient(by_t, by_f, share * by_t, share * by_f)


def mean_error_gradient(over: tuple[float, float]) -> Gradient:
    """Of 1 − 1/(hi−lo) ∫ 2(1−π) f dπ, f the false positive rate of the balanced point."""
    from numpy.polynomial.legendre import leggauss

    lo, hi = over
    start, end, (dt, df) = CELLS.segment
    before = start[0], (CELLS.fp - CELLS.neg - pl.col(LEVEL)) / CELLS.negatives
    ends = dict(zip(PASSES, (before, start, end), strict=True))
    passes = {name: prior_at(point).clip(lo, hi) for name, point in ends.items()}
    leaves, first, last = (pl.col(name) for name in passes)
    middle, half = (first + last) / 2, (last - first) / 2
    nodes, weights = leggauss(NODES)
    whole, inner = [], []
    for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
        prior = middle + node * half
        reach = df + prior * (dt - df)
        short = prior * (1 - start[0]) - (1 - prior) * start[1]
        change = 2 * weight * prior * (1 - prior) / reach
        whole.append(change)
        inner.append(change * (short / reach).clip(0, 1))
    passed = pl.when(half > 0).then(half / (hi - lo)).otherwise(0.0)
    on_segment, by_share = (
        pl.when(half > 0).then(passed * pl.sum_horizontal(terms)).otherwise(0.0)
        for terms in (whole, inner)
    )
    # On the level run before it, the error is 2π(1 − t).
    on_level = (first**2 - leaves**2) / (hi - lo)
    stages = (passes, {WHOLE: on_segment, INNER: by_share})
    on_segment, by_share = pl.col(WHOLE), pl.col(INNER)
    return Gradient(
        df * on_segment + on_level, -dt * on_segment, df * by_share, -dt * by_share, stages
    )


def _near(t: pl.Expr, f: pl.Expr, skewed: float) -> pl.Expr:
    """Whether the ray misses a point by no more than sampling does."""
    variance = t * (1 - t) / CELLS.positives + skewed**2 * f * (1 - f) / CELLS.negatives
    near: pl.Expr = (1 - t - skewed * f) ** 2 <= NEAR**2 * variance
    return near
