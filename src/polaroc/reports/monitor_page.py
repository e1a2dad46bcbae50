"""The page of a monitor: the alarms in plain words, a chart, and what the limits mean."""

import re
from collections.abc import Sequence

import polars as pl

from polaroc.base.rounding import number, percent
from polaroc.base.text import capitalised, key_text
from polaroc.charts.monitoring import MAX_POINTS, PRIORS, TITLES, over_time
from polaroc.deployment.alarms import BETTER_MODEL, BETTER_THRESHOLD, LEFT_RANGE, OTHER_SHIFT
from polaroc.deployment.history import times_in_words
from polaroc.deployment.monitor_result import (
    ESTIMATED,
    Monitor,
    alarms_by_key,
    alarms_now,
    in_words,
    labelled_rows,
    last_rows,
)
from polaroc.reports.figures import Figure
from polaroc.reports.page import GLOSSARY, rendered, versions
from polaroc.reports.tables import ReportTable
from polaroc.reports.words import counted, percent_range

TEMPLATE, TITLE = "monitor.html.j2", "Thresholds in use"
HEADLINE = re.compile(r"(No alarm(?: now)?|[\d,]+ alarms? now)[:;.] (.*)", re.DOTALL)
IN_PAGE_WORDS = {"prior": "share of positives", "posfrac": "called positive"}
MEANINGS = (
    "The limits of all models and times hold at once, with the probability that was asked for, so "
    "you may look every day. They hold however the share of positives moves.",
    "They assume that only the share of positives changes: the scores of positives, and those of "
    "negatives, are distributed as on the labelled reference. This is tested at every time. If it "
    "is contradicted, there are no limits.",
    "Only labels can show drift that makes the scores look like another mixture of the same "
    "positives and negatives.",
)


# Words of the glossary that are for this page, too.
WORDS = ("positive", "share of positives", "score", "threshold")
OWN_WORDS = (
    ("called positive", "the share of cases with a score at or above the threshold"),
    ("precision", "the share of cases called positive that are positive"),
    ("recall", "the share of positives that are called positive"),
    ("cost", "that of missed positives and of false alarms, per case"),
    ("reference", "the labelled cases that say how positives and negatives are scored"),
)


# What each kind of alarm means and what to do, by how it begins.
KINDS = {
    LEFT_RANGE: "The limits of the share of positives are outside the range that the threshold was "
    "chosen for, on that day or on average over some last days. Choose the threshold, or the "
    "model, for another range.",
    BETTER_THRESHOLD: "The named threshold costs less at every share of positives that the scores "
    "allow, and saves more than it would anywhere in the range. Look at the range, then change.",
    BETTER_MODEL: "The named model costs less at every share of positives that the scores allow, "
    "and saves more than it would anywhere in the range. Look at the range, then change.",
    OTHER_SHIFT: "No mixture of the positives and negatives of the reference gives these scores: "
    "the cases, or how they are scored, have changed. Label cases from use, and make a new "
    "reference.",
}


def monitor_page(result: Monitor, title: str) -> str:
    """The whole page as HTML."""
    table = result.history
    alarms, now = alarms_by_key(table), alarms_now(result)["alarm"]
    keys = table.columns[: table.columns.index("quantity")]
    of_keys = " of each key" if len(keys) > 1 else ""
    headline, said = _headline(in_page_words(result.answer))
    return rendered(
        TEMPLATE,
        title,
        counts=_counts(table, keys),
        headline=headline,
        said=said,
        kinds=[
            (in_page_words(begins), meaning)
            for begins, meaning in KINDS.items()
            if now.str.contains(begins, literal=True).any()
        ],
        today=_today(result, keys) if table.height else [],
        alarms=_sheet("alarms", f"Alarms{of_keys}", alarms) if alarms.height else None,
        chart=_figure(result, keys) if table.height else None,
        meanings=[*MEANINGS, *result.notes],
        glossary=[*((word, meaning) for word, meaning in GLOSSARY if word in WORDS), *OWN_WORDS],
        versions=versions(),
    )


def _headline(answer: str) -> tuple[str, str]:
    """Whether there is an alarm, and which; what else is said begins with a capital letter."""
    parts = HEADLINE.fullmatch(answer)
    assert parts is not None
    return parts[1], parts[2][:1].upper() + parts[2][1:]


def _today(result: Monitor, keys: Sequence[str]) -> list[ReportTable]:
    """The last time, from scores, and what labels tell: of one key with a row per quantity."""
    scores, labels = last_rows(result.history), labelled_rows(result)
    if len(keys) > 1:
        shown = (
            ("last", "The last time of each key, from scores", in_words(scores)),
            ("labels", "From labels, of each key", in_words(labels)),
        )
        return [_sheet(*one) for one in shown if one[-1].height]
    (time,) = keys
    scores = scores.with_columns(times_in_words(scores[time]).cast(pl.String))
    sheets = []
    for name, rows in (("scores", scores), ("labels", labels)):
        if rows.height:
            # Of labels, what all complete times tell together.
            last = rows[time][-1]
            own = rows.filter(pl.col(time) == last)
            sheets.append(_by_quantity(name, f"{last}, from {name}", own))
    return sheets


def _by_quantity(name: str, caption: str, rows: pl.DataFrame) -> ReportTable:
    numbers = {
        heading: [
            None if value is None else _written(quantity, value)
            for quantity, value in zip(rows["quantity"], rows[column], strict=True)
        ]
        for heading, column in (("", "estimate"), ("at least", "lower"), ("at most", "upper"))
    }
    return ReportTable(name, caption, {
        "quantity": [IN_PAGE_WORDS.get(one, one) for one in rows["quantity"]], **numbers
    })  # fmt: skip


def _written(quantity: str, value: float) -> str | None:
    """A share in per cent, and a cost as a number."""
    return number(value) if quantity == "cost" else percent(value)


def in_page_words(text: str) -> str:
    """A text of a monitor as a page has it: the prior is the share of positives there."""
    for said in (LEFT_RANGE, OTHER_SHIFT, ESTIMATED, capitalised(ESTIMATED)):
        text = text.replace(said, re.sub("(?i)(the) prior", r"\1 share of positives", said))
    return text


def _counts(table: pl.DataFrame, keys: Sequence[str]) -> str:
    times = times_in_words(table[keys[-1]].unique().sort())
    span = f", {times[0]} to {times[-1]}" if len(times) else ""
    parts = [counted(len(times), "time") + span]
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


def _figure(result: Monitor, keys: Sequence[str]) -> Figure:
    """The chart of all times, or of as many of the last ones as can be drawn."""
    table, (*own, time) = result.history, keys
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
    titles = {name: text.replace("prior", IN_PAGE_WORDS["prior"]) for name, text in TITLES.items()}
    ends = {} if result.over is None else dict.fromkeys(PRIORS, result.over)
    dashed = "" if result.over is None else (
        f" Dashed lines are the ends of the range that the threshold is for, "
        f"{percent_range(*result.over)}."
    )  # fmt: skip
    return Figure(
        "monitor",
        over_time(drawn, keys, titles, "Over time", None, ends),
        f"Estimates at {which} with their limits; red points are alarms, at the foot of a panel "
        f"where there is no estimate.{dashed}",
        f"Share of positives, precision, share called positive and cost per case over {seen}, with "
        f"limits and {counted(alarms, 'alarm')}.",
        series.unique(maintain_order=True).to_list(),
        wide=True,
    )
