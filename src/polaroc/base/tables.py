"""Tables of other libraries, and mappings of arrays, as Polars frames."""

import sys
from collections.abc import Mapping
from os import PathLike
from typing import Any

import polars as pl

from polaroc.base.checks import is_number
from polaroc.errors import InvalidTable, quoted
from polaroc.typing import PolarsFrame

CONVERT = (
    "a table is a frame of Polars, pandas, PyArrow, DuckDB and the like, a mapping of names to "
    "arrays, {'truth': y, 'score': p}, or the table of a function, such as pr.curve(cases)."
)


def as_polars(table: Any) -> PolarsFrame:
    """Convert a table to a Polars frame, or raise; a Polars frame is returned as it is."""
    if isinstance(table, PolarsFrame):
        return table
    if isinstance(table, str | PathLike):
        raise InvalidTable(
            f"got a path or a text, {quoted([str(table)])}, and no table.",
            hint="read the file first, for example with pl.scan_csv(...) or pl.scan_parquet(...).",
        )
    kind = f"{type(table).__module__}.{type(table).__qualname__}"
    try:
        frame = _converted(table)
    except InvalidTable:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        # The first line: other libraries add a traceback or a query to their message.
        reason = str(error).partition("\n")[0].partition(". Detail: ")[0]
        kind = kind.removeprefix("builtins.")
        raise InvalidTable(f"a {kind} is no table: {reason}", hint=CONVERT) from error
    if frame.is_empty() and kind.endswith(".RecordBatchReader"):
        raise InvalidTable(
            "the stream has no rows, or it was read before.",
            hint="a stream is read once: make a table of it first, such as reader.read_all().",
        )
    return frame


def _converted(table: Any) -> pl.DataFrame:
    if isinstance(table, Mapping):
        return pl.DataFrame([_column(name, values, flat=True) for name, values in table.items()])
    import narwhals as nw

    table = nw.to_native(table, pass_through=True)
    if nw.dependencies.is_ibis_table(table):
        raise InvalidTable(
            "got a table of a warehouse (ibis).",
            hint="use a function of polaroc.warehouse, or fetch the rows with table.to_polars().",
        )
    if nw.dependencies.is_pandas_dataframe(table):
        # By column, so that one which Polars cannot read does no harm if it is not used.
        return pl.DataFrame([_column(str(name), values) for name, values in table.items()])
    if hasattr(type(table), "__arrow_c_stream__") and not nw.dependencies.is_into_series(table):
        # Before narwhals, which reads no streams.
        return pl.DataFrame(table)
    frame = nw.from_native(table)
    return (frame.collect("polars") if isinstance(frame, nw.LazyFrame) else frame).to_polars()


def _column(name: str, values: Any, *, flat: bool = False) -> pl.Series:
    """A column, of type Object if its values have different types; NaN of pandas is null."""
    if isinstance(values, str):
        raise TypeError(f"{name!r} is a text, not an array")
    if type(values).__module__.partition(".")[0] == "pandas":
        series = sys.modules["pandas"].Series(values)
        if type(series.dtype).__name__ == "PeriodDtype":
            series = series.dt.start_time
        try:
            return pl.Series(name, series)
        except Exception:
            # PyArrow is not installed, or refuses values of different types.
            values = series.to_numpy(dtype=object, na_value=None)
    if getattr(getattr(values, "dtype", None), "kind", "") == "O":
        values = values.tolist()
    try:
        column = pl.Series(name, values)
    except (TypeError, OverflowError):
        if not isinstance(values, list | tuple):
            raise
        # Polars takes the type of the first value, which may be an integer before floats.
        numeric = all(value is None or is_number(value) for value in values)
        floats = [None if value is None else float(value) for value in values if numeric]
        column = pl.Series(name, floats) if numeric else pl.Series(name, values, pl.Object)
    if flat and column.dtype.is_nested():
        raise InvalidTable(
            f"{name!r} has values of type {column.dtype}, not numbers or labels.",
            hint="give one column of it, such as [:, 1] of what predict_proba returns.",
        )
    return column
