"""Chart of calibration curves: how often a score is right that says 30 %."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import as_lazy, require, within
from polaroc.charts.layers import chance_diagonal, columns_of, data, panels_by_prior
from polaroc.charts.libraries import alt
from polaroc.charts.lines import lines
from polaroc.charts.options import checked
from polaroc.charts.prior_slider import slider
from polaroc.charts.saving import STATIC_SUBTITLE
from polaroc.charts.theme import SIZE, colour, share_axis, with_theme
from polaroc.errors import Hint, InvalidTable
from polaroc.priors.grids import range_of

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
    over: tuple[float, float] | None = None,
    colours: Mapping[str, str] | None = None,
) -> "alt.ConcatChart | alt.LayerChart":
    """How often scores are right, a panel per prior, or at the prior of a slider.

    Parameters
    ----------
    calibration
        The result of `calibration_curve`. The first key gives the colour. Keys whose
        scores are not probabilities have no line; the subtitle says how many.
    over
        A range of priors for a slider, which re-weights scores and shares of positives;
        there is then one panel, of the first prior of each key.

    Returns
    -------
    altair.ConcatChart or altair.LayerChart
        The share of positives against the score, both re-weighted to the prior, with the
        diagonal of scores that are right and the consistency bands.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a calibration curve are missing, or no key has scores that
        are probabilities; for more than 300 curves; for a range outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> chart = curves.pipe(pr.calibration_curve).pipe(pr.charts.reliability)
    >>> chart.to_dict()["title"]["text"]
    'Reliability'
    """
    known = check_calibration_curve(calibration)
    table, keys = known.table, known.keys
    subtitle = BAND
    if known.left_out:
        subtitle += f"; left out, scores are not probabilities: {known.left_out} key(s)"
    heading = alt.TitleParams(title, subtitle=subtitle)
    if over is not None:
        over = range_of(over)
        shown = known.at_first_prior
        start = min(max(shown["prior"][0] if shown.height else over[0], over[0]), over[1])
        chart = reliability_panel(known, colours).properties(
            width=SIZE, height=SIZE, title=heading, params=slider(start, over),
            usermeta={STATIC_SUBTITLE: f"drawn with {100 * start:.3g} % positives; {BAND}"},
        )  # fmt: skip
        return with_theme(chart)
    charts = panels_by_prior(
        table, keys, lambda panel: _layers(_records(panel, keys), keys, colours), narrow=0.6
    )
    columns = columns_of(len(charts))
    return with_theme(alt.concat(*charts, columns=columns).properties(title=heading))


@dataclass(frozen=True)
class CalibrationCurves:
    """The rows of a calibration curve that have a score, and the number of keys without any."""

    table: pl.DataFrame
    keys: list[str]
    left_out: int

    @property
    def at_first_prior(self) -> pl.DataFrame:
        """The rows at the first prior of each key."""
        return self.table.filter(pl.col("prior") == within(pl.col("prior").first(), self.keys))


def check_calibration_curve(calibration: pl.LazyFrame | pl.DataFrame) -> CalibrationCurves:
    """Raise where columns are missing, or no key has scores that are probabilities."""
    lazy = as_lazy(calibration)
    names = require(lazy, NEEDED, source="calibration_curve(...)")
    keys = [name for name in names if name not in NEEDED]
    every = lazy.collect()
    table = every.drop_nulls("score").sort(*keys, "prior", "score", nulls_last=True)
    if table.is_empty() and not every.is_empty():
        raise InvalidTable(
            "no key has scores that are probabilities, from 0 to 1.",
            hint=Hint("turn scores into probabilities first: polaroc.probabilities(...)."),
        )
    left_out = every.filter(pl.col("score").is_null()).select(keys).unique().height
    return CalibrationCurves(table, keys, left_out)


def reliability_panel(
    known: CalibrationCurves, colours: Mapping[str, str] | None
) -> "alt.LayerChart":
    """The curves at the prior of the `slider` of the chart that they are in."""
    drawn = _records(known.at_first_prior, known.keys)
    return _layers(drawn, known.keys, colours, moved=True)


def _records(panel: pl.DataFrame, keys: list[str]) -> "Lines":
    shown = panel.with_columns(pl.col("score", "probability", "lower", "upper").round(DIGITS))
    return lines(shown, keys, "score", "probability", ["prior"], ("lower", "upper", "cases"))


def _layers(
    drawn: "Lines", keys: list[str], colours: Mapping[str, str] | None, *, moved: bool = False
) -> "alt.LayerChart":
    base = data(drawn.records).transform_flatten(["x", "y", "lower", "upper", "cases", "at"])
    x, y, lower, upper = shown = (*"xy", "lower", "upper")
    if moved:
        # A field that replaced its own source would be moved from where it was last.
        x, y, lower, upper = moved_to = [f"{name}_at_prior" for name in shown]
        # The prior of the slider and its skew are parameters of the chart.
        for name, new in zip(shown, moved_to, strict=True):
            value = f"datum.{name}"
            up = f"{value} * (1 - datum.prior) / datum.prior"
            moved_value = f"isValid({value}) ? {up} / ({up} + (1 - {value}) * skew) : null"
            base = base.transform_calculate(**{new: moved_value})
    across = alt.X(f"{x}:Q", **share_axis(SAYS))
    up_axis = alt.Y(f"{y}:Q", **share_axis(RIGHT))
    hue = colour(drawn.series, drawn.title, colours)
    band = (
        base.transform_filter("isValid(datum.lower)")
        .mark_area(opacity=0.15, line=False, clip=True)
        .encode(
            across,
            alt.Y(f"{lower}:Q", **share_axis(RIGHT)),
            alt.Y2(f"{upper}:Q"),
            hue,
            alt.Detail("id:N"),
        )
    )
    titles = {x: SAYS, y: RIGHT, lower: "band from", upper: "band to"}
    tooltip = [
        *([alt.Tooltip("line:N", title="scores of")] if keys else []),
        *(alt.Tooltip(f"{name}:Q", title=says, format=".3f") for name, says in titles.items()),
    ]
    line = base.mark_line(strokeWidth=2, clip=True, point=alt.OverlayMarkDef(size=14)).encode(
        across, up_axis, hue, alt.Detail("id:N"), alt.Order("at:Q"), tooltip=tooltip
    )
    return alt.LayerChart(layer=[chance_diagonal(), band, line])
