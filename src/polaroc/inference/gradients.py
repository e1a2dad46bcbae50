"""Gradients of areas and of balanced points with respect to the segments of curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polaroc.base.statistics import legendre
from polaroc.inference.segment_arrays import Gradient, Segments
from polaroc.measures.spec import Node
from polaroc.priors.grids import skew as skew_of
from polaroc.typing import Array, Interpolation, Quantity

# Standard errors by which a ray may miss what counts for the slope of the ROC where it crosses.
NEAR = 2
# Quadrature nodes of the priors at which a segment is balanced.
NODES = 8


def auc_gradient(segments: Segments) -> Gradient:
    """Gradient of the AUC; by Δt it is the placement value of the positives of a segment."""
    dt, df = segments.dt, segments.df
    by_dt = 1 - segments.f1 + df / 2
    return Gradient(np.zeros_like(dt), -dt, by_dt, -dt / 2, dt * by_dt)


def area_gradient(
    segments: Segments, nodes: Sequence[Node], interpolation: Interpolation
) -> Gradient:
    """Gradient of the weighted sum of AUPREC at `nodes`; precision at recall 0 is the limit."""
    skews = [
        (segments.each(segments.negatives / segments.positives) if node is None else node, weight)
        for node, weight in nodes
    ]
    if interpolation == "exact":
        return _exact_gradient(segments, skews)
    gradients = [_step_or_linear_gradient(segments, skew, interpolation) for skew, _ in skews]
    weights = np.array([weight for _, weight in skews])
    return Gradient(*(weights @ np.stack(sides) for sides in zip(*gradients, strict=True)))


def _step_or_linear_gradient(
    segments: Segments, skew: Quantity, interpolation: Interpolation
) -> tuple[Array, ...]:
    """Gradient of Δt times the precision at the end of the segment, or times that of both ends."""
    t0, f0, dt, t1, f1 = segments.t0, segments.f0, segments.dt, segments.t1, segments.f1
    q0, q1 = t0 + skew * f0, t1 + skew * f1
    end, by_t, by_f = t1 / q1, skew * f1 / q1**2, -skew * t1 / q1**2
    if interpolation == "step":
        return dt * by_t, dt * by_f, end + dt * by_t, dt * by_f, dt * end
    # Precision is constant along the first segment.
    first = segments.first
    half = dt / 2
    half[first] = dt[first]
    q0[first] = 1
    begin, begin_by_t, begin_by_f = t0 / q0, skew * f0 / q0**2, -skew * t0 / q0**2
    begin[first], begin_by_t[first], begin_by_f[first] = end[first], 0, 0
    mean = (begin + end) / 2
    return (
        half * (begin_by_t + by_t), half * (begin_by_f + by_f), mean + half * by_t, half * by_f,
        dt * mean,
    )  # fmt: skip


def _exact_gradient(segments: Segments, nodes: Sequence[tuple[Quantity, float]]) -> Gradient:
    """Gradient of Δt ∫ n/q du from 0 to 1, where n = t₀ + u Δt and q = n + λ(f₀ + u Δf)."""
    t0, f0, t1, dt, first = segments.t0, segments.f0, segments.t1, segments.dt, segments.first
    gradient = np.zeros((5, len(dt)))
    by_t0, by_f0, by_dt, _, area = gradient
    for skew, weight in nodes:
        # These are right for vertical segments, where Δf is 0; the others are replaced below.
        called = skew * f0
        q0, q1 = t0 + called, t1 + called
        # Along a segment from the origin precision is constant, and the origin is fixed.
        q0[first] = q1[first]
        growth, squared = np.log(q1 / q0), called * dt / (q0 * q1)
        by_t0 += weight * squared
        by_f0 -= weight * skew * (growth - squared)
        by_dt += weight * (t1 / q1)
        area += weight * (dt - called * growth)
    tied = np.flatnonzero(segments.neg)
    if tied.size:
        sides = (t0[tied], f0[tied], dt[tied], segments.df[tied])
        gradient[:, tied] = sum(
            weight * _slanted_gradient(*sides, skew if np.isscalar(skew) else skew[tied])
            for skew, weight in nodes
        )
    return Gradient(*gradient)


def _slanted_gradient(t0: Array, f0: Array, dt: Array, df: Array, skew: Quantity) -> Array:
    """The gradient at one skew λ along slanted segments; the integrals are in closed form.

    The area has the degree 1 in t₀, f₀, Δt and Δf together, so that its last two derivatives
    follow from the first two.
    """
    q0, rise = t0 + skew * f0, dt + skew * df
    q1 = q0 + rise
    q0 = np.where(q0 == 0, q1, q0)
    growth, share, cross = np.log(q1 / q0), dt / rise, skew * (f0 * dt - t0 * df)
    squared = cross / (q0 * q1)
    area = share * (dt - cross * growth / rise)
    by_t0 = share * ((1 - share) * growth + squared)
    by_f0 = -skew * share * (share * growth - squared)
    by_dt = area / dt + (dt - area - q0 * by_t0) / rise
    by_df = -(skew * area + q0 * by_f0) / rise
    return np.stack([by_t0, by_f0, by_dt, by_df, area])


def point_gradient(segments: Segments, prior: float) -> Gradient:
    """Gradient of the false positive rate at the balanced point of a prior.

    The slope of the empirical curve at one point, 0 or ∞, does not estimate that of the underlying
    curve: the slope is that of the chord over the part of the curve near the ray.
    """
    skew, run_start = skew_of(prior), _run_start(segments)
    t0, f0, dt, df = segments.t0, segments.f0, segments.dt, segments.df
    near = _share_near(segments, skew, (t0, f0), (dt, df))
    near_runs = _share_near(segments, skew, (t0, run_start), (0 * dt, f0 - run_start))
    rises = segments.total(near * dt)
    runs = segments.total(near * df + near_runs * (f0 - run_start))
    crossed = _crossed(segments, skew)
    # Where the ray crosses no segment, it crosses the run after the last.
    key = np.flatnonzero(crossed < segments.starts[1:])
    at = crossed[key]
    t0, f0, dt, df = (side[at] for side in (t0, f0, dt, df))
    share = np.clip((1 - t0 - skew * f0) / (dt + skew * df), 0, 1)
    total = (rises + skew * runs)[key]
    by_t, by_f = -runs[key] / total, rises[key] / total
    gradient = np.zeros((4, len(segments.pos)))
    gradient[:, at] = by_t, by_f, share * by_t, share * by_f
    return Gradient(*gradient)


def _share_near(
    segments: Segments, skew: float, start: tuple[Array, Array], step: tuple[Array, Array]
) -> Array:
    """The share of straight pieces of curves that the ray misses by `NEAR` standard errors or less.

    The standard error of 1 − t − λf is that where the line through the piece meets the ray.
    """
    (t, f), (dt, df) = start, step
    missed, length = 1 - t - skew * f, dt + skew * df
    meets = np.divide(missed, length, out=np.zeros_like(dt), where=length > 0)
    t, f = (t + meets * dt).clip(0, 1), (f + meets * df).clip(0, 1)
    positives, negatives = (segments.each(units) for units in segments.units)
    reach = NEAR * np.sqrt(t * (1 - t) / positives + skew**2 * f * (1 - f) / negatives)
    near = np.minimum(missed, reach) - np.maximum(missed - length, -reach)
    return np.divide(near, length, out=np.zeros_like(dt), where=length > 0).clip(0, 1)


def auc_range_gradient(segments: Segments, over: tuple[float, float]) -> Gradient:
    """Gradient of the AUC over a range of priors, 1 − 1/(hi−lo) ∫ 2(1−π) f dπ.

    f is the false positive rate of the balanced point, where the error is πFNr + (1−π)f = 2(1−π)f.
    """
    lo, hi = over
    # All other segments are balanced at priors outside the range.
    begin, end = (_crossed(segments, skew_of(prior)) for prior in over)
    number = np.arange(len(segments.pos))
    at = np.flatnonzero((number >= segments.each(begin)) & (number <= segments.each(end)))
    t0, f0, dt, df, t1, f1 = (
        getattr(segments, name)[at] for name in ("t0", "f0", "dt", "df", "t1", "f1")
    )
    run_start, first, last = (
        np.clip(_prior_at(*point), lo, hi)
        for point in ((t0, _run_start(segments)[at]), (t0, f0), (t1, f1))
    )
    width, middle = (last - first) / 2, (first + last) / 2
    on_segment, by_share = np.zeros_like(dt), np.zeros_like(dt)
    for node, weight in zip(*legendre(NODES), strict=True):
        prior = middle + node * width
        reach = df + prior * (dt - df)
        short = prior * (1 - t0) - (1 - prior) * f0
        change = 2 * weight * prior * (1 - prior) / reach
        on_segment += change
        by_share += change * np.clip(short / reach, 0, 1)
    for sums in (on_segment, by_share):
        sums *= width / (hi - lo)
    # On the run before the segment the error is 2π(1 − t).
    on_run = (first**2 - run_start**2) / (hi - lo)
    gradient = np.zeros((4, len(segments.pos)))
    gradient[:, at] = df * on_segment + on_run, -dt * on_segment, df * by_share, -dt * by_share
    return Gradient(*gradient)


def _crossed(segments: Segments, skew: float) -> Array:
    """The first segment of each key that ends at the ray 1 − t = λf or beyond, else one too many.

    Rates never fall along a curve.
    """
    is_before = 1 - segments.t1 > skew * segments.f1
    return segments.starts[:-1] + segments.total(is_before.astype(np.int64))


def _prior_at(t: Array, f: Array) -> Array:
    """The prior at which a point of the curve is balanced."""
    reach = f + (1 - t)
    return np.where(reach > 0, f / np.where(reach > 0, reach, 1), 1.0)


def _run_start(segments: Segments) -> Array:
    """The false positive rate at the start of the horizontal run before each segment."""
    start = segments.fp - segments.neg - segments.level
    return start / segments.each(segments.negatives)
