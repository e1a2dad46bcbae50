"""Chart of deployed thresholds over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from types import MappingProxyType
from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy, require
from polaroc.base.text import key_text
from polaroc.charts.layers import data
from polaroc.charts.libraries import alt
from polaroc.charts.lines import FEWER_KEYS
from polaroc.charts.options import checked
from polaroc.charts.theme import style, with_theme
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.priors.grids import range_of

NEEDED = ("quantity", "estimate", "lower", "upper", "alarm")
TITLES = {
    "prior": "prior", "precision": "precision", "posfrac": "share called positive",
    "cost": "cost per case", "prior_labelled": "prior, with labels",
    "precision_labelled": "precision, with labels", "recall_labelled": "recall, with labels",
    "cost_labelled": "cost, with labels",
}  # fmt: skip
PRIORS: tuple[str, ...] = ("prior", "prior_labelled")
WIDTH, HEIGHT, MAX_POINTS, MAX_DATES, RED, INK = 640, 110, 20_000, 7, "#B2182B", "#222222"
# Significant digits.
DIGITS = 6


@checked
def monitor(
    table: pl.LazyFrame | pl.DataFrame,
    title: str = "Thresholds in use",
    *,
    over: Sequence[float] | None = None,
    colours: Mapping[str, str] | None = None,
) -> alt.VConcatChart:
    """Prior, precision, share called positive and cost in use, one panel each, over time.

    Parameters
    ----------
    table
        The `table` of `monitor`, or several under each other.
    title
        Heading of the chart.
    over
        The range of priors that the thresholds are for, (low, high), drawn as dashed lines.
    colours
        From the name of a model to its colour, for the same in every chart.

    Returns
    -------
    altair.VConcatChart
        The estimates with their limits as bands, which end where there are none, and
        a red point at each alarm, whose tooltip says what should change; where there is no
        estimate, a red triangle at the foot of the panel.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of the table are missing; for more than 20,000 points.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> reference = pl.DataFrame({"truth": [1, 0] * 50, "score": [0.9, 0.1] * 50})
    >>> used = pl.DataFrame({"day": [1, 1, 2, 2], "score": [0.9, 0.1, 0.1, 0.1]})
    >>> watched = pr.monitor(reference, used, points=0.5, time="day")
    >>> len(pr.charts.monitor(watched.table).to_dict()["vconcat"])
    4
    """
    lazy = as_lazy(table)
    keys = require(lazy, NEEDED, source="monitor(...).table")
    keys = [key for key in keys if key not in NEEDED]
    if not keys:
        raise InvalidTable(
            "the table has no column of times.", hint="pass the table of monitor(...)."
        )
    *keys, time = keys
    ends = {} if over is None else dict.fromkeys(PRIORS, range_of(over))
    return over_time(lazy.collect(), [*keys, time], TITLES, title, colours, ends)


def over_time(
    rows: pl.DataFrame,
    keys: Sequence[str],
    titles: Mapping[str, str],
    title: str,
    colours: Mapping[str, str] | None,
    ends: Mapping[str, Sequence[float]] = MappingProxyType({}),
) -> alt.VConcatChart:
    """Quantities over time, the last key, in panels with these titles.

    The `ends` of a quantity are those of a range, drawn as lines.
    """
    *keys, time = keys
    if rows.height > MAX_POINTS:
        raise InvalidArgument(
            f"there are {rows.height:,} points to draw, allowed are {MAX_POINTS:,}.",
            hint=FEWER_KEYS,
        )
    names = [key_text(key) for key in keys] or [pl.lit("")]
    kind = rows.schema[time]
    drawn = rows.select(
        pl.concat_str(names, separator=" · ").alias("series"),
        _across(time, kind).alias("x"),
        "quantity",
        pl.col("estimate", "lower", "upper").round_sig_figs(DIGITS),
        "alarm",
    )
    series = drawn["series"].unique(maintain_order=True).to_list()
    channels = style(series, " · ".join(keys), colours)
    measured = "Q" if kind.is_numeric() else "T" if kind in (pl.Date, pl.Datetime) else "O"
    across = alt.X(f"x:{measured}", title=None)
    if measured == "O":
        # Not by the alphabet: lengths of time and the values of an Enum have an order.
        in_order = rows.select(pl.col(time).drop_nulls().unique().sort())
        in_order = in_order.select(_across(time, kind))
        across = across.scale(domain=in_order.to_series().to_list())
    else:
        # A browser reads a date as a midnight in UTC, and would show it in its own time zone.
        scale = alt.Scale(nice=False, type="utc" if kind == pl.Date else alt.Undefined)
        across = across.scale(scale)
    if kind == pl.Date:
        # The last day is among those named.
        days = rows[time].unique().sort(descending=True)
        shown = [
            alt.DateTime(year=day.year, month=day.month, date=day.day, utc=True)
            for day in days.gather_every(ceil(len(days) / MAX_DATES))
        ]
        across = across.axis(format="%Y-%m-%d", values=shown, labelOverlap=True)
    # A panel of nothing known would be empty; an alarm may have no estimate.
    known = drawn.filter(pl.any_horizontal(pl.col("estimate", "lower", "alarm").is_not_null()))
    present = [name for name in titles if name in known["quantity"]]
    if not present:
        present = [name for name in titles if name in drawn["quantity"]][:1]
    panels = [
        _panel(
            drawn.filter(quantity=name), _lines(titles[name]),
            (across.title(time) if name == present[-1] else across, time),
            channels, ends.get(name, ()),
        )
        for name in present
    ]  # fmt: skip
    # Few times may have labels: below the others, they are where these have them.
    return with_theme(alt.vconcat(*panels, title=title).resolve_scale(x="shared"))


def _across(time: str, kind: pl.DataType) -> pl.Expr:
    """Times as a chart places them: numbers, or text that a browser reads."""
    if kind == pl.Duration:
        return pl.col(time).dt.to_string("iso")
    if kind.is_numeric():
        # JSON has no decimals.
        return pl.col(time).cast(pl.Float64) if kind.is_decimal() else pl.col(time)
    return pl.col(time).cast(pl.String)


def _lines(heading: str) -> str | list[str]:
    """A heading beside a panel, which has room for few words on a line."""
    first, mark, rest = heading.partition(", ")
    return [first + ",", rest] if mark else heading


def _panel(
    rows: pl.DataFrame,
    heading: str | list[str],
    named_time: tuple[alt.X, str],
    channels: Sequence[Any],
    ends: Sequence[float],
) -> Any:
    """One quantity over time."""
    base = data(rows.to_dicts())
    across, time = named_time
    tooltip = [
        alt.Tooltip("series:N", title="key"),
        alt.Tooltip("x:N", title=time),
        *(
            alt.Tooltip(f"{name}:Q", title=name, format=".4f")
            for name in ("estimate", "lower", "upper")
        ),
        alt.Tooltip("alarm:N", title="alarm"),
    ]
    up = alt.Y("estimate:Q", title=heading, scale=alt.Scale(zero=False))
    one_time = rows["x"].n_unique() == 1
    # A layer without rows would have scales without ends.
    if rows["estimate"].count():
        line = base.mark_line(strokeWidth=1.5, point=one_time)
        layers = [line.encode(across, up, *channels, tooltip=tooltip)]
    else:
        axis = alt.YDatum(0, title=heading, scale=alt.Scale(domain=[0, 1]))
        layers = [base.mark_rule(opacity=0).encode(across, axis)]
    if rows["lower"].count():
        known = base.transform_filter("isValid(datum.lower)")
        limits = alt.Y("lower:Q", title=heading), alt.Y2("upper:Q")
        # A band of one time would have no width.
        band = known.mark_rule(opacity=0.5) if one_time else known.mark_area(opacity=0.18)
        layers.insert(0, band.encode(across, *limits, *channels[:1]))
    for end in ends:
        line = data([{}]).mark_rule(strokeDash=[5, 4], color=INK)
        layers.append(line.encode(alt.YDatum(end, title=heading)))
    alarmed, foot = rows.drop_nulls("alarm"), alt.YValue("height")
    for drawn, height, test, shape, size in (
        (alarmed["estimate"].is_not_null(), up, "isValid", "circle", 14),
        (alarmed["estimate"].is_null(), foot, "!isValid", "triangle-up", 28),
    ):
        if drawn.any():
            alarms = base.transform_filter(f"isValid(datum.alarm) && {test}(datum.estimate)")
            marks = alarms.mark_point(filled=True, size=size, opacity=1, color=RED, shape=shape)
            layers.append(marks.encode(across, height, tooltip=tooltip))
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
