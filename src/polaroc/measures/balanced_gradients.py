"""Gradients of balanced points, and of their mean error, with respect to the segments of curves."""

from math import sqrt

from polaroc.base.lazy import np
from polaroc.base.statistics import ROUNDING, legendre
from polaroc.measures.gradients import Gradient, Segments
from polaroc.priors.grids import skew
from polaroc.typing import Array

# Standard errors by which a ray may miss a segment that counts for the slope of the ROC
# where the ray crosses it.
NEAR = 2
NODES = 8


def point_gradient(segments: Segments, prior: float) -> Gradient:
    """Gradient of the false positive rate at the balanced point of a prior.

    The slope of the empirical curve at one point, 0 or ∞, does not estimate that of the
    underlying curve: the slope is that of a chord over the points near the ray.
    """
    skewed = skew(prior)
    crossed = (1 - segments.t1 <= skewed * segments.f1) & (
        1 - segments.t0 > skewed * segments.before
    )
    at = np.flatnonzero(crossed)
    on_chord = np.flatnonzero(crossed | _near(segments, skewed))
    rises, runs = (
        np.bincount(segments.key[on_chord], own[on_chord], len(segments.starts))
        for own in (segments.dt, segments.df)
    )
    runs += _near_on_level(segments, skewed)
    total = rises + skewed * runs
    t0, f0, dt, df = (own[at] for own in (segments.t0, segments.f0, segments.dt, segments.df))
    share = np.clip((1 - t0 - skewed * f0) / (dt + skewed * df), 0, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_t, by_f = (own[segments.key[at]] for own in (-runs / total, rises / total))
    gradient = np.zeros((4, len(crossed)))
    gradient[:, at] = by_t, by_f, share * by_t, share * by_f
    return Gradient(*gradient)


def mean_error_gradient(segments: Segments, over: tuple[float, float]) -> Gradient:
    """Gradient of 1 − 1/(hi−lo) ∫ 2(1−π) f dπ, where f is the FPr of the balanced point."""
    lo, hi = over
    t0, f0, dt, df = segments.t0, segments.f0, segments.dt, segments.df
    level_start, first, last = (
        np.clip(_prior_at(*point), lo, hi)
        for point in ((t0, segments.before), (t0, f0), (segments.t1, segments.f1))
    )
    half = (last - first) / 2
    passed = np.flatnonzero(half > 0)
    on_segment, by_share = np.zeros_like(dt), np.zeros_like(dt)
    t, f, rise, run, width = (own[passed] for own in (t0, f0, dt, df, half))
    middle = (first + last)[passed] / 2
    for node, weight in zip(*legendre(NODES), strict=True):
        prior = middle + node * width
        reach = run + prior * (rise - run)
        short = prior * (1 - t) - (1 - prior) * f
        change = 2 * weight * prior * (1 - prior) / reach
        on_segment[passed] += change
        by_share[passed] += change * np.clip(short / reach, 0, 1)
    for sums in (on_segment, by_share):
        sums *= half / (hi - lo)
    # On the level run before it, the error is 2π(1 − t).
    on_level = (first**2 - level_start**2) / (hi - lo)
    return Gradient(df * on_segment + on_level, -dt * on_segment, df * by_share, -dt * by_share)


def _prior_at(t: "Array", f: "Array") -> "Array":
    """The prior at which a point of the curve is balanced."""
    reach = f + (1 - t)
    return np.where(reach > 0, f / np.where(reach > 0, reach, 1), 1.0)


def _near_on_level(segments: Segments, skewed: float) -> "Array":
    """How much of the level runs of each key is as near to the ray of a skew as `_near` asks.

    A run may be long, such as that between the worst positives of a good score: only its part
    about the ray belongs to the chord.
    """
    start, end = segments.before, segments.f0
    ray = np.minimum((1 - segments.t0) / skewed, 1)
    most = _reach(segments, skewed) / skewed
    place = np.flatnonzero((end >= ray - most) & (start <= ray + most))
    key, own = segments.key[place], ray[place]
    reach = NEAR * np.sqrt(_miss(segments, key, segments.t0[place], own, skewed)) / skewed
    near = np.minimum(end[place], own + reach) - np.maximum(start[place], own - reach)
    total: Array = np.bincount(key, np.clip(near, 0, None), len(segments.starts))
    return total


def _near(segments: Segments, skewed: float) -> "Array":
    """Whether the ray of a skew misses the middle of a segment by at most `NEAR` errors."""
    t, f = (segments.t0 + segments.t1) / 2, (segments.f0 + segments.f1) / 2
    missed = 1 - t - skewed * f
    near: Array = np.abs(missed) <= _reach(segments, skewed)
    place = np.flatnonzero(near)
    variance = _miss(segments, segments.key[place], t[place], f[place], skewed)
    near[place] = missed[place] ** 2 <= NEAR**2 * variance
    return near


def _reach(segments: Segments, skewed: float) -> float:
    """The most that `NEAR` standard errors of 1 − t − λf are at any point of any key."""
    of_pos, of_neg = segments.units or (segments.positives, segments.negatives)
    greatest = (1 / of_pos + skewed**2 / of_neg).max() / 4
    return NEAR * sqrt(greatest) * (1 + ROUNDING)


def _miss(segments: Segments, key: "Array", t: "Array", f: "Array", skewed: float) -> "Array":
    """The variance of 1 − t − λf at points of keys."""
    of_pos, of_neg = segments.units or (segments.positives, segments.negatives)
    variance: Array = t * (1 - t) / of_pos[key] + skewed**2 * f * (1 - f) / of_neg[key]
    return variance
