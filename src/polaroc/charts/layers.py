"""Shared layers of charts of curves: lines, bands around means, and panels by prior."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from polaroc.base.columns import require
from polaroc.base.private_columns import PANEL
from polaroc.charts.libraries import alt
from polaroc.charts.lines import DIGITS, Lines, lines
from polaroc.charts.theme import (
    GREY,
    SIZE,
    colour,
    prior_label,
    share_axis,
    style,
    with_captions,
    with_theme,
)
from polaroc.charts.tooltips import tooltip_layer

WIDE = 3
# Pixels between two panels: the last label of one axis and the first of the next keep apart.
APART = 26


class Records:
    """Plain records that Altair takes whole.

    Of a list it looks at every number, whenever a chart is copied.
    """

    _schema: ClassVar = {"type": "array"}

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.records = records

    def to_dict(self, *_args: Any, **_options: Any) -> list[dict[str, Any]]:
        """The records."""
        return self.records


def data(records: list[dict[str, Any]]) -> "alt.Chart":
    """A chart of plain records; a record holds a whole line, which avoids row limits."""
    return alt.Chart(alt.Data(values=Records(records)))


def chance_diagonal() -> "alt.Chart":
    """The ROC of chance."""
    return dashed_line((0, 0), (1, 1))


def dashed_line(*points: tuple[float, float]) -> "alt.Chart":
    """A dashed grey reference line."""
    return (
        data([{"x": x, "y": y} for x, y in points])
        .mark_line(color=GREY, strokeDash=[4, 4], strokeWidth=1)
        .encode(alt.X("x:Q"), alt.Y("y:Q"))
    )


def drawn_lines(base: "alt.Chart", *channels: Any, **mark_options: Any) -> "alt.Chart":
    """The lines whose arrays `x` and `y` are in the records of `base`, one for each `id`."""
    flat = base.transform_flatten(["x", "y", "at"]).mark_line(**mark_options)
    return flat.encode(*channels, alt.Detail("id:N"), alt.Order("at:Q"))


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
    return line_marks(base, drawn, panels=panels, colours=colours, clip=False).encode(
        alt.X("x:Q", **share_axis(x)),
        alt.Y("y:Q", **share_axis(y)),
        alt.Tooltip("line:N", title="curve"),
        # Else one of all fields is written for each point.
        alt.Description("line:N"),
    )


def line_marks(
    base: "alt.Chart",
    drawn: Lines,
    *,
    panels: int = 1,
    colours: Mapping[str, str] | None = None,
    clip: bool = True,
) -> "alt.Chart":
    """Lines in the style of their series, without axes.

    Each clipped line takes a picture longer to make, which is noticed where they are many.
    """
    many = len(drawn.records) > len(drawn.series) * panels
    width, opacity = (1, 0.5) if many else (2, 1)
    channels = style(drawn.series, drawn.title, colours)
    return drawn_lines(base, *channels, strokeWidth=width, strokeOpacity=opacity, clip=clip)


def overlay(base: "alt.Chart", drawn: Lines, colours: Mapping[str, str] | None) -> "alt.Chart":
    """Dashed lines over the curves in `drawn`, in the colours of these."""
    channels = alt.X("x:Q"), alt.Y("y:Q"), colour(drawn.series, drawn.title, colours)
    return drawn_lines(base, *channels, strokeWidth=1.5, strokeDash=[5, 3], clip=True)


def band_lines(means: pl.DataFrame, x: str, y: str, const: Sequence[str] = ()) -> tuple[Lines, str]:
    """The mean curves as lines whose records also have `lower` and `upper`, and a caption."""
    named = [*require(means.lazy(), ("lower", "upper"), source="mean_curve(...)")]
    keys = [name for name in named if name not in ("sd", "curves", "interval", "note", *const)]
    rounded = means.with_columns(pl.col(x, y, "lower", "upper").round(DIGITS))
    return lines(rounded, keys, x, y, const, ("lower", "upper")), _caption(means)


def _caption(means: pl.DataFrame) -> str:
    if means.is_empty():
        return ""
    counts = means["curves"].unique().sort().to_list()
    count = " to ".join(map(str, dict.fromkeys((counts[0], counts[-1]))))
    return f"mean of {count} curves {means['interval'][0]}"


def band_layer(base: "alt.Chart", drawn: Lines, colours: Mapping[str, str] | None) -> "alt.Chart":
    """The bands; `base` is the chart of the records in `drawn`."""
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
    tooltip = [
        *([alt.Tooltip("line:N", title="mean of")] if drawn.title else []),
        alt.Tooltip("x:Q", title=x, format=".3~f"),
        alt.Tooltip("y:Q", title=f"mean {y}", format=".4f"),
        alt.Tooltip("lower:Q", title="band from", format=".4f"),
        alt.Tooltip("upper:Q", title="band to", format=".4f"),
    ]
    return tooltip_layer(base, "x", "y", tooltip, ["x", "y", "lower", "upper"])


def columns_of(panels: int) -> int:
    """How many panels stand side by side: as many as leave few places empty.

    Examples
    --------
    >>> [columns_of(panels) for panels in (1, 2, 3, 4, 5)]
    [1, 2, 3, 2, 3]
    """
    return 2 if panels == WIDE + 1 else max(1, min(WIDE, panels))


def panels_of(points: pl.DataFrame, keys: Sequence[str]) -> pl.Expr:
    """The panel of each row: its prior, or "observed" where keys have their own."""
    curves = points.select(keys).n_unique() if keys else 1
    sharing = points.select(*keys, "prior").unique().group_by("prior").len()
    shared = sharing.filter(pl.col("len") == curves)["prior"].implode()
    panel = pl.when(pl.col("prior").is_in(shared)).then(prior_label(pl.col("prior")))
    return panel.otherwise(pl.lit("share as observed"))


def panels_by_prior(
    table: pl.DataFrame,
    keys: Sequence[str],
    draw: Callable[[pl.DataFrame], "alt.LayerChart"],
    narrow: float,
    ratio: float = 1.0,
) -> list["alt.LayerChart"]:
    """A chart for each prior, from the highest on.

    Several are as wide as a `narrow` share of one alone; `ratio` is that of height to width.
    """
    labelled = table.with_columns(panels_of(table, keys).alias(PANEL)).sort(
        "prior", descending=True, maintain_order=True
    )
    panels = labelled.partition_by(PANEL, maintain_order=True)
    width = SIZE if len(panels) == 1 else narrow * SIZE
    # Facets with independent axes do not allow the flatten transform.
    return [
        draw(panel.drop(PANEL)).properties(
            width=width,
            height=ratio * width,
            title=alt.TitleParams(panel[PANEL][0], fontSize=13, anchor="middle", offset=6),
        )
        for panel in panels
    ]


def finished(
    layers: Iterable[Any],
    title: str,
    captions: Iterable[str] = (),
    *,
    width: float = SIZE,
    height: float = SIZE,
) -> "alt.LayerChart":
    """The layers as a chart with a title, and the captions below it."""
    chart: alt.LayerChart = with_theme(
        alt.layer(*layers).properties(
            width=width, height=height, title=with_captions(title, captions)
        )
    )
    return chart


def in_panels(
    layers: "alt.LayerChart | alt.FacetChart", panels: Sequence[str], columns: int
) -> "alt.FacetChart":
    """The layers once per panel, of which the records name theirs; all share one table."""
    facet = alt.Facet("panel:N", sort=list(panels), title=None)
    chart = layers.facet(facet, columns=columns, spacing=APART)
    # Shared axes would be drawn below empty panels.
    return chart.resolve_axis(x="independent", y="independent") if len(panels) % columns else chart
