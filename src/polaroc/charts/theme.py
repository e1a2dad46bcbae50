"""The shared theme of charts: colours, dashes, legends, axes, and names of measures and folds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.charts.libraries import alt
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import label

# The palette of Okabe and Ito, distinct with any colour vision, so that neighbours differ most.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#56B4E9", "#7F7F7F", "#D55E00", "#CC79A7", "#000000",
)  # fmt: skip
# Solid first.
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3])
SIZE = 400
GREY = "#8A8A8A"
# Letters that fit in a line of a legend below a chart, and the width of a symbol in letters.
LETTERS, SYMBOL, MAX_COLUMNS = 84, 6, 6
INK = "#222222"
# For the first eight models, the next eight, …
SHAPES = ("circle", "square", "triangle-up", "diamond")
AREA = 120


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


def colour(
    series: Sequence[str], title: str, colours: Mapping[str, str] | None = None
) -> "alt.Color":
    """One colour per series: those given, or one made from these series."""
    assigned = assigned_colours(series, colours)
    series = ordered(series, colours)
    scale = alt.Scale(domain=series, range=[assigned[name] for name in series])
    return alt.Color("series:N", scale=scale, legend=_legend(series, title))


def style(
    series: Sequence[str], title: str, colours: Mapping[str, str] | None = None
) -> list["alt.Color | alt.StrokeDash"]:
    """The colour of lines, with their dashes where one colour stands for several series."""
    channels: list[alt.Color | alt.StrokeDash] = [colour(series, title, colours)]
    series = ordered(series, colours)
    rounds = palette_rounds(series, colours)
    if any(rounds):
        dashes = [DASHES[turn % len(DASHES)] for turn in rounds]
        scale = alt.Scale(domain=list(series), range=dashes)
        channels.append(alt.StrokeDash("series:N", scale=scale, legend=_legend(series, title)))
    return channels


def ordered(series: Sequence[str], colours: Mapping[str, str] | None) -> list[str]:
    """The series in the order of the colours given, which is that of legends.

    Examples
    --------
    >>> ordered(["A", "B"], {"B": "red", "A": "blue"})
    ['B', 'A']
    """
    places = {name: i for i, name in enumerate(colours or ())}
    return sorted(series, key=lambda name: places.get(name, len(places)))


def palette_rounds(series: Sequence[str], colours: Mapping[str, str] | None = None) -> list[int]:
    """How often the colour of each series was assigned to names before it.

    Examples
    --------
    >>> palette_rounds(["A", "C"], {"A": "red", "B": "blue", "C": "red"})
    [0, 1]
    """
    assigned = assigned_colours(series, colours)
    shades = list(assigned.values())
    rounds = {name: shades[:i].count(shade) for i, (name, shade) in enumerate(assigned.items())}
    return [rounds[name] for name in series]


def assigned_colours(series: Sequence[str], colours: Mapping[str, str] | None) -> Mapping[str, str]:
    """The colour of each series: those given, which must have all, or in turn."""
    if colours is None:
        return {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(series)}
    missing = [name for name in series if name not in colours]
    if missing:
        raise InvalidArgument(
            f"colours has none for {', '.join(map(repr, missing))}; it has those of "
            f"{', '.join(map(repr, colours)) or 'nothing'}.",
            hint="give a colour for each model, for example colours={'A': '#0072B2'}.",
        )
    return colours


def _legend(series: Sequence[str], title: str) -> "alt.Legend | None":
    if len(series) < 2:
        return None
    return alt.Legend(title=title, symbolType="stroke", symbolOpacity=1)


def with_captions(title: str, captions: Iterable[str]) -> "str | alt.TitleParams":
    """A title with an optional subtitle."""
    parts = [caption for caption in captions if caption]
    return alt.TitleParams(title, subtitle="; ".join(parts)) if parts else title


def with_theme(chart: Any, below: Sequence[str] | None = None) -> Any:
    """The chart with the shared theme; its legend is below if the series in it are given."""
    legend: dict[str, Any] = {"orient": "right", "columns": 1, "labelLimit": 300}
    if below is not None:
        widest = max(map(len, below), default=0)
        columns = min(MAX_COLUMNS, max(1, LETTERS // (widest + SYMBOL)))
        legend = {"orient": "bottom", "columns": columns, "labelLimit": 500}
    dark = "#555555"
    themed = chart.copy(deep=False)
    themed.description = _described(chart.title)
    # Each call of configure_… would copy the whole chart.
    themed.config = alt.Config(
        view=alt.ViewConfig(stroke=None),
        axis=alt.AxisConfig(
            grid=True, gridColor="#E6E6E6", domainColor=dark, tickColor=dark,
            labelFontSize=12, titleFontSize=13, titleFontWeight="normal",
        ),
        # Labels stand under their ticks, also at the ends.
        axisX=alt.AxisConfig(labelFlush=False),
        legend=alt.LegendConfig(
            labelFontSize=12, titleFontSize=12, symbolStrokeWidth=3, symbolSize=200, **legend,
        ),
        header=alt.HeaderConfig(labelFontSize=13, labelFontWeight="bold", title=None),
        title=alt.TitleConfig(fontSize=15, anchor="start", subtitleColor=dark, offset=12),
    )  # fmt: skip
    return themed


def _described(title: Any) -> str:
    """A title with its subtitle, as a screen reader is to say them."""
    if isinstance(title, str):
        return title
    text, subtitle = title.to_dict()["text"], title.to_dict().get("subtitle", [])
    lines = [subtitle] if isinstance(subtitle, str) else subtitle
    return ". ".join([text, *lines])


def filled(
    series: Sequence[str], title: str, symbol: str, colours: Mapping[str, str] | None = None
) -> "alt.Color":
    """The colours of `series`, shown in the legend as a filled "square" or "circle"."""
    tint = colour(series, title, colours)
    if tint["legend"]:
        tint["legend"].symbolType = symbol
        tint["legend"].symbolSize = AREA
    return tint


def point_style(
    series: Sequence[str], title: str, colours: Mapping[str, str] | None = None
) -> list["alt.Color | alt.Shape"]:
    """The colours of filled points, with their shapes where one colour stands for several."""
    series = ordered(series, colours)
    rounds = palette_rounds(series, colours)
    if not any(rounds):
        return [filled(series, title, "circle", colours)]
    scale = alt.Scale(domain=list(series), range=[SHAPES[turn % len(SHAPES)] for turn in rounds])
    legend = alt.Legend(title=title, symbolSize=AREA, symbolOpacity=1)
    tint = colour(series, title, colours)
    tint["legend"] = legend
    return [tint, alt.Shape("series:N", scale=scale, legend=legend)]


def measure_name(description: str) -> str:
    """A measure, or a description that names one, in the usual capitals.

    Examples
    --------
    >>> measure_name("auprec at prior 0.1"), measure_name("expected auprec")
    ('AUPREC at prior 0.1', 'expected AUPREC')
    """
    return " ".join(label(word) for word in description.split(" "))
