"""The times that a monitor has looked at, and the table that keeps them."""

import json
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import as_lazy
from polaroc.deployment.alarms import Terms
from polaroc.deployment.limits import WINDOWS, Looks, Reference
from polaroc.deployment.tables import Key, for_key
from polaroc.errors import InvalidTable, quoted
from polaroc.typing import Array, Table

RESULT: dict[str, Any] = {
    "quantity": pl.String,
    "estimate": pl.Float64,
    "lower": pl.Float64,
    "upper": pl.Float64,
    "alarm": pl.String,
}
STATE: dict[str, Any] = {
    "look": pl.Int64,
    "cases": pl.Int64,
    "called": pl.List(pl.Int64),
    "plan": pl.String,
    "results": pl.String,
}


class Look(NamedTuple):
    """The number of a look, and the cases of its time: all, and those at or above each cut."""

    number: int
    cases: int
    called: "Array"


@dataclass
class History:
    """The times of one key that were looked at, in order, with their counts.

    `kept` is what was found at each, as JSON, and `found` what is found now, by quantity;
    `latest` is the number of the latest look, more than there are where old times were left out.
    """

    times: list[Any] = field(default_factory=list)
    looks: dict[Any, Look] = field(default_factory=dict)
    kept: dict[Any, str] = field(default_factory=dict)
    found: dict[Any, dict[str, dict[str, Any]]] = field(default_factory=dict)
    latest: int = 0

    def add(self, time: Any, cases: int, called: "Array") -> None:
        """Look at a time; one that is known has the same counts."""
        known = self.looks.get(time)
        if known is None:
            insort(self.times, time)
            self.latest += 1
            self.looks[time] = Look(self.latest, cases, called)
        elif known.cases != cases or (known.called != called).any():
            raise InvalidTable(
                f"the state has {time} already, with {known.cases:,} cases; now it has {cases:,}, "
                "or others.",
                hint="give all rows of a time at once, and each time once. Where the state has a "
                "time that was not complete, start a new state from all times.",
            )

    def say(self, time: Any, quantity: str, *values: Any) -> None:
        """Keep what was found at a time: estimate, limits and alarm."""
        *numbers, alarm = values
        known = (None if np.isnan(number) else float(number) for number in numbers)
        row = dict(zip(RESULT, (quantity, *known, alarm), strict=True))
        self.found.setdefault(time, {})[quantity] = row

    def results(self, time: Any) -> str:
        """Results of a time, now or earlier, as JSON."""
        earlier = self.kept.get(time, "[]")
        if time not in self.found:
            return earlier
        rows = {row["quantity"]: row for row in json.loads(earlier)} | self.found[time]
        return json.dumps([*rows.values()])

    def at(self, times: Sequence[Any], reference: Reference) -> Looks:
        """The looks at some times, with the counts of their windows."""
        windows = [self._windows(time) for time in times]
        return Looks(
            reference,
            [self.looks[time].number for time in times],
            *(np.array(counts) for counts in zip(*windows, strict=True)),
        )

    def _windows(self, time: Any) -> tuple["Array", "Array", "Array"]:
        """Counts, cases and their squares of the last times up to one, known by its look."""
        last: list[Look] = []
        for place in range(bisect_right(self.times, time) - 1, -1, -1):
            look = self.looks[self.times[place]]
            # A time that came late was not known before.
            if look.number <= self.looks[time].number:
                last.append(look)
            if len(last) == WINDOWS[-1]:
                break
        called = np.cumsum([look.called for look in last], axis=0)
        cases = np.array([look.cases for look in last])
        filled = [size - 1 for size in WINDOWS if size <= len(last)]
        missing = len(WINDOWS) - len(filled)
        sums, squares = (np.pad(one.cumsum()[filled], (0, missing)) for one in (cases, cases**2))
        return np.pad(called[filled], ((0, missing), (0, 0))), sums, squares


def history_table(
    histories: Mapping[Key, History],
    references: Mapping[Key, Reference],
    keys: Sequence[str],
    types: Mapping[str, Any],
    terms: Terms,
) -> pl.DataFrame:
    """The looks at all keys and times, with the columns `STATE`."""
    rows = []
    for key, history in histories.items():
        plan = _fingerprint(references[key], terms)
        for time, look in history.looks.items():
            counts = (look.number, look.cases, look.called.tolist())
            rows.append((*key, time, *counts, plan, history.results(time)))
    table = pl.DataFrame(rows, schema={**types, **STATE}, orient="row")
    return table.sort(*keys, [*types][-1], nulls_last=True)


def all_results(state: pl.DataFrame) -> pl.DataFrame:
    """Results of all times of a state, one row per key, time and quantity."""
    results = pl.col("results").str.json_decode(pl.List(pl.Struct(RESULT)))
    rows = state.select(pl.exclude([*STATE]), results).explode("results")
    return rows.unnest("results")


def read_histories(
    state: Table | None,
    keys: Sequence[str],
    time: str,
    references: Mapping[Key, Reference],
    times: pl.DataType,
    terms: Terms,
) -> dict[Key, History]:
    """The histories of each key, by the result of `history_table` that an earlier call gave."""
    histories: dict[Key, History] = {}
    if state is None:
        return histories
    lazy = as_lazy(state)
    present = lazy.collect_schema().names()
    if set(present) != {*keys, time, *STATE}:
        raise InvalidTable(
            f"the state has the columns {quoted(present)}, needed are "
            f"{quoted([*keys, time, *STATE])}.",
            hint="give the state of a monitor with the same keys and time.",
        )
    held = lazy.collect()
    check_same_time(time, held.schema[time], times, "the state")
    plans = {key: _fingerprint(reference, terms) for key, reference in references.items()}
    for row in _checked(held, keys, time).iter_rows(named=True):
        key = tuple(row[name] for name in keys)
        if plans.get(key) != row["plan"]:
            raise InvalidTable(
                "the state is of another reference, threshold, level, model or costs"
                f"{for_key(keys, key)}.",
                hint="give the reference, the points and the costs of the monitor that made it, or "
                "start without a state.",
            )
        if len(row["called"]) != references[key].cuts.size:
            raise _damaged()
        history = histories.setdefault(key, History())
        insort(history.times, row[time])
        called = np.array(row["called"], dtype=int)
        history.looks[row[time]] = Look(row["look"], row["cases"], called)
        history.kept[row[time]] = row["results"]
        history.latest = max(history.latest, row["look"])
    return histories


def check_same_time(time: str, kind: pl.DataType, times: pl.DataType, table: str) -> None:
    """Refuse times of a table, named in the message, that those in use can never equal."""
    zones = [one.time_zone if isinstance(one, pl.Datetime) else one for one in (kind, times)]
    # The unit of moments, and the width of integers, are no difference.
    if zones[0] == zones[1] or (kind.is_integer() and times.is_integer()):
        return
    raise InvalidTable(
        f"the time {time!r} is {kind} in {table} and {times} in the deployed scores.",
        hint="give times of one type, dates for example, in all tables.",
    )


def instants(times: pl.Series) -> pl.Series:
    """Times that Python orders as Polars does.

    It takes the two hours of one name, at the end of summer time, for one.

    Examples
    --------
    >>> from datetime import datetime
    >>> instants(pl.Series([datetime(2026, 10, 25)]).dt.replace_time_zone("Europe/Berlin")).dtype
    Datetime(time_unit='us', time_zone='UTC')
    """
    zoned = isinstance(times.dtype, pl.Datetime) and times.dtype.time_zone is not None
    return times.dt.convert_time_zone("UTC") if zoned else times


def times_in_words(times: pl.Series) -> pl.Series:
    """Times for a reader: those that are all midnights as dates, lengths of time as text.

    Examples
    --------
    >>> from datetime import datetime
    >>> times_in_words(pl.Series([datetime(2026, 3, 1)])).item()
    datetime.date(2026, 3, 1)
    """
    if times.dtype == pl.Duration:
        return times.dt.to_string("iso")
    days = times.dtype == pl.Datetime and (times == times.dt.truncate("1d")).all()
    return times.dt.date() if days else times


def _checked(state: pl.DataFrame, keys: Sequence[str], time: str) -> pl.DataFrame:
    """The rows of a state; raise where they cannot be those that a monitor wrote."""
    try:
        rows = state.with_columns(pl.col(name).cast(kind) for name, kind in STATE.items())
        rows = rows.with_columns(instants(state[time]))
        called = pl.col("called").list
        wrong = rows.select(
            (called.drop_nulls().list.len() != called.len())
            | (called.min() < 0) | (called.max() > pl.col("cases")) | (pl.col("look") < 1)
        ).to_series()  # fmt: skip
        rows["results"].str.json_decode(pl.List(pl.Struct(RESULT)))
    except pl.exceptions.PolarsError:
        raise _damaged() from None
    if rows.select(time, *STATE).null_count().sum_horizontal().item() or wrong.any():
        raise _damaged()
    for column in (time, "look"):
        twice = rows.filter(pl.struct(*keys, column).is_duplicated())
        if twice.height:
            raise InvalidTable(
                f"the state has the {'time' if column == time else 'look'} {twice[column][0]} "
                "twice.",
                hint="give the state of the last call alone: it has all earlier times.",
            )
    return rows


def _damaged() -> InvalidTable:
    """The error of a state with rows that no monitor wrote."""
    return InvalidTable(
        "the state was changed: it has rows that no monitor wrote.",
        hint="give the state of the last call as it was, or start without one.",
    )


def _fingerprint(reference: Reference, terms: Terms) -> str:
    """A hash of the cases, cuts, threshold, error rate and costs that a state belongs to."""
    text = repr(
        (
            reference.cuts.tolist(), reference.tp.tolist(), reference.fp.tolist(),
            reference.positives, reference.negatives, reference.threshold.share, reference.error,
            float(terms.cost_fn), float(terms.cost_fp),
        )
    )  # fmt: skip
    return sha256(text.encode()).hexdigest()[:16]
