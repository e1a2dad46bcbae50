"""The balanced point of a prior, where there are as many missed positives as false alarms.

Also its mean error over a range of priors, the area that it bounds over this range, and the
gradients of both with respect to the segments of curves.
"""

from math import acosh, ceil, log, sqrt
from typing import NamedTuple

import numpy as np

from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.base.statistics import ROUNDING, legendre, quadrature
from polaroc.curves.segments import Point, segments_in
from polaroc.measures.moved_segments import Gradient, Segments, ranges
from polaroc.priors.grids import skew
from polaroc.typing import Array, Quantity

# |Δt − Δf|/(Δt + Δf) up to which the error of a segment is taken by quadrature.
CLOSED_FORM_BEND = 0.2
# Standard errors by which a ray may miss a segment that counts for the slope of the ROC
# where the ray crosses it.
NEAR = 2
NODES = 8


class BalancedPoint(NamedTuple):
    """A balanced point, with the columns and minima it needs, as in `Measure`."""

    point: Point
    least: dict[str, Quantity]
    held: dict[str, Quantity]


def balanced(prior: float, backend: Backend) -> BalancedPoint:
    """The balanced point at a prior, and the minima over segments that it is computed from."""
    skewed = skew(prior)
    start, end, _ = segments_in(backend).segment
    # t and f never fall along the curve: of all segments that end beyond the ray of the
    # prior, the first has the least rates at its ends.
    beyond = 1 - end[0] <= skewed * end[1]
    name = f"{PRIVATE}balanced_{prior!r}"
    least = {f"{name}_{i}": backend.where(beyond, rate) for i, rate in enumerate((*start, *end))}
    t0, f0, t1, f1 = map(backend.column, least)
    # The ray crosses this segment, or the level run of negatives before it.
    shortfall = (1 - t0) - skewed * f0
    share = shortfall / ((t1 - t0) + skewed * (f1 - f0))
    inside = shortfall > 0
    t = backend.where(inside, t0 + share * (t1 - t0), t0)
    f = backend.where(inside, f0 + share * (f1 - f0), (1 - t0) / skewed)
    if not backend.repeats_as_columns:
        return BalancedPoint((t, f), least, {})
    held = {f"{name}_t": t, f"{name}_f": f}
    return BalancedPoint((backend.column(f"{name}_t"), backend.column(f"{name}_f")), least, held)


def distance(low: Point, high: Point) -> Quantity:
    """AccSens Eq. 3, of the points at the two ends of the range."""
    (t_lo, f_lo), (t_hi, f_hi) = low, high
    return (((t_lo - t_hi) ** 2 + (f_hi - f_lo) ** 2) / 2) ** 0.5


def prior_at(point: Point, backend: Backend = POLARS) -> Quantity:
    """The prior at which a point of the curve is balanced: f/(f + 1 − t)."""
    t, f = point
    reach = f + (1 - t)
    return backend.where(reach > 0, f / reach, 1.0)


class Area(NamedTuple):
    """The estimate of an area, with the columns and sums it needs, as in `Measure`."""

    estimate: Quantity
    columns: dict[str, Quantity]
    sums: dict[str, Quantity]


def _prior_columns(
    over: tuple[float, float], backend: Backend
) -> tuple[Quantity, Quantity, dict[str, Quantity]]:
    """The priors, clipped to a range, that balance the ends of a segment, and their columns."""
    start, end, _ = segments_in(backend).segment
    first, last = (f"{PRIVATE}{place}_{over!r}" for place in ("first", "last"))
    columns = {
        name: backend.clip(prior_at(point, backend), *over)
        for name, point in ((first, start), (last, end))
    }
    return backend.column(first), backend.column(last), columns


def error_area(over: tuple[float, float], backend: Backend) -> Area:
    """1 − 1/(hi−lo) ∫ [π FNr + (1−π) FPr] dπ at the balanced points."""
    lo, hi = over
    start, end, _ = segments_in(backend).segment
    first, last, columns = _prior_columns(over, backend)
    # On a level run the error is 2π(1−t): its integral telescopes from run to run. It is taken
    # from lo², so that a narrow range does not lose its digits to it.
    beyond_first, beyond_last = ((prior - lo) * (prior + lo) for prior in (first, last))
    level = (1 - start[0]) * beyond_first - (1 - end[0]) * beyond_last
    name = f"{PRIVATE}error_{over!r}"
    estimate = 1 - backend.column(name) / (hi - lo)
    return Area(estimate, columns, {name: level + _error_on_segment(first, last, over, backend)})


def _error_on_segment(
    first: Quantity, last: Quantity, over: tuple[float, float], backend: Backend
) -> Quantity:
    """∫ 2K π(1−π)/(Δf + π(Δt − Δf)) dπ from `first` to `last`, K = Δt f₀ + Δf (1 − t₀)."""
    (t0, f0), _, (dt, df) = segments_in(backend).segment
    bulk = dt * f0 + df * (1 - t0)
    bend = dt - df
    width = last - first
    # The closed form loses digits where bend is small beside Δt + Δf; there the integrand
    # is nearly linear and a few quadrature nodes are exact.
    ratio = df / bend
    logarithm = backend.log1p(bend * width / (df + bend * first))
    closed = ((1 + ratio) * (1 - logarithm * ratio / width) - (first + last) / 2) / bend
    # With |Δt − Δf| ≤ (Δt + Δf)/5 the pole −Δf/(Δt − Δf) is at −2 or below, or at 3
    # or above; the error falls as ρ^(−2n), where ρ is the parameter of the Bernstein
    # ellipse through the pole.
    middle, half = sum(over) / 2, (over[1] - over[0]) / 2
    reach = min(2 + middle, 3 - middle) / half
    nodes = quadrature(ceil(-log(1e-17) / (2 * acosh(reach))))
    priors = [(first + node * width, weight) for node, weight in nodes]
    by_nodes = backend.total(weight * at * (1 - at) / (df + bend * at) for at, weight in priors)
    mean = backend.where(abs(bend) > CLOSED_FORM_BEND * (dt + df), closed, by_nodes)
    return backend.where((width > 0) & (bulk > 0), 2 * bulk * width * mean, 0.0)


def partial_area(over: tuple[float, float], backend: Backend) -> Area:
    """1 − ∫FNr dFPr/(FPr_hi − FPr_lo) between the balanced points."""
    lo = over[0]
    start, end, (dt, df) = segments_in(backend).segment
    first, last, columns = _prior_columns(over, backend)
    bulk = dt * start[1] + df * (1 - start[0])

    # Of the point of the segment that is balanced at a prior, FNr is (1 − π) radius, FPr π radius.
    at_first, at_last = (bulk / (df + prior * (dt - df)) for prior in (first, last))
    inside = (last > first) & (bulk > 0)
    width = backend.where(inside, (last - first) * at_first * at_last * df / bulk, 0.0)
    inner = width * ((1 - first) * at_first + (1 - last) * at_last) / 2

    def fpr_at(point: Point, prior: Quantity) -> Quantity:
        """By how much FPr is greater on the level run through `point` at a prior than at `lo`."""
        return (1 - point[0]) * (prior - lo) / ((1 - prior) * (1 - lo))

    level_width = fpr_at(start, first) - fpr_at(end, last)
    level = (1 - start[0]) * fpr_at(start, first) - (1 - end[0]) * fpr_at(end, last)
    area, base = f"{PRIVATE}partial_{over!r}", f"{PRIVATE}width_{over!r}"
    crossed = backend.column(base)
    mean = backend.column(area) / crossed
    estimate = backend.where(crossed > 0, 1 - mean)
    return Area(estimate, columns, {area: level + inner, base: level_width + width})


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
