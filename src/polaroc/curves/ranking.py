"""Rank the rows of a table in memory: totals and cells from one sorted array."""

from dataclasses import dataclass, replace

import polars as pl

from polaroc.base.private_columns import HAS_ONES, KEY_INDEX, PLACE, SORT_CODE, TRUTH
from polaroc.curves.keys import (
    SCORE_EXTREMES,
    KeyLevels,
    has_numbers,
    is_word,
    key_levels,
    score_extremes,
)
from polaroc.curves.packing import PACK_128, STEPS, Packing, packing
from polaroc.predictions.row_checks import SCORE, label_extremes, label_note
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Bits of a score that codes may lack, if no scores are then tied.
SPARE_BITS = 24
# Possible keys are counted one by one: in small tables this many, else as many as rows.
MOST_POSSIBLE = 1_000


@dataclass(frozen=True)
class CellArrays:
    """Cells sorted by key, best score first.

    Attributes
    ----------
    counts
        By column name: `pos`, `neg`, `tp`, `fp`, `positives` and `negatives` of each cell.
    starts
        The first cell of each key, then the number of cells.
    """

    counts: "dict[str, Array]"
    starts: "Array"

    def block(self, start: int, stop: int) -> "dict[str, Array]":
        """The columns of these cells."""
        return {name: values[start:stop] for name, values in self.counts.items()}


@dataclass(frozen=True)
class ScoredCells:
    """All cells with their scores, which are taken from the codes of the rows block by block.

    Attributes
    ----------
    codes
        The codes of all rows, ascending.
    firsts
        The first row of each cell, None where no scores are tied and each row is one.
    starts
        As of `CellArrays`.
    of_keys
        By column name: `positives` and `negatives` of each key.
    """

    codes: "Array"
    firsts: "Array | None"
    starts: "Array"
    of_keys: "dict[str, Array]"
    shared: Packing

    def block(self, start: int, stop: int) -> "dict[str, Array]":
        """The columns of these cells: `SCORE`, `pos`, `neg`, `positives` and `negatives`."""
        import numpy as np

        stop = min(stop, int(self.starts[-1]))
        cells_of_keys = np.diff(np.clip(self.starts, start, stop))
        present = np.flatnonzero(cells_of_keys)
        columns = {
            name: np.repeat(values[present], cells_of_keys[present])
            for name, values in self.of_keys.items()
        }
        if self.firsts is None:
            code = self.codes[start:stop]
            pos = (code & np.uint64(1)).astype(np.int64)
            size: Array | int = 1
        else:
            end = self.firsts[stop] if stop < len(self.firsts) else len(self.codes)
            rows = self.codes[self.firsts[start] : end]
            first = self.firsts[start:stop] - self.firsts[start]
            code, size = rows[first], np.diff(first, append=len(rows))
            pos = np.add.reduceat((rows & np.uint64(1)).astype(np.int64), first)
        return columns | {SCORE: self.shared.scores_of(code), "pos": pos, "neg": size - pos}


@dataclass(frozen=True)
class RankedCells(CellArrays):
    """The cells that areas need, the totals of each key, and all cells where they are needed.

    Of `counts`, cells without positives are left out, a vertical run is its last cell. `totals`
    has the key columns, `positives`, `negatives` and `note` of each key.
    """

    totals: pl.DataFrame
    scored: ScoredCells | None = None


def ranked_cells(predictions: Predictions, *, scored: bool = False) -> RankedCells | None:
    """The cells of rows in memory that have neither weights nor errors.

    None where the keys cannot be numbered, or their numbers and the scores need 128 bits.
    """
    extremes = score_extremes(predictions).collect()
    levels = _levels(predictions)
    spare = 0 if scored else SPARE_BITS
    ranked = None if levels is None else _sorted_codes(predictions, levels, extremes, spare)
    if levels is None or ranked is None:
        return None
    found = _cells(*ranked, levels, scored=scored)
    if extremes[HAS_ONES].item():
        by_key = predictions.rows.group_by(levels.index.alias(KEY_INDEX)).agg(label_extremes())
        notes = by_key.sort(KEY_INDEX).select(label_note().alias("note")).collect()
        return replace(found, totals=found.totals.with_columns(notes["note"]))
    return found


def _levels(predictions: Predictions) -> KeyLevels | None:
    """The numbers of the keys, None where there are too many to look each one up."""
    rows, schema = predictions.rows, predictions.rows.collect_schema()
    values = []
    if not all(has_numbers(schema[name]) for name in predictions.keys):
        return None
    for name in predictions.keys:
        column = pl.col(name)
        if not is_word(schema[name]):
            column = pl.concat(
                [column.min(), column.max(), column.filter(column.is_null()).head(1)]
            )
        values.append(rows.select(column.unique()))
    *columns, size = pl.collect_all([*values, rows.select(pl.len())])
    levels = key_levels([column.to_series() for column in columns])
    most = max(size.item(), MOST_POSSIBLE)
    return None if levels is None or levels.size > most else levels


def _sorted_codes(
    predictions: Predictions, levels: KeyLevels, extremes: pl.DataFrame, spare: int
) -> tuple[pl.Series, Packing] | None:
    """The codes of all rows in 64 bits, ascending, in which exactly equal scores are tied.

    They may lack up to `spare` bits of the scores.
    """
    step = STEPS.get(predictions.kind, 1)
    scores = pl.Series(extremes.select(SCORE_EXTREMES).row(0), dtype=pl.Float64)
    for spared in range(spare + 1):
        shared = packing(levels.size, scores, step << spared)
        if shared != PACK_128:
            break
    else:
        return None
    code = shared.code(levels.index, pl.col(SCORE), pl.col(TRUTH)).alias(SORT_CODE)
    codes = predictions.rows.select(code).collect(engine="streaming").to_series().sort()
    if spared:
        ranked = codes.to_numpy()
        if ((ranked[1:] ^ ranked[:-1]) < 2).any():
            return None
    return codes, shared


def _cells(codes: pl.Series, shared: Packing, levels: KeyLevels, *, scored: bool) -> RankedCells:
    """Totals and cells from sorted codes; where scores are tied negatives come first."""
    import numpy as np

    ranked = codes.to_numpy()
    is_positive = pl.col(SORT_CODE) % 2 == 1
    positive = codes.to_frame().lazy().with_row_index(PLACE).filter(is_positive).collect()
    place, code = positive[PLACE].to_numpy().astype(np.int64), positive[SORT_CODE].to_numpy()
    anchors = np.arange(levels.size + 1, dtype=np.uint64) * np.uint64(2 * shared.scores)
    first_row = np.searchsorted(ranked, anchors)
    present = np.flatnonzero(np.diff(first_row))
    first_positive = np.searchsorted(code, anchors)
    # A cell ends at the last positive with its score: all counts are over all keys.
    ends = np.flatnonzero(np.append(code[1:] != code[:-1], True)) if len(code) else place
    start = np.searchsorted(ends, first_positive)
    code, tp = code[ends], ends + 1
    fp = place[ends] + 1 - tp
    pos = np.diff(tp, prepend=0)
    row = place[ends] - pos
    tied = np.flatnonzero((row >= 0) & (ranked[row] == code - 1))
    neg = np.zeros(len(ends), np.int64)
    neg[tied] = row[tied] + 1 - np.searchsorted(ranked, code[tied] - 1)
    kept = np.append((neg[:-1] > 0) | (fp[1:] != fp[:-1]), True)[: len(ends)]
    kept[start[1:][np.diff(start) > 0] - 1] = True
    start = np.append(0, np.cumsum(kept))[start]
    tp, fp, neg = tp[kept], fp[kept], neg[kept]
    cells, positives = np.diff(start), np.diff(first_positive)
    negatives = np.diff(first_row) - positives
    counts = {
        "pos": np.diff(tp, prepend=0), "neg": neg,
        "tp": tp - np.repeat(first_positive[:-1], cells),
        "fp": fp - np.repeat((first_row - first_positive)[:-1], cells),
        "positives": np.repeat(positives, cells), "negatives": np.repeat(negatives, cells),
    }  # fmt: skip
    index = pl.Series(KEY_INDEX, present, pl.UInt32)
    totals = levels.keys(index).with_columns(
        pl.Series("positives", positives[present]), pl.Series("negatives", negatives[present]),
        pl.lit(None, pl.String).alias("note"),
    )  # fmt: skip
    all_cells = None
    if scored:
        of_keys = {name: totals[name].to_numpy() for name in ("positives", "negatives")}
        first_row = np.append(first_row[present], first_row[-1])
        all_cells = _scored_cells(ranked, first_row, of_keys, shared)
    return RankedCells(counts, np.append(start[present], start[-1]), totals, all_cells)


def _scored_cells(
    ranked: "Array", first_row: "Array", of_keys: "dict[str, Array]", shared: Packing
) -> ScoredCells:
    """All cells, from sorted codes and the first row of each key."""
    import numpy as np

    # Codes of one key and score differ in the truth alone, their last bit.
    new = np.empty(len(ranked), bool)
    new[:1] = True
    np.greater(ranked[1:] ^ ranked[:-1], 1, out=new[1:])
    if new.all():
        return ScoredCells(ranked, None, first_row, of_keys, shared)
    firsts = np.flatnonzero(new)
    return ScoredCells(ranked, firsts, np.searchsorted(firsts, first_row), of_keys, shared)
