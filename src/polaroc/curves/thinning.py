"""Thin curves to visible points."""

import numpy as np
import polars as pl

from polaroc.base.private_columns import PLACE
from polaroc.curves.cell_arrays import KeyCounts, RankedCells
from polaroc.curves.held import all_points
from polaroc.typing import Array

# Cells per axis of the grid; at 800 pixels a cell is an eighth of a pixel wide, and half a pixel
# where a chart has so many lines that they cover one another.
CELLS, CELLS_OF_MANY, MANY_LINES = 6400, 1600, 40
# Cells along the false positive rate where the other does not rise: points there are for tooltips.
FLAT_CELLS = 64


def cells_per_axis(lines: pl.Expr) -> pl.Expr:
    """How fine the grid is for a chart of so many lines."""
    return pl.when(lines > MANY_LINES).then(CELLS_OF_MANY).otherwise(CELLS)


def visible_points(ranked: RankedCells, above: KeyCounts) -> pl.DataFrame:
    """The points of curves that are visibly different in ROC space or at any prior.

    Of the rows of a part of the scores, `above` which are others. Of each point the `PLACE` of
    its key in the part, `threshold`, `tp` and `fp`, from the best score on; the start of a curve
    has no threshold. Thresholds lack the bits that codes lack, which are beyond the digits that
    charts show.
    """
    weighted = ranked.scored is not None and ranked.scored.weights is not None
    tp, fp, threshold, starts = (all_points if weighted else _vertices)(ranked)
    key = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    at_start = tp + fp == 0
    tp, fp = tp + above.tp[key], fp + above.fp[key]
    tpr, fpr = (
        count / np.where(total > 0, total, 1)[key]
        for count, total in ((tp, above.positives), (fp, above.negatives))
    )
    cells = CELLS_OF_MANY if len(above.positives) > MANY_LINES else CELLS
    # Where a part starts, the one before has ended.
    kept = visible(tpr, fpr, starts, cells) & ~(at_start & (tp + fp > 0))
    points = {PLACE: key, "threshold": np.where(at_start, np.nan, threshold), "tp": tp, "fp": fp}
    return pl.DataFrame({name: values[kept] for name, values in points.items()}, nan_to_null=True)


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


def corners(ranked: RankedCells) -> "tuple[list[Array], Array]":
    """`tp` and `fp` where curves turn, between which they are straight; where each begins.

    Of each curve its origin, both ends of each segment with positives, and its end.
    """
    keys = np.arange(len(ranked.starts))
    starts = 2 * (ranked.starts + keys)
    end = 2 * (np.arange(ranked.starts[-1]) + np.repeat(keys[:-1], np.diff(ranked.starts)) + 1)
    places = []
    for step, count, total in (("pos", "tp", "positives"), ("neg", "fp", "negatives")):
        at = np.zeros(starts[-1], ranked.counts[count].dtype)
        at[end] = ranked.counts[count]
        at[end - 1] = at[end] - ranked.counts[step]
        at[starts[1:] - 1] = ranked.totals[total]
        places.append(at)
    return places, starts


def _vertices(ranked: RankedCells) -> "tuple[Array, Array, Array, Array]":
    """`tp`, `fp` and score where curves turn, and at some rows between; where each begins."""
    negatives, rows = ranked.totals["negatives"].to_numpy(), ranked.rows
    (tp, fp), starts = corners(ranked)
    keys = np.arange(len(starts))
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
    tp, fp, key = tp[moved], fp[moved], key[moved]
    threshold = rows.scores(np.maximum(rows.starts[key] + tp + fp - 1, 0))
    return tp, fp, threshold, np.searchsorted(key, keys)
