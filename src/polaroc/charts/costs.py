"""Charts of cost curves and decision curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.base.rounding import percent
from polaroc.charts.layers import (
    band_layer,
    dashed_line,
    data,
    drawn_lines,
    finished,
    line_marks,
    panels_by_prior,
)
from polaroc.charts.libraries import alt
from polaroc.charts.lines import lines
from polaroc.charts.options import checked
from polaroc.charts.theme import GREY, SIZE, share_axis, with_theme
from polaroc.errors import InvalidTable
from polaroc.thresholds.cost_curves import PROBABILITY_COST

# Range of negative net benefits, as a share of the greatest possible one.
BELOW = 0.2
DECIMALS = 6


@checked
def cost_curves(
    costs: pl.LazyFrame | pl.DataFrame,
    title: str = "Cost curves",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.LayerChart:
    """The least expected cost of each curve, over all priors and costs.

    Parameters
    ----------
    costs
        The result of `cost_curve`. The first key gives the colour.
    title
        Heading of the chart.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.LayerChart
        Normalised cost against the probability cost, with the cost of calling all or
        nothing positive.

    Raises
    ------
    InvalidTable, InvalidArgument
        For anything but the table or the result that the chart shows; for an option outside
        what is allowed, and for more curves than can be told apart, 300 in most charts.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> curves.pipe(pr.cost_curve).pipe(pr.charts.cost_curves).to_dict()["title"]["text"]
    'Cost curves'
    """
    lazy = as_lazy(costs)
    needed = (PROBABILITY_COST, "cost", "threshold", "tpr", "fpr")
    keys = [name for name in require(lazy, needed, source="cost_curve(...)") if name not in needed]
    points = lazy.sort(*keys, PROBABILITY_COST, nulls_last=True).collect()
    drawn = lines(points, keys, PROBABILITY_COST, "cost")
    trivial = dashed_line((0, 0), (0.5, 0.5), (1, 0))
    axis = alt.Y(
        "y:Q", scale=alt.Scale(domain=[0, 0.5], nice=False), title="normalised expected cost",
        axis=alt.Axis(values=[0, 0.1, 0.2, 0.3, 0.4, 0.5], format=".1f"),
    )  # fmt: skip
    across = alt.X("x:Q", **share_axis("probability cost: πc / (πc + (1−π)d)"))
    tooltip = [
        *([alt.Tooltip("line:N", title="curve")] if keys else []),
        alt.Tooltip("x:Q", title="probability cost", format=".3f"),
        alt.Tooltip("y:Q", title="normalised expected cost", format=".4f"),
    ]
    marks = line_marks(data(drawn.records), drawn, colours=colours)
    layers = [trivial, marks.encode(across, axis, tooltip=tooltip)]
    subtitle = "grey: calling all or nothing positive; c: cost of a miss, d: of a false alarm"
    return finished(layers, title, [subtitle], width=1.2 * SIZE, height=0.8 * SIZE)


@checked
def decision_curves(
    benefits: pl.LazyFrame | pl.DataFrame,
    title: str = "Decision curves",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.ConcatChart:
    """Net benefit of acting on a model above each threshold probability, a panel per prior.

    Parameters
    ----------
    benefits
        The result of `decision_curve`, also with intervals. The first key gives the colour. Keys
        whose scores are not probabilities have no line; the subtitle says how many.
    title
        Heading of the chart.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.ConcatChart
        Net benefit in true positives per 100 cases, down to a fifth of the greatest
        there can be below 0, with that of calling all and of calling none positive, and its
        limits as bands where there are any.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of decision curves are missing, or no key has scores that
        are probabilities; for more than 300 curves.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> curves.pipe(pr.decision_curve).pipe(pr.charts.decision_curves).to_dict()["title"]["text"]
    'Decision curves'
    """
    lazy = as_lazy(benefits)
    needed = ("prior", "threshold", "tpr", "fpr", "net_benefit", "treat_all")
    names = require(lazy, needed, source="decision_curve(...)")
    keys = [name for name in names if name not in needed]
    every = lazy.sort(*keys, "prior", "threshold", nulls_last=True).collect()
    table = every.drop_nulls("net_benefit")
    if table.is_empty() and not every.is_empty():
        raise InvalidTable(
            "no key has a net benefit: its scores are not probabilities, from 0 to 1.",
            hint="turn scores into probabilities before decision_curve.",
        )
    charts = panels_by_prior(
        table, keys, lambda panel: _decisions(panel, keys, colours), narrow=0.7, ratio=0.8
    )
    subtitle = "grey: calling all positive; dashed: calling none"
    if "level" in table.columns and not table.is_empty():
        subtitle += f"; band: {percent(table['level'][0])} limits at each threshold"
    if table.height < every.height:
        left_out = every.filter(pl.col("net_benefit").is_null()).select(keys).n_unique()
        subtitle += f"; left out, scores are not probabilities: {left_out} key(s)"
    heading = alt.TitleParams(title, subtitle=subtitle)
    return with_theme(alt.concat(*charts, columns=2).properties(title=heading))


def _decisions(
    panel: pl.DataFrame, keys: Sequence[str], colours: Mapping[str, str] | None
) -> alt.LayerChart:
    ends = [end for end in ("lower", "upper") if end in panel.columns]
    shown = panel.with_columns((pl.col("net_benefit", "treat_all", *ends) * 100).round(DECIMALS))
    own, every = (
        lines(shown, keys, "threshold", name, ["prior"], beside)
        for name, beside in (("net_benefit", ends), ("treat_all", []))
    )
    bands = [band_layer(data(own.records), own, colours)] if ends else []
    axis = alt.Axis(format=".1f", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    across = alt.X("x:Q", title="threshold probability", axis=axis)
    greatest = 100 * max(panel["prior"], default=1)
    scale = alt.Scale(domain=[-BELOW * greatest, greatest], nice=False)
    up = alt.Y("y:Q", scale=scale, title="net benefit: true positives per 100 cases")
    tooltip = [
        *([alt.Tooltip("line:N", title="curve")] if keys else []),
        alt.Tooltip("prior:Q", title="prior", format=".3~p"),
        alt.Tooltip("x:Q", title="threshold probability", format=".3f"),
        alt.Tooltip("y:Q", title="net benefit per 100 cases", format=".2f"),
    ]
    treat_all = drawn_lines(data(every.records), across, up, color=GREY, strokeWidth=1, clip=True)
    none = data([{"y": 0}]).mark_rule(color=GREY, strokeDash=[4, 4]).encode(alt.Y("y:Q"))
    model = line_marks(data(own.records), own, colours=colours).encode(across, up, tooltip=tooltip)
    return alt.LayerChart(layer=[*bands, treat_all, none, model])
