"""The shared theme of charts: colours, dashes, shapes, legends, axes and names of measures."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.charts.vega import alt
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import label

# The palette of Okabe and Ito, distinct with any colour vision, so that neighbours differ most.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#7F7F7F", "#D55E00", "#CC79A7", "#000000",
)  # fmt: skip
# For the first eight models, the next eight, …
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "diamond")
# Pixels of a chart that stands alone, and of one of several panels.
SIZE, PANEL_SIZE = 400, 260
GREY, DARK, INK = "#8A8A8A", "#555555", "#222222"
# Letters that fit in a line of a legend below a chart, and the width of a symbol in letters.
LETTERS, SYMBOL, MAX_COLUMNS = 84, 6, 6


def prior_label(prior: pl.Expr) -> pl.Expr:
    """A prior as text, in per cent to three digits."""
    share = (100 * prior).round_sig_figs(3).cast(pl.String).str.strip_suffix(".0")
    return pl.format("{} % positives", share)


def share_axis(title: str) -> dict[str, Any]:
    """An axis for a share: from 0 to 1, marked in tenths, labelled in fifths."""
    return {
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f"),
        "title": title,
    }


def style(
    series: Sequence[str],
    title: str,
    colours: Mapping[str, str] | None = None,
    *,
    points: bool = False,
) -> list[Any]:
    """The colour of each series, and dashes where one colour stands for several; of points, shapes.

    Colours are those given, which must have all, or in turn; legends have their order.
    """
    if colours is None:
        colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(series)}
    if missing := [name for name in series if name not in colours]:
        raise InvalidArgument(
            f"colours has none for {', '.join(map(repr, missing))}; it has those of "
            f"{', '.join(map(repr, colours)) or 'nothing'}.",
            hint="give a colour for each model, for example colours={'A': '#0072B2'}.",
        )
    shades = list(colours.values())
    turns = {name: shades[:i].count(shade) for i, (name, shade) in enumerate(colours.items())}
    names = [name for name in colours if name in series]
    repeated = any(turns[name] for name in names)
    legend = None
    if len(names) > 1:
        symbol = alt.Undefined if points and repeated else "circle" if points else "stroke"
        legend = alt.Legend(title=title, symbolType=symbol, symbolOpacity=1)
    scale = alt.Scale(domain=names, range=[colours[name] for name in names])
    channels: list[Any] = [alt.Color("series:N", scale=scale, legend=legend)]
    if repeated:
        looks, channel = (SHAPES, alt.Shape) if points else (DASHES, alt.StrokeDash)
        scale = alt.Scale(domain=names, range=[looks[turns[name] % len(looks)] for name in names])
        channels.append(channel("series:N", scale=scale, legend=legend))
    return channels


def with_theme(
    chart: Any, title: str, captions: Sequence[str] = (), below: Sequence[str] | None = None
) -> Any:
    """The chart with a title, captions and the shared theme.

    Its legend is below if the series in it are given.
    """
    legend: dict[str, Any] = {"orient": "right", "columns": 1, "labelLimit": 300}
    if below is not None:
        widest = max(map(len, below), default=0)
        columns = min(MAX_COLUMNS, max(1, LETTERS // (widest + SYMBOL)))
        legend = {"orient": "bottom", "columns": columns, "labelLimit": 500}
    captions = [caption for caption in captions if caption]
    themed = chart.copy(deep=False)
    themed.title = alt.TitleParams(title, subtitle=captions or alt.Undefined)
    themed.description = ". ".join([title, *captions])
    # Each call of configure_… would copy the whole chart.
    themed.config = alt.Config(
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            grid=True, gridColor="#E6E6E6", domainColor=DARK, tickColor=DARK,
            labelFontSize=12, titleFontSize=13, titleFontWeight="normal",
        ),
        # Labels stand under their ticks, also at the ends.
        axisX=alt.AxisConfig(labelFlush=False),
        legend=alt.LegendConfig(
            labelFontSize=12, titleFontSize=12, symbolStrokeWidth=3, symbolSize=160, **legend,
        ),
        title=alt.TitleConfig(fontSize=15, anchor="start", subtitleColor=DARK, offset=12),
    )  # fmt: skip
    return themed


def measure_name(description: str) -> str:
    """A measure, or a description that names one, in the usual capitals.

    Examples
    --------
    >>> measure_name("auprec at prior 0.1"), measure_name("expected auprec")
    ('AUPREC at prior 0.1', 'expected AUPREC')
    """
    return " ".join(label(word) for word in description.split(" "))
