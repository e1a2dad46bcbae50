"""The sums per key that the measures need: rows are read once, and ranked at once or in parts."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import KEY_INDEX, KEY_NUMBER
from polaroc.curves.held import TOTALS, Held
from polaroc.curves.keys import LEAST_WEIGHTS
from polaroc.curves.ranking import KeyCounts, RankedCells, ranked_cells
from polaroc.evaluation.needs import Needs
from polaroc.evaluation.numbered_rows import NumberedRows, mapped
from polaroc.evaluation.partial_sums import Part, PartialSums
from polaroc.evaluation.partitions import Partition, partitions
from polaroc.evaluation.reader import Reader, Stored
from polaroc.evaluation.request import Request
from polaroc.files.memory import resolve_memory
from polaroc.predictions.cases import Cases
from polaroc.predictions.table import read, unaudited
from polaroc.typing import Array

# Bytes that the process uses before the first row.
BASE = 300_000_000
# Rows of a partition that are ranked at once, though more would fit: these per key, or at least.
ENOUGH_PER_KEY, ENOUGH = 20, 1_000_000


class CurveTotals(NamedTuple):
    """The totals and sums of each key, the keys' names, the thinned curves if they are drawn."""

    wide: pl.DataFrame
    keys: list[str]
    curves: pl.LazyFrame | None


def curve_totals(cases: Cases[Any], request: Request) -> CurveTotals:
    """The sums of all keys, computed now.

    A sum over a curve is the sum over parts of its scores, given the totals and the counts above
    each part. So rows that do not fit in memory are read onto disk, and ranked in parts.
    """
    if isinstance(cases.table, pl.DataFrame) and request.memory is None:
        predictions = read(cases)
        return ranked_totals(Held.of(predictions), Needs(request, predictions.weighted))[0]
    unread = unaudited(cases, once=True)
    needs = Needs(request, unread.predictions.weighted)
    room = resolve_memory("auto" if request.memory is None else request.memory) - BASE
    with ExitStack() as stack:
        reader = Reader(unread, needs, room, stack)
        rows = reader.rows()
        if isinstance(rows, Held):
            return ranked_totals(rows, needs)[0]
        return _in_parts(rows, needs, room, reader.batch_rows)


def ranked_totals(held: Held, needs: Needs) -> tuple[CurveTotals, RankedCells]:
    """The sums of rows in memory, which are ranked at once, and their cells."""
    ranked = held.ranked(scored=needs.scored, merged=needs.merged)
    sums = PartialSums.of_all(needs, ranked)
    totals = ranked.totals.drop(KEY_INDEX)
    curves = sums.curves(totals.drop("note"))
    return CurveTotals(sums.beside(totals), held.predictions.keys, curves), ranked


def _in_parts(stored: Stored, needs: Needs, room: int, batch_rows: int) -> CurveTotals:
    """The sums of rows on disk, the best scores first."""
    totals = stored.totals
    keys, size = totals.height, stored.files.size

    def fits(rows: int, positives: int) -> bool:
        # One part is ranked while another is summed up.
        held = 2 * rows * needs.bytes_on_disk
        return 2 * (held + needs.bytes_to_rank(rows, positives)) <= room

    enough = max(ENOUGH, ENOUGH_PER_KEY * keys)
    parts: Iterator[Partition] = partitions(stored.files, fits, enough, batch_rows)
    above = np.zeros((2, keys), float if needs.weighted else np.int64)
    of_keys = [totals[name].to_numpy() for name in TOTALS]
    least = [totals[name].to_numpy() for name in LEAST_WEIGHTS if needs.weighted]
    sums, done = PartialSums(needs, keys), 0
    for part, ranked in mapped(partial(_ranked, stored=stored, needs=needs), parts, 1):
        key = ranked.totals[KEY_NUMBER].to_numpy()
        counts = KeyCounts(*above[:, key], *(of[key] for of in of_keys))
        of_part = (least[0][key], least[1][key]) if needs.weighted else None
        sums.add(Part(ranked, key, counts, of_part))
        above[:, key] += np.array([ranked.totals[name].to_numpy() for name in TOTALS], above.dtype)
        done += part.size
        if needs.request.callback is not None:
            needs.request.callback(done, size)
    shown = totals.select(*stored.predictions.keys, *TOTALS, "note")
    return CurveTotals(sums.beside(shown), stored.predictions.keys, sums.curves(shown.drop("note")))


def _ranked(part: Partition, stored: Stored, needs: Needs) -> tuple[Partition, RankedCells]:
    """A part of the rows, and its cells; their key is the place in the totals."""
    tied = part.tied is not None
    rows = _summed(part) if tied else next(iter(part.parts()))
    predictions = replace(
        stored.predictions, rows=rows.frame(stored.index, KEY_NUMBER).lazy(), keys=[KEY_NUMBER],
        weighted=rows.weight is not None, possible_errors=[], repeatable=True,
    )  # fmt: skip
    scored = needs.scored or (tied and needs.drawn)
    return part, ranked_cells(predictions, scored=scored, merged=needs.merged)


def _summed(part: Partition) -> NumberedRows:
    """Rows of one score as one row per key and class, with their number or weight."""
    counts: Array = np.zeros(0)
    for rows in part.parts():
        more = np.bincount(rows.label, rows.weight)
        size = max(len(more), len(counts))
        counts = np.pad(counts, (0, size - len(counts))) + np.pad(more, (0, size - len(more)))
    label = np.flatnonzero(counts)
    return NumberedRows(np.full(len(label), part.tied), label, counts[label])
