"""Thin curves to visible points."""

from collections.abc import Sequence

import polars as pl

from polaroc import rates
from polaroc.base.columns import CURVE
from polaroc.base.lazy import np
from polaroc.base.private_columns import KEY_INDEX, private
from polaroc.curves.ranking import RankedCells
from polaroc.priors.grids import skew
from polaroc.typing import Array

# Cells per axis of the grid; at 800 pixels a cell is an eighth of a pixel wide, and half a pixel
# where a chart has so many lines that they cover one another.
CELLS, CELLS_OF_MANY, MANY_LINES = 6400, 1600, 40
# Cells along the false positive rate where the other does not rise: points there are for tooltips.
FLAT_CELLS = 64


def cells_per_axis(lines: pl.Expr) -> pl.Expr:
    """How fine the grid is for a chart of so many lines."""
    return pl.when(lines > MANY_LINES).then(CELLS_OF_MANY).otherwise(CELLS)


def thin(table: pl.LazyFrame, priors: Sequence[float | None]) -> pl.LazyFrame:
    """The points of `to_curve_table` curves that are visibly different.

    Keeps the first and the last point of a curve, and the last in each cell of a fine grid in
    ROC space and in precision-recall space at each prior; None is each key's own.
    """
    t, f = pl.col("tpr"), pl.col("fpr")
    curves = pl.col(KEY_INDEX).n_unique()
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


def visible_points(ranked: RankedCells) -> pl.DataFrame:
    """The points of unweighted curves that are visibly different in ROC space or at any prior.

    Curve tables without packed codes. Thresholds lack the bits that codes lack, which are
    beyond the digits that charts show.
    """
    rows, of_keys = ranked.rows, ranked.totals.drop(KEY_INDEX, "note")
    positives, negatives = (of_keys[name].to_numpy() for name in ("positives", "negatives"))
    tp, fp, starts = _vertices(ranked, positives, negatives)
    key = np.repeat(np.arange(len(positives)), np.diff(starts))
    tpr, fpr = tp / np.maximum(positives, 1)[key], fp / np.maximum(negatives, 1)[key]
    cells = CELLS_OF_MANY if len(positives) > MANY_LINES else CELLS
    kept = np.flatnonzero(visible(tpr, fpr, starts, cells))
    key, tp, fp = key[kept], tp[kept], fp[kept]
    at_start = tp + fp == 0
    columns = {
        "threshold": rows.scores(np.maximum(rows.starts[key] + tp + fp - 1, 0)),
        "pos": np.where(at_start, 0, np.diff(tp, prepend=0)),
        "neg": np.where(at_start, 0, np.diff(fp, prepend=0)),
        "tp": tp, "fp": fp, "tpr": tpr[kept], "fpr": fpr[kept],
    }  # fmt: skip
    # NaN stands for null.
    columns["threshold"][at_start] = np.nan
    columns["tpr"][(positives == 0)[key]] = columns["fpr"][(negatives == 0)[key]] = np.nan
    names = [name for name in of_keys.columns if name not in CURVE]
    points = of_keys[key].with_columns(
        pl.Series(name, values, nan_to_null=True) for name, values in columns.items()
    )
    return points.select(*names, *CURVE)


def visible(tpr: "Array", fpr: "Array", starts: "Array", cells: int) -> "Array":
    """Which points of curves that follow one another their lines should be drawn through.

    Of each column, a cell wide along the true positive rate, the last point is kept, those of
    the greatest and the least precision where the line would miss them by a quarter of a cell,
    and the first where the way to it is longer than a quarter of a cell. Which precision is the
    greatest does not depend on the prior: no point of a ROC curve is further than one and a
    quarter cells from the line, none of a precision-recall curve than one and a half.
    `starts` are the first point of each curve, then the number of points.
    """
    begins, ends = starts[:-1], starts[1:]
    begins, ends = begins[begins < ends], ends[begins < ends]
    column, flat = (tpr * cells).astype(np.int32), (fpr * FLAT_CELLS).astype(np.int32)
    new = np.ones(len(tpr), bool)
    new[1:] = (column[1:] != column[:-1]) | (flat[1:] != flat[:-1])
    new[begins] = True
    first = np.flatnonzero(new)
    size = np.diff(first, append=len(tpr))
    last, before = first + size - 1, np.maximum(first - 1, 0)
    before[np.searchsorted(first, begins)] = begins
    second = np.minimum(begins + 1, ends - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = fpr / tpr
    # At the origin precision has its limit along the first segment.
    ratio[begins] = np.where(np.isnan(ratio[begins]), ratio[second], ratio[begins])
    kept = np.zeros(len(tpr), bool)
    kept[begins] = kept[second] = kept[last] = True
    kept[first[tpr[first] - tpr[before] > 0.25 / cells]] = True
    of_line = ratio[before], ratio[last]
    least, greatest = np.minimum.reduceat(ratio, first), np.maximum.reduceat(ratio, first)
    # A share of the ratio changes a precision by at most a quarter of that share.
    least[least >= np.minimum(*of_line) * (1 - 1 / cells)] = np.nan
    greatest[greatest <= np.maximum(*of_line) * (1 + 1 / cells)] = np.nan
    for extreme in (least, greatest):
        kept |= ratio == np.repeat(extreme, size)
    return kept


def _vertices(
    ranked: RankedCells, positives: "Array", negatives: "Array"
) -> "tuple[Array, Array, Array]":
    """`tp` and `fp` where curves turn, and at some rows between; the first of each curve."""
    rows, number = ranked.rows, np.diff(ranked.starts)
    keys = np.arange(len(number) + 1)
    # Of each curve its origin, both ends of each segment with positives, and its end.
    starts = 2 * (ranked.starts + keys)
    end = 2 * (np.arange(ranked.starts[-1]) + np.repeat(keys[:-1], number) + 1)
    places = []
    for step, count, total in (("pos", "tp", positives), ("neg", "fp", negatives)):
        at = np.zeros(starts[-1], np.int64)
        at[end] = ranked.counts[count]
        at[end - 1] = at[end] - ranked.counts[step]
        at[starts[1:] - 1] = total
        places.append(at)
    tp, fp = places
    key = np.repeat(keys[:-1], np.diff(starts))
    # Between them, rows that tooltips need along many negatives, each the last of its tie.
    apart = np.maximum(negatives // FLAT_CELLS, 1)[key]
    level = np.diff(tp, append=0) == 0
    more = np.where(level, np.maximum(np.diff(fp, append=0) - 1, 0) // apart, 0)
    more[starts[1:] - 1] = 0
    at = np.repeat(np.arange(len(tp)), more)
    turn = np.arange(len(at)) - np.repeat(np.cumsum(more) - more, more) + 1
    above = rows.starts[key[at]] + tp[at]
    row = above + fp[at] + turn * apart[at] - 1
    inserted = np.searchsorted(rows.codes, rows.codes[row], side="right") - above
    tp, fp = np.insert(tp, at + 1, tp[at]), np.insert(fp, at + 1, inserted)
    key = np.insert(key, at + 1, key[at])
    moved = np.ones(len(tp), bool)
    moved[1:] = (tp[1:] != tp[:-1]) | (fp[1:] != fp[:-1]) | (key[1:] != key[:-1])
    return tp[moved], fp[moved], np.searchsorted(key[moved], keys)


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
