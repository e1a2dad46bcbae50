"""Columns of times: dates from text, and the periods that times are cut into."""

import re
from contextlib import suppress

import polars as pl

from polaroc.base.checks import shortened
from polaroc.errors import InvalidArgument, InvalidPredictions

# Whole numbers, as Polars says them in `group_by_dynamic`.
WHOLE = re.compile(r"[1-9][0-9]*i")
EVERY = "give every='1mo', or '1w', '1q', '1y'."
# Dates and times of ISO 8601, as text.
ISO_DAY = r"^\d{4}-\d{2}-\d{2}$"
ISO_TIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$"


def no_time(name: str, kind: pl.DataType, table: str = "") -> InvalidPredictions:
    """The refusal of times that are in no order."""
    return InvalidPredictions(
        f"{table}the time {name!r} is {kind}, allowed are dates, times, numbers and text.",
        hint="give the day as a date or a number.",
    )


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
            hint=("leave it out, for each value by itself, or make dates of the texts first."),
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
