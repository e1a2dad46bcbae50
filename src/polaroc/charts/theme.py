"""What all charts share: colours, axes and sizes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import altair as alt

# Okabe and Ito's palette, told apart with any colour vision; black last.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#000000",
)  # fmt: skip
SIZE = 400
GREY = "#8A8A8A"
PERCENT = ".0%"


def prior_label(prior: pl.Expr) -> pl.Expr:
    """A prior as text, to three digits."""
    return pl.format("π = {}", prior.round_sig_figs(3))


def share_axis(title: str) -> dict[str, Any]:
    """An axis for a share: from 0 to 1, marked in tenths, labelled in fifths."""
    import altair as alt

    return {
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], format=".1f"),
        "title": title,
    }


def colour(series: Sequence[str], title: str) -> "alt.Color":
    """One colour per series, the same in every chart with the same series."""
    import altair as alt

    palette = [COLOURS[i % len(COLOURS)] for i in range(len(series))]
    legend = (
        alt.Legend(title=title, symbolType="stroke", symbolOpacity=1) if len(series) > 1 else None
    )
    return alt.Color("series:N", scale=alt.Scale(domain=list(series), range=palette), legend=legend)


def finished(chart: Any) -> Any:
    """The chart with the shared look."""
    return (
        chart.configure_view(stroke=None)
        .configure_axis(
            grid=True, gridColor="#E6E6E6", domainColor="#555555", tickColor="#555555",
            labelFontSize=12, titleFontSize=13, titleFontWeight="normal",
        )
        .configure_legend(labelFontSize=12, titleFontSize=12, symbolStrokeWidth=3, labelLimit=300)
        .configure_header(labelFontSize=13, labelFontWeight="bold", title=None)
        .configure_title(fontSize=15, anchor="start", subtitleColor="#555555", offset=12)
    )  # fmt: skip
