"""Aliases shared by the public signatures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import polars as pl

if TYPE_CHECKING:
    import ibis.expr.types
    import numpy as np


class ArrowStream(Protocol):
    """A table with an Arrow stream, such as those of pandas, PyArrow and DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Frame = TypeVar("Frame", pl.LazyFrame, pl.DataFrame)
# A frame of either kind.
PolarsFrame: TypeAlias = pl.DataFrame | pl.LazyFrame
# The rows of cases.
Held = TypeVar("Held", bound=PolarsFrame)
EagerTable: TypeAlias = pl.DataFrame | ArrowStream | Mapping[str, Any]
Table: TypeAlias = pl.LazyFrame | EagerTable
IntoExpr: TypeAlias = str | pl.Expr
Label: TypeAlias = str | int | float | bool
Nulls: TypeAlias = Literal["raise", "drop"]
Interpolation: TypeAlias = Literal["exact", "linear", "step", "hull"]
Start: TypeAlias = Literal["limit", "one", "zero", "drop"]
Prior: TypeAlias = float | Literal["observed"]
Priors: TypeAlias = Prior | Sequence[Prior] | PolarsFrame

# A table of a database, or a query of one.
IbisTable: TypeAlias = "ibis.expr.types.Table"
# An array of numbers, of any shape.
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

# Anything with arithmetic: a float, a numpy array, a pl.Expr or an ibis column.
Quantity: TypeAlias = Any
