"""The page of a monitor: the alarms in plain words, a chart, and what the limits mean."""

from dataclasses import dataclass

import polars as pl

from polaroc import charts
from polaroc.base.names import key_text
from polaroc.charts.monitoring import MAX_POINTS
from polaroc.deployment.alarms import BETTER_MODEL, BETTER_THRESHOLD, LEFT_RANGE, OTHER_SHIFT
from polaroc.deployment.history import times_in_words
from polaroc.deployment.monitor_result import (
    Monitor,
    alarms_by_key,
    alarms_now,
    last_times,
)
from polaroc.reports.figures import Figure
from polaroc.reports.page import GLOSSARY, rendered, versions
from polaroc.reports.tables import ReportTable
from polaroc.reports.words import counted

TEMPLATE, TITLE = "monitor.html.j2", "Thresholds in use"
MEANINGS = (
    "The limits of all models and times hold at once, with the probability that was asked for: "
    "one may look every day. Each is of its own time, however the share of positives moves.",
    "They take for granted that only the share of positives changes: that the scores of "
    "positives, and those of negatives, are spread as on the labelled reference. That is tested "
    "at every time; where it is contradicted there are no limits.",
    "Drift that makes the scores look like another mixture of the same positives and negatives "
    "only labels can show.",
)


# Words of the glossary that are for this page, too.
WORDS = ("positive", "share of positives", "score", "threshold")
OWN_WORDS = (
    ("called positive", "the share of cases with a score at or above the threshold"),
    ("precision", "the share of cases called positive that are positive"),
    ("cost", "that of missed positives and of false alarms, per case"),
    ("reference", "the labelled cases that say how positives and negatives are scored"),
)


@dataclass(frozen=True)
class AlarmKind:
    """A kind of alarm: how it begins, what it means and what to do."""

    begins: str
    meaning: str
    advice: str

    @property
    def name(self) -> str:
        """How it begins, in the words of the page."""
        return in_page_words(self.begins)


KINDS = (
    AlarmKind(
        LEFT_RANGE,
        "The share of positives is certainly outside the range that the threshold was chosen for, "
        "on that day or on average over some last days.",
        "Choose the threshold, or the model, for another range.",
    ),
    AlarmKind(
        BETTER_THRESHOLD,
        "The named threshold costs less at every share of positives that the scores allow, by "
        "more than it did anywhere in the range.",
        "Move to it, after a look at the range.",
    ),
    AlarmKind(
        BETTER_MODEL,
        "The named model costs less at every share of positives that the scores allow, by more "
        "than it did anywhere in the range.",
        "Move to it, after a look at the range.",
    ),
    AlarmKind(
        OTHER_SHIFT,
        "No mixture of the positives and negatives of the reference gives these scores: the "
        "cases, or how they are scored, have changed.",
        "Label cases from use, and make a new reference.",
    ),
)


def monitor_page(result: Monitor, title: str) -> str:
    """The whole page as HTML."""
    table = result.history
    alarms, now = alarms_by_key(table), alarms_now(result)["last alarm"]
    keys = table.columns[: table.columns.index("quantity")]
    of_keys = " of each key" if len(keys) > 1 else ""
    return rendered(
        TEMPLATE,
        title,
        counts=_counts(table, keys),
        answer=in_page_words(result.answer),
        kinds=[one for one in KINDS if now.str.contains(one.begins, literal=True).any()],
        alarms=_sheet("alarms", f"Alarms{of_keys}", alarms) if alarms.height else None,
        last=_sheet("last", f"The last time{of_keys}, with limits", last_times(table))
        if table.height
        else None,
        chart=_figure(table, keys) if table.height else None,
        meanings=[*MEANINGS, *result.notes],
        glossary=[*((word, meaning) for word, meaning in GLOSSARY if word in WORDS), *OWN_WORDS],
        versions=versions(),
    )


def in_page_words(text: str) -> str:
    """A text of a monitor as a page has it: the prior is the share of positives there."""
    for said in (LEFT_RANGE, OTHER_SHIFT):
        text = text.replace(said, said.replace("the prior", "the share of positives"))
    return text


def _counts(table: pl.DataFrame, keys: list[str]) -> str:
    parts = [counted(table[keys[-1]].n_unique(), "time")]
    if len(keys) > 1:
        parts.insert(0, counted(table.select(keys[:-1]).n_unique(), "key"))
    return " · ".join(parts)


def _sheet(name: str, caption: str, rows: pl.DataFrame) -> ReportTable:
    columns = {
        heading.replace("prior", "share of positives"): [
            None if value is None else in_page_words(str(value)) for value in rows[heading]
        ]
        for heading in rows.columns
    }
    return ReportTable(name, caption, columns, words=tuple(columns))


def _figure(table: pl.DataFrame, keys: list[str]) -> Figure:
    """The chart of all times, or of as many of the last ones as can be drawn."""
    *own, time = keys
    times = table[time].unique().sort()
    shown = times.tail(max(MAX_POINTS * len(times) // table.height, 1))
    drawn = table.filter(pl.col(time) >= shown[0])
    left_out = len(times) - len(shown)
    names = pl.concat_str(map(key_text, own), separator=" · ") if own else pl.lit("")
    series = drawn.select(names).to_series()
    alarms = drawn["alarm"].count()
    which = f"the last {len(shown):,} of {len(times):,} times" if left_out else "all times"
    days = times_in_words(shown)
    seen = f"{time} {days[0]} to {days[-1]}"
    return Figure(
        "monitor",
        charts.monitor(drawn),
        f"Estimates at {which} with their limits; red points are alarms, at the foot of a panel "
        "where there is no estimate.",
        f"Prior, precision, share called positive and cost per case over {seen}, with limits and "
        f"{counted(alarms, 'alarm')}.",
        series.unique(maintain_order=True).to_list(),
        wide=True,
    )
