"""Columns of a warehouse table with the arithmetic that the formulas of polaroc are written in."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from polaroc.errors import MissingExtra
from polaroc.typing import Quantity


def ibis_library() -> Any:
    """The library ibis, or what to do where it is not installed."""
    try:
        import ibis
    except ImportError:
        raise MissingExtra(
            "polaroc.warehouse needs ibis, which is not installed.",
            hint="pip install 'polaroc[warehouse]'",
        ) from None
    return ibis


class Column:
    """A column of whatever table it is used in, with arithmetic that is alike on every engine.

    Engines differ in what a division by zero is (an error, infinite, or null): here
    it is null, and so is what is made of it. `value` is a deferred ibis expression of
    floats or truth values.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: object) -> "Column":
        return type(self)(self.value + plain(other))

    def __radd__(self, other: object) -> "Column":
        return type(self)(plain(other) + self.value)

    def __sub__(self, other: object) -> "Column":
        return type(self)(self.value - plain(other))

    def __rsub__(self, other: object) -> "Column":
        return type(self)(plain(other) - self.value)

    def __mul__(self, other: object) -> "Column":
        return type(self)(self.value * plain(other))

    def __rmul__(self, other: object) -> "Column":
        return type(self)(plain(other) * self.value)

    def __truediv__(self, other: object) -> "Column":
        if isinstance(other, int | float):
            return type(self)(self.value / plain(other))
        return type(self)(self.value / plain(other).nullif(0))

    def __rtruediv__(self, other: object) -> "Column":
        return type(self)(plain(other) / self.value.nullif(0))

    def __pow__(self, power: float) -> "Column":
        if power == 2:
            return self * self
        return type(self)(self.value.sqrt() if power == 0.5 else self.value**power)

    def __neg__(self) -> "Column":
        return type(self)(-self.value)

    def __lt__(self, other: object) -> "Column":
        return type(self)(self.value < _float(other))

    def __le__(self, other: object) -> "Column":
        return type(self)(self.value <= _float(other))

    def __gt__(self, other: object) -> "Column":
        return type(self)(self.value > _float(other))

    def __ge__(self, other: object) -> "Column":
        return type(self)(self.value >= _float(other))

    def __eq__(self, other: object) -> "Column":  # type: ignore[override]
        return type(self)(self.value == _float(other))

    __hash__ = object.__hash__

    def __and__(self, other: "Column") -> "Column":
        return type(self)(self.value & other.value)

    def __or__(self, other: "Column") -> "Column":
        return type(self)(self.value | other.value)

    def __invert__(self) -> "Column":
        return type(self)(~self.value)

    def __abs__(self) -> "Column":
        return type(self)(self.value.abs())


class Extended(Column):
    """The same, where a number divided by zero is infinite, as it is in Polars."""

    __slots__ = ()

    def __truediv__(self, other: object) -> Column:
        if isinstance(other, int | float):
            return super().__truediv__(other)
        return _infinite(self, other)

    def __rtruediv__(self, other: object) -> Column:
        return _infinite(other, self)


def _infinite(value: object, by: object) -> Column:
    above, below = plain(value), plain(by)
    missing = literal(None)
    endless = (above < 0).ifelse(literal(float("-inf")), missing)
    endless = (above > 0).ifelse(literal(float("inf")), endless)
    return Extended((below == 0).ifelse(endless, above / below.nullif(0)))


def column(name: str) -> Column:
    """The column of that name as a quantity that formulas take."""
    return Column(deferred(name))


def extended(name: str) -> Column:
    """The same where what is divided by zero is infinite."""
    return Extended(deferred(name))


@dataclass(frozen=True)
class Ibis:
    """The `Backend` of whatever engine ibis writes for."""

    column: Callable[[str], Column] = column  # makes a column of a name

    def where(self, condition: Column, then: object, otherwise: object = None) -> Column:
        """`then` where the condition holds, else `otherwise`: by default null."""
        return type(condition)(condition.value.ifelse(_float(then), _float(otherwise)))

    def log1p(self, value: Column) -> Column:
        """ln(1 + x), of which few engines have a function.

        What rounding takes from 1 + x, ln(1 + x)/((1 + x) − 1) takes too, and x
        times that quotient is right to the last digits (Kahan).
        """
        above = value.value + 1
        quotient = above.ln() / (above - 1).nullif(0)
        return type(value)((quotient * value.value).coalesce(value.value))

    def clip(self, value: Column, lo: float, hi: float) -> Column:
        """The value, or the end of the range that it is beyond; null stays null."""
        return self.where(value < lo, lo, self.where(value > hi, hi, value))

    def minimum(self, value: Quantity, other: Column) -> Column:
        """The lesser of two values, the second a column."""
        return self.where(other < value, other, value)

    def total(self, values: Iterable[Quantity]) -> Quantity:
        """The sum of at least one value."""
        return total(list(values))


IBIS = Ibis()


def deferred(name: str) -> Any:
    """The column of that name as an ibis expression."""
    return ibis_library()._[safe(name)]


def plain(value: object) -> Any:
    """What ibis computes with; null where there is nothing."""
    if isinstance(value, Column):
        return value.value
    return literal(None) if value is None else value


def _float(value: object) -> Any:
    """The same where an engine would make a decimal of a constant, or of what it stands beside."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return literal(value) if number else plain(value)  # type: ignore[arg-type]


def literal(number: float | None) -> Any:
    """A number of 64-bit floating point, which some engines would take for a decimal."""
    ibis = ibis_library()
    if number is None:
        return ibis.literal(None, type="float64")
    return ibis.literal(repr(float(number)), type="string").cast("float64")


def safe(name: str) -> str:
    """A name of a private column in letters, digits and underscores, as some engines want it."""
    return re.sub(r"\W", "_", name)


def total(values: Sequence[Any]) -> Any:
    """The sum of at least one column or ibis expression."""
    # By halves: a query that is nested a thousand deep is refused.
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return total(values[:middle]) + total(values[middle:])


def named(columns: dict[str, Any]) -> dict[str, Any]:
    """Quantities by column name, as ibis takes them."""
    return {safe(name): plain(value) for name, value in columns.items()}
