"""The `Backend` of ibis: columns of a warehouse table with the arithmetic of the formulas."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from polaroc.errors import MissingExtra
from polaroc.priors.grids import SAME
from polaroc.typing import Quantity


def ibis_library() -> Any:
    """The library ibis; raise with a hint where it is not installed."""
    try:
        import ibis
    except ImportError:
        raise MissingExtra(
            "polaroc.warehouse needs ibis, which is not installed.",
            hint="pip install 'polaroc[warehouse]'",
        ) from None
    return ibis


def is_among(prior: Any, given: Sequence[float | None]) -> Any:
    """As `priors.grids.is_among`, of a deferred column."""
    units = [round(one / SAME) for one in given if one is not None]
    # ClickHouse casts the NaN beneath a null, too, and no prior of a key is 0.
    known = (prior > 0).ifelse(prior, literal(0.0))
    return (known / literal(SAME)).round().cast("int64").isin(units)


class Column:
    """A column, not bound to a table, with the same arithmetic on every engine.

    Division by zero is an error, infinite or null, depending on the engine: here it is null.
    `value` is a deferred ibis expression of floats or Booleans.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __add__(self, other: object) -> "Column":
        return Column(self.value + to_ibis(other))

    def __radd__(self, other: object) -> "Column":
        return Column(to_ibis(other) + self.value)

    def __sub__(self, other: object) -> "Column":
        return Column(self.value - to_ibis(other))

    def __rsub__(self, other: object) -> "Column":
        return Column(to_ibis(other) - self.value)

    def __mul__(self, other: object) -> "Column":
        return Column(self.value * to_ibis(other))

    def __rmul__(self, other: object) -> "Column":
        return Column(to_ibis(other) * self.value)

    def __truediv__(self, other: object) -> "Column":
        if isinstance(other, int | float):
            return Column(self.value / to_ibis(other))
        return Column(self.value / to_ibis(other).nullif(0))

    def __rtruediv__(self, other: object) -> "Column":
        return Column(to_ibis(other) / self.value.nullif(0))

    def __pow__(self, power: float) -> "Column":
        if power == 2:
            return self * self
        return Column(self.value.sqrt() if power == 0.5 else self.value**power)

    def __neg__(self) -> "Column":
        return Column(-self.value)

    def __lt__(self, other: object) -> "Column":
        return Column(self.value < _operand(other))

    def __le__(self, other: object) -> "Column":
        return Column(self.value <= _operand(other))

    def __gt__(self, other: object) -> "Column":
        return Column(self.value > _operand(other))

    def __ge__(self, other: object) -> "Column":
        return Column(self.value >= _operand(other))

    def __eq__(self, other: object) -> "Column":  # type: ignore[override]
        return Column(self.value == _operand(other))

    __hash__ = object.__hash__

    def __and__(self, other: "Column") -> "Column":
        return Column(self.value & other.value)

    def __or__(self, other: "Column") -> "Column":
        return Column(self.value | other.value)

    def __invert__(self) -> "Column":
        return Column(~self.value)

    def __abs__(self) -> "Column":
        return Column(self.value.abs())


def column(name: str) -> Column:
    """The column of this name, for formulas."""
    return Column(deferred(name))


@dataclass(frozen=True)
class Ibis:
    """The `Backend` of all engines that ibis supports."""

    column: Callable[[str], Column] = column
    repeats_as_columns: bool = True
    interpolates: bool = False

    def where(self, condition: Column, then: object, otherwise: object = None) -> Column:
        """`then` where the condition holds, else `otherwise`: by default null."""
        return Column(condition.value.ifelse(_operand(then), _operand(otherwise)))

    def quotient(self, value: Column, by: Column) -> Column:
        """The value ÷ `by`, which is not 0 in any row that is computed."""
        return Column(value.value / by.value)

    def log1p(self, value: Column) -> Column:
        """ln(1 + x), for which few engines have a function.

        What rounding takes from 1 + x is added to its logarithm, to first order.
        """
        above = value.value + 1
        return Column(above.ln() + (value.value - (above - 1)) / above)

    def log(self, value: Column) -> Column:
        """ln x, for x > 0; null for 0, of which some engines refuse the logarithm."""
        return Column(value.value.nullif(0).ln())

    def clip(self, value: Column, lo: float, hi: float) -> Column:
        """The value limited to a range; null stays null."""
        return self.where(value < lo, lo, self.where(value > hi, hi, value))

    def minimum(self, value: Quantity, other: Column) -> Column:
        """The smaller of two values, the second a column."""
        return self.where(other < value, other, value)

    def total(self, values: Iterable[Quantity]) -> Quantity:
        """The sum of at least one value."""
        return total(list(values))


IBIS = Ibis()


def deferred(name: str) -> Any:
    """The column of this name as a deferred ibis expression."""
    return ibis_library()._[safe_name(name)]


def to_ibis(value: object) -> Any:
    """A `Column`, a constant or None as an ibis expression or value."""
    if isinstance(value, Column):
        return value.value
    return literal(None) if value is None else value


def _operand(value: object) -> Any:
    """Like `to_ibis`, with numbers as float literals: some engines take constants for decimals."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return literal(value) if number else to_ibis(value)  # type: ignore[arg-type]


def literal(number: float | None) -> Any:
    """A 64-bit float; cast from text, since some engines take numbers for decimals."""
    ibis = ibis_library()
    if number is None:
        return ibis.literal(None, type="float64")
    return ibis.literal(repr(float(number)), type="string").cast("float64")


def safe_name(name: str) -> str:
    """A column name with only letters, digits and underscores, which some engines require."""
    return re.sub(r"\W", "_", name)


def total(values: Sequence[Any]) -> Any:
    """The sum of at least one column or ibis expression."""
    # A balanced tree: engines refuse queries that are nested a thousand deep.
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return total(values[:middle]) + total(values[middle:])


def to_ibis_columns(columns: dict[str, Any]) -> dict[str, Any]:
    """Quantities by column name, as ibis takes them."""
    return {safe_name(name): to_ibis(value) for name, value in columns.items()}
