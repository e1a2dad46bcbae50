"""The result of a monitor, and its summary as text and as HTML."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.columns import within
from polaroc.base.rounding import limit
from polaroc.base.text_tables import html_lines, html_table, plain, table
from polaroc.errors import Hint

if TYPE_CHECKING:
    from rich.console import RenderableType

EACH_TIME = (
    "Limits of what labels tell are of one time each: at several times, each may fail with one "
    "minus the level. They hold whatever has drifted."
)
NO_RANGE = Hint(
    "No range of priors was given ({over}), so no shift of the share of positives raises an alarm.",
    over=None,
)
TUNED_HERE = (
    "The threshold does on the reference exactly what it did where it was chosen: on the cases it "
    "was chosen on, its rates are too good. Give labelled cases of their own."
)
LABELLED = "_labelled"
HEADINGS = {"posfrac": "called positive"}


@dataclass(frozen=True, eq=False, repr=False)
class Monitor:
    """What deployed thresholds do at each time; made by `monitor`.

    Attributes
    ----------
    table
        One row per key, time and quantity, sorted: the keys; the time under its own
        name; `quantity` String: "prior", "precision" and "posfrac", the share of cases
        called positive, from 0 to 1, and "cost" per case; `estimate`, `lower`,
        `upper` Float64, of this time alone (of what depends on the prior, limits are
        null where more than it has shifted, and the estimate, too, where that is so of
        this time alone); `alarm` String, null, or what should change.
    state
        One row per key and time, this one's and all earlier ones: what `monitor` needs
        to go on. The keys, the time; `look` and `cases` Int64, `called`
        List(Int64), `plan` String.
    over
        The range of priors whose end the prior may pass with an alarm; None where none was
        given.
    warnings
        What is wrong with the reference, the times or the labels, in sentences.

    See Also
    --------
    monitor : What deployed thresholds do, day by day.
    charts.monitor : Quantities in use over time.
    """

    table: pl.DataFrame
    state: pl.DataFrame
    over: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def alarms(self) -> pl.DataFrame:
        """The rows of the table with an alarm."""
        return self.table.filter(pl.col("alarm").is_not_null())

    @property
    def answer(self) -> str:
        """Whether something should change, in a sentence."""
        alarms = self.alarms
        if "posfrac" not in self.table["quantity"]:
            return "No alarm: no new scores were given."
        if not alarms.height:
            nothing = "No alarm: nothing shows that a threshold should change."
            return nothing if self.over is not None else nothing + " " + NO_RANGE
        first = alarms.sort(_keys(alarms)[-1], maintain_order=True)["alarm"][0]
        return (
            f"1 alarm: {first}."
            if alarms.height == 1
            else (f"{alarms.height} alarms; the first: {first}.")
        )

    def summary(self) -> str:
        """The alarms, and the last time of each key, as text for a terminal of 80 columns."""
        return plain(monitor_parts(self))

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        shown = last_times(self.table)
        cells = [[None if cell is None else str(cell) for cell in row] for row in shown.rows()]
        return (
            html_lines([self.answer])
            + html_table("Last time", shown.columns, cells)
            + html_lines(self.notes)
        )

    @property
    def notes(self) -> list[str]:
        """What is to be said of the limits and of the alarms, beside the answer."""
        silent = [NO_RANGE] if self.over is None and self.alarms.height else []
        return [*self.warnings, *silent, *([EACH_TIME] if has_labels(self.table) else [])]


def monitor_parts(result: Monitor) -> "list[RenderableType]":
    """Sentences and tables for a terminal."""
    alarms, keys = result.alarms, len(_keys(result.table)) - 1
    of_keys = " of each key" if keys else ""
    parts: list[RenderableType] = [result.answer]
    if alarms.height:
        shown = alarms_by_key(alarms)
        rows = [[str(cell) for cell in row] for row in shown.rows()]
        parts.append(table(f"Alarms{of_keys}", shown.columns, rows, len(shown.columns)))
    shown = last_times(result.table)
    if shown.height:
        parts.append(table(f"Last time{of_keys}", shown.columns, shown.rows(), keys + 1))
    return [*parts, *result.notes]


def has_labels(results: pl.DataFrame) -> bool:
    """Whether some estimates are from labels, whose limits are of one time each."""
    return bool(results["quantity"].str.ends_with(LABELLED).any())


def alarms_by_key(alarms: pl.DataFrame) -> pl.DataFrame:
    """The first and the last time, and the last alarm, of each key and kind of alarm."""
    *keys, time = _keys(alarms)
    kind = pl.col("alarm").str.split(":").list.first().alias("quantity")
    alarms = alarms.with_columns(times_in_words(alarms[time]))
    grouped = alarms.group_by([*keys, kind], maintain_order=True)
    return grouped.agg(
        pl.col(time).first().alias("first"),
        pl.col(time).last().alias("last"),
        pl.len().alias("times"),
        pl.col("alarm").last().alias("last alarm"),
    ).drop("quantity")


def last_times(results: pl.DataFrame) -> pl.DataFrame:
    """The quantities of the last time of each key, with their limits, as text.

    Labels may come late: what they tell is that of the last time that has any.
    """
    *keys, time = _keys(results)
    labelled = pl.col("quantity").str.ends_with(LABELLED)
    is_last = pl.lit(False)
    for rows in (labelled, ~labelled):
        last = within(pl.col(time).filter(rows).max(), keys)
        is_last |= rows & (pl.col(time) == last)
    latest = results.filter(is_last)
    latest = latest.with_columns(times_in_words(latest[time]))
    lines: dict[tuple[object, ...], dict[str, str]] = {}
    for row in latest.iter_rows(named=True):
        quantity: str = row["quantity"]
        name = HEADINGS.get(quantity, quantity.replace("_", ", "))
        text = limit(row["estimate"]) or "–"
        if row["lower"] is not None:
            text += f" ({limit(row['lower'])} to {limit(row['upper'])})"
        lines.setdefault(tuple(str(row[key]) for key in (*keys, time)), {})[name] = text
    quantities = dict.fromkeys(name for line in lines.values() for name in line)
    names = [*keys, time, *sorted(quantities, key=lambda name: name.endswith("labelled"))]
    cells = [[*key, *(line.get(name) for name in names[len(key) :])] for key, line in lines.items()]
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String), orient="row")


def times_in_words(times: pl.Series) -> pl.Series:
    """Times for a reader: those that are all midnights as dates.

    Examples
    --------
    >>> from datetime import datetime
    >>> times_in_words(pl.Series([datetime(2026, 3, 1)])).item()
    datetime.date(2026, 3, 1)
    """
    days = times.dtype == pl.Datetime and (times == times.dt.truncate("1d")).all()
    return times.dt.date() if days else times


def _keys(results: pl.DataFrame) -> list[str]:
    """The keys and the time."""
    return results.columns[: results.columns.index("quantity")]
