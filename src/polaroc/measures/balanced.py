"""The balanced point of a prior, where missed positives are as many as false alarms.

Also its mean error over a range of priors, and the area beside it.
"""

from math import acosh, ceil, log
from typing import NamedTuple

from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.base.statistics import quadrature
from polaroc.curves.segments import Point, segments_in
from polaroc.priors.grids import skew
from polaroc.typing import Quantity

# How unequal Δt and Δf may be where the error of a segment is not taken in closed form.
STRAIGHT = 0.2


def balanced(prior: float, backend: Backend) -> tuple[Point, dict[str, Quantity]]:
    """The balanced point at a prior, and the least values that it is made from."""
    skewed = skew(prior)
    start, end, _ = segments_in(backend).segment
    # Along the curve 1 − t only falls and λf only grows: the first segment with positives
    # that ends beyond the ray of the prior has the least ends of all that do.
    beyond = 1 - end[0] <= skewed * end[1]
    least = {
        f"{PRIVATE}balanced_{prior!r}_{i}": backend.where(beyond, rate)
        for i, rate in enumerate((*start, *end))
    }
    t0, f0, t1, f1 = map(backend.column, least)
    # The ray crosses that segment, or the level run of negatives before it.
    short = (1 - t0) - skewed * f0
    share = short / ((t1 - t0) + skewed * (f1 - f0))
    inside = short > 0
    t = backend.where(inside, t0 + share * (t1 - t0), t0)
    f = backend.where(inside, f0 + share * (f1 - f0), (1 - t0) / skewed)
    return (t, f), least


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
    """An area as a measure has it: the estimate, the columns it uses and its sums."""

    estimate: Quantity
    columns: dict[str, Quantity]
    sums: dict[str, Quantity]


def _passed(
    over: tuple[float, float], backend: Backend
) -> tuple[Quantity, Quantity, dict[str, Quantity]]:
    """The priors, within a range, at which a segment starts and ends, and the columns they are."""
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
    first, last, columns = _passed(over, backend)
    # On a level run the error is 2π(1−t): its integral telescopes from run to run.
    level = (1 - start[0]) * first**2 - (1 - end[0]) * last**2
    name = f"{PRIVATE}error_{over!r}"
    estimate = 1 - (backend.column(name) - lo**2) / (hi - lo)
    return Area(estimate, columns, {name: level + _error_on_segment(first, last, over, backend)})


def _error_on_segment(
    first: Quantity, last: Quantity, over: tuple[float, float], backend: Backend
) -> Quantity:
    """∫ 2K π(1−π)/(Δf + π(Δt − Δf)) dπ from `first` to `last`, K = Δt f₀ + Δf (1 − t₀)."""
    (t0, f0), _, (dt, df) = segments_in(backend).segment
    bulk = dt * f0 + df * (1 - t0)
    bend = dt - df
    width = last - first
    # In closed form by division; where bend is small beside Δt + Δf that loses
    # digits, and there the integrand is so straight that a few nodes are exact.
    ratio = df / bend
    logarithm = backend.log1p(bend * width / (df + bend * first))
    closed = ((1 + ratio) * (1 - logarithm * ratio / width) - (first + last) / 2) / bend
    # With |Δt − Δf| ≤ (Δt + Δf)/5 the pole −Δf/(Δt − Δf) is at −2 or below, or at 3
    # or above; the error falls as ρ^(−2n), ρ the ellipse around the range up to it.
    middle, half = sum(over) / 2, (over[1] - over[0]) / 2
    reach = min(2 + middle, 3 - middle) / half
    nodes = quadrature(ceil(-log(1e-17) / (2 * acosh(reach))))
    priors = [(first + node * width, weight) for node, weight in nodes]
    straight = backend.total(weight * at * (1 - at) / (df + bend * at) for at, weight in priors)
    mean = backend.where(abs(bend) > STRAIGHT * (dt + df), closed, straight)
    return backend.where((width > 0) & (bulk > 0), 2 * bulk * width * mean, 0.0)


def partial_area(over: tuple[float, float], backend: Backend) -> Area:
    """1 − ∫FNr dFPr/(FPr_hi − FPr_lo) between the balanced points."""
    lo = over[0]
    start, end, (dt, df) = segments_in(backend).segment
    first, last, columns = _passed(over, backend)
    bulk = dt * start[1] + df * (1 - start[0])

    def passed(prior: Quantity) -> tuple[Quantity, Quantity]:
        """FPr and FNr where the segment has the prior."""
        radius = bulk / (df + prior * (dt - df))
        return prior * radius, (1 - prior) * radius

    (f_first, u_first), (f_last, u_last) = passed(first), passed(last)
    inside = (last > first) & (bulk > 0)
    inner = backend.where(inside, (f_last - f_first) * (u_first + u_last) / 2, 0.0)
    width = backend.where(inside, f_last - f_first, 0.0)

    def run(point: Point, prior: Quantity) -> Quantity:
        """FPr where the level run at a point has the prior."""
        return (1 - point[0]) * prior / (1 - prior)

    level_width = run(start, first) - run(end, last)
    level = (1 - start[0]) * run(start, first) - (1 - end[0]) * run(end, last)
    area, base = f"{PRIVATE}partial_{over!r}", f"{PRIVATE}width_{over!r}"
    at_zero = lo / (1 - lo)
    crossed = backend.column(base) - at_zero
    mean = (backend.column(area) - at_zero) / crossed
    estimate = backend.where(crossed > 0, 1 - mean)
    return Area(estimate, columns, {area: level + inner, base: level_width + width})
