"""Parts that charts share: records of lines, layers, tooltips, and panels by prior."""

from collections.abc import Mapping, Sequence
from math import isinf
from typing import Any, ClassVar

import polars as pl

from polaroc.base.columns import PANEL
from polaroc.base.text import key_text
from polaroc.charts.theme import GREY, PANEL_SIZE, SIZE, prior_label, style
from polaroc.charts.vega import alt
from polaroc.errors import InvalidArgument

MAX_LINES = 300
FEWER_KEYS = "draw fewer models or files: filter the keys that matter."
DIGITS = 5  # significant


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


def refuse_more(count: int, most: int = MAX_LINES, hint: str = FEWER_KEYS) -> None:
    """Refuse more curves than can be told apart."""
    if count > most:
        raise InvalidArgument(
            f"there are {count:,} curves to draw, allowed are {most:,}.", hint=hint
        )


def lines(
    points: pl.DataFrame,
    keys: Sequence[str],
    arrays: Sequence[str] = (),
    const: Sequence[str] = (),
    **places: str,
) -> list[dict[str, Any]]:
    """Points in order as a record per line: its names, arrays of columns, and what is constant.

    `places` are further arrays under other names, such as x="fpr".
    """
    columns = dict(zip(arrays, arrays, strict=True)) | places
    rounded = points.with_columns(
        pl.col(name).round_sig_figs(DIGITS)
        for place, name in columns.items()
        if place != "threshold"
    )
    by = [*keys, *const]
    groups = rounded.partition_by(by, maintain_order=True) if by else [rounded]
    refuse_more(len(groups))
    return [
        {
            "id": i,
            "series": _name_of(group, keys[:1]),
            "line": _name_of(group, keys),
            **{place: _in_json(group[name]) for place, name in columns.items()},
            **{name: group[name][0] for name in const},
        }
        for i, group in enumerate(groups)
        if group.height
    ]


def _name_of(curve: pl.DataFrame, keys: Sequence[str]) -> str:
    """The name of a curve: the values of its keys."""
    return " · ".join(str(curve[key][0]) for key in keys)


def named_rows(table: pl.DataFrame, keys: Sequence[str], *columns: pl.Expr) -> pl.DataFrame:
    """Rows with the names of their first key and of all their keys."""
    names = [key_text(key) for key in keys] or [pl.lit("")]
    line = pl.concat_str(names, separator=" · ").alias("line")
    return table.select(names[0].alias("series"), line, *columns)


def series_of(table: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The names that have a colour: the values of the first key, sorted."""
    return [*map(str, table[keys[0]].unique().sort(nulls_last=True))] if keys else [""]


def key_style(
    table: pl.DataFrame,
    keys: Sequence[str],
    colours: Mapping[str, str] | None,
    *,
    points: bool = False,
) -> list[Any]:
    """The `style` of the values of the first key."""
    return style(series_of(table, keys), keys[0] if keys else "", colours, points=points)


def _in_json(values: pl.Series) -> list[Any]:
    """Numbers for JSON, which has no infinity."""
    return [
        value if value is None or not isinf(value) else "∞" if value > 0 else "−∞"
        for value in values
    ]
