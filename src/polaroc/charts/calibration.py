"""Chart of calibration curves: how often a score is right that says 30 %."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.charts.layers import (
    band_layer,
    chance_diagonal,
    data,
    line_layer,
    panels_by_prior,
    side_by_side,
    tooltips,
)
from polaroc.charts.libraries import alt, unchecked
from polaroc.charts.lines import lines, series_of
from polaroc.charts.theme import share_axis, style, with_theme
from polaroc.errors import InvalidTable

NEEDED = ("prior", "score", "probability", "lower", "upper", "cases", "note")
SAYS, RIGHT = "the score says", "share of positives"
BAND = "band: where the line would be, score by score, if scores were calibrated"


@unchecked
def reliability(
    calibration: pl.LazyFrame | pl.DataFrame,
    title: str = "Reliability",
    *,
    colours: Mapping[str, str] | None = None,
) -> alt.ConcatChart:
    """How often scores are right, a panel per prior.

    Parameters
    ----------
    calibration
        The `curve` of `calibration`. The first key gives the colour. Keys whose
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
    >>> chart = pr.charts.reliability(result.curve)
    >>> chart.to_dict()["title"]["text"]
    'Reliability'
    """
    lazy = as_lazy(calibration)
    names = require(lazy, NEEDED, source="calibration(...).curve")
    keys = [name for name in names if name not in NEEDED]
    every = lazy.collect()
    table = every.drop_nulls("score").sort(*keys, "prior", "score", nulls_last=True)
    if table.is_empty() and not every.is_empty():
        raise InvalidTable(
            "no key has scores that are probabilities, from 0 to 1.",
            hint="turn scores into probabilities first: polaroc.probabilities(...).",
        )
    left_out = every.filter(pl.col("score").is_null()).select(keys).unique().height
    axes = alt.X("x:Q", **share_axis(SAYS)), alt.Y("y:Q", **share_axis(RIGHT))
    channels = style(series_of(table, keys), keys[0] if keys else "", colours)
    titles = {"x": SAYS, "y": RIGHT, "lower": "band from", "upper": "band to"}
    telling = tooltips(keys, {name: (says, ".3f") for name, says in titles.items()}, "scores of")

    def draw(panel: pl.DataFrame) -> alt.LayerChart:
        records = lines(panel, keys, "score", "probability", ["lower", "upper"], ["prior"])
        base = data(records, "x", "y", "lower", "upper")
        points = alt.OverlayMarkDef(size=14)
        line = line_layer(base, records, *axes, *channels, telling, clip=True, point=points)
        band = band_layer(base, axes[0], channels[0])
        return alt.LayerChart(layer=[chance_diagonal(), band, line])

    charts = {name: draw(panel) for name, panel in panels_by_prior(table, keys).items()}
    without = f"left out, scores are not probabilities: {left_out} key(s)" if left_out else ""
    return with_theme(side_by_side(charts), title, [BAND, without])
