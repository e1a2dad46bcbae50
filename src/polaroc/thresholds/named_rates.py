"""Rates of a threshold by name, as functions of the rates of both classes, and how they move."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from polaroc import rates
from polaroc.curves.surface import RATES
from polaroc.typing import Quantity

# Of the true and of the false positive rate.
OfRates: TypeAlias = Callable[[Any, Any], Any]
EXPECTED_COST = "expected_cost"


def rate_at(name: str, skewed: Quantity, cost_fn: float = 1, cost_fp: float = 1) -> OfRates:
    """A rate or a cost at a prior.

    Examples
    --------
    >>> rate_at("precision", 9)(0.5, 0.5), rate_at("expected_cost", 1, cost_fn=10)(0.5, 0.5)
    (0.1, 2.75)
    """
    if name == "fpr":
        return lambda _, f: f
    if name in (EXPECTED_COST, "cost"):
        # A loss counts each of the two kinds of error with a weight of one half.
        loss = partial(rates.loss, skew=skewed, cost_fn=cost_fn, cost_fp=cost_fp)
        return lambda t, f: 2 * loss(t, f)
    rate = RATES["recall" if name == "tpr" else name]
    return lambda t, f: rate(t, f, skewed)


def unknown(t: Any, f: Any) -> Any:
    """The rate at a prior that is not known."""
    return np.nan * (t + f)


def with_slopes(rate: OfRates, t: float, f: float) -> tuple[float, tuple[float, float]]:
    """The value, and its derivatives by the true and by the false positive rate; NaN where none is.

    Examples
    --------
    >>> with_slopes(rate_at("precision", 1), 0.5, 0.5)
    (0.5, (0.5, -0.5))
    """
    # An imaginary step has no rounding error.
    step = 1e-30
    with np.errstate(divide="ignore", invalid="ignore"):
        value, of_t, of_f = (
            rate(np.complex128(complex(t, own)), np.complex128(complex(f, other)))
            for own, other in ((0, 0), (step, 0), (0, step))
        )
    return float(np.real(value)), (float(np.imag(of_t) / step), float(np.imag(of_f) / step))
