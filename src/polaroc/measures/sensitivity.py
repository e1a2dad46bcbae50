"""How far the operating point moves as the prior drifts: Sens and AccSens."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from polaroc.base.checks import pair_of, shortened
from polaroc.base.columns import PRIVATE, lazily
from polaroc.base.formula import Columns, root
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures.balanced_gradients import mean_error_gradient, point_gradient
from polaroc.measures.balanced_points import balanced, distance
from polaroc.measures.error_areas import error_area, partial_area
from polaroc.measures.functions import of_curve
from polaroc.measures.spec import GradientTerm, Measure
from polaroc.priors.beliefs import over_label
from polaroc.priors.grids import range_of, skew
from polaroc.typing import Quantity

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

    See Also
    --------
    accsens : Error and prior sensitivity in one number.
    operating_points : The point that a rule takes at each prior.

    References
    ----------
    Landgrebe, Duin, "Combining accuracy and prior sensitivity for classifier design
    under prior uncertainty", 2006.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]})
    >>> curves = guess.pipe(pr.curve, truth="truth", score="p")
    >>> round(curves.pipe(pr.sens, over=(0.1, 0.9))["estimate"].item(), 3)
    0.8
    """
    return of_curve(curve, [replace(sens_measure(over), over=None)])


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

    See Also
    --------
    sens : How far the balanced point moves with the prior.
    evaluate : All measures of predictions in one pass.

    References
    ----------
    Landgrebe, Duin, "Combining accuracy and prior sensitivity for classifier design
    under prior uncertainty", 2006.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> guess = pl.DataFrame({"truth": [1, 0], "p": [0.5, 0.5]})
    >>> curves = guess.pipe(pr.curve, truth="truth", score="p")
    >>> round(curves.pipe(pr.accsens, over=(0.1, 0.9))["estimate"].item(), 3)
    0.63
    """
    return of_curve(curve, [replace(accsens_measure(over, weights, area), over=None)])


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
    return Measure("sens", distance, least=least, parts=parts, over=over_label(over))


def auc_range_measure(over: tuple[float, float], column: Columns = pl.col) -> Measure:
    """One minus the mean error of the balanced point over the range."""
    parts = (_area_part(over, pl.lit(1.0)),)
    return Measure("auc_range", *error_area(over, column), parts=parts, over=over_label(over))


def accsens_measure(
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
    column: Columns = pl.col,
) -> Measure:
    """AccSens as a measure."""
    check_choice("area", area, AREAS)
    distance, least = _sens(over, column)
    stands = error_area if area == "error" else partial_area
    accuracy, columns, sums = stands(over, column)
    value = combined(accuracy, distance, weights)
    parts: tuple[GradientTerm, ...] = ()
    if area == "error":
        by_area = weights[0] * (accuracy - 1) / (2 * value)
        by_points = _point_parts(over, weights[1] / (2 * value), column)
        parts = (_area_part(over, by_area), *by_points)
    return Measure("accsens", value, columns, sums, least, parts=parts, over=over_label(over))


def equal_error_measure(column: Columns = pl.col) -> Measure:
    """ε: the error where FNr = FPr, at the balanced point of prior 0.5."""
    (_, f), least = balanced(0.5, column)
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
    pair = pair_of(weights)
    if pair is None or not all(0 <= weight < float("inf") for weight in pair):
        raise InvalidArgument(
            f"weights is {shortened(weights)}, allowed are two finite numbers ≥ 0.",
            hint="the first weighs the area, the second Sens.",
        )


def _sens(over: tuple[float, float], column: Columns) -> tuple[Quantity, dict[str, Quantity]]:
    over = range_of(over)
    (low, at_lo), (high, at_hi) = (balanced(prior, column) for prior in over)
    return distance(low, high), at_lo | at_hi


def _point_parts(
    over: tuple[float, float], scale: Quantity, column: Columns
) -> tuple[GradientTerm, ...]:
    """The balanced points at both ends, with `scale` times the derivatives of ½ Sens²."""
    (low, _), (high, _) = (balanced(prior, column) for prior in over)
    fall, run = low[0] - high[0], high[1] - low[1]
    # At a balanced point t = 1 − λf.
    by_low, by_high = (
        scale * sign * (run + skew(prior) * fall) / 2
        for prior, sign in zip(over, (-1, 1), strict=True)
    )
    return _point_part(over[0], by_low), _point_part(over[1], by_high)


def _point_part(prior: float, slope: Quantity) -> GradientTerm:
    return GradientTerm(f"{PRIVATE}point_{prior!r}", partial(point_gradient, prior), slope)


def _area_part(over: tuple[float, float], slope: Quantity) -> GradientTerm:
    name = f"{PRIVATE}error_{over!r}"
    return GradientTerm(name, lambda _: mean_error_gradient(over), slope)
