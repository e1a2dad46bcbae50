"""Reserved column names, and the step from names to expressions and joins."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, Literal, cast, overload

import polars as pl

from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.typing import _P, By, FrameStep, IntoExpr, LazyStep

CURVE = (
    "threshold", "pos", "neg", "tp", "fp", "positives", "negatives", "tpr", "fpr",
)  # fmt: skip
GRID = ("prior", "skew")
MEASURES = ("measure", "prior", "estimate", "positives", "negatives", "note")
INTERVAL = ("lower", "upper", "std_error")
WITH_INTERVAL = (*MEASURES[:3], *INTERVAL, *MEASURES[3:])
POINT = ("rule", "share")
RESERVED = frozenset((*CURVE, *GRID, *MEASURES, *INTERVAL, *POINT, "precision"))
PRIVATE = "__polaroc_"


def lazily(step: LazyStep[_P]) -> FrameStep[_P]:
    """Let a lazy step also take, and then return, a DataFrame."""
    name = next(iter(signature(step).parameters))
    # Called with too little or too much it fails as any function of Python does.
    anyhow = cast(Callable[..., pl.LazyFrame], step)

    @wraps(step)
    def either(*args: Any, **kwargs: Any) -> Any:
        if not args and name not in kwargs:
            return anyhow(**kwargs)
        frame, *rest = args or (kwargs.pop(name),)
        return like(frame, anyhow(as_lazy(frame), *rest, **kwargs))

    return cast(FrameStep[_P], either)


def as_lazy(frame: object) -> pl.LazyFrame:
    """A Polars frame as a LazyFrame; anything else is refused."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        return frame.lazy()
    kind = type(frame)
    raise InvalidTable(
        f"got a {kind.__module__}.{kind.__qualname__}, allowed are polars LazyFrame and DataFrame.",
        hint="convert it first, for example with pl.DataFrame(...) or pl.from_pandas(...).",
    )


@overload
def like(frame: pl.LazyFrame, result: pl.LazyFrame) -> pl.LazyFrame: ...


@overload
def like(frame: pl.DataFrame, result: pl.LazyFrame) -> pl.DataFrame: ...


def like(frame: pl.LazyFrame | pl.DataFrame, result: pl.LazyFrame) -> pl.LazyFrame | pl.DataFrame:
    """`result`, collected where `frame` is a DataFrame."""
    return result.collect() if isinstance(frame, pl.DataFrame) else result


def expression(column: IntoExpr) -> pl.Expr:
    """A column name or an expression, as an expression; refused where Polars would not take it.

    Of several columns that match it, Polars reads a name such as ``^a.*$`` or ``*``
    as a pattern.
    """
    if not isinstance(column, str):
        return column
    if column == "*" or (column.startswith("^") and column.endswith("$")):
        raise InvalidArgument(
            f"the column is named {column!r}, a pattern of several columns to Polars.",
            hint="rename it first: frame.rename({...}).",
        )
    return pl.col(column)


def key_expressions(by: By) -> list[pl.Expr]:
    """The keys as expressions, whether one or many were given."""
    if by is None:
        return []
    keys = [by] if isinstance(by, str | pl.Expr) else by
    return [expression(key) for key in keys]


def check_keys(keys: Sequence[str], also: Sequence[str] = ()) -> None:
    """Refuse reserved names, those in `also` among them, and repeated names among the keys."""
    reserved = RESERVED.union(also)
    taken = [key for key in keys if key in reserved or key.startswith(PRIVATE)]
    if taken:
        raise InvalidArgument(
            f"by has {quoted(taken)}, reserved for polaroc's own columns "
            f"({', '.join(sorted(reserved))}).",
            hint="rename the key column first: frame.rename({...}).",
        )
    if len(set(keys)) < len(keys):
        raise InvalidArgument(
            f"by names a column twice: {quoted(keys)}.", hint="name each key once."
        )


def require(frame: pl.LazyFrame, needed: Iterable[str], *, source: str) -> list[str]:
    """The keys of a table of ours, refused where one of its own columns is missing.

    Parameters
    ----------
    frame
        The table.
    needed
        The reserved columns it must have.
    source
        The function that makes such a table, for the hint.
    """
    present = frame.collect_schema().names()
    missing = [name for name in needed if name not in present]
    if missing:
        raise InvalidTable(
            f"the table has no column {quoted(missing)}; it has {quoted(present) or 'no columns'}.",
            hint=f"pass the result of {source}.",
        )
    return [name for name in present if name not in RESERVED]


def curve_keys(frame: pl.LazyFrame) -> list[str]:
    """The keys of a curve table; a surface, which holds each curve many times, is refused."""
    keys = require(frame, CURVE, source="curve(...)")
    if set(GRID) & set(frame.collect_schema().names()):
        raise InvalidTable(
            "the table has a column 'prior' or 'skew': it is a surface, and a curve is needed.",
            hint="pass the result of curve(...) or hull(...), and the priors as an argument.",
        )
    return keys


def within(expr: pl.Expr, keys: Sequence[str]) -> pl.Expr:
    """`expr` per key, or over the whole table where there are no keys."""
    return expr.over(keys) if keys else expr


def attach(
    left: pl.LazyFrame, right: pl.LazyFrame, keys: Sequence[str], *, required: bool = True
) -> pl.LazyFrame:
    """The rows of both tables that share a key; all of `left` where `right` is not required."""
    how: Literal["inner", "left"] = "inner" if required else "left"
    if keys:
        return left.join(right, on=keys, how=how, nulls_equal=True)
    if required:
        return left.join(right, how="cross")
    one = pl.lit(True).alias(PRIVATE + "all")
    joined = left.with_columns(one).join(right.with_columns(one), on=PRIVATE + "all", how=how)
    return joined.drop(PRIVATE + "all")
