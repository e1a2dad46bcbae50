"""Aliases shared by the public signatures."""

from collections.abc import Callable, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    overload,
)  # fmt: skip

import polars as pl

if TYPE_CHECKING:
    import numpy as np

Frame = TypeVar("Frame", pl.LazyFrame, pl.DataFrame)
IntoExpr: TypeAlias = str | pl.Expr
By: TypeAlias = str | pl.Expr | Sequence[str | pl.Expr] | None
Label: TypeAlias = str | int | float | bool
Nulls: TypeAlias = Literal["raise", "drop"]
Interpolation: TypeAlias = Literal["exact", "linear", "step", "hull"]
Intervals: TypeAlias = Literal["logit", "wald", "percentile", "bca"]
Start: TypeAlias = Literal["limit", "one", "zero", "drop"]
Prior: TypeAlias = float | Literal["observed"]
Priors: TypeAlias = Prior | Sequence[Prior] | pl.DataFrame | pl.LazyFrame

# Of numbers, of any shape.
Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

# A float, a numpy array, a pl.Expr or an ibis column: whatever has arithmetic.
Quantity: TypeAlias = Any

_P = ParamSpec("_P")
LazyStep: TypeAlias = Callable[Concatenate[pl.LazyFrame, _P], pl.LazyFrame]


class FrameStep(Protocol[_P]):
    """A function of a frame that returns the kind of frame it was given."""

    @overload
    def __call__(
        self, frame: pl.LazyFrame, /, *args: _P.args, **kwargs: _P.kwargs
    ) -> pl.LazyFrame: ...

    @overload
    def __call__(
        self, frame: pl.DataFrame, /, *args: _P.args, **kwargs: _P.kwargs
    ) -> pl.DataFrame: ...
