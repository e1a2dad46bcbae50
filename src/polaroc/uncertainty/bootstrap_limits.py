"""Confidence limits of a measure from bootstrap draws."""

from collections.abc import Sequence
from typing import TypeAlias

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.statistics import NORMAL, ROUNDING, normal
from polaroc.measures.spec import Measure, values_by_row
from polaroc.typing import Array
from polaroc.uncertainty.cells import segments_of_curve
from polaroc.uncertainty.cluster_sums import moments_of_areas
from polaroc.uncertainty.clusters import clustered_cases, ranked_cases
from polaroc.uncertainty.influence import on_segments

# Lower and upper limit, standard error, note.
Limits: TypeAlias = tuple[float | None, float | None, float | None, str | None]


def limits_of_draws(
    estimate: float, drawn: "Array", method: str, level: float, acceleration: float, smallest: float
) -> Limits:
    """The limits of one measure from its values in the draws, NaN where it is undefined.

    `smallest` replaces a distance of zero from 0 or 1, whose log-odds would be infinite.
    """
    known = drawn[np.isfinite(drawn)]
    # Sums over fractions of cases may exceed the range of a measure by rounding.
    for end in (0, 1):
        known[np.abs(known - end) < ROUNDING] = end
    note = None if known.size == drawn.size else f"{drawn.size - known.size} draws lack a class"
    if known.size < 2 or not np.isfinite(estimate):
        return None, None, None, note
    error = float(known.std(ddof=1))
    if np.ptp(known) < ROUNDING:
        return None, None, 0.0, "all draws agree: no interval"
    tails = [(1 - level) / 2, (1 + level) / 2]
    if method == "logit":
        lowest, highest = _on_log_odds(estimate, known, level, smallest)
        return lowest, highest, error, note
    if method == "bca":
        same = np.abs(known - estimate) < ROUNDING
        below = float(((known < estimate) & ~same).sum() + same.sum() / 2) / known.size
        if not 0 < below < 1:
            return None, None, error, "all draws on one side of the estimate: no BCa interval"
        tails = [_bca_tail(tail, NORMAL.inv_cdf(below), acceleration) for tail in tails]
    lower, upper = np.quantile(known, tails)
    return float(lower), float(upper), error, note


def widest(limits: Sequence[Limits]) -> Limits:
    """The first of several limits, widened to include all; without limits if any has none.

    Examples
    --------
    >>> widest([(0.4, 0.6, 0.1, None), (0.3, 0.5, 0.1, None), (0.5, 0.7, 0.1, None)])
    (0.3, 0.7, 0.1, None)
    """
    lower = [one[0] for one in limits if one[0] is not None]
    upper = [one[1] for one in limits if one[1] is not None]
    _, _, error, note = limits[0]
    if len(lower) < len(limits):
        return None, None, error, next((one[3] for one in limits if one[0] is None), note)
    return min(lower), max(upper), error, note


def accelerations(
    roc: pl.DataFrame, measures: Sequence[Measure], cases: pl.DataFrame | None = None
) -> list[float]:
    """The BCa acceleration of each row: Σψ³/(6 (Σψ²)^1.5) of the influence ψ of units.

    The units are cases or, where `cases` with a column `CLUSTER` are given, clusters.
    """
    if cases is not None:
        ranked = clustered_cases(ranked_cases(cases, []), np.array([0, cases.height]))
        moments = moments_of_areas(ranked, measures)
    else:
        segments = segments_of_curve(roc)
        moments = np.transpose([one.powers(segments) for one in on_segments(segments, measures)])
    rows = (row.tolist() for row in values_by_row(measures, moments))
    return [cube / (6 * square**1.5) if square > ROUNDING**2 else 0.0 for square, cube in rows]


def _on_log_odds(
    estimate: float, known: "Array", level: float, smallest: float
) -> tuple[float, float] | tuple[None, None]:
    if not 0 < estimate < 1:
        return None, None
    inside = np.clip(known, smallest, 1 - smallest)
    odds = np.log(inside / (1 - inside))
    width = normal(level) * float(odds.std(ddof=1))
    centre = float(np.log(estimate / (1 - estimate)))
    lower, upper = (float(1 / (1 + np.exp(-end))) for end in (centre - width, centre + width))
    return lower, upper


def _bca_tail(tail: float, bias: float, acceleration: float) -> float:
    """Tail probability adjusted for bias and acceleration."""
    moved = bias + NORMAL.inv_cdf(tail)
    return NORMAL.cdf(bias + moved / (1 - acceleration * moved))
