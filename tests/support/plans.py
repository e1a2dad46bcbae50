"""The measures of `evaluate` as a plan: those of the functions of curve tables, as expressions."""

from collections.abc import Sequence
from typing import Any

import polars as pl

import polaroc as pr

BY_CURVE = ("auc", "auprec", "iauprec", "sens", "accsens")


def of_plan(
    table: pl.DataFrame,
    priors: Sequence[Any] = (0.1, "observed"),
    over: Any = (0.05, 0.2),
    interpolation: Any = "exact",
    **cases: Any,
) -> pl.DataFrame:
    """Keys, measures, priors and estimates, from the curves of a lazy frame."""
    curves = pr.curve(table.lazy(), **cases)
    parts = [
        curves.pipe(pr.auc),
        curves.pipe(pr.auprec, [*priors], interpolation),
        curves.pipe(pr.iauprec, over, interpolation),
        curves.pipe(pr.sens, over),
        curves.pipe(pr.accsens, over),
    ]
    keys = parts[0].collect_schema().names()
    keys = keys[: keys.index("measure")]
    rows = pl.concat(pl.collect_all(parts))
    ordered = rows.sort(keys, maintain_order=True, nulls_last=True) if keys else rows
    return ordered.drop("note")


def of_arrays(
    table: pl.DataFrame,
    priors: Sequence[Any] = (0.1, "observed"),
    over: Any = (0.05, 0.2),
    **arguments: Any,
) -> pl.DataFrame:
    """The same rows from `evaluate`."""
    found = pr.evaluate(table, priors=[*priors], over=over, **arguments)
    return found.filter(pl.col("measure").is_in(BY_CURVE)).drop("over", "note")
