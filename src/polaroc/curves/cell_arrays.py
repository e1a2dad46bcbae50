"""Cells of ranked rows in memory, and the sorted codes that they are taken from."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polaroc.curves.packing import Packing
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array


@dataclass(frozen=True)
class CellArrays:
    """Cells sorted by key, best score first."""

    # By column name: `pos`, `neg`, `tp`, `fp`, `positives` and `negatives` of each cell.
    counts: "dict[str, Array]"
    starts: "Array"  # the first cell of each key, then the number of cells

    def block(self, start: int, stop: int) -> "dict[str, Array]":
        """The columns of these cells."""
        return {name: values[start:stop] for name, values in self.counts.items()}


@dataclass(frozen=True)
class KeyCounts:
    """Counts by key for a part of the scores: cases `tp` and `fp` above the part, and all."""

    tp: "Array"
    fp: "Array"
    positives: "Array"
    negatives: "Array"


@dataclass(frozen=True)
class ScoredCells:
    """All cells with their scores, which are taken from the codes of the rows block by block."""

    codes: "Array"  # of all rows, ascending
    firsts: "Array | None"  # the first row of each cell, None where each row is one
    starts: "Array"  # as of `CellArrays`
    of_keys: "dict[str, Array]"  # by column name: `positives` and `negatives` of each key
    shared: Packing
    weights: "Array | None" = None  # of all rows, None where each row counts once

    def block(self, start: int, stop: int) -> "dict[str, Array]":
        """The columns of these cells: `SCORE`, `pos`, `neg`, `positives` and `negatives`."""
        stop = min(stop, int(self.starts[-1]))
        cells_of_keys = np.diff(np.clip(self.starts, start, stop))
        present = np.flatnonzero(cells_of_keys)
        columns = {
            name: np.repeat(values[present], cells_of_keys[present])
            for name, values in self.of_keys.items()
        }
        if self.firsts is None:
            rows, first = slice(start, stop), None
        else:
            end = self.firsts[stop] if stop < len(self.firsts) else len(self.codes)
            rows = slice(self.firsts[start], end)
            first = self.firsts[start:stop] - rows.start
        code = self.codes[rows]
        pos = (code & np.uint64(1)).astype(np.int64)
        neg = 1 - pos
        if self.weights is not None:
            pos, neg = pos * self.weights[rows], neg * self.weights[rows]
        if first is not None:
            code, pos, neg = code[first], *(np.add.reduceat(of, first) for of in (pos, neg))
        return columns | {SCORE: self.shared.scores_of(code), "pos": pos, "neg": neg}


@dataclass(frozen=True)
class SortedCodes:
    """All rows, by code."""

    codes: "Array"  # ascending
    starts: "Array"  # the first row of each key, then the number of rows
    shared: Packing
    clusters: pl.Series | None = None  # of each row, where cases have some
    weights: "Array | None" = None  # the same

    def scores(self, rows: "Array") -> "Array":
        """The scores of rows, without the bits that codes lack."""
        return self.shared.scores_of(self.codes[rows])


@dataclass(frozen=True)
class RankedCells(CellArrays):
    """The cells that areas need, the totals of each key, its rows, and all cells where needed.

    Of `counts`, cells without positives are left out, a vertical run is its last cell. `totals`
    has the key columns, `positives`, `negatives` and `note` of each key.
    """

    totals: pl.DataFrame
    rows: SortedCodes
    # The places of the first row of each cell, and of the row after its last.
    spans: "tuple[Array, Array]"
    scored: ScoredCells | None = None

    def with_empty_keys(self, totals: pl.DataFrame) -> "RankedCells":
        """The same with the `totals` of these keys and of others after them, without rows."""
        more = totals.height - self.totals.height

        def longer(starts: "Array") -> "Array":
            return np.append(starts, np.repeat(starts[-1:], more))

        rows = replace(self.rows, starts=longer(self.rows.starts))
        scored = self.scored
        if scored is not None:
            of_keys = {name: totals[name].to_numpy() for name in scored.of_keys}
            scored = replace(scored, starts=longer(scored.starts), of_keys=of_keys)
        return replace(self, starts=longer(self.starts), totals=totals, rows=rows, scored=scored)
