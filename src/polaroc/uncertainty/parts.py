"""Limits of a difference of two parts, from the limits of each."""

from polaroc.base.lazy import np
from polaroc.typing import Array


def gap_limits(first: "Array", second: "Array", correlation: "Array") -> "tuple[Array, Array]":
    """Limits of a difference, from the estimate and the limits of both parts (Zou and Donner 2008).

    They are as wide to either side as those of the parts are there, so that they hold for shares
    near 0 or 1 and for few cases, too.

    Either part has its estimate, lower and upper limit on the first axis; their errors have this
    correlation.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = gap_limits(np.array([0.5, 0.4, 0.6]), np.array([0.3, 0.2, 0.4]), np.zeros(()))
    >>> round(float(low), 3), round(float(high), 3)
    (0.059, 0.341)
    """
    (one, low, high), (other, least, most) = first, second

    def reach(of_one: "Array", of_other: "Array") -> "Array":
        square = of_one**2 + of_other**2 - 2 * correlation * of_one * of_other
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))

    difference = one - other
    return (
        difference - reach(one - low, most - other),
        difference + reach(high - one, other - least),
    )
