"""Periods of time: months, weeks, or what else a column of times is cut into."""

import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import polars as pl

from polaroc.base.checks import shortened
from polaroc.base.columns import RENAME, check_keys, key_expressions, key_names, single_column
from polaroc.base.lazy import np
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions
from polaroc.predictions.cases import Cases
from polaroc.predictions.column_checks import require_roles
from polaroc.predictions.usual_keys import column_names_of
from polaroc.typing import Array

PERIOD = "period"
# Whole numbers, as Polars says them in `group_by_dynamic`.
WHOLE = re.compile(r"[1-9][0-9]*i")
EVERY = Hint('give {every}, or "1w", "1q", "1y".', every="1mo")
# Values of a time that may be periods by themselves, and how many periods are usual.
MANY, USUAL = 24, 12
# Days up to which periods of a length are taken.
LENGTHS = ((24, "1d"), (120, "1w"), (730, "1mo"), (2_200, "1q"))
# Dates and times of ISO 8601, as text.
ISO_DAY = r"^\d{4}-\d{2}-\d{2}$"
ISO_TIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$"
SECONDS_OF_YEAR = 365.25 * 24 * 3600


def with_periods(cases: Cases[Any], every: str | None) -> Cases[pl.DataFrame]:
    """Cases in memory, with the period of each as the last column of `by`.

    A fold that is the time itself tells no answers apart: its models are those of the period.
    """
    require_roles(cases.said, ["time"], cases.table.lazy().collect_schema().names())
    held = dated(cases).collect()
    if PERIOD in held.table.columns and PERIOD in held.used_but("time"):
        raise InvalidArgument(
            f"the table has a column {PERIOD!r}, as the result has.",
            hint=RENAME,
        )
    time = single_column(held.time, "time", held.table.lazy())
    own = column_names_of([held.time])
    fold = tuple(one for one in held.fold if column_names_of([one]) != own)
    times = held.table.with_columns(time)[time.meta.output_name()]
    if times.dtype.is_nested() or times.dtype == pl.Binary:
        raise no_time(times.name, times.dtype)
    table = held.table.with_columns(cut(times, every).alias(PERIOD))
    return replace(held, table=table, by=(*held.by, PERIOD), fold=fold, time=None)


def no_time(name: str, kind: pl.DataType, table: str = "") -> InvalidPredictions:
    """The refusal of times that are in no order."""
    return InvalidPredictions(
        f"{table}the time {name!r} is {kind}, allowed are dates, times, numbers and text.",
        hint="give the day as a date or a number.",
    )


def with_dates(cases: Cases[Any], every: str | None = None) -> Cases[pl.DataFrame]:
    """The same of days, or of what is said: dates, where times have hours, too."""
    require_roles(cases.said, ["time"], cases.table.lazy().collect_schema().names())
    cases = dated(cases)
    table = cases.table.lazy()
    time = table.select(single_column(cases.time, "time", table)).collect_schema()
    return with_periods(cases, "1d" if every is None and pl.Datetime in time.dtypes() else every)


def dated(cases: Cases[Any]) -> Cases[Any]:
    """Cases whose times are no text where they are dates of ISO 8601, as CSV files have them.

    Of such times the cases are held in memory.
    """
    if cases.time is None:
        return cases
    time = single_column(cases.time, "time", cases.table.lazy())
    ((name, kind),) = cases.table.lazy().select(time).collect_schema().items()
    if kind != pl.String:
        return cases
    held = cases.collect()
    dates = dates_of(held.table.select(time)[name])
    # By its name: an expression would be taken once more, of the dates that it has made.
    return replace(held, table=held.table.with_columns(dates), time=name)


def dates_of(times: pl.Series) -> pl.Series:
    """The dates, or moments, that texts are of ISO 8601; anything else as it is.

    Examples
    --------
    >>> dates_of(pl.Series(["2026-11-30"])).dtype, dates_of(pl.Series(["30.11.2026"])).dtype
    (Date, String)
    """
    if times.dtype != pl.String or times.null_count() == times.len():
        return times
    dates = times
    if times.str.contains(ISO_DAY).all():
        dates = times.str.to_date("%Y-%m-%d", strict=False)
    elif times.str.contains(ISO_TIME).all():
        with suppress(pl.exceptions.PolarsError):
            dates = times.str.to_datetime(strict=False)
    # No month has 31 days in every calendar of text.
    return dates if dates.null_count() == times.null_count() else times


def without_period(cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The cases of all periods together."""
    return replace(cases, by=tuple(one for one in cases.by if column_names_of([one]) != [PERIOD]))


def keys_but_period(cases: Cases[Any]) -> list[str]:
    """The keys of the answers of cases with periods, less the period."""
    names = key_names(key_expressions(cases.keys), cases.table.lazy())
    names = [*(["model"] if cases.scores else []), *names]
    check_keys(names)
    return [name for name in names if name != PERIOD]


def cut(times: pl.Series, every: str | None) -> pl.Series:
    """The beginning of the period of each time; the times themselves without `every`."""
    if times.null_count():
        raise InvalidPredictions(
            f"{times.null_count():,} rows have no {times.name!r}.",
            hint="give each row its time, or leave such rows out.",
        )
    if every is None:
        return times
    if not isinstance(every, str):
        raise InvalidArgument(
            f"every is {shortened(every)}, allowed are durations as Polars says them.", hint=EVERY
        )
    if times.dtype.is_numeric():
        if not WHOLE.fullmatch(every):
            raise InvalidArgument(
                f"every is {every!r}, and {times.name!r} are numbers: allowed are whole numbers "
                'of them, such as "10i".',
                hint="leave it out, for each number by itself, or give dates.",
            )
        size = int(every[:-1])
        return times // size * size
    if times.dtype not in (pl.Date, pl.Datetime):
        raise InvalidArgument(
            f"every is {every!r}, and {times.name!r} is {times.dtype}: only dates and times are "
            "cut into periods.",
            hint=Hint(
                "leave it out, for each value by itself, or make dates of them: "
                "pl.col(...).str.to_date(format).",
                command_line="leave it out, for each value by itself, or write the dates as "
                "2026-11-30.",
            ),
        )
    if WHOLE.fullmatch(every):
        raise InvalidArgument(
            f"every is {every!r}, a length of numbers, and {times.name!r} is {times.dtype}.",
            hint=EVERY,
        )
    try:
        return times.dt.truncate(every)
    except pl.exceptions.PolarsError as error:
        raise InvalidArgument(
            f"every is {every!r}, allowed are durations as Polars says them.", hint=EVERY
        ) from error


def usual_every(cases: Cases[pl.DataFrame]) -> str | None:
    """Periods of which a table has about a dozen; None for each value of the time by itself."""
    cases = dated(cases)
    time = single_column(cases.time, "time", cases.table.lazy())
    times = cases.table.select(time).to_series().drop_nulls()
    if times.n_unique() <= MANY:
        return None
    if times.dtype.is_integer():
        span = int(times.max()) - int(times.min())  # type: ignore[arg-type]
        return f"{span // USUAL + 1}i"
    if times.dtype not in (pl.Date, pl.Datetime):
        return None
    days = (times.max() - times.min()).days  # type: ignore[operator, union-attr]
    return next((every for most, every in LENGTHS if days <= most), "1y")


def places(periods: pl.Series, every: str | None = None) -> tuple["Array", str]:
    """Where sorted periods are on a line, and what its unit is called.

    Examples
    --------
    >>> places(pl.Series([1, 2, 4])), places(pl.Series([0, 10]), "10i")
    ((array([0., 1., 3.]), 'unit'), (array([0., 1.]), 'period'))
    """
    kind = periods.dtype
    if kind in (pl.Date, pl.Datetime):
        seconds = periods.cast(pl.Datetime("us")).to_physical().to_numpy() / 1e6
        return (seconds - seconds[0]) / SECONDS_OF_YEAR, "year"
    if kind.is_numeric():
        numbers = periods.cast(pl.Float64).to_numpy()
        size = 1 if every is None else int(every[:-1])
        return (numbers - numbers[0]) / size, "unit" if every is None else "period"
    return np.arange(len(periods), dtype=float), "period"
