"""Functions beside arithmetic that formulas use, for numbers, arrays and columns alike.

A column is a Polars expression, or any other object that has arithmetic and the
methods `where`, `log1p`, `clip`, `sqrt`, `abs` and `least`, so that each formula is
written once for all engines.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import polars as pl

from polaroc.typing import Quantity

# From the name of a column to a quantity.
Columns: TypeAlias = Callable[[str], Quantity]


def where(condition: Quantity, then: Quantity, otherwise: Quantity = None) -> Quantity:
    """`then` where the condition holds, else `otherwise`: by default missing.

    Examples
    --------
    >>> import numpy as np
    >>> where(np.array([True, False]), 1.0, 0.0).tolist()
    [1.0, 0.0]
    >>> pl.select(where(pl.lit(False), 1.0)).item()
    """
    if isinstance(condition, pl.Expr):
        return pl.when(condition).then(then).otherwise(otherwise)
    if _plain(condition):
        import numpy as np

        return np.where(condition, then, np.nan if otherwise is None else otherwise)
    return condition.where(then, otherwise)


def log1p(value: Quantity) -> Quantity:
    """ln(1 + x), accurate for small x."""
    if _plain(value):
        import numpy as np

        return np.log1p(value)
    return value.log1p()


def root(value: Quantity) -> Quantity:
    """The square root.

    Examples
    --------
    >>> root(9.0) == pl.select(root(pl.lit(9.0))).item() == 3
    True
    """
    return value**0.5 if _plain(value) else value.sqrt()


def size(value: Quantity) -> Quantity:
    """The absolute value."""
    return abs(value) if _plain(value) else value.abs()


def clip(value: Quantity, lo: float, hi: float) -> Quantity:
    """The value limited to a range."""
    if _plain(value):
        import numpy as np

        return np.clip(value, lo, hi)
    return value.clip(lo, hi)


def least(value: Quantity, other: Quantity) -> Quantity:
    """The lesser of two values, the second a column where one of them is.

    Examples
    --------
    >>> float(least(2.0, 3.0)), pl.select(least(2.0, pl.lit(1.0))).item()
    (2.0, 1.0)
    """
    if isinstance(other, pl.Expr):
        return pl.min_horizontal(value, other)
    if _plain(other):
        import numpy as np

        return np.minimum(value, other)
    return other.least(value)


def total(values: Iterable[Quantity]) -> Quantity:
    """The sum of at least one value.

    Examples
    --------
    >>> total([1.0, 2.0, 3.0])
    6.0
    """
    listed = list(values)
    if any(isinstance(value, pl.Expr) for value in listed):
        return pl.sum_horizontal(listed)
    return _halved(listed)


def _halved(values: Sequence[Quantity]) -> Quantity:
    # By halves, since engines refuse deeply nested queries.
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    return _halved(values[:middle]) + _halved(values[middle:])


def _plain(value: Quantity) -> bool:
    # By type name, so that `import polaroc` does not import numpy.
    return isinstance(value, int | float) or type(value).__module__.split(".")[0] == "numpy"
