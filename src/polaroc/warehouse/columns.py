"""Columns of a warehouse table with the arithmetic that the formulas of polaroc are written in."""

import re
from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

from polaroc.errors import MissingExtra


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
    it is null, and so is what is made of it.

    Parameters
    ----------
    value
        A deferred ibis expression of floats or truth values.
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
        return self.sqrt() if power == 0.5 else type(self)(self.value**power)

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

    def where(self, then: object, otherwise: object) -> "Column":
        """`then` where this holds, else `otherwise`."""
        return type(self)(self.value.ifelse(_float(then), _float(otherwise)))

    def sqrt(self) -> "Column":
        """The square root."""
        return type(self)(self.value.sqrt())

    def abs(self) -> "Column":
        """The absolute value."""
        return type(self)(self.value.abs())

    def clip(self, lo: float, hi: float) -> "Column":
        """The value, or the end of the range that it is beyond; null stays null."""
        return (self < lo).where(lo, (self > hi).where(hi, self))

    def least(self, other: object) -> "Column":
        """The lesser of this and another value."""
        return (self < other).where(self, other)

    def log1p(self) -> "Column":
        """ln(1 + x), of which few engines have a function.

        What rounding takes from 1 + x, ln(1 + x)/((1 + x) − 1) takes too, and x
        times that quotient is right to the last digits (Kahan).
        """
        above = self.value + 1
        quotient = above.ln() / (above - 1).nullif(0)
        return type(self)((quotient * self.value).coalesce(self.value))


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


def total(values: Iterable[Any]) -> Any:
    """The sum of ibis expressions."""
    return reduce(add, values)


def named(columns: dict[str, Any]) -> dict[str, Any]:
    """Quantities by column name, as ibis takes them."""
    return {safe(name): plain(value) for name, value in columns.items()}
