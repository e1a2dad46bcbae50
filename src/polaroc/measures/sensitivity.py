"""Prior sensitivity: how far the balanced operating point moves with the prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import pi, sqrt

import numpy as np
import polars as pl

from polaroc.base.checks import pair_of
from polaroc.base.columns import PRIVATE, collect_like
from polaroc.curves.segments import segment
from polaroc.curves.whole import whole_curves
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.measures.balanced import balanced_point, distance, partial_area, range_error
from polaroc.measures.functions import measures_of_curves
from polaroc.measures.spec import Measure, MeasureArguments, MeasureDefinition
from polaroc.priors.beliefs import resolve_belief
from polaroc.priors.grids import range_of
from polaroc.typing import Array, Frame, Quantity

AREAS = ("error", "partial")
# Line segments of an arc of equal AccSens.
ARC_STEPS = 60


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
    measures = [replace(sens_measure(over), over=None)]
    return collect_like(curve, measures_of_curves(whole_curves(curve), measures))


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
    measures = [replace(accsens_measure(over, weights, area), over=None)]
    return collect_like(curve, measures_of_curves(whole_curves(curve), measures))


def sens_measure(over: tuple[float, float], column: Callable[[str], pl.Expr] = pl.col) -> Measure:
    """Sens as a measure (AccSens Eq. 3)."""
    low, high = (balanced_point(prior, column) for prior in range_of(over))
    return Measure(
        name="sens", estimate=distance(low, high), least=low.least | high.least,
        over=resolve_belief(over).name, arguments=MeasureArguments(over=over),
    )  # fmt: skip


def auc_range_measure(
    over: tuple[float, float], column: Callable[[str], pl.Expr] = pl.col
) -> Measure:
    """One minus the mean error of the balanced point over the range."""
    lo, hi = range_of(over)
    name = f"{PRIVATE}error_{over!r}"
    return Measure(
        name="auc_range", estimate=1 - column(name) / (hi - lo),
        sums={name: range_error(segment(column), over)}, over=resolve_belief(over).name,
        arguments=MeasureArguments(over=over),
    )  # fmt: skip


def accsens_measure(
    over: tuple[float, float],
    weights: tuple[float, float] = (1, 1),
    area: str = "error",
    column: Callable[[str], pl.Expr] = pl.col,
) -> Measure:
    """AccSens as a measure (AccSens Eq. 4)."""
    check_choice("area", area, AREAS)
    sens, accuracy = sens_measure(over, column), auc_range_measure(over, column)
    if area == "partial":
        names = [f"{PRIVATE}{part}_{over!r}" for part in ("partial", "width")]
        missed, width = map(column, names)
        sums = dict(zip(names, partial_area(segment(column), over), strict=True))
        accuracy = replace(
            accuracy, estimate=pl.when(width > 0).then(1 - missed / width), sums=sums
        )
    return replace(
        sens, name="accsens", estimate=combined(accuracy.estimate, sens.estimate, weights),
        sums=accuracy.sums,
    )  # fmt: skip


def equal_error_measure(column: Callable[[str], pl.Expr] = pl.col) -> Measure:
    """ε: the error where FNr = FPr, at the balanced point of prior 0.5."""
    point = balanced_point(0.5, column)
    return Measure(name="equal_error", estimate=point.f, least=point.least)


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
    build=lambda given: [sens_measure(given.over, given.column)],
    higher_is_better=False,
    over="range",
    in_summary=True,
)
AUC_RANGE = MeasureDefinition(
    name="auc_range",
    label="AUC over the range",
    description="one minus the mean error of the balanced point over a range of priors (AccSens)",
    build=lambda given: [auc_range_measure(given.over, given.column)],
    over="range",
)
ACCSENS = MeasureDefinition(
    name="accsens",
    label="AccSens",
    description="the mean error over the range and Sens in one number (AccSens Eq. 4)",
    build=lambda given: [accsens_measure(given.over, column=given.column)],
    higher_is_better=False,
    over="range",
    in_summary=True,
)
EQUAL_ERROR = MeasureDefinition(
    name="equal_error",
    label="equal error",
    description="the error at the balanced point of prior ½, where FNr = FPr (AccSens)",
    build=lambda given: [equal_error_measure(given.column)],
    higher_is_better=False,
    default_needs_range=True,
)
