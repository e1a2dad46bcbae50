"""Chart of calibration curves: how often a score is right that says 30 %."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.charts.layers import chance_diagonal, columns_of, data, panels_by_prior
from polaroc.charts.libraries import alt
from polaroc.charts.lines import lines
from polaroc.charts.options import checked
from polaroc.charts.theme import colour, share_axis, with_theme
from polaroc.errors import InvalidTable

if TYPE_CHECKING:
    from polaroc.charts.lines import Lines

NEEDED = ("prior", "score", "probability", "lower", "upper", "cases", "note")
DIGITS = 6
SAYS, RIGHT = "the score says", "share of positives"
BAND = "band: where the line would be, score by score, if scores were calibrated"


@checked
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
    subtitle = BAND
    if left_out:
        subtitle += f"; left out, scores are not probabilities: {left_out} key(s)"
    charts = panels_by_prior(
        table, keys, lambda panel: _layers(_records(panel, keys), keys, colours), narrow=0.6
    )
    heading = alt.TitleParams(title, subtitle=subtitle)
    columns = columns_of(len(charts))
    return with_theme(alt.concat(*charts, columns=columns).properties(title=heading))


def _records(panel: pl.DataFrame, keys: list[str]) -> Lines:
    shown = panel.with_columns(pl.col("score", "probability", "lower", "upper").round(DIGITS))
    return lines(shown, keys, "score", "probability", ["prior"], ("lower", "upper", "cases"))


def _layers(drawn: Lines, keys: list[str], colours: Mapping[str, str] | None) -> alt.LayerChart:
    base = data(drawn.records).transform_flatten(["x", "y", "lower", "upper", "cases", "at"])
    across = alt.X("x:Q", **share_axis(SAYS))
    up_axis = alt.Y("y:Q", **share_axis(RIGHT))
    hue = colour(drawn.series, drawn.title, colours)
    band = (
        base.transform_filter("isValid(datum.lower)")
        .mark_area(opacity=0.15, line=False, clip=True)
        .encode(
            across,
            alt.Y("lower:Q", **share_axis(RIGHT)),
            alt.Y2("upper:Q"),
            hue,
            alt.Detail("id:N"),
        )
    )
    titles = {"x": SAYS, "y": RIGHT, "lower": "band from", "upper": "band to"}
    tooltip = [
        *([alt.Tooltip("line:N", title="scores of")] if keys else []),
        *(alt.Tooltip(f"{name}:Q", title=says, format=".3f") for name, says in titles.items()),
    ]
    line = base.mark_line(strokeWidth=2, clip=True, point=alt.OverlayMarkDef(size=14)).encode(
        across, up_axis, hue, alt.Detail("id:N"), alt.Order("at:Q"), tooltip=tooltip
    )
    return alt.LayerChart(layer=[chance_diagonal(), band, line])
