"""Means of a measure over folds, and how far the folds spread around them."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import attach
from polaroc.base.private_columns import HAVE, SIZE, SPREAD


def fold_means(rows: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Per value of the first key and prior, the mean over all others, with one SD to either side.

    At a prior that not all folds of a model have there is none: it would be over other folds.

    Examples
    --------
    >>> rows = pl.DataFrame({"model": ["A"] * 3, "fold": [1, 2, 3], "prior": [0.1] * 3,
    ...     "estimate": [0.25, 0.5, 0.75]})
    >>> fold_means(rows, ["model", "fold"]).row(0)
    ('A', 0.1, 0.5, 0.25, 0.75)
    """
    first = list(keys[:1])
    estimate = pl.col("estimate")
    sizes = rows.select(*keys, pl.lit(0).alias(SIZE)).unique()
    sizes = sizes.group_by(*first or [SIZE]).agg(pl.len().alias(HAVE))
    sizes = sizes.select(*first, pl.col(HAVE).alias(SIZE))
    means = rows.group_by(*first, "prior").agg(
        estimate.mean(), estimate.std().alias(SPREAD), pl.len().alias(HAVE)
    )
    whole = attach(means.lazy(), sizes.lazy(), first).filter(pl.col(HAVE) == pl.col(SIZE))
    limits = (estimate - pl.col(SPREAD)).alias("lower"), (estimate + pl.col(SPREAD)).alias("upper")
    named = [*first, "prior"]
    result = whole.with_columns(limits).select(*named, "estimate", "lower", "upper")
    return result.sort(named, nulls_last=True).collect()
