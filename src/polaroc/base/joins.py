"""Joins on keys: a null is a key like any other, and so is NaN."""

from collections.abc import Iterable, Sequence
from math import nan
from typing import Any, Literal

import polars as pl

from polaroc.base.private_columns import private
from polaroc.typing import Frame

How = Literal["inner", "left", "semi", "anti"]
Order = Literal["none", "left", "left_right"]


def join_on(
    left: Frame, right: Frame, keys: Sequence[str], how: How = "inner", *, order: Order = "none"
) -> Frame:
    """Two tables joined where their keys are equal; NaN equals NaN, and null equals null.

    Examples
    --------
    >>> table = pl.DataFrame({"fold": [float("nan")], "cases": [7]})
    >>> join_on(table, table.rename({"cases": "known"}), ["fold"]).rows()
    [(nan, 7, 7)]
    """
    schemas = left.collect_schema(), right.collect_schema()
    # In memory, Polars 2.1 does not match NaN in a single key column that is sorted or has one row.
    if len(keys) > 1 or not all(schema[keys[0]].is_float() for schema in schemas):
        return left.join(right, on=keys, how=how, nulls_equal=True, maintain_order=order)
    (key,), bits = keys, private("bits")
    number = pl.col(key).cast(pl.Float64)
    one_zero = pl.when(number.ne_missing(0.0)).then(number).otherwise(0.0).fill_nan(nan)
    by_bits = one_zero.reinterpret(dtype=pl.UInt64).alias(bits)
    # Both are frames of one kind, which type checkers do not see.
    other: Any = right.with_columns(by_bits).drop(key)
    matched = left.with_columns(by_bits).join(
        other, on=bits, how=how, nulls_equal=True, maintain_order=order
    )
    return matched.drop(bits)


def as_key(values: Iterable[Any]) -> tuple[Any, ...]:
    """The values of a key as a key of a mapping, with one NaN, as NaN equals only itself there.

    Examples
    --------
    >>> as_key([float("nan"), 1]) == as_key([float("nan"), 1])
    True
    """
    return tuple(nan if isinstance(value, float) and value != value else value for value in values)


def attach(
    left: pl.LazyFrame, right: pl.LazyFrame, keys: Sequence[str], *, required: bool = True
) -> pl.LazyFrame:
    """The rows of both tables that share a key; all of `left` where `right` is not required."""
    how: How = "inner" if required else "left"
    if keys:
        return join_on(left, right, keys, how)
    # Without keys a constant joins all rows.
    return left.join(right, on=pl.lit(0), how=how, nulls_equal=True)
