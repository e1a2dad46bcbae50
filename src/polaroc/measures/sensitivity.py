"""Prior sensitivity: how far the balanced operating point moves with the prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import pi, sqrt

import numpy as np
import polars as pl

from polaroc.base.backend import POLARS, Backend
from polaroc.base.checks import pair_of, shortened
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.whole import takes_curve
from polaroc.errors import InvalidArgument, check_choice, example
from polaroc.measures.balanced import (
    balanced,
    distance,
    error_area,
    mean_error_gradient,
    partial_area,
    point_gradient,
)
from polaroc.measures.functions import measures_of_curves
from polaroc.measures.spec import GradientTerm, Measure, MeasureDefinition
from polaroc.priors.beliefs import over_label
from polaroc.priors.grids import range_of, skew
from polaroc.typing import Array, Quantity

AREAS = ("error", "partial")
# Line segments of an arc of equal AccSens.
ARC_STEPS = 60


@takes_curve
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
    return measures_of_curves(curve, [replace(sens_measure(over), over=None)])


@takes_curve
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
    return measures_of_curves(curve, [replace(accsens_measure(over, weights, area), over=None)])


def sens_measure(over: tuple[float, float], backend: Backend = POLARS) -> Measure:
    """Sens as a measure."""
    distance, least, held = _sens(over, backend)
    gradient_terms = _point_terms(over, 1 / distance, backend)
    return Measure(
        "sens",
        distance,
        least=least,
        gradient_terms=gradient_terms,
        over=over_label(over),
        held=held,
    )


def auc_range_measure(over: tuple[float, float], backend: Backend = POLARS) -> Measure:
    """One minus the mean error of the balanced point over the range."""
    gradient_terms = (_area_term(over, 1.0),)
    return Measure(
        "auc_range",
        *error_area(over, backend),
        gradient_terms=gradient_terms,
        over=over_label(over),
    )


def accsens_measure(
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
    backend: Backend = POLARS,
) -> Measure:
    """AccSens as a measure."""
    check_choice("area", area, AREAS)
    distance, least, held = _sens(over, backend)
    area_function = error_area if area == "error" else partial_area
    accuracy, columns, sums = area_function(over, backend)
    value = combined(accuracy, distance, weights)
    gradient_terms: tuple[GradientTerm, ...] = ()
    if area == "error":
        by_area = weights[0] * (accuracy - 1) / (2 * value)
        by_points = _point_terms(over, weights[1] / (2 * value), backend)
        gradient_terms = (_area_term(over, by_area), *by_points)
    return Measure(
        "accsens", value, columns, sums, least, gradient_terms=gradient_terms,
        over=over_label(over), held=held,
    )  # fmt: skip


def equal_error_measure(backend: Backend = POLARS) -> Measure:
    """ε: the error where FNr = FPr, at the balanced point of prior 0.5."""
    (_, f), least, held = balanced(0.5, backend)
    terms = (_point_term(0.5, 1.0),)
    return Measure("equal_error", f, least=least, gradient_terms=terms, held=held)


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
    """Raise unless `weights` are two finite numbers ≥ 0."""
    pair = pair_of(weights)
    if pair is None or not all(0 <= weight < float("inf") for weight in pair):
        raise InvalidArgument(
            f"weights is {shortened(weights)}, allowed are two finite numbers ≥ 0.",
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
    check_arc_weights(weights)
    arcs = [
        pl.DataFrame({"level": [level] * (ARC_STEPS + 1), **_arc(level, *weights)})
        for level in levels
    ]
    schema: dict[str, type[pl.Float64]] = dict.fromkeys(("level", "error", "sens"), pl.Float64)
    return pl.concat([pl.DataFrame(schema=schema), *arcs])


def check_arc_weights(weights: Sequence[float]) -> None:
    """Raise unless one of the two weights is positive."""
    check_weights(weights)
    if not any(weights):
        raise InvalidArgument(
            "weights are both 0, and so is AccSens.", hint=example("weights", (1, 1))
        )


def _sens(
    over: tuple[float, float], backend: Backend
) -> tuple[Quantity, dict[str, Quantity], dict[str, Quantity]]:
    """Sens, and the minima and held values it needs."""
    lo, hi = (balanced(prior, backend) for prior in range_of(over))
    return distance(lo.point, hi.point), lo.least | hi.least, lo.held | hi.held


def _point_terms(
    over: tuple[float, float], scale: Quantity, backend: Backend
) -> tuple[GradientTerm, ...]:
    """Gradient terms of the balanced points at both ends, for `scale` times ½ Sens²."""
    low, high = (balanced(prior, backend).point for prior in over)
    fall, run = low[0] - high[0], high[1] - low[1]
    # At a balanced point t = 1 − λf.
    by_low, by_high = (
        scale * sign * (run + skew(prior) * fall) / 2
        for prior, sign in zip(over, (-1, 1), strict=True)
    )
    return _point_term(over[0], by_low), _point_term(over[1], by_high)


def _point_term(prior: float, slope: Quantity) -> GradientTerm:
    gradient = partial(point_gradient, prior=prior)
    return GradientTerm(f"{PRIVATE}point_{prior!r}", gradient, slope, every_cell=True)


def _area_term(over: tuple[float, float], slope: Quantity) -> GradientTerm:
    gradient = partial(mean_error_gradient, over=over)
    return GradientTerm(f"{PRIVATE}error_{over!r}", gradient, slope)


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
    build=lambda given: [sens_measure(given.over, given.backend)],
    higher_is_better=False,
    over="range",
    in_summary=True,
)
AUC_RANGE = MeasureDefinition(
    name="auc_range",
    label="AUC over the range",
    description="one minus the mean error of the balanced point over a range of priors (AccSens)",
    build=lambda given: [auc_range_measure(given.over, given.backend)],
    over="range",
)
ACCSENS = MeasureDefinition(
    name="accsens",
    label="AccSens",
    description="the mean error over the range and Sens in one number (AccSens Eq. 4)",
    build=lambda given: [accsens_measure(given.over, backend=given.backend)],
    higher_is_better=False,
    over="range",
    in_summary=True,
)
EQUAL_ERROR = MeasureDefinition(
    name="equal_error",
    label="equal error",
    description="the error at the balanced point of prior ½, where FNr = FPr (AccSens)",
    build=lambda given: [equal_error_measure(given.backend)],
    higher_is_better=False,
    default_needs_range=True,
)
