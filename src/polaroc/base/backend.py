"""The functions that formulas need from an engine, besides arithmetic and comparisons."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from polaroc.typing import Quantity


class Backend(Protocol):
    """Columns of an engine, and the functions of them that have no operator.

    Formulas are written once in terms of a backend; `polaroc.warehouse` has the one
    for ibis.
    """

    @property
    def column(self) -> Callable[[str], Quantity]:
        """The column of a name."""
        ...

    @property
    def repeats_as_columns(self) -> bool:
        """Whether values that a formula repeats are computed as separate columns first."""
        ...

    def where(self, condition: Quantity, then: Quantity, otherwise: Quantity = None) -> Quantity:
        """`then` where the condition holds, else `otherwise`: by default missing."""

    def quotient(self, value: Quantity, by: Quantity) -> Quantity:
        """The value ÷ `by`, which is not 0 in any row; the operator `/` may have to check that."""

    def log1p(self, value: Quantity) -> Quantity:
        """ln(1 + x), to the last digit also for small x."""

    def log(self, value: Quantity) -> Quantity:
        """ln x."""

    def clip(self, value: Quantity, lo: float, hi: float) -> Quantity:
        """The value, limited to the range from `lo` to `hi`; missing stays missing."""

    def minimum(self, value: Quantity, other: Quantity) -> Quantity:
        """The lesser of two values, the second a column."""

    def total(self, values: Iterable[Quantity]) -> Quantity:
        """The sum of at least one value."""


@dataclass(frozen=True)
class Polars:
    """Polars expressions.

    Attributes
    ----------
    column
        `pl.col`, or `pl.field` within structs.
    repeats_as_columns
        Whether values that a formula repeats are computed as separate columns first.

    Examples
    --------
    >>> pl.select(POLARS.where(pl.lit(False), 1.0)).item()
    >>> pl.select(POLARS.total([pl.lit(1.0), 2.0, 3.0])).item()
    6.0
    """

    column: Callable[[str], pl.Expr] = pl.col
    repeats_as_columns: bool = False

    def where(self, condition: pl.Expr, then: Quantity, otherwise: Quantity = None) -> pl.Expr:
        """`then` where the condition holds, else `otherwise`: by default missing."""
        return pl.when(condition).then(then).otherwise(otherwise)

    def quotient(self, value: pl.Expr, by: pl.Expr) -> pl.Expr:
        """The value ÷ `by`, which is not 0 in any row."""
        return value / by

    def log1p(self, value: pl.Expr) -> pl.Expr:
        """ln(1 + x), to the last digit also for small x."""
        return value.log1p()

    def log(self, value: pl.Expr) -> pl.Expr:
        """ln x."""
        return value.log()

    def clip(self, value: pl.Expr, lo: float, hi: float) -> pl.Expr:
        """The value, limited to the range from `lo` to `hi`; missing stays missing."""
        return value.clip(lo, hi)

    def minimum(self, value: Quantity, other: pl.Expr) -> pl.Expr:
        """The lesser of two values, the second a column."""
        return pl.min_horizontal(value, other)

    def total(self, values: Iterable[Quantity]) -> pl.Expr:
        """The sum of at least one value."""
        return pl.sum_horizontal(values)


POLARS = Polars()
