"""The page of a monitor: the answer, what to do about alarms, a chart, and what limits mean."""

import polars as pl

from polaroc import charts
from polaroc.base.text import with_limits
from polaroc.charts.monitoring import MAX_POINTS
from polaroc.monitoring.result import QUANTITIES, Monitor
from polaroc.reports.figures import Figure
from polaroc.reports.page import GLOSSARY, rendered, versions
from polaroc.reports.tables import ReportTable
from polaroc.reports.words import counted, percent_range

TEMPLATE, TITLE = "monitor.html.j2", "Thresholds in use"
MEANINGS = (
    "The limits allow for all looks: with the probability that was asked for there is no false "
    "alarm in any period.",
    "They assume that only the share of positives changes: the scores of positives, and those of "
    "negatives, are distributed as on the labelled reference. This is tested in every period. If "
    "it is contradicted, there are no limits.",
    "Only labels can show drift that makes the scores look like another mixture of the same "
    "positives and negatives.",
)
# What to do about alarms of each table.
ADVICE = {
    "prior": "Choose the threshold, or the model, for another range of shares of positives.",
    "shape": "The cases, or how they are scored, have changed: label cases from use, and make a "
    "new reference.",
    "thresholds": "The threshold does less than the reference promised: make a new reference of "
    "the labelled cases, and choose another threshold.",
}
WORDS = ("positive", "share of positives", "score", "threshold")


def monitor_page(result: Monitor, title: str) -> str:
    """The whole page as HTML."""
    alarms, table, keys = result.alarms, result.table, result.keys
    times = result.prior[result.time].unique().sort()
    span = f", {times[0]} to {times[-1]}" if len(times) else ""
    now = result.thresholds.filter(pl.col(result.time) == pl.col(result.time).max())
    last = [
        {key: str(row[key]) for key in keys}
        | {name: with_limits(row[name], row[f"{name}_lower"], row[f"{name}_upper"])
           for name in QUANTITIES[1:]}
        for row in now.iter_rows(named=True)
    ]  # fmt: skip
    return rendered(
        TEMPLATE, title,
        counts=counted(len(times), "period") + span,
        headline=result.answer,
        kinds=[(name, ADVICE[name]) for name in ADVICE if name in alarms["table"]],
        today=[_sheet("last", "The last period", pl.DataFrame(last))] if last else [],
        alarms=_sheet("alarms", "Alarms", alarms) if alarms.height else None,
        chart=_figure(result, table) if table.height else None,
        meanings=[*MEANINGS, *result.warnings],
        glossary=[(word, meaning) for word, meaning in GLOSSARY if word in WORDS],
        versions=versions(),
    )  # fmt: skip


def _sheet(name: str, caption: str, rows: pl.DataFrame) -> ReportTable:
    columns = {one: [None if v is None else str(v) for v in rows[one]] for one in rows.columns}
    return ReportTable(name, caption, columns, words=tuple(columns))


def _figure(result: Monitor, table: pl.DataFrame) -> Figure:
    """The chart of the last periods, as many as can be drawn."""
    times = table[result.time].unique().sort()
    shown = times.tail(max(MAX_POINTS * len(times) // table.height, 1))
    drawn = table.filter(pl.col(result.time) >= shown[0])
    others = [key for key in result.keys if key != result.time]
    over = result.over
    dashed = "" if over is None else f" Dashed lines are the ends of {percent_range(*over)}."
    caption = (
        f"Estimates in the last {len(shown):,} of {len(times):,} periods with their limits; red "
        f"points are alarms.{dashed}"
    )
    chart = charts.monitor(drawn, "Over time", over=over)
    series = [] if not others else drawn[others[0]].cast(pl.String).unique().to_list()
    return Figure("monitor", chart, caption, f"{caption} {result.answer}", series, wide=True)
