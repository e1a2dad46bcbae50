"""Rows that do not fit in memory, on disk in ranges of the score that do."""

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path

import polars as pl

from polaroc.base.private_columns import PLACE, PRIVATE, ROW_ERROR, SIZE
from polaroc.curves.keys import Keys, keys_from_counts, score_extremes, totals
from polaroc.curves.packing import rank_of, score_at
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions

RANGE = PRIVATE + "range"
PLACES = PRIVATE + "places"
# Scores are counted by the leading bits of their rank; where too many share them,
# by more bits, until only equal scores share them all.
FINER = {44: 22, 22: 0}
COARSEST = 44
# Every row is compared with every edge: more ranges are made in two steps.
MOST_RANGES = 128


@dataclass(frozen=True)
class Part:
    """The rows of a range of scores; `tied` where they all have the same one."""

    rows: pl.LazyFrame
    size: int
    tied: bool


def stored(predictions: Predictions, folder: Path) -> tuple[Predictions, Keys]:
    """The rows that can be ranked, in a file, and their keys: all from one reading."""
    file = folder / "rows.parquet"
    writing = predictions.valid_rows.sink_parquet(file, compression="lz4", lazy=True)
    # The in-memory engine would read the source for the file and once more for the counts.
    _, *counted = pl.collect_all(
        [writing, totals(predictions), score_extremes(predictions)], engine="streaming"
    )
    keys = keys_from_counts(predictions, *counted)
    rows = pl.scan_parquet(file).with_columns(pl.lit(None, pl.UInt8).alias(ROW_ERROR))
    return replace(predictions, rows=rows, possible=[], repeatable=True), keys


def sizes(rows: pl.LazyFrame, shift: int = COARSEST) -> pl.LazyFrame:
    """How many rows there are by the leading bits of their score's rank."""
    place = (rank_of(pl.col(SCORE)) // 2**shift).alias(PLACE)
    return rows.group_by(place).agg(pl.len().cast(pl.Int64).alias(SIZE))


def parts(
    rows: pl.LazyFrame, counted: pl.DataFrame, most: int, folder: Path, shift: int = COARSEST
) -> Iterator[Part]:
    """The rows in ranges of the score, the best first, each of at most `most` rows or tied.

    They were `counted` by `sizes`, by all but the last `shift` bits of the rank. A part's file
    is gone when the next one is asked for.
    """
    ranges = _ranges(counted, max(most, -(-int(counted[SIZE].sum()) // MOST_RANGES)))
    edges = [_score(place, shift) for place in ranges[PLACE].to_list()[:-1]]
    if edges:
        _write(rows, edges, folder)
    for i, (size, places) in enumerate(ranges.select(SIZE, PLACES).iter_rows()):
        files = folder / f"{RANGE}={len(edges) - i}"
        part = pl.scan_parquet(files / "*.parquet") if edges else rows
        if size <= most or (shift == 0 and places == 1):
            yield Part(part, size, tied=size > most)
        else:
            finer = shift if places > 1 else FINER[shift]
            inner = folder / f"within-{i}"
            yield from parts(part, sizes(part, finer).collect(), most, inner, finer)
        shutil.rmtree(files, ignore_errors=True)


def _ranges(counted: pl.DataFrame, most: int) -> pl.DataFrame:
    """Neighbouring places, from the highest score down, that together hold at most `most` rows.

    A range has its lowest place, its `SIZE` and how many `PLACES` it has.
    """
    found: list[tuple[int, int, int]] = []
    for place, size in counted.sort(PLACE, descending=True).iter_rows():
        if found and found[-1][1] + size <= most:
            found[-1] = (place, found[-1][1] + size, found[-1][2] + 1)
        else:
            found.append((place, size, 1))
    schema = {PLACE: pl.Int64, SIZE: pl.Int64, PLACES: pl.Int64}
    return pl.DataFrame(found, schema=schema, orient="row")


def _score(place: int, shift: int) -> float:
    """The least score whose rank has these leading bits."""
    return float(pl.select(score_at(pl.lit(place * 2**shift, pl.Int64))).item())


def _write(rows: pl.LazyFrame, edges: list[float], folder: Path) -> None:
    """Each row to the file of its range, numbered from the lowest scores, 0, up."""
    above = ((pl.col(SCORE) >= edge).cast(pl.UInt8) for edge in edges)
    numbered = rows.with_columns(reduce(add, above, pl.lit(0, pl.UInt8)).alias(RANGE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
        target = pl.PartitionBy(folder, key=RANGE, include_key=False)
    numbered.sink_parquet(target, compression="lz4", mkdir=True)
