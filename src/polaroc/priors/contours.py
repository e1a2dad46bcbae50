"""Lines of equal precision over recall and prior."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import GRID, lazily, require
from polaroc.priors.isolines import distinct_levels
from polaroc.priors.roc_pr import prior_at_precision

POINT = ("tpr", "fpr", "precision")


@lazily
def precision_contours(curve: pl.LazyFrame, levels: float | Sequence[float]) -> pl.LazyFrame:
    """The prior at which a curve has a precision, at each recall.

    Parameters
    ----------
    curve
        The result of `achievable`, or another table with its columns.
    levels
        One or several precisions in (0, 1).

    Returns
    -------
    Frame of the kind given
        The keys; `level`, the precision; `tpr`, the recalls of the table above 0;
        `prior` in [0, 1): Float64; sorted by key, level and recall.

    Raises
    ------
    InvalidArgument, InvalidTable
        For levels outside what is allowed; where a column is missing.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> grid = pr.achievable(pr.curve(table, truth="truth", score="p"), 0.5, recall=3)
    >>> precision_contours(grid, 0.5).select("tpr", "prior").rows()
    [(0.5, 0.0), (1.0, 0.33...)]
    """
    keys = require(curve, (*GRID, *POINT), source="achievable(...)")
    ordered = sorted(distinct_levels(levels, "precision"))
    grid = pl.LazyFrame({"level": ordered}, schema={"level": pl.Float64})
    return (
        curve.filter(pl.col("tpr") > 0)
        .group_by(*keys, "tpr")
        .agg(pl.col("fpr").max())
        .join(grid, how="cross")
        .select(
            *keys,
            "level",
            "tpr",
            prior_at_precision(pl.col("tpr"), pl.col("fpr"), pl.col("level")).alias("prior"),
        )
        .sort(*keys, "level", "tpr", nulls_last=True)
    )
