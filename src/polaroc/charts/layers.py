"""The layers that charts of curves share."""

from typing import TYPE_CHECKING, Any

from polaroc.charts.lines import Lines
from polaroc.charts.theme import colour, share_axis

if TYPE_CHECKING:
    import altair as alt


def data(records: list[dict[str, Any]]) -> "alt.Chart":
    """A chart of plain records; one record holds a whole line, far from any row limit."""
    import altair as alt

    return alt.Chart(alt.Data(values=records))


def curves(base: "alt.Chart", drawn: Lines, x: str, y: str, *, panels: int = 1) -> "alt.Chart":
    """Curves on axes from 0 to 1 titled `x` and `y`; thin where a series has several.

    `base` is the chart of the records in `drawn`, which layers in facets must share.
    """
    import altair as alt

    many = len(drawn.records) > len(drawn.series) * panels
    return (
        base.transform_flatten(["x", "y", "at"])
        .mark_line(strokeWidth=1 if many else 2, strokeOpacity=0.5 if many else 1, clip=True)
        .encode(
            alt.X("x:Q", **share_axis(x)),
            alt.Y("y:Q", **share_axis(y)),
            colour(drawn.series, drawn.title),
            alt.Detail("id:N"),
            alt.Order("at:Q"),
            alt.Tooltip("line:N", title="curve"),
        )
    )
