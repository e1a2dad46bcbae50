"""Prior sensitivity: how far the balanced operating point moves with the prior.

At a balanced point there are as many missed positives as false alarms: the ROC curve crosses the
ray 1 − t = λf (AccSens).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import acosh, ceil, log, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.checks import pair_of
from polaroc.base.columns import PRIVATE
from polaroc.base.statistics import ROUNDING, quadrature
from polaroc.curves.segments import Segment, segment
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.measures.functions import measured
from polaroc.measures.spec import Measure, MeasureArguments, MeasureDefinition
from polaroc.priors.beliefs import resolve_belief
from polaroc.priors.grids import range_of
from polaroc.priors.grids import skew as skew_of
from polaroc.typing import Array, Frame, Quantity

# Straight pieces of a drawn line of equal AccSens.
ARC_STEPS = 60
# |Δt − Δf|/(Δt + Δf) up to which the error of a segment is taken by quadrature.
CLOSED_FORM_BEND = 0.2


def sens(curve: Frame, over: tuple[float, float]) -> Frame:
    """Prior sensitivity: how far the balanced operating point moves over a range of priors.

    At a prior π the balanced point is where the curve crosses the ray
    1 − t = λf, so that missed positives and false alarms are equally many.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    over
        The range (lo, hi) of priors, 0 < lo < hi < 1.

    Returns
    -------
    Frame of the kind given
        Tidy measures, one row per key: `measure` is "sens", `prior` null,
        `estimate` from 0 (the point stays where it is) to 1: the distance
        between the points at lo and at hi, over √2 (AccSens Eq. 3).

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]})
    >>> curves = guess.pipe(pr.curve, truth="truth", score="p")
    >>> round(curves.pipe(pr.sens, over=(0.1, 0.9))["estimate"].item(), 3)
    0.8
    """
    return measured(curve, sens_measure(MeasureArguments(over=over)))


def accsens(
    curve: Frame,
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
) -> Frame:
    """Accuracy and prior sensitivity combined, over a range of priors; low is good.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    over
        The range (lo, hi) of priors, 0 < lo < hi < 1.
    weights
        Weights (w_e, w_s) ≥ 0 of the area and of Sens.
    area
        What stands for accuracy: ``"error"``, one minus the mean error of the
        balanced point over the range; ``"partial"``, one minus the mean FNr
        over the FPr that the point passes through.

    Returns
    -------
    Frame of the kind given
        Tidy measures, one row per key: `measure` is "accsens", `prior` null,
        `estimate` = √(w_e (1 − area)² + w_s Sens²)/√2 (AccSens Eq. 4), from 0
        to 1 at unit weights.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]})
    >>> curves = guess.pipe(pr.curve, truth="truth", score="p")
    >>> round(curves.pipe(pr.accsens, over=(0.1, 0.9))["estimate"].item(), 3)
    0.63
    """
    return measured(curve, accsens_measure(MeasureArguments(over=over), weights, area))


def sens_measure(arguments: MeasureArguments) -> Measure:
    """Sens as a measure (AccSens Eq. 3): the distance between the points at both ends, over √2."""
    low, high = (balanced_point(prior, arguments.column) for prior in range_of(arguments.over))
    return Measure(
        name="sens", estimate=(((low.t - high.t) ** 2 + (high.f - low.f) ** 2) / 2).sqrt(),
        least=low.least | high.least, over=resolve_belief(arguments.over).name, arguments=arguments,
    )  # fmt: skip


def auc_range_measure(arguments: MeasureArguments) -> Measure:
    """One minus the mean error of the balanced point over the range."""
    lo, hi = range_of(arguments.over)
    name = f"{PRIVATE}error_{arguments.over!r}"
    return Measure(
        name="auc_range", estimate=1 - arguments.column(name) / (hi - lo),
        sums={name: range_error(arguments.segment, arguments.over)},
        over=resolve_belief(arguments.over).name, arguments=arguments,
    )  # fmt: skip


def accsens_measure(
    arguments: MeasureArguments, weights: tuple[float, float] = (1, 1), area: str = "error"
) -> Measure:
    """AccSens as a measure (AccSens Eq. 4)."""
    check_choice("area", area, ("error", "partial"))
    sens, accuracy = sens_measure(arguments), auc_range_measure(arguments)
    if area == "partial":
        names = [f"{PRIVATE}{part}_{arguments.over!r}" for part in ("partial", "width")]
        missed, width = map(arguments.column, names)
        sums = dict(zip(names, partial_area(arguments.segment, arguments.over), strict=True))
        accuracy = replace(
            accuracy, estimate=pl.when(width > 0).then(1 - missed / width), sums=sums
        )
    return replace(
        sens, name="accsens", estimate=combined(accuracy.estimate, sens.estimate, weights),
        sums=accuracy.sums,
    )  # fmt: skip


def equal_error_measure(arguments: MeasureArguments) -> Measure:
    """ε: the error where FNr = FPr, at the balanced point of prior 0.5."""
    point = balanced_point(0.5, arguments.column)
    return Measure(name="equal_error", estimate=point.f, least=point.least)


class BalancedPoint(NamedTuple):
    """A point of the curve, made of minima over its segments."""

    t: pl.Expr
    f: pl.Expr
    least: dict[str, pl.Expr]  # as in `Measure`


def balanced_point(prior: float, column: Callable[[str], pl.Expr] = pl.col) -> BalancedPoint:
    """The balanced point at a prior."""
    skew, s = skew_of(prior), segment(column)
    # t and f never fall along the curve: of all segments that end beyond the ray of the
    # prior, the first has the least rates at its ends. The last ends at 1, but for rounding.
    beyond = 1 - ROUNDING - s.t1 <= skew * s.f1
    name = f"{PRIVATE}balanced_{prior!r}"
    ends = (s.t0, s.f0, s.t1, s.f1)
    least: dict[str, pl.Expr] = {
        f"{name}_{i}": pl.when(beyond).then(rate) for i, rate in enumerate(ends)
    }
    t0, f0, t1, f1 = map(column, least)
    # The ray crosses this segment, or the level run of negatives before it.
    shortfall = (1 - t0) - skew * f0
    share = shortfall / ((t1 - t0) + skew * (f1 - f0))
    inside = shortfall > 0
    t = pl.when(inside).then(t0 + share * (t1 - t0)).otherwise(t0)
    f = pl.when(inside).then(f0 + share * (f1 - f0)).otherwise((1 - t0) / skew)
    return BalancedPoint(t, f, least)


def range_error(s: Segment, over: tuple[float, float]) -> pl.Expr:
    """The part of a segment in ∫ [π FNr + (1−π) FPr] dπ at the balanced points of a range.

    On a level run the error is 2π(1−t): its integral telescopes from run to run. On a segment it
    is ∫ 2K π(1−π)/(Δf + π(Δt − Δf)) dπ, where K = Δt f₀ + Δf (1 − t₀).
    """
    first, last = _prior_at(s.t0, s.f0, over), _prior_at(s.t1, s.f1, over)
    level, bulk, bend, width = error_terms(s, over[0], first, last)
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


def error_terms(s: Any, lo: Quantity, first: Quantity, last: Quantity) -> tuple[Quantity, ...]:
    """The terms of `range_error`: the part of level runs, K, Δt − Δf, and the width in priors.

    `first` and `last` are the priors at which the ends of the segment are balanced.
    """
    # first² − lo² in this form keeps the digits of a narrow range.
    level = (1 - s.t0) * (first - lo) * (first + lo) - (1 - s.t1) * (last - lo) * (last + lo)
    return level, s.dt * s.f0 + s.df * (1 - s.t0), s.dt - s.df, last - first


def partial_area(s: Segment, over: tuple[float, float]) -> tuple[pl.Expr, pl.Expr]:
    """The parts of a segment in ∫ FNr dFPr and ∫ dFPr between the balanced points of a range."""
    lo, _ = over
    first, last = _prior_at(s.t0, s.f0, over), _prior_at(s.t1, s.f1, over)
    bulk = s.dt * s.f0 + s.df * (1 - s.t0)
    # Of the point of the segment that is balanced at a prior, FNr is (1 − π) radius, FPr π radius.
    radius_first, radius_last = (bulk / (s.df + prior * (s.dt - s.df)) for prior in (first, last))
    inside = (last > first) & (bulk > 0)
    crossed = (last - first) * radius_first * radius_last * s.df / bulk
    width = pl.when(inside).then(crossed).otherwise(0.0)
    area = width * ((1 - first) * radius_first + (1 - last) * radius_last) / 2

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
    """Number of nodes at which the integral of a segment that is not bent is exact over a range.

    With |Δt − Δf| ≤ (Δt + Δf)/5 the pole −Δf/(Δt − Δf) is at −2 or below, or at 3 or above; the
    error falls as ρ^(−2n), where ρ is the parameter of the Bernstein ellipse through the pole.
    """
    middle, half = sum(over) / 2, (over[1] - over[0]) / 2
    reach = min(2 + middle, 3 - middle) / half
    return ceil(-log(1e-17) / (2 * acosh(reach)))


def combined(area: Quantity, sens: Quantity, weights: Sequence[float] = (1, 1)) -> Quantity:
    """AccSens Eq. 4, of an area and a Sens.

    Examples
    --------
    >>> round(float(combined(0.942, 0.340)), 3)
    0.244
    """
    check_weights(weights)
    area_weight, sens_weight = weights
    return ((area_weight * (1 - area) ** 2 + sens_weight * sens**2) / 2) ** 0.5


def check_weights(weights: Sequence[float]) -> None:
    """Raise unless `weights` are two finite numbers ≥ 0, of which one is positive."""
    pair = pair_of(weights)
    if pair is None or not any(pair) or not all(0 <= weight < float("inf") for weight in pair):
        raise InvalidArgument(
            f"weights is {quoted([weights])}, allowed are two finite numbers ≥ 0, not both 0.",
            hint="the first weighs the area, the second Sens.",
        )


def accsens_arcs(levels: Sequence[float], weights: tuple[float, float] = (1, 1)) -> pl.DataFrame:
    """Lines of equal AccSens: `error`, 1 − area, against `sens`, at each `level` > 0.

    AccSens Eq. 4 solved for its level: an ellipse with half-axes √2·level/√w, from where Sens
    is 0 to where the error is 0; where a weight is 0, a straight line across 0 to 1.

    Examples
    --------
    >>> accsens_arcs([0.1]).select(pl.all().round(6)).row(0)
    (0.1, 0.141421, 0.0)
    """
    check_weights(weights)
    arcs = [
        pl.DataFrame({"level": [level] * (ARC_STEPS + 1), **_arc(level, *weights)})
        for level in levels
    ]
    schema: dict[str, type[pl.Float64]] = dict.fromkeys(("level", "error", "sens"), pl.Float64)
    return pl.concat([pl.DataFrame(schema=schema), *arcs])


def _arc(level: float, by_error: float, by_sens: float) -> dict[str, Array]:
    share = np.linspace(0, 1, ARC_STEPS + 1)
    level *= sqrt(2)
    if not by_error:
        return {"error": 1 - share, "sens": np.full(len(share), level / sqrt(by_sens))}
    if not by_sens:
        return {"error": np.full(len(share), level / sqrt(by_error)), "sens": share}
    # The ends are exact: the sine of a rounded multiple of π is not 0.
    across = np.sin(share[::-1] * pi / 2)
    return {"error": level / sqrt(by_error) * across, "sens": level / sqrt(by_sens) * across[::-1]}


SENS = MeasureDefinition(
    name="sens",
    label="Sens",
    description="how far the balanced point moves over a range of priors (AccSens Eq. 3)",
    build=lambda arguments: [sens_measure(arguments)],
    higher_is_better=False,
    over="range",
    in_summary=True,
)
AUC_RANGE = MeasureDefinition(
    name="auc_range",
    label="AUC over the range",
    description="one minus the mean error of the balanced point over a range of priors (AccSens)",
    build=lambda arguments: [auc_range_measure(arguments)],
    over="range",
)
ACCSENS = MeasureDefinition(
    name="accsens",
    label="AccSens",
    description="the mean error over the range and Sens in one number (AccSens Eq. 4)",
    build=lambda arguments: [accsens_measure(arguments)],
    higher_is_better=False,
    over="range",
    in_summary=True,
)
EQUAL_ERROR = MeasureDefinition(
    name="equal_error",
    label="equal error",
    description="the error at the balanced point of prior ½, where FNr = FPr (AccSens)",
    build=lambda arguments: [equal_error_measure(arguments)],
    higher_is_better=False,
    default_needs_range=True,
)
