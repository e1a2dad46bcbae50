"""The balanced point of a prior, where missed positives are as many as false alarms."""

from polaroc.base.backend import Backend
from polaroc.base.columns import PRIVATE
from polaroc.curves.segments import Point, segments_in
from polaroc.priors.grids import skew
from polaroc.typing import Quantity


def balanced(prior: float, backend: Backend) -> tuple[Point, dict[str, Quantity]]:
    """The balanced point at a prior, and the least values that it is made from."""
    ends = _ends_beyond(prior, backend)
    least = {f"{PRIVATE}balanced_{prior!r}_{i}": end for i, end in enumerate(ends)}
    return _crossing(prior, *map(backend.column, least), backend=backend), least


def _ends_beyond(prior: float, backend: Backend) -> list[Quantity]:
    """The ends t₀, f₀, t₁, f₁ of the segments that end beyond the ray of a prior, else null.

    Along the curve 1 − t only falls and λf only grows: the first segment with
    positives that ends beyond the ray has the least ends of all that do.
    """
    (t0, f0), (t1, f1), _ = segments_in(backend).segment
    beyond = 1 - t1 <= skew(prior) * f1
    return [backend.where(beyond, end) for end in (t0, f0, t1, f1)]


def _crossing(
    prior: float, t0: Quantity, f0: Quantity, t1: Quantity, f1: Quantity, *, backend: Backend
) -> Point:
    """Where the ray of a prior crosses a segment, or the level run of negatives before it."""
    skewed = skew(prior)
    short = (1 - t0) - skewed * f0
    share = short / ((t1 - t0) + skewed * (f1 - f0))
    inside = short > 0
    t = backend.where(inside, t0 + share * (t1 - t0), t0)
    f = backend.where(inside, f0 + share * (f1 - f0), (1 - t0) / skewed)
    return t, f


def distance(low: Point, high: Point) -> Quantity:
    """AccSens Eq. 3, of the points at the two ends of the range."""
    (t_lo, f_lo), (t_hi, f_hi) = low, high
    return (((t_lo - t_hi) ** 2 + (f_hi - f_lo) ** 2) / 2) ** 0.5
