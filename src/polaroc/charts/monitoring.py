"""Chart of deployed thresholds over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.base.text import key_text
from polaroc.charts.layers import FEWER_KEYS, data
from polaroc.charts.theme import style, with_theme
from polaroc.charts.vega import alt, unchecked
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.monitoring.result import Monitor
from polaroc.priors.grids import range_of
from polaroc.typing import PolarsFrame

NEEDED = ("quantity", "estimate", "lower", "upper", "alarm")
# Panels, from the top.
TITLES: dict[str, str | list[str]] = {
    "prior": "prior", "precision": "precision", "posfrac": "share called positive",
    "cost": "cost per case", "tpr_labelled": ["recall,", "by labels"],
    "fpr_labelled": ["false positives,", "by labels"],
    "precision_labelled": ["precision,", "by labels"],
}  # fmt: skip
MAX_POINTS, RED = 20_000, "#B2182B"
MILLISECONDS_OF_DAY = 86_400_000


@unchecked
def monitor(
    table: Monitor | PolarsFrame,
    title: str = "Thresholds in use",
    *,
    over: Sequence[float] | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.VConcatChart:
    """Prior, precision, share called positive and cost in use, one panel each, over time.

    Parameters
    ----------
    table
        The result of `monitor`, its `table`, or several of these under each other.
    title
        Heading of the chart.
    over
        The range of priors that the thresholds are for, (low, high), drawn as dashed lines.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.VConcatChart
        The estimates with their limits as bands, which end where there are none, and a red point
        at each alarm, whose tooltip says what should change; at the foot of the panel if there is
        no estimate.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of the table are missing; for more than 20,000 points.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> reference = pl.DataFrame({"truth": [1, 0] * 50, "score": [0.9, 0.1] * 50})
    >>> used = pl.DataFrame({"day": [1] * 200 + [2] * 200, "score": [0.9, 0.1] * 200})
    >>> watched = pr.monitor(reference, used, points=0.5, time="day")
    >>> len(pr.charts.monitor(watched).to_dict()["vconcat"])
    4
    """
    lazy = as_lazy(table.table if isinstance(table, Monitor) else table)
    keys = require(lazy, NEEDED, source="monitor(...).table")
    rows = lazy.filter(pl.col("quantity").is_in([*TITLES])).collect()
    if not keys:
        raise InvalidTable(
            "the table has no column of times.", hint="pass the table of monitor(...)."
        )
    if rows.height > MAX_POINTS:
        raise InvalidArgument(
            f"there are {rows.height:,} points to draw, allowed are {MAX_POINTS:,}.",
            hint=FEWER_KEYS,
        )
    *others, time = keys
    ends = () if over is None else range_of(over)
    names = pl.concat_str(map(key_text, others), separator=" · ") if others else pl.lit("")
    is_number = rows.schema[time].is_numeric()
    drawn = rows.select(
        names.alias("series"),
        pl.col(time).cast(pl.Float64 if is_number else pl.String).alias("x"),
        "quantity", pl.col("estimate", "lower", "upper").round_sig_figs(6), "alarm",
    )  # fmt: skip
    series = drawn["series"].unique(maintain_order=True).to_list()
    channels = style(series, " · ".join(others), colours)
    across = alt.X("x:Q" if is_number else "x:T", title=time, scale=alt.Scale(nice=False))
    if rows.schema[time] == pl.Date:
        # A browser reads a date as a midnight in UTC, and would show it in its own time zone.
        across = across.scale(nice=False, type="utc").axis(tickMinStep=MILLISECONDS_OF_DAY)
    known = drawn.filter(pl.any_horizontal(pl.col("estimate", "alarm").is_not_null()))
    present = [name for name in TITLES if name in known["quantity"]] or ["prior"]
    panels = [
        _panel(drawn.filter(quantity=name), TITLES[name], across, channels,
               ends if name == "prior" else ())
        for name in present
    ]  # fmt: skip
    return with_theme(alt.vconcat(*panels).resolve_scale(x="shared"), title)


def _panel(
    rows: pl.DataFrame,
    heading: str | list[str],
    across: alt.X,
    channels: Sequence[Any],
    ends: Sequence[float],
) -> Any:
    """One quantity over time."""
    base = data(rows.to_dicts())
    tooltip = [
        alt.Tooltip("series:N", title="key"),
        alt.Tooltip(across.shorthand, title="time"),
        *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("estimate", "lower", "upper")),
        alt.Tooltip("alarm:N"),
    ]
    up = alt.Y("estimate:Q", title=heading, scale=alt.Scale(zero=False))
    is_one_time = rows["x"].n_unique() == 1
    line = base.mark_line(strokeWidth=1.5, point=is_one_time)
    layers: list[Any] = [line.encode(across, up, *channels, tooltip=tooltip)]
    if rows["lower"].count():
        limits = base.transform_filter("isValid(datum.lower)")
        # A band of one time would have no width.
        band = limits.mark_rule(opacity=0.5) if is_one_time else limits.mark_area(opacity=0.18)
        layers.insert(0, band.encode(across, alt.Y("lower:Q"), alt.Y2("upper:Q"), *channels[:1]))
    for end in ends:
        line = data([{}]).mark_rule(strokeDash=[5, 4], color="#222222")
        layers.append(line.encode(alt.YDatum(end, title=heading)))
    has_estimate = rows.drop_nulls("alarm")["estimate"].is_not_null()
    for test, height, among in (
        ("isValid", up, has_estimate),
        ("!isValid", alt.YValue("height"), ~has_estimate),
    ):
        # A layer without rows would have a scale without ends.
        if not among.any():
            continue
        alarms = base.transform_filter(f"isValid(datum.alarm) && {test}(datum.estimate)")
        marks = alarms.mark_point(filled=True, size=20, opacity=1, color=RED)
        layers.append(marks.encode(across, height, tooltip=tooltip))
    return alt.layer(*layers).properties(width=640, height=110)
