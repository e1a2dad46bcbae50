"""The slider of the prior, and ROC points for precision-recall curves at any prior of its range.

The logit of precision is u − ln λ with u = ln(t/f). As the logistic function rises by
at most a quarter, two points of (t, u/4) are no nearer than their images (t, precision)
are at whatever prior: what is thinned there is thinned for all priors at once.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log, log10

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import private
from polaroc.charts.libraries import alt
from polaroc.charts.lines import PIXELS, groups_of, straightened, thinned
from polaroc.priors.grids import skew
from polaroc.typing import Array

SLIDER = "Share of positives (log₁₀ of the odds) "
# The error of half a pixel, at 800 pixels per axis, is divided among: a cell of the grid in
# three dimensions (0.11); chords between inserted points (0.03); straightening (0.2); the
# curvature of the logistic function (0.1); clipping of u (0.03); rounding (0.02).
MAX_CHORD_ERROR = 0.03 / PIXELS
STRAIGHT = 0.2
MAX_IMAGE_ERROR = 0.1 / PIXELS
CLIPPED = 0.03 / PIXELS
DIGITS = 5
# The greatest second derivative of the logistic function, 1/(6√3), over 8.
LOGISTIC_CURVATURE = 0.01203
# Distance between neighbours, as a share of an axis, above which points are kept for tooltips.
MAX_POINT_GAP = 1 / 60
# Tolerance for points inserted at an end of u, which rounding may place beside it.
AXIS_TOLERANCE = 1e-9
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
    frame: pl.LazyFrame, keys: Sequence[str], over: tuple[float, float]
) -> pl.DataFrame:
    """Few points of each curve, for lines within half a pixel at 800 pixels.

    Thresholds are null between those of the curve; `FIRST` holds the rates where the first
    segment ends, which give precision its limit at the origin.
    """
    log_ratio = (pl.col("tpr").log() - pl.col("fpr").log()).clip(*_ends(over)).fill_nan(None)
    cells = thinned(frame, keys, "fpr", "tpr", third_axis=log_ratio / 4).collect()
    kept = [_thinned(part, over) for part in groups_of(cells, keys) if part.height]
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
    f, t, row = _interpolated(curve["fpr"].to_numpy(), curve["tpr"].to_numpy(), _ends(over))
    u = np.clip(_log_ratio(f, t), *_ends(over))
    straight = straightened(f, t, u / 4, tolerance=STRAIGHT)
    kept = _dense(straight, f, t, u, row >= 0)
    at = row[kept]
    # An inserted point has no threshold, and takes its keys from any row.
    points = curve[np.maximum(at, 0)]
    none = pl.lit(None, pl.Float64)
    threshold = pl.when(pl.Series(at >= 0)).then(pl.col("threshold")).otherwise(none)
    first = curve.row(min(1, curve.height - 1), named=True)
    return points.with_columns(
        threshold.alias("threshold"),
        pl.Series("fpr", f[kept]),
        pl.Series("tpr", t[kept]),
        *(
            pl.lit(first[rate]).alias(name)
            for rate, name in zip(("fpr", "tpr"), FIRST, strict=True)
        ),
    )


def _log_ratio(f: "Array", t: "Array") -> "Array":
    """u = ln(t/f), from −∞ to ∞; at the origin, its limit along the first segment."""
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.log(t) - np.log(f)
    if len(u) > 1 and t[0] == f[0] == 0:
        u[0] = u[1]
    return u


def _interpolated(
    f: "Array", t: "Array", ends: tuple[float, float]
) -> tuple["Array", "Array", "Array"]:
    """The points, with more inserted on the segments until chords follow (t, u/4) closely.

    Returns f, t and the row of each point, −1 if inserted. Along a segment t is a convex
    function of u, so that the error of a chord is at most twice that at its middle u.
    """
    row = np.arange(len(f))
    while True:
        u = _log_ratio(f, t)
        step_f, step_t, step_u = np.diff(f), np.diff(t), np.diff(np.clip(u, *ends))
        target, leaving = _target(u, ends)
        ratio = np.exp(target)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (ratio * f[:-1] - t[:-1]) / (step_t - ratio * step_f)
            chord_error = np.abs(share - 0.5) * np.abs(step_t * step_u / 4)
            chord_error /= np.hypot(step_t, step_u / 4)
        coarse = (
            leaving
            | (2 * chord_error > MAX_CHORD_ERROR)
            | (_image_error(step_t, step_u) > MAX_IMAGE_ERROR)
        )
        split = np.flatnonzero(coarse & (share > 0) & (share < 1))
        if split.size == 0:
            return f, t, row
        f = np.insert(f, split + 1, f[split] + share[split] * step_f[split])
        t = np.insert(t, split + 1, t[split] + share[split] * step_t[split])
        row = np.insert(row, split + 1, -1)


def _target(u: "Array", ends: tuple[float, float]) -> tuple["Array", "Array"]:
    """The u at which to split each segment, and whether it leaves the ends of u there."""
    start, stop = u[:-1], u[1:]
    target, leaving = (np.clip(start, *ends) + np.clip(stop, *ends)) / 2, np.zeros(len(start), bool)
    for end, side in zip(ends, (-1, 1), strict=True):
        beyond_start, beyond_stop = (side * (at - end) for at in (start, stop))
        # A point inserted at an end may miss it by rounding.
        crosses = np.minimum(beyond_start, beyond_stop) < -AXIS_TOLERANCE
        crosses &= np.maximum(beyond_start, beyond_stop) > AXIS_TOLERANCE
        target, leaving = np.where(crosses, end, target), leaving | crosses
    return target, leaving


def _image_error(step_t: "Array", step_u: "Array") -> "Array":
    """Bound on the distance of a chord in (t, u) from its image at any prior."""
    return np.minimum(LOGISTIC_CURVATURE * step_u**2, np.abs(step_t))


def _dense(kept: "Array", f: "Array", t: "Array", u: "Array", real: "Array") -> "Array":
    """The kept points, with more where images are curved or points are far apart."""
    places = set(kept.tolist())
    spans = list(pairwise(kept.tolist()))
    while spans:
        first, last = spans.pop()
        inner = np.arange(first + 1, last)
        far = max(f[last] - f[first], t[last] - t[first]) > MAX_POINT_GAP
        if _image_error(t[last] - t[first], u[last] - u[first]) > MAX_IMAGE_ERROR:
            along = u
        elif far and real[inner].any():
            along, inner = f + t, inner[real[inner]]
        else:
            continue
        if inner.size == 0:
            continue
        middle = int(inner[np.abs(along[inner] - (along[first] + along[last]) / 2).argmin()])
        places.add(middle)
        spans += [(first, middle), (middle, last)]
    return np.array(sorted(places))
