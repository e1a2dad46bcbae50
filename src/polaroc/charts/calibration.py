"""Chart of calibration curves: how often a score is right that says 30 %."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.base.private_columns import PANEL
from polaroc.charts.explore import slider
from polaroc.charts.layers import chance_diagonal, columns_of, data, panels_of
from polaroc.charts.libraries import alt
from polaroc.charts.lines import groups_of, lines
from polaroc.charts.options import checked
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
    title
        Heading of the chart.
    over
        A range of priors for a slider, which re-weights scores and shares of positives;
        there is then one panel, of the first prior of each key.
    colours
        From name to colour, as `palette` gives them, for the same in every chart.

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

    See Also
    --------
    polaroc.calibration_curve : The table it draws.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> chart = curves.pipe(pr.calibration_curve).pipe(pr.charts.reliability)
    >>> chart.to_dict()["title"]["text"]
    'Reliability'
    """
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
    subtitle = BAND
    if table.height < every.height:
        left_out = every.filter(pl.col("score").is_null()).select(keys).n_unique()
        subtitle += f"; left out, scores are not probabilities: {left_out} key(s)"
    heading = alt.TitleParams(title, subtitle=subtitle)
    if over is not None:
        over = range_of(over)
        first = pl.col("prior") == (
            pl.col("prior").first().over(keys) if keys else pl.col("prior").first()
        )
        shown = table.filter(first)
        start = min(max(shown["prior"][0] if shown.height else over[0], over[0]), over[1])
        layers = _layers(_records(shown, keys), keys, colours, moved=True)
        chart = layers.properties(
            width=SIZE, height=SIZE, title=heading, params=slider(start, over),
            usermeta={STATIC_SUBTITLE: f"drawn with {100 * start:.3g} % positives; {BAND}"},
        )  # fmt: skip
        return with_theme(chart)
    labelled = table.with_columns(panels_of(table, keys).alias(PANEL)).sort(
        "prior", descending=True, maintain_order=True
    )
    panels = labelled.partition_by(PANEL, maintain_order=True)
    width = SIZE if len(panels) == 1 else 0.6 * SIZE
    charts = [
        _layers(_records(panel.drop(PANEL), keys), keys, colours).properties(
            width=width, height=width,
            title=alt.TitleParams(panel[PANEL][0], fontSize=13, anchor="middle", offset=6),
        )
        for panel in panels
    ]  # fmt: skip
    columns = columns_of(len(charts))
    return with_theme(alt.concat(*charts, columns=columns).properties(title=heading))


def _records(panel: pl.DataFrame, keys: list[str]) -> "Lines":
    shown = panel.with_columns(pl.col("score", "probability", "lower", "upper").round(DIGITS))
    drawn = lines(shown, keys, "score", "probability", const=["prior"])
    for record, part in zip(drawn.records, groups_of(shown, [*keys, "prior"]), strict=False):
        record |= {name: part[name].to_list() for name in ("lower", "upper", "cases")}
    return drawn


def _layers(
    drawn: "Lines", keys: list[str], colours: Mapping[str, str] | None, *, moved: bool = False
) -> "alt.LayerChart":
    base = data(drawn.records).transform_flatten(["x", "y", "lower", "upper", "cases", "at"])
    if moved:
        # The prior of the slider and its skew are parameters of the chart.
        for name in ("x", "y", "lower", "upper"):
            value = f"datum.{name}"
            up = f"{value} * (1 - datum.prior) / datum.prior"
            moved_value = f"isValid({value}) ? {up} / ({up} + (1 - {value}) * skew) : null"
            base = base.transform_calculate(**{name: moved_value})
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
    tooltip = [
        *([alt.Tooltip("line:N", title="scores of")] if keys else []),
        alt.Tooltip("x:Q", title=SAYS, format=".3f"),
        alt.Tooltip("y:Q", title=RIGHT, format=".3f"),
        alt.Tooltip("lower:Q", title="band from", format=".3f"),
        alt.Tooltip("upper:Q", title="band to", format=".3f"),
    ]
    line = base.mark_line(strokeWidth=2, clip=True, point=alt.OverlayMarkDef(size=14)).encode(
        across, up_axis, hue, alt.Detail("id:N"), alt.Order("at:Q"), tooltip=tooltip
    )
    return alt.LayerChart(layer=[chance_diagonal(), band, line])
