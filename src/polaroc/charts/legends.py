"""The colour of models in marks that are no lines."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polaroc.charts.theme import colour

if TYPE_CHECKING:
    import altair as alt


def filled(
    series: Sequence[str], title: str, symbol: str, colours: Mapping[str, str] | None = None
) -> "alt.Color":
    """The colours of `series`, shown in the legend as a filled "square" or "circle"."""
    tint = colour(series, title, colours)
    if tint["legend"]:
        tint["legend"].symbolType = symbol
        tint["legend"].symbolSize = 120
    return tint
