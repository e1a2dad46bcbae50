"""Tables of other libraries, and mappings of arrays, as Polars frames."""

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.lazy import np
from polaroc.errors import InvalidTable, quoted

TABLES = (
    "Polars, pandas and PyArrow tables, other objects with __arrow_c_stream__, and mappings of "
    "column names to arrays"
)
CONVERT = (
    "arrays go in a mapping, such as pr.curve({'truth': y, 'score': p}, truth='truth', "
    "score='score'); convert other tables first, for example with pl.DataFrame(...)."
)
# Of what this package made.
OF_RESULTS = (
    "a function of curves, and a chart, takes a table of results: of predictions, pr.curve(cases)."
)


IN_WAREHOUSE = (
    "use a function of polaroc.warehouse, which leaves the rows there, or fetch them first: "
    "table.to_polars()."
)
READ = (
    "read the file first, for example with pl.scan_csv(...), pl.scan_parquet(...) or "
    "pd.read_csv(...)."
)


def as_polars(table: Any) -> pl.DataFrame | pl.LazyFrame:
    """Convert a table to a Polars frame, without a copy where Arrow allows it, or raise.

    A Polars frame is returned as it is, a PyArrow dataset as a LazyFrame, any other table
    as a DataFrame.
    """
    if isinstance(table, pl.DataFrame | pl.LazyFrame):
        return table
    if isinstance(table, Mapping):
        return _of_arrays(table)
    if _is_from("pandas", table, "DataFrame"):
        return _of_pandas(table)
    if _is_from("pyarrow", table, "Dataset"):
        with unstable():
            return pl.scan_pyarrow_dataset(table)
    if isinstance(table, str | PathLike):
        raise InvalidTable(
            f"got a path or a text, {quoted([str(table)])}, allowed are {TABLES}.",
            hint=READ,
        )
    kind = f"{type(table).__module__}.{type(table).__qualname__}"
    if _is_from("ibis", table, "Table"):
        # As an Arrow stream all of its rows would be fetched without a word.
        raise InvalidTable(f"got a {kind}, allowed are {TABLES}.", hint=IN_WAREHOUSE)
    if not hasattr(type(table), "__arrow_c_stream__") or isinstance(table, pl.Series):
        hint = OF_RESULTS if kind.startswith("polaroc.") else CONVERT
        raise InvalidTable(f"got a {kind}, allowed are {TABLES}.", hint=hint)
    try:
        frame = pl.DataFrame(table)
    except (Exception, pl.exceptions.PanicException) as error:
        twice = " (two columns have one name?)" if "duplicate" in str(error) else ""
        # Other libraries put a traceback or a query below their message.
        reason = str(error).partition("\n")[0].partition(". Detail: ")[0]
        raise InvalidTable(f"a {kind} is no table{twice}: {reason}", hint=CONVERT) from error
    # A stream that was read before is empty, without a word.
    if frame.is_empty() and is_stream(table):
        raise InvalidTable(
            "the stream has no rows, or it was read before.",
            hint="a stream is read once: make a table of it first, such as reader.read_all().",
        )
    return frame


def is_stream(value: object) -> bool:
    """Whether a value is a table whose rows can be read once."""
    return _is_from("pyarrow", value, "RecordBatchReader")


def is_array(value: object) -> bool:
    """Whether a value is a column without a table: an array, a Series, a list of numbers."""
    if isinstance(value, list | tuple):
        return bool(value) and all(is_number(one) or is_array(one) for one in value[:10])
    is_series = isinstance(value, pl.Series) or _is_from("pandas", value, "Series", "Index")
    return is_series or _is_from("numpy", value, "ndarray")


def _is_from(package: str, value: object, *names: str) -> bool:
    """Whether a value is of a class of another library, which is not imported for it."""
    return any(
        kind.__name__ in names and kind.__module__.split(".")[0] == package
        for kind in type(value).__mro__
    )


def _of_arrays(arrays: Mapping[Any, Any]) -> pl.DataFrame:
    columns = [_of_array(name, values) for name, values in arrays.items()]
    if len({column.len() for column in columns}) > 1:
        lengths = ", ".join(f"{column.name!r} {column.len():,}" for column in columns)
        raise InvalidTable(
            f"the arrays have different numbers of values: {lengths}.",
            hint="give one value per case in each.",
        )
    return pl.DataFrame(columns)


def _of_array(name: object, values: Any) -> pl.Series:
    if not isinstance(name, str):
        raise InvalidTable(
            f"the mapping has the column {name!r}, allowed are names as text.",
            hint="for example {'truth': y, 'score': p}.",
        )
    shape = getattr(values, "shape", None)
    if isinstance(shape, Sequence) and len(shape) != 1:
        raise _not_flat(name, f"has the shape {tuple(shape)}", place=0 if shape[1:] == (1,) else 1)
    if isinstance(values, pl.Series):
        return values.alias(name)
    if _is_from("pandas", values, "Series", "Index"):
        return _of_pandas_column(name, values)
    if isinstance(values, list | tuple | range):
        return _of_list(name, values)
    if type(values).__module__.split(".")[0] == "pandas":
        # An array of nullable or categorical values, as a column has it.
        return _of_pandas_column(name, sys.modules["pandas"].Series(values))
    try:
        if any(hasattr(type(values), f"__arrow_c_{way}__") for way in ("array", "stream")):
            return pl.Series(name, values)
        if hasattr(values, "__array__"):
            return _of_numpy(name, values)
    except InvalidTable:
        raise
    except (TypeError, ValueError, RuntimeError, pl.exceptions.PolarsError) as error:
        raise InvalidTable(f"{name!r} could not be read: {error}", hint=CONVERT) from error
    raise InvalidTable(
        f"{name!r} is of type {type(values).__qualname__}, allowed are one-dimensional arrays, "
        "lists and Series.",
        hint="give one value per case.",
    )


def _of_numpy(name: str, values: Any) -> pl.Series:
    array = values if isinstance(values, np.ndarray) else np.asarray(values)
    # Polars would take what is masked for a value.
    as_list = array.dtype.kind == "O" or isinstance(array, np.ma.MaskedArray)
    return _of_list(name, array.tolist()) if as_list else pl.Series(name, array)


def _of_list(name: str, values: Sequence[Any]) -> pl.Series:
    try:
        column = pl.Series(name, values)
    except (TypeError, OverflowError) as error:
        # Polars takes the type of the first value, which may be a whole number among others.
        if not all(value is None or is_number(value) for value in values):
            raise InvalidTable(
                f"{name!r} has values of different types: {quoted(values, 5)}.",
                hint="give values of one type.",
            ) from error
        column = pl.Series(name, [None if value is None else float(value) for value in values])
    if column.dtype.is_nested():
        raise _not_flat(name, "has lists as values")
    if column.dtype.is_float() and any(type(one) is int and float(one) != one for one in values):
        raise InvalidTable(
            f"{name!r} has whole numbers beside fractions or NaN that no 64-bit float holds.",
            hint="give whole numbers alone, or text where they are names.",
        )
    return column


def _not_flat(name: str, problem: str, place: int = 1) -> InvalidTable:
    of = " of what predict_proba returns" if place else ""
    return InvalidTable(
        f"{name!r} {problem}, allowed are one-dimensional arrays.",
        hint=f"give one column of it, such as [:, {place}]{of}.",
    )


def _of_pandas(table: Any) -> pl.DataFrame:
    if table.columns.nlevels > 1:
        raise InvalidTable(
            f"the pandas table has columns of {table.columns.nlevels} levels, allowed is one.",
            hint="join them first: frame.columns = ['_'.join(name) for name in frame.columns].",
        )
    names = [str(name) for name in table.columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InvalidTable(
            f"the pandas table has more than one column {quoted(twice)}.",
            hint="rename or drop the others first.",
        )
    return pl.DataFrame([_of_pandas_column(name, table.iloc[:, i]) for i, name in enumerate(names)])


def _of_pandas_column(name: str, column: Any) -> pl.Series:
    """A column without its index; NaN, which stands for missing values in pandas, is null."""
    if type(column.dtype).__name__ == "PeriodDtype":
        # Polars would number periods. The times when they begin keep their order.
        column = column.dt.start_time
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return pl.Series(name, column.to_numpy(), nan_to_null=True)
    if column.dtype != object:
        # Polars needs PyArrow for other types, and may find half of it.
        with suppress(ImportError, AttributeError, NotImplementedError, TypeError, ValueError):
            return pl.Series(name, column)
    values = column.to_numpy(dtype=object, na_value=None).tolist()
    try:
        return _of_list(name, values)
    except InvalidTable:
        # Columns that are not used do no harm.
        return pl.Series(name, values, dtype=pl.Object)


@contextmanager
def unstable() -> Iterator[None]:
    """Let the block use what Polars may change, without its warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
        yield
