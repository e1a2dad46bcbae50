"""How far the operating point moves as the prior drifts: Sens and AccSens."""

from collections.abc import Sequence
from functools import partial
from math import acosh, ceil, log
from typing import NamedTuple

import polars as pl

from polaroc.areas import of_curve
from polaroc.arithmetic import Columns, clip, log1p, root, size, total, where
from polaroc.cells import Point, Segments, held
from polaroc.columns import PRIVATE, lazily
from polaroc.drift import mean_error_gradient, point_gradient, prior_at
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures import Measure, Part
from polaroc.priors import check_range, skew
from polaroc.typing import Quantity

# How unequal Δt and Δf may be where the error of a segment is not taken in closed form.
STRAIGHT = 0.2
AREAS = ("error", "partial")


@lazily
def sens(curve: pl.LazyFrame, over: tuple[float, float]) -> pl.LazyFrame:
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
    InvalidArgument, InvalidTable
        For a range outside what is allowed; where the columns of a curve are
        missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]})
    >>> curves = guess.pipe(pr.curve, truth="truth", score="p")
    >>> round(curves.pipe(pr.sens, over=(0.1, 0.9))["estimate"].item(), 3)
    0.8
    """
    return of_curve(curve, [sens_measure(over)])


@lazily
def accsens(
    curve: pl.LazyFrame,
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
) -> pl.LazyFrame:
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
    InvalidArgument, InvalidTable
        For a range or weights outside what is allowed; where the columns of a
        curve are missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]})
    >>> curves = guess.pipe(pr.curve, truth="truth", score="p")
    >>> round(curves.pipe(pr.accsens, over=(0.1, 0.9))["estimate"].item(), 3)
    0.63
    """
    return of_curve(curve, [accsens_measure(over, weights, area)])


class Area(NamedTuple):
    """An area as a measure has it: the estimate, the columns it uses and its sums."""

    estimate: Quantity
    columns: dict[str, Quantity]
    sums: dict[str, Quantity]


def range_measures(over: tuple[float, float], column: Columns = pl.col) -> list[Measure]:
    """Sens, the area over the range, AccSens and the equal error, as `evaluate` gives them."""
    return [
        sens_measure(over, column),
        auc_range_measure(over, column),
        accsens_measure(over, column=column),
        equal_error_measure(column),
    ]


def sens_measure(over: tuple[float, float], column: Columns = pl.col) -> Measure:
    """Sens as a measure."""
    distance, least = _sens(over, column)
    parts = _point_parts(over, 1 / distance, column)
    return Measure("sens", distance, least=least, parts=parts)


def auc_range_measure(over: tuple[float, float], column: Columns = pl.col) -> Measure:
    """One minus the mean error of the balanced point over the range."""
    parts = (_area_part(over, pl.lit(1.0)),)
    return Measure("auc_range", *_error_area(over, column), parts=parts)


def accsens_measure(
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
    column: Columns = pl.col,
) -> Measure:
    """AccSens as a measure."""
    check_choice("area", area, AREAS)
    distance, least = _sens(over, column)
    stands = _error_area if area == "error" else _partial_area
    accuracy, columns, sums = stands(over, column)
    value = combined(accuracy, distance, weights)
    parts: tuple[Part, ...] = ()
    if area == "error":
        by_area = weights[0] * (accuracy - 1) / (2 * value)
        by_points = _point_parts(over, weights[1] / (2 * value), column)
        parts = (_area_part(over, by_area), *by_points)
    return Measure("accsens", value, columns, sums, least, parts=parts)


def equal_error_measure(column: Columns = pl.col) -> Measure:
    """ε: the error where FNr = FPr, at the balanced point of prior 0.5."""
    (_, f), least = _balanced(0.5, column)
    return Measure("equal_error", f, least=least, parts=(_point_part(0.5, pl.lit(1.0)),))


def combined(area: Quantity, sens: Quantity, weights: Sequence[float] = (1, 1)) -> Quantity:
    """AccSens Eq. 4, of an area and a Sens.

    Examples
    --------
    >>> round(float(combined(0.942, 0.340)), 3)
    0.244
    """
    check_weights(weights)
    area_weight, sens_weight = weights
    return root((area_weight * (1 - area) ** 2 + sens_weight * sens**2) / 2)


def check_weights(weights: Sequence[float]) -> None:
    """Refuse what is not two weights, of the area and of Sens."""
    if len(weights) != 2 or not all(0 <= weight < float("inf") for weight in weights):
        raise InvalidArgument(
            f"weights is {weights!r}, allowed are two finite numbers ≥ 0.",
            hint="the first weighs the area, the second Sens.",
        )


def _sens(over: tuple[float, float], column: Columns) -> tuple[Quantity, dict[str, Quantity]]:
    check_range(*over)
    (low, at_lo), (high, at_hi) = (_balanced(prior, column) for prior in over)
    return distance(low, high), at_lo | at_hi


def _point_parts(over: tuple[float, float], scale: Quantity, column: Columns) -> tuple[Part, ...]:
    """The balanced points at both ends, with `scale` times the derivatives of ½ Sens²."""
    (low, _), (high, _) = (_balanced(prior, column) for prior in over)
    fall, run = low[0] - high[0], high[1] - low[1]
    # At a balanced point t = 1 − λf.
    by_low, by_high = (
        scale * sign * (run + skew(prior) * fall) / 2
        for prior, sign in zip(over, (-1, 1), strict=True)
    )
    return _point_part(over[0], by_low), _point_part(over[1], by_high)


def _point_part(prior: float, slope: Quantity) -> Part:
    return Part(f"{PRIVATE}point_{prior!r}", partial(point_gradient, prior), slope)


def _area_part(over: tuple[float, float], slope: Quantity) -> Part:
    name = f"{PRIVATE}error_{over!r}"
    return Part(name, lambda _: mean_error_gradient(over), slope)


def _balanced(prior: float, column: Columns) -> tuple[Point, dict[str, Quantity]]:
    """The balanced point at a prior, and the least values that it is made from."""
    ends = ends_beyond(prior, held(column))
    least = {f"{PRIVATE}balanced_{prior!r}_{i}": end for i, end in enumerate(ends)}
    return crossing(prior, *map(column, least)), least


def ends_beyond(prior: float, cells: Segments) -> list[Quantity]:
    """The ends t₀, f₀, t₁, f₁ of the segments that end beyond the ray of a prior, else null.

    Along the curve 1 − t only falls and λf only grows: the first segment with
    positives that ends beyond the ray has the least ends of all that do.
    """
    (t0, f0), (t1, f1), _ = cells.segment
    beyond = 1 - t1 <= skew(prior) * f1
    return [where(beyond, end) for end in (t0, f0, t1, f1)]


def crossing(prior: float, t0: Quantity, f0: Quantity, t1: Quantity, f1: Quantity) -> Point:
    """Where the ray of a prior crosses a segment, or the level run of negatives before it."""
    skewed = skew(prior)
    short = (1 - t0) - skewed * f0
    share = short / ((t1 - t0) + skewed * (f1 - f0))
    inside = short > 0
    t = where(inside, t0 + share * (t1 - t0), t0)
    f = where(inside, f0 + share * (f1 - f0), (1 - t0) / skewed)
    return t, f


def distance(low: Point, high: Point) -> Quantity:
    """AccSens Eq. 3, of the points at the two ends of the range."""
    (t_lo, f_lo), (t_hi, f_hi) = low, high
    return root(((t_lo - t_hi) ** 2 + (f_hi - f_lo) ** 2) / 2)


def _passed(
    over: tuple[float, float], column: Columns
) -> tuple[Quantity, Quantity, dict[str, Quantity]]:
    """The priors, within a range, at which a segment starts and ends, and the columns they are."""
    start, end, _ = held(column).segment
    first, last = (f"{PRIVATE}{place}_{over!r}" for place in ("first", "last"))
    columns = {first: clip(prior_at(start), *over), last: clip(prior_at(end), *over)}
    return column(first), column(last), columns


def _error_area(over: tuple[float, float], column: Columns) -> Area:
    """1 − 1/(hi−lo) ∫ [π FNr + (1−π) FPr] dπ at the balanced points."""
    lo, hi = over
    cells = held(column)
    start, end, _ = cells.segment
    first, last, columns = _passed(over, column)
    # On a level run the error is 2π(1−t): its integral telescopes from run to run.
    level = (1 - start[0]) * first**2 - (1 - end[0]) * last**2
    name = f"{PRIVATE}error_{over!r}"
    estimate = 1 - (column(name) - lo**2) / (hi - lo)
    return Area(estimate, columns, {name: level + _error_on_segment(first, last, over, cells)})


def _error_on_segment(
    first: Quantity, last: Quantity, over: tuple[float, float], cells: Segments
) -> Quantity:
    """∫ 2K π(1−π)/(Δf + π(Δt − Δf)) dπ from `first` to `last`, K = Δt f₀ + Δf (1 − t₀)."""
    (t0, f0), _, (dt, df) = cells.segment
    bulk = dt * f0 + df * (1 - t0)
    bend = dt - df
    width = last - first
    # In closed form by division; where bend is small beside Δt + Δf that loses
    # digits, and there the integrand is so straight that a few nodes are exact.
    ratio = df / bend
    logarithm = log1p(bend * width / (df + bend * first))
    closed = ((1 + ratio) * (1 - logarithm * ratio / width) - (first + last) / 2) / bend
    priors = [(first + node * width, weight) for node, weight in _nodes(*over)]
    straight = total(weight * at * (1 - at) / (df + bend * at) for at, weight in priors)
    mean = where(size(bend) > STRAIGHT * (dt + df), closed, straight)
    return where((width > 0) & (bulk > 0), 2 * bulk * width * mean, 0.0)


def _nodes(lo: float, hi: float) -> list[tuple[float, float]]:
    """Gauss-Legendre nodes on (0, 1) for the error of a segment that is nearly straight."""
    from numpy.polynomial.legendre import leggauss

    # With |Δt − Δf| ≤ (Δt + Δf)/5 the pole −Δf/(Δt − Δf) is at −2 or below, or at 3
    # or above; the error falls as ρ^(−2n), ρ the ellipse around the range up to it.
    middle, half = (lo + hi) / 2, (hi - lo) / 2
    reach = min(2 + middle, 3 - middle) / half
    n = ceil(-log(1e-17) / (2 * acosh(reach)))
    nodes, weights = leggauss(n)
    return list(zip(((1 + nodes) / 2).tolist(), (weights / 2).tolist(), strict=True))


def _partial_area(over: tuple[float, float], column: Columns) -> Area:
    """1 − ∫FNr dFPr/(FPr_hi − FPr_lo) between the balanced points."""
    lo = over[0]
    start, end, (dt, df) = held(column).segment
    first, last, columns = _passed(over, column)
    bulk = dt * start[1] + df * (1 - start[0])

    def passed(prior: Quantity) -> tuple[Quantity, Quantity]:
        """FPr and FNr where the segment has the prior."""
        radius = bulk / (df + prior * (dt - df))
        return prior * radius, (1 - prior) * radius

    (f_first, u_first), (f_last, u_last) = passed(first), passed(last)
    inside = (last > first) & (bulk > 0)
    inner = where(inside, (f_last - f_first) * (u_first + u_last) / 2, 0.0)
    width = where(inside, f_last - f_first, 0.0)

    def run(point: Point, prior: Quantity) -> Quantity:
        """FPr where the level run at a point has the prior."""
        return (1 - point[0]) * prior / (1 - prior)

    level_width = run(start, first) - run(end, last)
    level = (1 - start[0]) * run(start, first) - (1 - end[0]) * run(end, last)
    area, base = f"{PRIVATE}partial_{over!r}", f"{PRIVATE}width_{over!r}"
    at_zero = lo / (1 - lo)
    crossed = column(base) - at_zero
    mean = (column(area) - at_zero) / crossed
    estimate = where(crossed > 0, 1 - mean)
    return Area(estimate, columns, {area: level + inner, base: level_width + width})
