"""Shared layers of charts of curves."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from polaroc.charts.lines import Lines
from polaroc.charts.theme import GREY, colour, share_axis, style

if TYPE_CHECKING:
    import altair as alt


def data(records: list[dict[str, Any]]) -> "alt.Chart":
    """A chart of plain records; a record holds a whole line, which avoids row limits."""
    import altair as alt

    return alt.Chart(alt.Data(values=records))


def chance_diagonal() -> "alt.Chart":
    """The ROC of chance."""
    return dashed_line((0, 0), (1, 1))


def dashed_line(*points: tuple[float, float]) -> "alt.Chart":
    """A dashed grey reference line."""
    import altair as alt

    return (
        data([{"x": x, "y": y} for x, y in points])
        .mark_line(color=GREY, strokeDash=[4, 4], strokeWidth=1)
        .encode(alt.X("x:Q"), alt.Y("y:Q"))
    )


def curves(
    base: "alt.Chart",
    drawn: Lines,
    x: str,
    y: str,
    *,
    panels: int = 1,
    colours: Mapping[str, str] | None = None,
) -> "alt.Chart":
    """Curves on axes from 0 to 1 titled `x` and `y`; thin where a series has several.

    `base` is the chart of the records in `drawn`, which layers in facets must share.
    """
    import altair as alt

    return line_marks(base, drawn, panels=panels, colours=colours).encode(
        alt.X("x:Q", **share_axis(x)),
        alt.Y("y:Q", **share_axis(y)),
        alt.Tooltip("line:N", title="curve"),
    )


def line_marks(
    base: "alt.Chart",
    drawn: Lines,
    *,
    panels: int = 1,
    colours: Mapping[str, str] | None = None,
) -> "alt.Chart":
    """Lines in the style of their series, without axes."""
    import altair as alt

    many = len(drawn.records) > len(drawn.series) * panels
    return (
        base.transform_flatten(["x", "y", "at"])
        .mark_line(strokeWidth=1 if many else 2, strokeOpacity=0.5 if many else 1, clip=True)
        .encode(*style(drawn.series, drawn.title, colours), alt.Detail("id:N"), alt.Order("at:Q"))
    )


def overlay(base: "alt.Chart", drawn: Lines, colours: Mapping[str, str] | None) -> "alt.Chart":
    """Dashed lines over the curves in `drawn`, in the colours of these."""
    import altair as alt

    return (
        base.transform_flatten(["x", "y", "at"])
        .mark_line(strokeWidth=1.5, strokeDash=[5, 3], clip=True)
        .encode(
            alt.X("x:Q"),
            alt.Y("y:Q"),
            colour(drawn.series, drawn.title, colours),
            alt.Detail("id:N"),
            alt.Order("at:Q"),
        )
    )
