"""Thin curves to visible points."""

from collections.abc import Sequence

import polars as pl

from polaroc import rates
from polaroc.base.private_columns import KEY_INDEX, private
from polaroc.priors.grids import skew

# Cells per axis of the grid; at 800 pixels a cell is an eighth of a pixel wide, and half a pixel
# where a chart has so many lines that they cover one another.
CELLS, CELLS_OF_MANY, MANY_LINES = 6400, 1600, 40


def cells_per_axis(lines: pl.Expr) -> pl.Expr:
    """How fine the grid is for a chart of so many lines."""
    return pl.when(lines > MANY_LINES).then(CELLS_OF_MANY).otherwise(CELLS)


def thin(table: pl.LazyFrame, priors: Sequence[float | None]) -> pl.LazyFrame:
    """The points of `to_curve_table` curves that are visibly different.

    Keeps the first and the last point of a curve, and the last in each cell of a fine grid in
    ROC space and in precision-recall space at each prior; None is each key's own.
    """
    t, f = pl.col("tpr"), pl.col("fpr")
    curves = pl.col(KEY_INDEX).max() + 1
    in_roc, in_pr = cells_per_axis(curves), cells_per_axis(curves * len(priors))
    heights = [t * in_roc, f * in_roc]
    heights += [rates.precision(t, f, _skew(prior)) * in_pr for prior in priors]
    cells = {
        private(f"cell_{i}"): height.floor().fill_nan(None) for i, height in enumerate(heights)
    }
    changes = pl.any_horizontal(
        pl.col(name).ne_missing(pl.col(name).shift(-1)) for name in [KEY_INDEX, *cells]
    )
    first = (pl.col("tp") == pl.col("pos")) & (pl.col("fp") == pl.col("neg"))
    return table.with_columns(**cells).filter(first | changes).drop(*cells)


def recompute_steps(curves: pl.LazyFrame) -> pl.LazyFrame:
    """Thinned curves with `pos` and `neg` computed again from `tp` and `fp`."""
    same_key = pl.col(KEY_INDEX) == pl.col(KEY_INDEX).shift(1)
    return curves.with_columns(
        pl.when(same_key)
        .then(pl.col(total) - pl.col(total).shift(1))
        .otherwise(total)
        .alias(increment)
        for increment, total in (("pos", "tp"), ("neg", "fp"))
    )


def _skew(prior: float | None) -> pl.Expr:
    if prior is None:
        return pl.col("negatives") / pl.col("positives")
    return pl.lit(skew(prior))
