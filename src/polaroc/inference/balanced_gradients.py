"""Gradients of balanced points, and of their mean error over a range, by the segments of curves."""

from math import sqrt

import numpy as np

from polaroc.base.statistics import ROUNDING, legendre
from polaroc.inference.moved_segments import Gradient, Segments, ranges
from polaroc.priors.grids import skew
from polaroc.typing import Array

# |Δt − Δf|/(Δt + Δf) up to which the error of a segment is taken by quadrature.
CLOSED_FORM_BEND = 0.2
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
    crossed = _crossed(segments, skewed)
    at = crossed[crossed <= segments.ends]
    near, on_level = _near(segments, skewed)
    is_on_chord = np.zeros(len(segments.pos), bool)
    is_on_chord[at] = is_on_chord[near] = True
    on_chord = np.flatnonzero(is_on_chord)
    rises, runs = (
        np.bincount(segments.key[on_chord], own[on_chord], len(segments.starts))
        for own in (segments.dt, segments.df)
    )
    runs += on_level
    total = rises + skewed * runs
    t0, f0, dt, df = (own[at] for own in (segments.t0, segments.f0, segments.dt, segments.df))
    share = np.clip((1 - t0 - skewed * f0) / (dt + skewed * df), 0, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        by_t, by_f = (own[segments.key[at]] for own in (-runs / total, rises / total))
    return Gradient(by_t, by_f, share * by_t, share * by_f, at=at)


def mean_error_gradient(segments: Segments, over: tuple[float, float]) -> Gradient:
    """Gradient of 1 − 1/(hi−lo) ∫ 2(1−π) f dπ, where f is the FPr of the balanced point."""
    lo, hi = over
    # Others are balanced at priors beyond the range.
    begin, end = (_crossed(segments, skew(prior)) for prior in over)
    at = ranges(begin, np.minimum(end, segments.ends) + 1)
    t0, f0, dt, df, before, t1, f1 = (
        getattr(segments, name)[at] for name in ("t0", "f0", "dt", "df", "before", "t1", "f1")
    )
    level_start, first, last = (
        np.clip(_prior_at(*point), lo, hi) for point in ((t0, before), (t0, f0), (t1, f1))
    )
    width = (last - first) / 2
    middle = (first + last) / 2
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
    # On the level run before it, the error is 2π(1 − t).
    on_level = (first**2 - level_start**2) / (hi - lo)
    return Gradient(
        df * on_segment + on_level, -dt * on_segment, df * by_share, -dt * by_share, at=at
    )


def _crossed(segments: Segments, skewed: float) -> "Array":
    """The first segment of each key that ends at the ray of a skew or beyond, else that after all.

    Rates never fall along a curve.
    """
    crossed: Array = segments.starts + segments.count(1 - segments.t1 > skewed * segments.f1)
    return crossed


def _prior_at(t: "Array", f: "Array") -> "Array":
    """The prior at which a point of the curve is balanced."""
    reach = f + (1 - t)
    return np.where(reach > 0, f / np.where(reach > 0, reach, 1), 1.0)


def _near(segments: Segments, skewed: float) -> "tuple[Array, Array]":
    """The segments whose middle the ray of a skew misses by at most `NEAR` standard errors.

    Beside them, the length of the level runs of each key that are as near. A run may be long, such
    as that between the worst positives of a good score: only its part about the ray belongs to the
    chord.
    """
    most = _reach(segments, skewed)
    missed = 1 - segments.middle_t
    missed -= skewed * segments.middle_f
    begin, end = segments.count(missed > most), segments.count(missed >= -most)
    first, last = segments.starts + begin, segments.starts + end
    place = ranges(first, last)
    t, f = segments.middle_t[place], segments.middle_f[place]
    variance = _miss(segments, segments.key[place], t, f, skewed)
    near: Array = place[missed[place] ** 2 <= NEAR**2 * variance]
    # With λ ≥ 1 the ray is at f ≤ 1 at any height, and near to runs beside these segments alone.
    on_level = ranges(first, np.minimum(last, segments.ends) + 1) if skewed >= 1 else slice(None)
    key, t0 = segments.key[on_level], segments.t0[on_level]
    ray = np.minimum((1 - t0) / skewed, 1)
    reach = NEAR * np.sqrt(_miss(segments, key, t0, ray, skewed)) / skewed
    length = np.minimum(segments.f0[on_level], ray + reach)
    length -= np.maximum(segments.before[on_level], ray - reach)
    return near, np.bincount(key, np.clip(length, 0, None), len(segments.starts))


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
