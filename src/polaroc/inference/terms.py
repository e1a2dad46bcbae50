"""Measures as functions of arrays: what standard errors need beside the formulas of `measures`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from polaroc.inference.balanced_gradients import mean_error_gradient, point_gradient
from polaroc.inference.gradients import area_gradient, auc_gradient
from polaroc.inference.moved_segments import Gradient, Segments
from polaroc.measures.balanced import balanced_point
from polaroc.measures.spec import Measure
from polaroc.measures.table import merged
from polaroc.priors.grids import skew
from polaroc.typing import Array


@dataclass(frozen=True)
class GradientTerm:
    """A quantity of the curve that a measure is a smooth function of, with a unique name.

    `gradient` is that of the quantity, of segments; `slope` is the derivative of the measure with
    respect to it, from the columns that the estimate of the measure is written with.
    """

    name: str
    gradient: Callable[[Segments], Gradient]
    slope: pl.Expr | float = 1.0


def gradient_terms(measure: Measure) -> tuple[GradientTerm, ...]:
    """The quantities that the standard error of a measure follows from; none where it has none."""
    given = measure.arguments
    if measure.name == "auc":
        return (GradientTerm(next(iter(measure.sums)), auc_gradient),)
    if measure.name == "equal_error":
        return (_point(0.5, 1.0),)
    if given is None or not measure.is_area:
        return ()
    if measure.name in ("auprec", "iauprec"):
        if given.start != "limit":
            return ()
        gradient = partial(area_gradient, nodes=measure.nodes, interpolation=given.interpolation)
        return (GradientTerm(next(iter(measure.sums)), gradient),)
    error = partial(mean_error_gradient, over=given.over)
    if measure.name == "auc_range":
        return (GradientTerm("error", error),)
    if measure.name == "sens":
        return _ends(given.over, 1 / measure.estimate)
    # √(w (1 − area)² + v Sens²)/√2, with unit weights.
    (missed,) = map(pl.col, measure.sums)
    lo, hi = given.over
    by_area = -(missed / (hi - lo)) / (2 * measure.estimate)
    return GradientTerm("error", error, by_area), *_ends(given.over, 1 / (2 * measure.estimate))


def _ends(over: tuple[float, float], scale: pl.Expr) -> tuple[GradientTerm, ...]:
    """The balanced points at both ends of a range, for `scale` times ½ Sens²."""
    low, high = map(balanced_point, over)
    fall, run = low.t - high.t, high.f - low.f
    # At a balanced point t = 1 − λf.
    return tuple(
        _point(prior, scale * sign * (run + skew(prior) * fall) / 2)
        for prior, sign in zip(over, (-1, 1), strict=True)
    )


def _point(prior: float, slope: pl.Expr | float) -> GradientTerm:
    return GradientTerm(f"point_{prior!r}", partial(point_gradient, prior=prior), slope)


def perfect_lower_limit(
    measure: Measure, tail: float, positives: Array, negatives: Array
) -> Array | None:
    """The lower limit of an area for a test set that is ranked perfectly.

    With the AUC of the limit, as many independent pairs as there are cases of the rarer class are
    all ranked right with probability `tail`. For a precision-recall curve it is ∫ t/(t + λf) dt up
    to t, with the least t and the greatest f that a perfect sample allows: all positives, or all
    negatives, are then on the right side with probability `tail`/2.
    """
    if measure.name == "auc":
        least: Array = tail ** (1 / np.minimum(positives, negatives))
        return least
    if measure.name not in ("auprec", "iauprec"):
        return None
    t = (tail / 2) ** (1 / positives)
    f = 1 - (tail / 2) ** (1 / negatives)
    area = np.zeros(len(positives))
    for node, weight in measure.nodes:
        called = (negatives / positives if node is None else node) * f
        area += weight * (t - called * np.log1p(t / called))
    return area


def values(expression: pl.Expr | float, columns: Mapping[str, Array]) -> Array:
    """The values of an expression of these columns."""
    if not isinstance(expression, pl.Expr):
        return np.full(len(next(iter(columns.values()))), float(expression))
    known = pl.DataFrame(columns).select(expression.cast(pl.Float64)).to_series()
    found: Array = known.fill_null(np.nan).to_numpy()
    return found


def sums_of_cells(
    columns: Mapping[str, Array], firsts: Array, measures: Sequence[Measure]
) -> dict[str, Array]:
    """The sums and minima of measures by key, each of which has a row, the first at `firsts`."""
    sums, scores, least = (
        merged(getattr(one, kind) for one in measures) for kind in ("sums", "score_sums", "least")
    )
    found = pl.DataFrame(columns).select(**sums, **scores, **least)
    return {
        name: (np.fmin if name in least else np.add).reduceat(
            found[name].cast(pl.Float64).fill_null(np.nan).to_numpy(), firsts
        )
        for name in found.columns
    }
