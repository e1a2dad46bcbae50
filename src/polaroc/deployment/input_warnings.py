"""Warnings of a reference and of scores in use: rows left out, dependent rows, single moments."""

from collections.abc import Mapping
from typing import Any

import polars as pl

from polaroc.base.rounding import percent
from polaroc.deployment.tables import DEPLOYED, REFERENCE, Key, counts_of
from polaroc.errors import InvalidArgument
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence
from polaroc.predictions.table import Predictions

# Fewer cases may well be of as many days.
MIN_CASES = 20
# Days of a reference below which they hardly tell how much days differ.
MIN_DAYS = 20


def dependent_rows(reference: Cases[Any], deployed: Cases[Any]) -> list[str]:
    """Notes on rows of either table that are not independent."""
    tables = {REFERENCE: reference, DEPLOYED: deployed}
    found = {name: dependence(cases, of_measures=False) for name, cases in tables.items()}
    return [f"{name}: {note}" for name, note in found.items() if note is not None]


def dropped_rows(known: Predictions, used: Predictions) -> list[str]:
    """Warnings of rows that `nulls` left out."""
    counts = ((REFERENCE, known.count_invalid()), (DEPLOYED, used.count_invalid()))
    return [
        f"{table}: {count:,} {'row was' if count == 1 else 'rows were'} dropped, for lack of a "
        "score or truth: nothing here is about such cases."
        for table, count in counts
        if count
    ]


def reference_days(rows: pl.DataFrame, time: str, name: str) -> list[str]:
    """Warnings of days of the reference that are moments, or too few to tell how they differ."""
    count = rows[time].n_unique()
    if count >= MIN_DAYS:
        return moments({(): rows.rename({time: name})}, name)
    return [
        f"The reference has {count} values of {name!r}. So few do not tell how much days differ, "
        f"and limits are very wide. Give {MIN_DAYS} days or more."
    ]


def moments(rows: Mapping[Key, pl.DataFrame], time: str) -> list[str]:
    """A warning of times that are moments, where days are needed."""
    cases = sum(int(counts_of(frame).sum()) for frame in rows.values())
    times = sum(frame[time].n_unique() for frame in rows.values())
    if cases < MIN_CASES or 2 * times <= cases:
        return []
    said = (
        f"{time!r} has {times:,} times for {cases:,} cases, and each is judged alone: so few "
        "cases tell nothing."
    )
    if any(_has_hours(frame[time]) for frame in rows.values()):
        raise InvalidArgument(
            f"{DEPLOYED}: {said}",
            hint="take the days of these moments, every='1d', or the weeks.",
        )
    return [said + " Give the day or the week instead of the moment."]


def _has_hours(times: pl.Series) -> bool:
    """Whether some times are moments of a day."""
    return bool(times.dtype == pl.Datetime and (times.dt.truncate("1d") != times).any())


def other_range(
    chosen_for: tuple[float, float] | None, over: tuple[float, float] | None
) -> list[str]:
    """A warning of thresholds that were chosen for another range than the one asked for."""
    if chosen_for is None or over is None or chosen_for == over:
        return []
    one, other = (" to ".join(map(percent, ends)) for ends in (chosen_for, over))
    return [f"The thresholds were chosen for {one} positives; alarms are for {other}."]
