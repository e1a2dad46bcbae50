"""The colour of models in marks that are no lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from polaroc.charts.theme import COLOURS, colour

INK = "#222222"

if TYPE_CHECKING:
    import altair as alt


def repeat(series: Sequence[str], colours: Mapping[str, str] | None) -> bool:
    """Whether two of the series share a colour, which marks that are no lines then cannot tell."""
    shown = list(range(len(series))) if colours is None else [colours.get(name) for name in series]
    return len(set(shown)) < len(shown) or (colours is None and len(series) > len(COLOURS))


def names_beside(marks: "alt.Chart", angle: int = 0) -> list["alt.Chart"]:
    """The name of the series to the right of each mark, turned down by `angle` degrees."""
    import altair as alt

    look: dict[str, Any] = {"align": "left", "dx": 9, "angle": angle, "fontSize": 11}
    named = [
        marks.mark_text(**look, stroke="white", strokeWidth=3, strokeJoin="round"),
        marks.mark_text(**look),
    ]
    ink = alt.value(INK)
    return [text.encode(alt.Text("series:N"), color=ink, tooltip=alt.value(None)) for text in named]


def filled(
    series: Sequence[str], title: str, symbol: str, colours: Mapping[str, str] | None = None
) -> "alt.Color":
    """The colours of `series`, shown in the legend as a filled "square" or "circle"."""
    tint = colour(series, title, colours)
    if tint["legend"]:
        tint["legend"].symbolType = symbol
        tint["legend"].symbolSize = 120
    return tint
