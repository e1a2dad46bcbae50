"""The sums that measures need, from the cells of a table in memory."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.curves.cell_arrays import CellArrays, ScoredCells
from polaroc.curves.segments import cells_in, segment_columns
from polaroc.measures.spec import Measure, ingredients
from polaroc.typing import Array

# Cells of a block: few enough for the cache of a processor, and enough for threads to pay.
BLOCK = 65_536


def array_sums(cells: CellArrays | ScoredCells, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per key the sums and minima that measures of `ARRAYS` need, NaN for a key without cells.

    The measures are of every cell where `cells` have scores, else of segments.
    """
    starts = cells.starts
    _, sums, least = ingredients(measures)
    of_keys = np.flatnonzero(np.diff(starts))
    firsts = starts[of_keys]

    def block(start: int) -> tuple[slice, "dict[str, Array]"]:
        known = cells.block(start, start + BLOCK)
        keys = slice(
            int(np.searchsorted(firsts, start, "right")) - 1,
            int(np.searchsorted(firsts, start + BLOCK)),
        )
        return keys, block_sums(known, np.maximum(firsts[keys] - start, 0), measures)

    totals = {name: np.zeros(len(of_keys)) for name in sums}
    minima = {name: np.full(len(of_keys), np.nan) for name in least}
    with ThreadPoolExecutor(pl.thread_pool_size()) as pool:
        for keys, of_block in pool.map(block, range(0, int(starts[-1]), BLOCK)):
            for name, total in totals.items():
                total[keys] += of_block[name]
            for name, minimum in minima.items():
                minimum[keys] = np.fmin(minimum[keys], of_block[name])
    result = {name: np.full(len(starts) - 1, np.nan) for name in (*totals, *minima)}
    for name, values in (totals | minima).items():
        result[name][of_keys] = values
    return pl.DataFrame(result)


def block_sums(
    cells: "dict[str, Array]", firsts: "Array", measures: Sequence[Measure]
) -> "dict[str, Array]":
    """The sums and minima that measures of `ARRAYS` need of each key, from the columns of cells.

    Keys have at least one cell, the first at `firsts`. The columns may have rates of segments.
    """
    columns, sums, least = ingredients(measures)
    if not all(measure.every_cell for measure in measures):
        columns = segment_columns(cells_in(ARRAYS)) | columns
    known = dict(cells)
    with np.errstate(all="ignore"):
        for name, formula in columns.items():
            if name not in known:
                known[name] = formula.value(known)
        return {
            name: np.add.reduceat(formula.value(known), firsts) for name, formula in sums.items()
        } | {
            name: np.fmin.reduceat(formula.value(known), firsts) for name, formula in least.items()
        }
