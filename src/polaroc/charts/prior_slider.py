"""The slider of the prior, and ROC points for precision-recall curves at any prior of its range.

The logit of precision is u − ln λ with u = ln(t/f). As the logistic function rises by
at most a quarter, two points of (t, u/4) are no nearer than their images (t, precision)
are at whatever prior: what is thinned there is thinned for all priors at once.
"""

from collections.abc import Callable, Sequence
from math import log, log10

import numpy as np
import polars as pl

from polaroc.base.private_columns import private
from polaroc.charts.libraries import alt
from polaroc.charts.lines import (
    PIXELS,
    groups_of,
    moved_back,
    steps_between,
    straightened,
    thinned,
)
from polaroc.priors.grids import skew
from polaroc.typing import Array

SLIDER = "Share of positives (log₁₀ of the odds) "
# The error of half a pixel, at 800 pixels per axis, is divided among: a cell of the grid in
# three dimensions (0.11); steps between inserted points (0.05); straightening (0.2); the
# curvature of the logistic function (0.1); clipping of u (0.03); rounding (0.02).
STEP, CLIPPED = 0.05 / PIXELS, 0.03 / PIXELS
# How much u may change on a line: its square, over 8, times the greatest second derivative of the
# logistic function, 1/(6√3), is 0.1 pixels where it is twice as much.
TURN = 0.05
DIGITS = 5
# Distance between neighbours, as a share of an axis, above which points are kept for tooltips.
MAX_POINT_GAP = 1 / 60
LIMIT = private("first_")
FIRST = (LIMIT + "fpr", LIMIT + "tpr")


def slider(prior: float, over: tuple[float, float]) -> list["alt.VariableParameter"]:
    """The parameters of the prior."""
    lo, hi, start = (log10(share / (1 - share)) for share in (*over, prior))
    shown = {"input": "range", "min": lo, "max": hi, "step": 0.001, "name": SLIDER}
    return [
        alt.VariableParameter(name="log_odds", value=start, bind=shown),
        alt.VariableParameter(name="prior", expr="1 / (1 + pow(10, -log_odds))"),
        alt.VariableParameter(name="skew", expr="pow(10, -log_odds)"),
    ]


def thinned_for_any_prior(
    frame: pl.LazyFrame,
    keys: Sequence[str],
    over: tuple[float, float],
    refuse: Callable[[int], None],
) -> pl.DataFrame:
    """Few points of each curve, for lines within half a pixel at 800 pixels; many it may refuse.

    Thresholds are null between those of the curve; `FIRST` holds the rates where the first
    segment ends, which give precision its limit at the origin.
    """
    log_ratio = (pl.col("tpr").log() - pl.col("fpr").log()).clip(*_ends(over)).fill_nan(None)
    cells = thinned(frame, keys, "fpr", "tpr", third_axis=log_ratio / 4).collect()
    curves = [part for part in groups_of(cells, keys) if part.height]
    refuse(len(curves))
    kept = [_thinned(part, over) for part in curves]
    points = (
        pl.concat(kept) if kept else cells.with_columns(pl.col("fpr", "tpr").name.prefix(LIMIT))
    )
    return points.select(*keys, pl.col("fpr", "tpr", *FIRST).round_sig_figs(DIGITS), "threshold")


def _ends(over: tuple[float, float]) -> tuple[float, float]:
    """The range of u outside which precision is visibly the same as 0 or 1."""
    lo, hi = over
    margin = log(1 / CLIPPED)
    return log(skew(hi)) - margin, log(skew(lo)) + margin


def _thinned(curve: pl.DataFrame, over: tuple[float, float]) -> pl.DataFrame:
    f, t = (curve[name].to_numpy() for name in ("fpr", "tpr"))
    height = np.abs(np.diff(u := _log_ratio(f, t, over), prepend=u[:1])) / 4
    row, before = steps_between(t, height, STEP)
    f, t = (moved_back(axis, row, before) for axis in (f, t))
    kept = _dense(f, t, _log_ratio(f, t, over), before == 0)
    # A point put between two has no threshold, and takes its keys from the next.
    points = curve[row[kept]]
    threshold = pl.when(pl.Series(before[kept] == 0)).then(pl.col("threshold"))
    first = curve.row(min(1, curve.height - 1), named=True)
    return points.with_columns(
        threshold.alias("threshold"),
        pl.Series("fpr", f[kept]),
        pl.Series("tpr", t[kept]),
        *(pl.lit(first[name.removeprefix(LIMIT)]).alias(name) for name in FIRST),
    )


def _log_ratio(f: "Array", t: "Array", over: tuple[float, float]) -> "Array":
    """u = ln(t/f) within its ends; at the origin, its limit along the first segment."""
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.log(t) - np.log(f)
    if len(u) > 1 and t[0] == f[0] == 0:
        u[0] = u[1]
    return np.clip(u, *_ends(over))


def _dense(f: "Array", t: "Array", u: "Array", real: "Array") -> "Array":
    """The points that lines need at any prior, and where thresholds would be far apart."""
    rise, turn = (np.abs(np.diff(axis, prepend=axis[:1])) for axis in (t, u))
    bend, told = np.cumsum(np.minimum(turn / TURN, rise / STEP)), np.flatnonzero(real)
    bent, apart = (
        np.unique(place.astype(np.int64), return_index=True)[1]
        for place in (bend, (f + t)[told] / MAX_POINT_GAP)
    )
    return np.unique(np.concatenate([straightened(f, t, u / 4), bent, told[apart]]))
