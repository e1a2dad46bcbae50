"""Mean curves with the bands around them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import require
from polaroc.charts.lines import DIGITS, Lines, lines
from polaroc.charts.theme import colour
from polaroc.charts.tooltips import tooltip_layer

if TYPE_CHECKING:
    import altair as alt


def band_lines(means: pl.DataFrame, x: str, y: str, const: Sequence[str] = ()) -> tuple[Lines, str]:
    """The mean curves as lines whose records also have `lower` and `upper`, and a caption."""
    named = [*require(means.lazy(), ("lower", "upper"), source="mean_roc(...)")]
    keys = [name for name in named if name not in ("sd", "curves", "interval", *const)]
    rounded = means.with_columns(pl.col(x, y, "lower", "upper").round(DIGITS))
    drawn = lines(rounded, keys, x, y, const)
    parts = [*keys, *const]
    groups = rounded.partition_by(parts, maintain_order=True) if parts else [rounded]
    for record, group in zip(drawn.records, groups, strict=False):
        record |= {"lower": group["lower"].to_list(), "upper": group["upper"].to_list()}
    return drawn, _caption(means)


def _caption(means: pl.DataFrame) -> str:
    if means.is_empty():
        return ""
    counts = means["curves"].unique().sort().to_list()
    count = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    return f"mean of {count} curves {means['interval'][0]}"


def band_layer(base: "alt.Chart", drawn: Lines, colours: Mapping[str, str] | None) -> "alt.Chart":
    """The bands; `base` is the chart of the records in `drawn`."""
    import altair as alt

    return (
        base.transform_flatten(["x", "lower", "upper"])
        .transform_filter("isValid(datum.lower)")
        .mark_area(opacity=0.18, line=False, clip=True)
        .encode(
            alt.X("x:Q"),
            alt.Y("lower:Q"),
            alt.Y2("upper:Q"),
            colour(drawn.series, drawn.title, colours),
            alt.Detail("id:N"),
        )
    )


def band_tooltips(base: "alt.Chart", drawn: Lines, x: str, y: str) -> "alt.Chart":
    """Tooltips of means and their bands, on axes titled `x` and `y`."""
    import altair as alt

    tooltip = [
        *([alt.Tooltip("line:N", title="mean of")] if drawn.title else []),
        alt.Tooltip("x:Q", title=x, format=".3~f"),
        alt.Tooltip("y:Q", title=f"mean {y}", format=".4f"),
        alt.Tooltip("lower:Q", title="band from", format=".4f"),
        alt.Tooltip("upper:Q", title="band to", format=".4f"),
    ]
    return tooltip_layer(base, "x", "y", tooltip, ["x", "y", "lower", "upper"])
