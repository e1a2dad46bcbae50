"""Formulas of NumPy arrays, for tables in memory."""

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from polaroc.typing import Array, Quantity

Function = Callable[..., Any]
Operator = Callable[["Formula", Quantity], "Formula"]


def _operators(function: Function) -> tuple[Operator, Operator]:
    """An operator of a formula and another quantity, and the same with the formula second."""
    return (
        lambda self, other: Formula(function, (self, other)),
        lambda self, other: Formula(function, (other, self)),
    )


@dataclass(frozen=True, eq=False)
class Formula:
    """A function of `parts`, which are formulas or numbers; a part used twice is computed once."""

    function: Function
    parts: tuple[Quantity, ...]

    def value(self, columns: Mapping[str, "Array"]) -> "Array":
        """The formula of these columns."""
        value: Array = _value(self, columns, {}, dict(self._uses))
        return value

    @cached_property
    def _uses(self) -> dict[int, int]:
        """How often a part is used, of those used repeatedly, by identity."""
        uses: Counter[int] = Counter()
        unseen: list[Formula] = [self]
        while unseen:
            for part in unseen.pop().parts:
                if isinstance(part, Formula):
                    uses[id(part)] += 1
                    if uses[id(part)] == 1:
                        unseen.append(part)
        return {part: count for part, count in uses.items() if count > 1}

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __truediv__, __rtruediv__ = _operators(operator.truediv)
    __pow__, _ = _operators(operator.pow)
    __and__, _ = _operators(operator.and_)
    __or__, _ = _operators(operator.or_)
    __lt__, _ = _operators(operator.lt)
    __le__, _ = _operators(operator.le)
    __gt__, _ = _operators(operator.gt)
    __ge__, _ = _operators(operator.ge)
    __eq__, _ = _operators(operator.eq)  # type: ignore[assignment]

    def __neg__(self) -> "Formula":
        return Formula(operator.neg, (self,))

    def __abs__(self) -> "Formula":
        return Formula(operator.abs, (self,))

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class _Column(Formula):
    """A column of this name."""

    name: str


def _value(
    part: Formula, columns: Mapping[str, "Array"], known: dict[int, "Array"], uses: dict[int, int]
) -> Any:
    if isinstance(part, _Column):
        return columns[part.name]
    place = id(part)
    if place in known:
        value = known[place]
    else:
        parts = [
            _value(one, columns, known, uses) if isinstance(one, Formula) else one
            for one in part.parts
        ]
        value = part.function(*parts)
    left = uses.get(place, 1) - 1
    # Dropped after its last use, so that fewer arrays compete for the processor's cache.
    if left:
        known[place], uses[place] = value, left
    else:
        known.pop(place, None)
    return value


def value_of(quantity: Quantity, columns: Mapping[str, "Array"]) -> Quantity:
    """A formula of these columns, or a number."""
    return quantity.value(columns) if isinstance(quantity, Formula) else quantity


def all_of(quantities: Iterable[Quantity]) -> Formula:
    """Several formulas or numbers as one, whose common parts are computed once."""
    return Formula(lambda *values: values, tuple(quantities))


@dataclass(frozen=True)
class Arrays:
    """NumPy arrays; a missing value is NaN.

    Examples
    --------
    >>> import numpy as np
    >>> doubled = ARRAYS.where(ARRAYS.column("x") > 1, 2 * ARRAYS.column("x"))
    >>> doubled.value({"x": np.array([1.0, 3.0])}).tolist()
    [nan, 6.0]
    """

    # Unneeded: `Formula` computes a part that is used twice only once.
    repeats_as_columns: bool = False

    def column(self, name: str) -> Formula:
        """The column of a name."""
        return _Column(_no_parts, (), name)

    def where(self, condition: Quantity, then: Quantity, otherwise: Quantity = None) -> Formula:
        """`then` where the condition holds, else `otherwise`: by default missing."""
        values = (np.nan if value is None else value for value in (then, otherwise))
        return Formula(np.where, (condition, *values))

    def quotient(self, value: Quantity, by: Quantity) -> Quantity:
        """The value ÷ `by`, which is not 0 in any row."""
        return value / by

    def log1p(self, value: Quantity) -> Formula:
        """ln(1 + x), to the last digit also for small x."""
        return Formula(np.log1p, (value,))

    def log(self, value: Quantity) -> Formula:
        """ln x."""
        return Formula(np.log, (value,))

    def clip(self, value: Quantity, lo: float, hi: float) -> Formula:
        """The value, limited to the range from `lo` to `hi`; missing stays missing."""
        return Formula(np.clip, (value, lo, hi))

    def minimum(self, value: Quantity, other: Quantity) -> Formula:
        """The lesser of two values, the second a column."""
        return Formula(np.minimum, (value, other))

    def total(self, values: Iterable[Quantity]) -> Quantity:
        """The sum of at least one value."""
        return reduce(operator.add, values)


def _no_parts() -> None:
    """The function of a column, which is looked up and never computed."""


ARRAYS = Arrays()
