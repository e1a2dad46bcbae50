"""How the balanced point, and the mean error along it, change with the segments of a curve."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.backend import POLARS, Backend
from polaroc.base.columns import PRIVATE, within
from polaroc.curves.segments import CELLS, Point
from polaroc.measures.gradients import LEVEL, Gradient
from polaroc.priors.grids import skew
from polaroc.typing import Quantity

# The slope of the ROC where a ray crosses it is that of a chord: of all segments
# that the ray misses by fewer standard errors than these.
NEAR = 2
NODES = 8
ENDS = tuple(PRIVATE + name for name in ("leaves_at", "starts_at", "ends_at"))
WHOLE, INNER = PRIVATE + "on_segment", PRIVATE + "by_share"


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
    ends = dict(zip(ENDS, (before, start, end), strict=True))
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


def prior_at(point: Point, backend: Backend = POLARS) -> Quantity:
    """The prior at which a point of the curve is balanced: f/(f + 1 − t)."""
    t, f = point
    reach = f + (1 - t)
    return backend.where(reach > 0, f / reach, 1.0)


def _near(t: pl.Expr, f: pl.Expr, skewed: float) -> pl.Expr:
    """Whether the ray misses a point by no more than sampling does."""
    variance = t * (1 - t) / CELLS.positives + skewed**2 * f * (1 - f) / CELLS.negatives
    near: pl.Expr = (1 - t - skewed * f) ** 2 <= NEAR**2 * variance
    return near
