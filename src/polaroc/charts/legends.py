"""Colours and legends of marks other than lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polaroc.charts.theme import COLOURS, colour, rounds_of

INK = "#222222"
# For the first eight models, the next eight, …
SHAPES = ("circle", "square", "triangle-up", "diamond")
AREA = 120

if TYPE_CHECKING:
    import altair as alt


def repeat(series: Sequence[str], colours: Mapping[str, str] | None) -> bool:
    """Whether two series share a colour, which marks other than lines do not distinguish."""
    shown = list(range(len(series))) if colours is None else [colours.get(name) for name in series]
    return len(set(shown)) < len(shown) or (colours is None and len(series) > len(COLOURS))


def filled(
    series: Sequence[str], title: str, symbol: str, colours: Mapping[str, str] | None = None
) -> "alt.Color":
    """The colours of `series`, shown in the legend as a filled "square" or "circle"."""
    tint = colour(series, title, colours)
    if tint["legend"]:
        tint["legend"].symbolType = symbol
        tint["legend"].symbolSize = AREA
    return tint


def points(
    series: Sequence[str], title: str, colours: Mapping[str, str] | None = None
) -> list["alt.Color | alt.Shape"]:
    """The colours of filled points, with their shapes where one colour stands for several."""
    import altair as alt

    rounds = rounds_of(series, colours)
    if not any(rounds):
        return [filled(series, title, "circle", colours)]
    scale = alt.Scale(domain=list(series), range=[SHAPES[turn % len(SHAPES)] for turn in rounds])
    legend = alt.Legend(title=title, symbolSize=AREA, symbolOpacity=1)
    tint = colour(series, title, colours)
    tint["legend"] = legend
    return [tint, alt.Shape("series:N", scale=scale, legend=legend)]
