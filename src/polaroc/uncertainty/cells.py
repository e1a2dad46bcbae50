"""Cells of curves as arrays, from tables of curves and in groups of keys."""

import polars as pl

from polaroc.base.lazy import np
from polaroc.curves.ranking import CellArrays
from polaroc.curves.segments import COUNTS
from polaroc.measures.gradients import Segments
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array

# Cells of a block: few enough for the cache of a processor, and enough for threads to pay.
BLOCK = 32_768


def cells_of_curves(curves: pl.DataFrame, firsts: "Array") -> CellArrays:
    """The cells of sorted curves, the first row of each of which is given."""
    is_cell = curves[SCORE].is_not_null().to_numpy()
    starts = np.append(0, np.cumsum(is_cell))[np.append(firsts, curves.height)]
    kept = curves.filter(is_cell)
    columns = {name: kept[name].cast(pl.Float64).to_numpy() for name in (SCORE, *COUNTS)}
    return CellArrays(columns, starts)


def segments_of_curve(curve: pl.DataFrame) -> Segments:
    """The segments of one curve that has positives, sorted with the best score first."""
    cells = cells_of_curves(curve, np.zeros(1, np.int64))
    return segments_of(with_positives(cells), np.zeros(1, np.int64))


def cells_of(starts: "Array", **columns: "Array") -> CellArrays:
    """Cells with cumulated counts and totals of their keys, from `pos`, `neg` and others."""
    counts = dict(columns)
    sizes = np.diff(starts)
    first = starts[:-1][sizes > 0]
    for name, running, total in (("pos", "tp", "positives"), ("neg", "fp", "negatives")):
        sums = np.cumsum(columns[name])
        before = np.append(0.0, sums)[starts]
        counts[running] = sums - np.repeat(before[:-1], sizes)
        # Exact, whatever weights came before: such a cell starts at the origin.
        counts[running][first] = columns[name][first]
        counts[total] = np.repeat(np.diff(before), sizes)
    return CellArrays(counts, starts)


def with_positives(cells: CellArrays) -> CellArrays:
    """The cells with positives, without their scores."""
    kept = cells.counts["pos"] > 0
    counts = {name: own[kept] for name, own in cells.counts.items() if name != SCORE}
    return CellArrays(counts, np.append(0, np.cumsum(kept))[cells.starts])


def groups(starts: "Array", keys: "Array") -> "list[Array]":
    """Consecutive keys in groups of at most `BLOCK` cells, or of one key."""
    cuts, first = [], 0
    ends = starts[keys + 1]
    while first < len(keys):
        cuts.append(first)
        last = int(np.searchsorted(ends, starts[keys[first]] + BLOCK, "right"))
        first = max(first + 1, last)
    return np.split(keys, cuts[1:]) if cuts else []


def segments_of(
    cells: CellArrays, keys: "Array", units: "tuple[Array, Array] | None" = None
) -> Segments:
    """The segments of consecutive keys, all of which have some; `units` are of all keys."""
    first, last = (int(cells.starts[place]) for place in (keys[0], keys[-1] + 1))
    counts = {name: own.astype(float) for name, own in cells.block(first, last).items()}
    starts = cells.starts[keys] - first
    totals = {name: counts.pop(name)[starts] for name in ("positives", "negatives")}
    own = None if units is None else (units[0][keys], units[1][keys])
    return Segments(**counts, **totals, starts=starts, units=own)
