"""The balanced point of a prior, and the areas between such points over a range of priors.

At a balanced point there are as many missed positives as false alarms: the ROC curve crosses the
ray 1 − t = λf (AccSens).
"""

from __future__ import annotations

from collections.abc import Callable
from math import acosh, ceil, log
from typing import NamedTuple

import polars as pl

from polaroc.base.columns import PRIVATE
from polaroc.base.statistics import quadrature
from polaroc.curves.segments import Segment, segment
from polaroc.priors.grids import skew

# |Δt − Δf|/(Δt + Δf) up to which the error of a segment is taken by quadrature.
CLOSED_FORM_BEND = 0.2


class BalancedPoint(NamedTuple):
    """A point of the curve, made of minima over its segments."""

    t: pl.Expr
    f: pl.Expr
    least: dict[str, pl.Expr]  # as in `Measure`


def balanced_point(prior: float, column: Callable[[str], pl.Expr] = pl.col) -> BalancedPoint:
    """The balanced point at a prior."""
    skewed, s = skew(prior), segment(column)
    # t and f never fall along the curve: of all segments that end beyond the ray of the
    # prior, the first has the least rates at its ends.
    beyond = 1 - s.t1 <= skewed * s.f1
    name = f"{PRIVATE}balanced_{prior!r}"
    ends = (s.t0, s.f0, s.t1, s.f1)
    least: dict[str, pl.Expr] = {
        f"{name}_{i}": pl.when(beyond).then(rate) for i, rate in enumerate(ends)
    }
    t0, f0, t1, f1 = map(column, least)
    # The ray crosses this segment, or the level run of negatives before it.
    shortfall = (1 - t0) - skewed * f0
    share = shortfall / ((t1 - t0) + skewed * (f1 - f0))
    inside = shortfall > 0
    t = pl.when(inside).then(t0 + share * (t1 - t0)).otherwise(t0)
    f = pl.when(inside).then(f0 + share * (f1 - f0)).otherwise((1 - t0) / skewed)
    return BalancedPoint(t, f, least)


def distance(low: BalancedPoint, high: BalancedPoint) -> pl.Expr:
    """AccSens Eq. 3, of the points at the two ends of a range."""
    return (((low.t - high.t) ** 2 + (high.f - low.f) ** 2) / 2).sqrt()


def range_error(s: Segment, over: tuple[float, float]) -> pl.Expr:
    """The part of a segment in ∫ [π FNr + (1−π) FPr] dπ at the balanced points of a range.

    On a level run the error is 2π(1−t): its integral telescopes from run to run. On a segment it
    is ∫ 2K π(1−π)/(Δf + π(Δt − Δf)) dπ, where K = Δt f₀ + Δf (1 − t₀).
    """
    lo, _ = over
    first, last = _prior_at(s.t0, s.f0, over), _prior_at(s.t1, s.f1, over)
    # Taken from lo², so that a narrow range does not lose its digits to it.
    level = (1 - s.t0) * (first - lo) * (first + lo) - (1 - s.t1) * (last - lo) * (last + lo)
    bulk, bend, width = s.dt * s.f0 + s.df * (1 - s.t0), s.dt - s.df, last - first
    # The closed form loses digits where bend is small beside Δt + Δf; there the integrand
    # is nearly linear and a few quadrature nodes are exact.
    ratio = s.df / bend
    logarithm = (bend * width / (s.df + bend * first)).log1p()
    closed = ((1 + ratio) * (1 - logarithm * ratio / width) - (first + last) / 2) / bend
    nodes = [(first + node * width, weight) for node, weight in quadrature(nodes_needed(over))]
    by_nodes = pl.sum_horizontal(
        weight * at * (1 - at) / (s.df + bend * at) for at, weight in nodes
    )
    is_bent = bend.abs() > CLOSED_FORM_BEND * (s.dt + s.df)
    mean = pl.when(is_bent).then(closed).otherwise(by_nodes)
    inside = pl.when((width > 0) & (bulk > 0)).then(2 * bulk * width * mean).otherwise(0.0)
    return level + inside


def partial_area(s: Segment, over: tuple[float, float]) -> tuple[pl.Expr, pl.Expr]:
    """The parts of a segment in ∫ FNr dFPr and ∫ dFPr between the balanced points of a range."""
    lo, _ = over
    first, last = _prior_at(s.t0, s.f0, over), _prior_at(s.t1, s.f1, over)
    bulk = s.dt * s.f0 + s.df * (1 - s.t0)
    # Of the point of the segment that is balanced at a prior, FNr is (1 − π) radius, FPr π radius.
    at_first, at_last = (bulk / (s.df + prior * (s.dt - s.df)) for prior in (first, last))
    inside = (last > first) & (bulk > 0)
    crossed = (last - first) * at_first * at_last * s.df / bulk
    width = pl.when(inside).then(crossed).otherwise(0.0)
    area = width * ((1 - first) * at_first + (1 - last) * at_last) / 2

    def run(t: pl.Expr, prior: pl.Expr) -> pl.Expr:
        """The excess of FPr on the level run at the height t at a prior over that at `lo`."""
        return (1 - t) * (prior - lo) / ((1 - prior) * (1 - lo))

    level = (1 - s.t0) * run(s.t0, first) - (1 - s.t1) * run(s.t1, last)
    return level + area, run(s.t0, first) - run(s.t1, last) + width


def _prior_at(t: pl.Expr, f: pl.Expr, over: tuple[float, float]) -> pl.Expr:
    """The prior at which a point of the curve is balanced, f/(f + 1 − t), clipped to a range."""
    reach = f + (1 - t)
    return pl.when(reach > 0).then(f / reach).otherwise(1.0).clip(*over)


def nodes_needed(over: tuple[float, float]) -> int:
    """How many nodes make the integral of a segment that is not bent exact over a range.

    With |Δt − Δf| ≤ (Δt + Δf)/5 the pole −Δf/(Δt − Δf) is at −2 or below, or at 3 or above; the
    error falls as ρ^(−2n), where ρ is the parameter of the Bernstein ellipse through the pole.
    """
    middle, half = sum(over) / 2, (over[1] - over[0]) / 2
    reach = min(2 + middle, 3 - middle) / half
    return ceil(-log(1e-17) / (2 * acosh(reach)))
