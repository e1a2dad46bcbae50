"""The result of a monitor, and its summary as text and as HTML."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import with_level, within
from polaroc.base.private_columns import private
from polaroc.base.rounding import percent, with_limits
from polaroc.base.text import capitalised
from polaroc.base.text_tables import Result, table
from polaroc.deployment.history import all_results, times_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

EACH_TIME = (
    "Limits from labels hold whatever has drifted, but each for its own time: at every time they "
    "fail with a chance of one minus the level."
)
NO_RANGE = (
    "No range of priors was given (over=), so no shift of the share of positives raises an alarm."
)
SAME_DAYS = (
    "Alarms assume that days differ only in the share of positives and by chance. If scores shift "
    "a little from day to day, name the days of the reference "
) + "(cluster='day'): they show how much days differ."
TUNED_HERE = (
    "The threshold has exactly the same rates on the reference as where it was chosen. On the "
    "cases it was chosen on, they are too good: give other labelled cases as the reference."
)
# How the sentence on a prior begins that is outside its range, as far as is known.
ESTIMATED = "the prior is estimated"
LABELLED = "_labelled"
OF_LABELS = pl.col("quantity").str.ends_with(LABELLED)
# Whether an alarm is one of the last time of its key.
NOW = private("now")


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Result):
    """Rates of deployed thresholds at each time; made by `monitor`.

    Attributes
    ----------
    table
        One row per key, time and quantity, sorted: the keys; the time under its own
        name; `quantity` String: "prior", "precision" and "posfrac", the share of cases
        called positive, from 0 to 1, and "cost" per case; `estimate`, `lower`,
        `upper` and their `level` Float64, of this time alone (of what depends on the prior, limits
        are null where more than it has shifted, and the estimate, too, where that is so of this
        time alone); `alarm` String, null, or what should change.
    state
        One row per key and time, this one's and all earlier ones: what `monitor` needs
        to go on. The keys, the time; `look` and `cases` Int64, `called`
        List(Int64), `plan` String, `results` String: the rows of the table of that time, as
        JSON.
    labelled
        What the labels that were given tell of all their times together: one row per key and
        quantity, the keys; `quantity` String, those of the table that end in "_labelled"; `first`
        and `last`, and how many `times` Int64 there are; `cases` and `labels` of these times
        Int64; `estimate`, `lower`, `upper` and `level` Float64.
    over
        The range of priors that the prior may leave with an alarm: the one asked for, or that of
        the points, from the least to the greatest prior where it differs between keys; None if
        there is none.
    warnings
        What is wrong with the reference, the times or the labels, and what alarms take for
        granted, in sentences.
    level
        Of the limits: that all of them hold, or, of what labels tell, that each does.
    """

    table: pl.DataFrame
    state: pl.DataFrame
    labelled: pl.DataFrame
    over: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()
    level: float = 0.95

    @cached_property
    def history(self) -> pl.DataFrame:
        """The table of all times in the state, each as it was found when it was given."""
        return with_level(all_results(self.state), self.level)

    @property
    def alarms(self) -> pl.DataFrame:
        """The rows of the table with an alarm."""
        return self.table.filter(pl.col("alarm").is_not_null())

    @property
    def answer(self) -> str:
        """Whether something should change, in a sentence."""
        now = alarms_now(self)
        if now.height:
            *_, first, _, times, alarm = now.row(0)
            since = f" ({times} times since {first})" if times > 1 else ""
            count = "1 alarm now" if now.height == 1 else f"{now.height} alarms now; the first"
            return f"{count}: {alarm}{since}."
        if not _has_scores(self.table):
            return "No alarm: no new scores were given."
        alarms, outside = alarms_by_key(self.history), _outside(self)
        if alarms.height:
            *_, last, _, alarm = max(alarms.iter_rows(), key=lambda row: row[-3])
            said = [f"No alarm now. The last was at {last}: {alarm}.", *map(capitalised, outside)]
            return " ".join(said)
        if outside:
            return " ".join(["No alarm:", *outside])
        nothing = "No alarm: nothing shows that a threshold should change."
        return nothing if self.over is not None else nothing + " " + NO_RANGE

    @property
    def shown(self) -> "list[RenderableType]":
        """The answer, the alarms, the last time of each key, what labels tell, and the notes."""
        keys = len(_keys(self.history)) - 1
        alarms = alarms_by_key(self.history)
        tables = (
            ("Alarms", alarms, alarms.width),
            ("Last time", in_words(last_rows(self.history)), keys + 1),
            ("Labels", in_words(labelled_rows(self)), keys + 1),
        )
        of_keys = " of each key" if keys else ""
        shown = [
            table(heading + of_keys, one.columns, one.rows(), text)
            for heading, one, text in tables
            if one.height
        ]
        return [self.answer, *shown, *self.notes]

    @property
    def notes(self) -> list[str]:
        """Notes on the limits and on the alarms, beside the answer."""
        rows = self.history
        silent = [NO_RANGE] if self.over is None and rows["alarm"].count() else []
        return [*self.warnings, *silent, *([EACH_TIME] if _has_labels(rows) else [])]


def _has_scores(results: pl.DataFrame) -> bool:
    """Whether scores were given, and not only labels of known ones."""
    return "posfrac" in results["quantity"]


def _outside(result: Monitor) -> list[str]:
    """A sentence on the prior of the last time, if its estimate is outside the range."""
    if result.over is None:
        return []
    *keys, time = _keys(result.table)
    of_prior = _last(result.history.filter(quantity="prior"))
    if keys:
        given = result.table.select(keys).unique()
        of_prior = of_prior.join(
            given, on=keys, how="semi", nulls_equal=True, maintain_order="left"
        )
    rows = of_prior.filter(~pl.col("estimate").is_between(*result.over))
    if rows.is_empty():
        return []
    row = rows.with_columns(times_in_words(rows[time])).row(0, named=True)
    estimate, lower, upper, low, high = map(
        percent, (row["estimate"], row["lower"], row["upper"], *result.over)
    )
    key = "".join(f"{name} {row[name]}, " for name in keys)
    at = f"{key}{time} {row[time]}"
    others = f" (so it is for {rows.height} of {of_prior.height} keys)" if rows.height > 1 else ""
    return [
        f"{ESTIMATED} at {estimate} ({lower} to {upper}; {at}), outside the range {low} to {high} "
        f"that the threshold is for{others}. The limits do not rule the range out."
    ]


def _has_labels(results: pl.DataFrame) -> bool:
    """Whether some estimates are from labels, whose limits are of one time each."""
    told = OF_LABELS & pl.col("estimate").is_not_null()
    return bool(results.select(told.any()).item())


def alarms_by_key(results: pl.DataFrame) -> pl.DataFrame:
    """The first and the last time, and the last alarm, of each key and kind of alarm.

    Those that hold at the last time of their key come first.
    """
    return _alarms(results).drop(NOW)


def alarms_now(result: Monitor) -> pl.DataFrame:
    """The alarms of the last time of each key that is still given."""
    alarms = _alarms(result.history)
    now = alarms.filter(NOW).drop(NOW)
    own = result.table.select(_keys(result.table)[:-1]).unique()
    if not _has_scores(result.table) or not own.width:
        return now
    return now.join(own, on=own.columns, how="semi", nulls_equal=True, maintain_order="left")


def _alarms(results: pl.DataFrame) -> pl.DataFrame:
    *keys, time = _keys(results)
    kind = pl.col("alarm").str.split(":").list.first().alias("quantity")
    now = pl.col(time) == within(pl.col(time).max(), keys)
    rows = results.with_columns(times_in_words(results[time])).with_columns(now.alias(NOW))
    grouped = rows.drop_nulls("alarm").group_by([*keys, kind], maintain_order=True)
    return grouped.agg(
        pl.col(time).first().alias("first"),
        pl.col(time).last().alias("last"),
        pl.len().alias("times"),
        pl.col("alarm").last(),
        pl.col(NOW).last(),
    ).drop("quantity").sort(NOW, descending=True, maintain_order=True)  # fmt: skip


def labelled_rows(result: Monitor) -> pl.DataFrame:
    """The estimates from labels of the last time of each key that has any, and of all together."""
    last = _last(result.history.filter(OF_LABELS, pl.col("estimate").is_not_null()))
    *keys, time = _keys(result.history)
    both = [last.with_columns(times_in_words(last[time]).cast(pl.String))]
    together = result.labelled.filter(pl.col("times") > 1)
    if together.height:
        ends = [times_in_words(together[name]).cast(pl.String) for name in ("first", "last")]
        both.append(together.with_columns(pl.concat_str(*ends, separator=" to ").alias(time)))
    columns = [*keys, time, "quantity", "estimate", "lower", "upper"]
    rows = pl.concat([one.select(columns) for one in both])
    return rows.with_columns(pl.col("quantity").str.strip_suffix(LABELLED))


def last_rows(results: pl.DataFrame) -> pl.DataFrame:
    """The rows of the last time of each key, but for what labels tell."""
    return _last(results.filter(~OF_LABELS))


def _last(rows: pl.DataFrame) -> pl.DataFrame:
    *keys, time = _keys(rows)
    return rows.filter(pl.col(time) == within(pl.col(time).max(), keys))


def in_words(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of each key and time as one, as text."""
    *keys, time = _keys(rows)
    rows = rows.with_columns(times_in_words(rows[time]))
    lines: dict[tuple[object, ...], dict[str, str]] = {}
    for row in rows.iter_rows(named=True):
        text = with_limits(row["estimate"], row["lower"], row["upper"])
        quantity: str = row["quantity"]
        lines.setdefault(tuple(str(row[key]) for key in (*keys, time)), {})[quantity] = text
    names = [*keys, time, *dict.fromkeys(name for line in lines.values() for name in line)]
    cells = [[*key, *(line.get(name) for name in names[len(key) :])] for key, line in lines.items()]
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String), orient="row")


def _keys(results: pl.DataFrame) -> list[str]:
    """The keys and the time."""
    return results.columns[: results.columns.index("quantity")]
