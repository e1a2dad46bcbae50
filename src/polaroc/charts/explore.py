"""Interactive chart with a slider for the prior and a lookup of operating points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, log10
from typing import Any

import polars as pl

from polaroc.base.columns import curve_keys, private
from polaroc.base.tables import as_polars
from polaroc.charts.layers import (
    Records,
    chance_diagonal,
    data,
    key_style,
    line_layer,
    lines,
    refuse_more,
    series_of,
)
from polaroc.charts.theme import GREY, PANEL_SIZE, SIZE, share_axis, with_theme
from polaroc.charts.thinning import STEP, line_points, thinned
from polaroc.charts.vega import alt, unchecked
from polaroc.curves.curve import whole_curves
from polaroc.errors import InvalidArgument
from polaroc.priors.grids import range_of, skew
from polaroc.typing import PolarsFrame

MAX_CURVES = 30
FEWER_CURVES = (
    "draw fewer models or files: build curves with the model as their only key, or filter them."
)
# The logit of precision is u − ln λ with u = ln(t/f). As the logistic function rises by at most a
# quarter, two points of (t, u/4) are no nearer than their images (t, precision) are at whatever
# prior: what is thinned there is thinned for all priors at once. Of the 0.12 pixels that thinning
# leaves, clipping u takes 0.01, and the change of u on a line 0.1: its square, over 8, times the
# greatest second derivative of the logistic function, 1/(6√3), is as much where it is twice TURN.
CLIPPED, TURN = 0.01 / SIZE, 0.07
LOG_RATIO = private("log_ratio")
SLIDER = "Share of positives (log₁₀ of the odds) "
FORMULAS = {
    "prior": "prior",
    "precision": "datum.tpr / (datum.tpr + skew * datum.fpr)",
    "score": "'' + datum.threshold",
}
# In the Voronoi layer of a nearest-point selection, Vega-Lite nests the point in `datum`.
NEAREST_POINT = "(datum.datum || datum)"
READOUT = (
    f"'curve': {NEAREST_POINT}.line",
    f"'call positive if score ≥': {NEAREST_POINT}.score",
    f"'recall (true positive rate)': format({NEAREST_POINT}.tpr, '.4f')",
    f"'false positive rate': format({NEAREST_POINT}.fpr, '.4~g')",
    f"'precision': format({NEAREST_POINT}.precision, '.4f')",
    "'share of positives': format(100 * prior, '.3~r') + ' %'",
)
INSTRUCTIONS = (
    "Move the slider to change the share of positives, and point at a curve for its threshold."
)


@unchecked
def explorer(
    curve: PolarsFrame,
    title: str = "Operating points at any prior",
    *,
    prior: float = 0.1,
    over: tuple[float, float] = (0.001, 0.999),
    colours: Mapping[str, str] | None = None,
) -> alt.HConcatChart:
    """ROC and precision-recall curves side by side, with a slider for the prior.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`, of at most 30 keys: of many folds, pool the
        scores by building the curves with the model as their only key. The first key
        gives the colour.
    title
        Heading of the chart.
    prior
        Where the slider starts: share of positives, within `over`.
    over
        The range (lo, hi) of priors of the slider, 0 < lo < hi < 1.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.HConcatChart
        The chart itself computes precision from the ROC points and the prior. The
        point nearest to the pointer is marked in both panels, with its threshold in a
        tooltip. Both curves are within half a pixel of the curves through all points, at
        every prior of the range.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a curve are missing, or its rows are not whole; for `prior` and
        `over` outside what is allowed; for more than 30 curves; where `colours` lacks a model.

    Notes
    -----
    The slider moves the Vega signal `log_odds`, log₁₀ of the odds of a positive, from
    which the signals `prior` and `skew` follow. The data set `data_0` of the Vega
    view holds what is drawn: `line`, `fpr`, `tpr`, `threshold` (null but at evenly
    spaced points of the curve) and `precision` at `prior`.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> [param["name"] for param in pr.charts.explorer(curves).to_dict()["params"][:3]]
    ['log_odds', 'prior', 'skew']
    """
    over = range_of(over)
    if not over[0] <= prior <= over[1]:
        raise InvalidArgument(
            f"prior is {prior!r}, the slider goes from {over[0]} to {over[1]}.",
            hint="choose a prior within over=.",
        )
    plan = whole_curves(as_polars(curve))
    keys = curve_keys(plan)
    points = _points(plan, keys, over)
    records = lines(points, keys, ["fpr", "tpr", "threshold"])
    series, channels = series_of(points, keys), key_style(points, keys, colours)
    level = data([{}]).transform_calculate(chance="prior")
    level = level.mark_rule(color=GREY, strokeDash=[4, 4]).encode(alt.Y("chance:Q"))
    pr_heading = alt.ExprRef(
        "'Precision and recall with ' + format(100 * prior, '.3~r') + ' % positives'"
    )
    recall, roc_heading = "recall (true positive rate)", "ROC, at every share of positives"
    panels: list[tuple[alt.Chart, Any, Any, Any]] = [
        (chance_diagonal(), ("fpr", "false positive rate"), ("tpr", recall), roc_heading),
        (level, ("tpr", "recall"), ("precision", "precision"), pr_heading),
    ]
    chart = alt.HConcatChart(
        hconcat=[
            alt.layer(
                chance, *_layers(place, x, y, records, channels, READOUT if keys else READOUT[1:])
            ).properties(
                width=PANEL_SIZE,
                height=PANEL_SIZE,
                title=alt.TitleParams(heading, fontSize=13, fontWeight="normal", offset=6),
            )
            for place, (chance, x, y, heading) in enumerate(panels)
        ],
        data=alt.Data(name="points", values=Records(records)),
        transform=[
            alt.FlattenTransform(flatten=["fpr", "tpr", "threshold"]),
            *(
                alt.CalculateTransform(calculate=formula, **{"as": name})
                for name, formula in FORMULAS.items()
            ),
        ],
        params=[*_slider(prior, over), _nearest()],
    )
    return with_theme(chart, title, [INSTRUCTIONS], below=series)


def _points(plan: pl.LazyFrame, keys: Sequence[str], over: tuple[float, float]) -> pl.DataFrame:
    """The points for lines at any prior of the range."""
    lo, hi = over
    # Outside, precision is visibly the same as 0 or 1.
    margin = log(1 / CLIPPED)
    ends = log(skew(hi)) - margin, log(skew(lo)) + margin
    log_ratio = pl.col("tpr").log() - pl.col("fpr").log()
    quarter = (log_ratio.clip(*ends).fill_nan(None) / 4).alias(LOG_RATIO)
    points = thinned(plan, keys, "fpr", "tpr", quarter).collect()
    refuse_more(points.select(keys).n_unique() if keys else 1, MAX_CURVES, FEWER_CURVES)
    turn, rise = 4 * quarter.diff().abs() / TURN, pl.col("tpr").diff() / STEP
    bins = pl.min_horizontal(turn, rise).fill_null(0).cum_sum().floor()
    return line_points(points, keys, ["fpr", "tpr", LOG_RATIO], quarter, bins)


def _slider(prior: float, over: tuple[float, float]) -> list[alt.VariableParameter]:
    """The parameters of the prior."""
    lo, hi, start = (log10(share / (1 - share)) for share in (*over, prior))
    shown = {"input": "range", "min": lo, "max": hi, "step": 0.001, "name": SLIDER}
    return [
        alt.VariableParameter(name="log_odds", value=start, bind=shown),
        alt.VariableParameter(name="prior", expr="1 / (1 + pow(10, -log_odds))"),
        alt.VariableParameter(name="skew", expr="pow(10, -log_odds)"),
    ]


def _layers(
    place: int,
    x: tuple[str, str],
    y: tuple[str, str],
    records: list[dict[str, Any]],
    channels: Sequence[Any],
    readout: Sequence[str],
) -> list[alt.Chart]:
    """The curves, and the point nearest to the pointer; `x` and `y` are fields and their titles."""
    base = alt.Chart().encode(
        alt.X(f"{x[0]}:Q", **share_axis(x[1])), alt.Y(f"{y[0]}:Q", **share_axis(y[1]))
    )
    real = base.transform_filter("isValid(datum.threshold)")
    nearest_point = real.mark_point(
        filled=True, size=90, stroke="white", strokeWidth=1.5, aria=False,
        tooltip=alt.ExprRef(f"{{{', '.join(readout)}}}"),
    ).encode(
        *channels,
        opacity=alt.condition({"param": "point", "empty": False}, alt.value(1), alt.value(0)),
    )  # fmt: skip
    return [
        line_layer(base, records, *channels).properties(name=f"lines_{place}"),
        nearest_point.properties(name=f"here_{place}"),
    ]


def _nearest() -> alt.TopLevelSelectionParameter:
    """The parameter of the point nearest to the pointer, in both panels."""
    fields = ["id", "threshold"]
    select = {"type": "point", "on": "pointerover", "nearest": True, "fields": fields}
    # Altair names views by position, and does not update parameters accordingly.
    return alt.TopLevelSelectionParameter(name="point", select=select, views=["here_0", "here_1"])
