"""Shared layers of charts: lines, bands, tooltips, and panels by prior."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import polars as pl

from polaroc.base.columns import PANEL
from polaroc.charts.libraries import alt
from polaroc.charts.theme import GREY, PANEL_SIZE, SIZE, prior_label


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


def data(records: list[dict[str, Any]], *arrays: str) -> "alt.Chart":
    """A chart of plain records; a record holds a whole line, which avoids row limits.

    The values of `arrays`, of equal lengths, become rows.
    """
    chart = alt.Chart(alt.Data(values=Records(records)))
    return chart.transform_flatten(list(arrays)) if arrays else chart


def dashed_line(*points: tuple[float, float]) -> "alt.Chart":
    """A dashed grey reference line."""
    return (
        data([{"x": x, "y": y} for x, y in points])
        .mark_line(color=GREY, strokeDash=[4, 4], strokeWidth=1)
        .encode(alt.X("x:Q"), alt.Y("y:Q"))
    )


def chance_diagonal() -> "alt.Chart":
    """The ROC of chance."""
    return dashed_line((0, 0), (1, 1))


def level_line(value: float) -> "alt.Chart":
    """A dashed grey line across a panel."""
    return data([{"y": value}]).mark_rule(color=GREY, strokeDash=[4, 4]).encode(alt.Y("y:Q"))


def line_layer(
    base: "alt.Chart", records: Sequence[Mapping[str, Any]], *channels: Any, **mark: Any
) -> "alt.Chart":
    """A line per record of `base`, in the order of its points; thin where a series has several."""
    many = len(records) > len({record["series"] for record in records})
    width, opacity = (1, 0.5) if many else (2, 1)
    shown: dict[str, Any] = {"strokeWidth": width, "strokeOpacity": opacity}
    # Without a description, one of all fields is written for each point.
    return base.mark_line(order=False, **shown | mark).encode(
        *channels, alt.Detail("id:N"), alt.Description("line:N")
    )


def band_layer(base: "alt.Chart", *channels: Any) -> "alt.Chart":
    """A pale band from `lower` to `upper` for each record of `base`, broken where they are null."""
    return (
        base.transform_filter("isValid(datum.lower)")
        .mark_area(opacity=0.18, line=False, clip=True)
        .encode(alt.Y("lower:Q"), alt.Y2("upper:Q"), alt.Detail("id:N"), *channels)
    )


def tooltips(
    keys: Sequence[str], shown: Mapping[str, tuple[str, str]], name: str = "curve"
) -> list["alt.Tooltip"]:
    """The name of a line, if there are keys, and each field with its title and format."""
    named = [alt.Tooltip("line:N", title=name)] if keys else []
    return named + [
        alt.Tooltip(f"{field}:{'Q' if form else 'N'}", title=title, format=form or alt.Undefined)
        for field, (title, form) in shown.items()
    ]


def panels_by_prior(table: pl.DataFrame, keys: Sequence[str]) -> dict[str, pl.DataFrame]:
    """The rows of each prior by its label, from the highest on.

    Keys that have priors of their own share a panel.
    """
    curves = table.select(keys).n_unique() if keys else 1
    sharing = table.select(*keys, "prior").unique().group_by("prior").len()
    shared = sharing.filter(pl.col("len") == curves)["prior"].implode()
    label = pl.when(pl.col("prior").is_in(shared)).then(prior_label(pl.col("prior")))
    labelled = table.with_columns(label.fill_null("share as observed").alias(PANEL))
    ordered = labelled.sort("prior", descending=True, maintain_order=True)
    panels = ordered.partition_by(PANEL, maintain_order=True)
    return {panel[PANEL][0]: panel for panel in panels}


def side_by_side(charts: Mapping[str, "alt.LayerChart"], ratio: float = 1.0) -> "alt.ConcatChart":
    """Charts with their titles, in up to three columns; `ratio` is that of height to width."""
    width = SIZE if len(charts) == 1 else PANEL_SIZE
    # Facets with independent axes do not allow the flatten transform.
    panels = [
        chart.properties(
            width=width,
            height=ratio * width,
            title=alt.TitleParams(title, fontSize=13, anchor="middle", offset=6),
        )
        for title, chart in charts.items()
    ]
    columns = 2 if len(charts) == 4 else max(1, min(3, len(charts)))
    return alt.concat(*panels, columns=columns)
