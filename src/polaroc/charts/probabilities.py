"""Charts of scores as probabilities, and of what it costs or saves to act on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.base.text import percent
from polaroc.charts.layers import (
    band_layer,
    chance_diagonal,
    dashed_line,
    data,
    key_style,
    level_line,
    line_layer,
    lines,
    panels_by_prior,
    side_by_side,
    tooltips,
)  # fmt: skip
from polaroc.charts.theme import GREY, SIZE, share_axis, with_theme
from polaroc.charts.vega import alt, unchecked
from polaroc.errors import InvalidTable
from polaroc.probability.calibration import Calibration
from polaroc.thresholds.costs import PROBABILITY_COST
from polaroc.typing import PolarsFrame

NEEDED = ("prior", "score", "probability", "lower", "upper", "cases", "note")
SAYS, RIGHT = "the score says", "share of positives"
BAND = "band: where the line would be, score by score, if scores were calibrated"


@unchecked
def reliability(
    calibration: Calibration | PolarsFrame,
    title: str = "Reliability",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.ConcatChart:
    """Reliability of scores as probabilities, a panel per prior.

    Parameters
    ----------
    calibration
        The result of `calibration`, or its `curve`. The first key gives the colour. Keys whose
        scores are not probabilities have no line; the subtitle says how many.
    title
        Heading of the chart.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.ConcatChart
        The share of positives against the score, both re-weighted to the prior, with the
        diagonal of scores that are right and the consistency bands.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a calibration curve are missing, or no key has scores that
        are probabilities; for more than 300 curves.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> result = pr.calibration(table, truth="truth", score="score")
    >>> chart = pr.charts.reliability(result)
    >>> chart.to_dict()["title"]["text"]
    'Reliability'
    """
    curve = calibration.curve if isinstance(calibration, Calibration) else calibration
    lazy = as_lazy(curve)
    keys = require(lazy, NEEDED, source="calibration(...).curve")
    every = lazy.sort(*keys, "prior", "score", nulls_last=True).collect()
    table, without = _drawable(
        every, keys, "score", "no key has scores that are probabilities, from 0 to 1.",
        "turn scores into probabilities first: polaroc.probabilities(...).",
    )  # fmt: skip
    axes = alt.X("x:Q", **share_axis(SAYS)), alt.Y("y:Q", **share_axis(RIGHT))
    channels = key_style(table, keys, colours)
    titles = {"x": SAYS, "y": RIGHT, "lower": "band from", "upper": "band to"}
    tooltip = tooltips(keys, {name: (says, ".3f") for name, says in titles.items()}, "scores of")

    def draw(panel: pl.DataFrame) -> alt.LayerChart:
        records = lines(panel, keys, ["lower", "upper"], ["prior"], x="score", y="probability")
        base = data(records, "x", "y", "lower", "upper")
        points = alt.OverlayMarkDef(size=14)
        line = line_layer(base, records, *axes, *channels, tooltip, clip=True, point=points)
        band = band_layer(base, axes[0], channels[0])
        return alt.LayerChart(layer=[chance_diagonal(), band, line])

    charts = {name: draw(panel) for name, panel in panels_by_prior(table, keys).items()}
    return with_theme(side_by_side(charts), title, [BAND, without])


@unchecked
def cost_curves(
    costs: PolarsFrame,
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
        Where the columns of cost curves are missing; for more than 300 curves; where `colours`
        lacks a model.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> curves.pipe(pr.cost_curve).pipe(pr.charts.cost_curves).to_dict()["title"]["text"]
    'Cost curves'
    """
    lazy = as_lazy(costs)
    needed = (PROBABILITY_COST, "cost", "threshold", "tpr", "fpr")
    keys = require(lazy, needed, source="cost_curve(...)")
    points = lazy.sort(*keys, PROBABILITY_COST, nulls_last=True).collect()
    records = lines(points, keys, x=PROBABILITY_COST, y="cost")
    up = alt.Y(
        "y:Q", scale=alt.Scale(domain=[0, 0.5], nice=False), title="normalised expected cost",
        axis=alt.Axis(values=[0, 0.1, 0.2, 0.3, 0.4, 0.5], format=".1f"),
    )  # fmt: skip
    across = alt.X("x:Q", **share_axis("probability cost: πc / (πc + (1−π)d)"))
    shown = {"x": ("probability cost", ".3f"), "y": ("normalised expected cost", ".4f")}
    channels = key_style(points, keys, colours)
    base = data(records, "x", "y")
    marks = line_layer(base, records, across, up, *channels, tooltips(keys, shown), clip=True)
    chart = alt.layer(dashed_line((0, 0), (0.5, 0.5), (1, 0)), marks)
    caption = "grey: calling all or nothing positive; c: cost of a miss, d: of a false alarm"
    return with_theme(chart.properties(width=1.2 * SIZE, height=0.8 * SIZE), title, [caption])


@unchecked
def decision_curves(
    benefits: PolarsFrame,
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
    keys = require(lazy, needed, source="decision_curve(...)")
    every = lazy.sort(*keys, "prior", "threshold", nulls_last=True).collect()
    table, without = _drawable(
        every, keys, "net_benefit",
        "no key has a net benefit: its scores are not probabilities, from 0 to 1.",
        "turn scores into probabilities before decision_curve.",
    )  # fmt: skip
    limits = [end for end in ("lower", "upper") if end in table.columns]
    per_100 = table.with_columns(pl.col("net_benefit", "treat_all", *limits) * 100)
    channels = key_style(table, keys, colours)
    axis = alt.Axis(format=".1f", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    across = alt.X("x:Q", title="threshold probability", axis=axis)
    tooltip = tooltips(
        keys,
        {
            "prior": ("prior", ".3~p"),
            "x": ("threshold probability", ".3f"),
            "y": ("net benefit per 100 cases", ".2f"),
        },
    )

    def draw(panel: pl.DataFrame) -> alt.LayerChart:
        every = lines(panel, keys, x="threshold", y="treat_all")
        of_models = lines(panel, keys, limits, ["prior"], x="threshold", y="net_benefit")
        base = data(of_models, "x", "y", *limits)
        greatest = 100 * max(panel["prior"], default=1)
        # Range of negative net benefits, as a share of the greatest possible one.
        scale = alt.Scale(domain=[-0.2 * greatest, greatest], nice=False)
        up = alt.Y("y:Q", scale=scale, title="net benefit per 100 cases")
        grey = {"color": GREY, "strokeWidth": 1, "clip": True}
        layers = [
            *([band_layer(base, across, channels[0])] if limits else []),
            line_layer(data(every, "x", "y"), every, across, up, **grey),
            level_line(0),
            line_layer(base, of_models, across, up, *channels, tooltip, clip=True),
        ]
        return alt.LayerChart(layer=layers)

    charts = {name: draw(panel) for name, panel in panels_by_prior(per_100, keys).items()}
    captions = ["grey: calling all positive; dashed: calling none"]
    if "level" in table.columns and not table.is_empty():
        captions.append(f"band: {percent(table['level'][0])} limits at each threshold")
    return with_theme(side_by_side(charts, ratio=0.8), title, [*captions, without])


def _drawable(
    rows: pl.DataFrame, keys: Sequence[str], value: str, problem: str, hint: str
) -> tuple[pl.DataFrame, str]:
    """The rows that have a value, and a caption on keys that have none; raise if no key has one."""
    known = rows.drop_nulls(value)
    if known.is_empty() and not rows.is_empty():
        raise InvalidTable(problem, hint=hint)
    left_out = rows.filter(pl.col(value).is_null()).select(keys).n_unique()
    return known, f"left out, scores are not probabilities: {left_out} key(s)" * (left_out > 0)
