"""The balanced point of a prior, where there are as many missed positives as false alarms.

Also its mean error over a range of priors, and the area that it bounds over this range.
"""

from math import acosh, ceil, log
from typing import NamedTuple

from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.base.statistics import quadrature
from polaroc.curves.segments import Point, segments_in
from polaroc.priors.grids import skew
from polaroc.typing import Quantity

# |Δt − Δf|/(Δt + Δf) up to which the error of a segment is taken by quadrature.
CLOSED_FORM_BEND = 0.2


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
