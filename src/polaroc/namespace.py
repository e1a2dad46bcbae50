"""`.proc` on Polars frames: sugar for the functions of polaroc.

``import polaroc.namespace`` registers it; then ``frame.proc.curve(...)`` is
``polaroc.curve(frame, ...)``. Type checkers follow the functions, not this.
"""

from collections.abc import Callable
from functools import cache, partial, wraps
from inspect import isfunction, signature
from typing import Any

import polars as pl

import polaroc
from polaroc.typing import PolarsFrame


@cache
def steps() -> list[str]:
    """The public functions whose first argument is a table."""
    return [name for name in dir(polaroc) if _takes_table(getattr(polaroc, name))]


def _takes_table(function: object) -> bool:
    if not isfunction(function):
        return False
    first = next(iter(signature(function).parameters.values()), None)
    first_names = ("table", "curve", "surface", "reference", "pilot")
    return first is not None and first.name in first_names


@pl.api.register_lazyframe_namespace("proc")
@pl.api.register_dataframe_namespace("proc")
class Proc:
    """The functions of polaroc that take a frame first, as methods of the frame.

    Examples
    --------
    >>> import polaroc as pr
    >>> import polaroc.namespace
    >>> curves = pr.datasets.twenty_scores().proc.curve(truth="truth", score="score")
    >>> round(curves.proc.auc()["estimate"].item(), 2)
    0.68
    """

    def __init__(self, frame: PolarsFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        return f"polaroc on a {type(self._frame).__name__}: {', '.join(steps())}"

    def __dir__(self) -> list[str]:
        return list(steps())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        # Only this function is imported, not all that `steps` lists.
        step = getattr(polaroc, name, None)
        if step is None or not _takes_table(step):
            raise AttributeError(f"proc has no {name!r}; it has {', '.join(steps())}.")
        return wraps(step)(partial(step, self._frame))
