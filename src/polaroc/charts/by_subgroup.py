"""Chart of subgroups: each with its limits, a panel per number."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from polaroc.base.columns import require
from polaroc.charts.layers import data
from polaroc.charts.libraries import alt
from polaroc.charts.options import check_result, checked
from polaroc.charts.theme import GREY, filled, with_theme
from polaroc.comparison.subgroup_result import PLACE_OF, Subgroups, measure_in_words
from polaroc.errors import InvalidTable

ROW, WIDTH, MAX_PANELS = 18, 240, 24
NEEDED = ("column", "subgroup", *PLACE_OF, "estimate", "lower", "upper", "level")


@checked
def subgroups(
    parts: Subgroups | pl.DataFrame,
    title: str = "Each subgroup, and all cases",
    *,
    colours: Mapping[str, str] | None = None,
) -> "alt.ConcatChart":
    """Each subgroup with its limits, a panel per measure, prior and threshold.

    Parameters
    ----------
    parts
        The result of `subgroups`, or its table `parts`, or some rows of it.

    Returns
    -------
    altair.ConcatChart
        A panel for each number; in it a row for all cases and for each subgroup, with its limits,
        in the colours of the models where there are several. Limits are those of each subgroup by
        itself: whether two of them differ by more than chance `gaps` says.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores().with_columns(half=pl.int_range(20) % 2)
    >>> found = pr.subgroups(table, truth="truth", score="score", subgroup="half", measures="auc")
    >>> len(pr.charts.subgroups(found).to_dict()["concat"])
    1
    """
    table = parts
    if not isinstance(table, pl.DataFrame):
        table = check_result(parts, Subgroups, "subgroups").parts
    require(table.lazy(), NEEDED, source="subgroups(...)")
    panels = table.partition_by(PLACE_OF, maintain_order=True)
    if len(panels) > MAX_PANELS:
        raise InvalidTable(
            f"there are {len(panels)} numbers to draw, allowed are up to {MAX_PANELS}.",
            hint="keep some of the measures, or of the priors.",
        )
    keys = table.columns[: table.columns.index("column")]
    levels = table["level"].drop_nulls().unique().sort().to_list()
    level = " and ".join(f"{100 * one:g} %" for one in levels) + " limits of each by itself"
    heading = alt.TitleParams(title, subtitle=level)
    drawn = [_panel(panel, keys, colours) for panel in panels]
    return with_theme(
        alt.concat(*drawn, columns=2, spacing=24)
        .resolve_scale(color="shared", shape="shared")
        .properties(title=heading)
    )


def _panel(
    panel: pl.DataFrame, keys: list[str], colours: Mapping[str, str] | None
) -> "alt.LayerChart | alt.FacetChart":
    """The subgroups on one number, with a line at that of all cases."""
    measure, prior, threshold = panel.select(PLACE_OF).row(0)
    at = "" if threshold is None else f" (threshold {threshold:.3g})"
    records = [
        {
            "series": ", ".join(str(row[key]) for key in keys),
            "row": "all" if row["column"] is None else f"{row['column']}: {row['subgroup']}",
            "x": row["estimate"], "low": row["lower"], "high": row["upper"],
        }
        for row in panel.iter_rows(named=True)
    ]  # fmt: skip
    rows = list(dict.fromkeys(record["row"] for record in records))
    series = list(dict.fromkeys(record["series"] for record in records))
    across: dict[str, Any] = {
        "title": measure_in_words(measure, prior) + at,
        "scale": alt.Scale(zero=False),
        "axis": alt.Axis(tickCount=5, format=".3~g"),
    }
    down = alt.Y(
        "row:N", title=None, scale=alt.Scale(domain=rows),
        axis=alt.Axis(labelLimit=200, ticks=False, domain=False, grid=True),
    )  # fmt: skip
    channels: list[Any] = [down]
    if len(series) > 1:
        channels += [
            alt.YOffset("series:N"), filled(series, ", ".join(keys), "circle", colours),
        ]  # fmt: skip
    tooltip = [
        alt.Tooltip("row:N", title="subgroup"),
        *([alt.Tooltip("series:N", title=", ".join(keys))] if keys else []),
        alt.Tooltip("x:Q", title="estimate", format=".4~g"),
        alt.Tooltip("low:Q", title="from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
    ]
    base = data(records).encode(*channels, tooltip)
    whole = [record for record in records if record["row"] == "all"]
    line = (
        data(whole)
        .mark_rule(color=GREY, strokeDash=[4, 4])
        .encode(alt.X("x:Q", **across), alt.Detail("series:N"))
    )
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", **across), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=60, opacity=1).encode(alt.X("x:Q", **across))
    height = ROW * len(rows) * max(len(series), 1) + ROW
    return alt.layer(line, bars, points).properties(width=WIDTH, height=height)
