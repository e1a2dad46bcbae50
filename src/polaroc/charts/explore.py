"""Interactive chart with a slider for the prior and a lookup of operating points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import curve_keys
from polaroc.base.tables import as_polars
from polaroc.charts.layers import Records, chance_diagonal, data
from polaroc.charts.libraries import alt
from polaroc.charts.lines import FEWER_CURVES, Lines, lines, refuse_many, refuse_more
from polaroc.charts.options import checked
from polaroc.charts.prior_slider import FIRST, slider, thinned_for_any_prior
from polaroc.charts.theme import GREY, share_axis, style, with_theme
from polaroc.charts.tooltips import in_json
from polaroc.curves.whole import whole_curves
from polaroc.errors import InvalidArgument
from polaroc.priors.grids import range_of

WIDTH = 260
MAX_CURVES = 30
ARRAYS = ["fpr", "tpr", "threshold", "at"]
FORMULAS = {
    "prior": "prior",
    "precision": (
        "datum.tpr + datum.fpr > 0 ? datum.tpr / (datum.tpr + skew * datum.fpr)"
        " : datum.first_tpr / (datum.first_tpr + skew * datum.first_fpr)"
    ),
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


@checked
def explorer(
    curve: pl.LazyFrame | pl.DataFrame,
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
        tooltip. At 800 pixels, both curves are within half a pixel of the curves
        through all points, at every prior of the range.

    Raises
    ------
    InvalidTable, InvalidArgument
        For anything but the table or the result that the chart shows; for an option outside
        what is allowed, and for more curves than can be told apart, 300 in most charts.

    Notes
    -----
    The slider moves the Vega signal `log_odds`, log₁₀ of the odds of a positive, from
    which the signals `prior` and `skew` follow. The data set `data_0` of the Vega
    view holds what is drawn: `line`, `fpr`, `tpr`, `threshold` (null between two
    thresholds) and `precision` at `prior`.

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
    table = as_polars(curve)
    lazy = whole_curves(table)
    keys = curve_keys(lazy)
    refuse_many(table, _refuse_more)
    drawn = _records(thinned_for_any_prior(lazy, keys, over, _refuse_more), keys)
    readout = READOUT if keys else READOUT[1:]
    rate_axes = ("fpr", "false positive rate"), ("tpr", "true positive rate (recall)")
    roc = _panel(0, *rate_axes, drawn, readout)
    pr = _panel(1, ("tpr", "recall"), ("precision", "precision"), drawn, readout)
    channels = style(drawn.series, drawn.title, colours)
    pr_heading = alt.ExprRef(
        "'Precision and recall with ' + format(100 * prior, '.3~r') + ' % positives'"
    )
    panels: list[tuple[Any, Any]] = [
        (alt.layer(chance, *(layer.encode(*channels) for layer in layers)), heading)
        for chance, layers, heading in (
            (chance_diagonal(), roc, "ROC, at every share of positives"),
            (_chance_level(), pr, pr_heading),
        )
    ]
    chart = alt.HConcatChart(
        hconcat=[
            panel.properties(
                width=WIDTH,
                height=WIDTH,
                title=alt.TitleParams(heading, fontSize=13, fontWeight="normal", offset=6),
            )
            for panel, heading in panels
        ],
        data=alt.Data(name="points", values=Records(drawn.records)),
        transform=[
            alt.FlattenTransform(flatten=ARRAYS),
            *(
                alt.CalculateTransform(calculate=formula, **{"as": name})
                for name, formula in FORMULAS.items()
            ),
        ],
        title=alt.TitleParams(title, subtitle=INSTRUCTIONS),
        params=[*slider(prior, over), _nearest()],
    )
    return with_theme(chart, below=drawn.series)


def _panel(
    place: int, x: tuple[str, str], y: tuple[str, str], drawn: Lines, readout: Sequence[str]
) -> list[alt.Chart]:
    """The curves, and the point nearest to the pointer.

    `x` and `y` are the field and the title of an axis.
    """
    many = len(drawn.records) > len(drawn.series)
    base = alt.Chart().encode(
        alt.X(f"{x[0]}:Q", **share_axis(x[1])), alt.Y(f"{y[0]}:Q", **share_axis(y[1]))
    )
    line = base.mark_line(strokeWidth=1 if many else 2, strokeOpacity=0.6 if many else 1, clip=True)
    real = base.transform_filter("isValid(datum.threshold)")
    nearest_point = real.mark_point(
        filled=True, size=90, stroke="white", strokeWidth=1.5, aria=False,
        tooltip=alt.ExprRef(f"{{{', '.join(readout)}}}"),
    ).encode(
        opacity=alt.condition({"param": "point", "empty": False}, alt.value(1), alt.value(0))
    )  # fmt: skip
    return [
        line.encode(alt.Detail("id:N"), alt.Order("at:Q")).properties(name=f"lines_{place}"),
        nearest_point.properties(name=f"here_{place}"),
    ]


def _nearest() -> alt.TopLevelSelectionParameter:
    """The parameter of the point nearest to the pointer, in both panels."""
    select = {"type": "point", "on": "pointerover", "nearest": True, "fields": ["id", "at"]}
    # Altair names views by position, and does not update parameters accordingly.
    return alt.TopLevelSelectionParameter(name="point", select=select, views=["here_0", "here_1"])


def _chance_level() -> alt.Chart:
    """The precision of chance, which is the prior."""
    level = data([{}]).transform_calculate(chance="prior")
    return level.mark_rule(color=GREY, strokeDash=[4, 4]).encode(alt.Y("chance:Q"))


def _records(points: pl.DataFrame, keys: Sequence[str]) -> Lines:
    """A record per curve with the `ARRAYS`, all of one length."""
    drawn = lines(points, keys, "fpr", "tpr", const=FIRST)
    parts = points.partition_by([*keys, *FIRST], maintain_order=True)
    for record, part in zip(drawn.records, parts, strict=True):
        record |= {"fpr": record.pop("x"), "tpr": record.pop("y")}
        record["threshold"] = in_json(part["threshold"])
    return drawn


def _refuse_more(count: int) -> None:
    """Refuse more curves than can be explored."""
    refuse_more(count, MAX_CURVES, "explore", FEWER_CURVES)
