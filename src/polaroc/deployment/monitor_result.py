"""The result of a monitor, and its summary as text and as HTML."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.text import html_lines, html_table, limit, plain, table

if TYPE_CHECKING:
    from rich.console import RenderableType

EACH_TIME = (
    "Limits of what labels tell are of one time each: at several times, each may fail with one "
    "minus the level. They hold whatever has drifted."
)
LABELLED = "_labelled"
HEADINGS = {"prior": "prior", "precision": "precision", "posfrac": "alarms", "cost": "cost"}


@dataclass(frozen=True, eq=False, repr=False)
class Monitor:
    """What deployed thresholds do at each time; made by `monitor`.

    Attributes
    ----------
    table
        One row per key, time and quantity, sorted: the keys; the time under its own
        name; `quantity` String: "prior", "precision" and "posfrac", the share of cases
        called positive, from 0 to 1, and "cost" per case; `estimate`, `lower`,
        `upper` Float64, of this time alone (limits of what depends on the prior are
        null where more than it has shifted); `alarm` String, null, or what
        should change.
    state
        One row per key and time, this one's and all earlier ones: what `monitor` needs
        to go on. The keys, the time; `look` and `cases` Int64, `called`
        List(Int64), `plan` String.

    See Also
    --------
    monitor : What deployed thresholds do, day by day.
    charts.monitor : Quantities in use over time.
    """

    table: pl.DataFrame
    state: pl.DataFrame

    @property
    def alarms(self) -> pl.DataFrame:
        """The rows of the table with an alarm."""
        return self.table.filter(pl.col("alarm").is_not_null())

    @property
    def answer(self) -> str:
        """Whether something should change, in a sentence."""
        alarms = self.alarms
        if not alarms.height:
            return "No alarm: nothing shows that a threshold should change."
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
        notes = [EACH_TIME] if has_labels(self.table) else []
        return (
            html_lines([self.answer])
            + html_table("Last time", shown.columns, cells)
            + html_lines(notes)
        )


def monitor_parts(result: Monitor) -> "list[RenderableType]":
    """Sentences and tables for a terminal."""
    alarms = result.alarms
    parts: list[RenderableType] = [result.answer]
    if alarms.height:
        shown = alarms_by_key(alarms)
        rows = [[str(cell) for cell in row] for row in shown.rows()]
        parts.append(table("Alarms of each key", shown.columns, rows, len(shown.columns)))
    shown = last_times(result.table)
    if shown.height:
        keys = len(_keys(result.table))
        parts.append(table("Last time of each key", shown.columns, shown.rows(), keys))
    if has_labels(result.table):
        parts.append(EACH_TIME)
    return parts


def has_labels(results: pl.DataFrame) -> bool:
    """Whether some estimates are from labels, whose limits are of one time each."""
    return bool(results["quantity"].str.ends_with(LABELLED).any())


def alarms_by_key(alarms: pl.DataFrame) -> pl.DataFrame:
    """The first and the last time, and the last alarm, of each key and kind of alarm."""
    *keys, time = _keys(alarms)
    kind = pl.col("alarm").str.split(":").list.first().alias("quantity")
    grouped = alarms.group_by([*keys, kind], maintain_order=True)
    return grouped.agg(
        pl.col(time).first().alias("first"),
        pl.col(time).last().alias("last"),
        pl.len().alias("times"),
        pl.col("alarm").last().alias("last alarm"),
    ).drop("quantity")


def last_times(results: pl.DataFrame) -> pl.DataFrame:
    """The quantities of the last time of each key, with their limits, as text."""
    *keys, time = _keys(results)
    latest = results.filter(
        pl.col(time) == (pl.col(time).max().over(keys) if keys else pl.col(time).max())
    )
    lines: dict[tuple[object, ...], dict[str, str]] = {}
    for row in latest.iter_rows(named=True):
        quantity: str = row["quantity"]
        name = HEADINGS.get(quantity, quantity.replace("_", ", "))
        text = limit(row["estimate"]) or "–"
        if row["lower"] is not None:
            text += f" ({limit(row['lower'])} to {limit(row['upper'])})"
        lines.setdefault(tuple(str(row[key]) for key in (*keys, time)), {})[name] = text
    names = [*keys, time, *dict.fromkeys(name for line in lines.values() for name in line)]
    cells = [[*key, *(line.get(name) for name in names[len(key) :])] for key, line in lines.items()]
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String), orient="row")


def _keys(results: pl.DataFrame) -> list[str]:
    """The keys and the time."""
    return results.columns[: results.columns.index("quantity")]
