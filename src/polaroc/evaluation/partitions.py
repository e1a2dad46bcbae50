"""Rows that do not fit in memory, stored on disk in ranges of the score that fit."""

import shutil
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path

import polars as pl

from polaroc.base.private_columns import PLACE, PRIVATE, RANGE, ROW_ERROR, SIZE
from polaroc.curves.keys import Keys, keys_from_counts, score_extremes, totals
from polaroc.curves.packing import rank_of, score_at
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions

PLACES = PRIVATE + "places"
# Rows are counted by their score's rank without its last 44 bits; a range of too many rows
# is counted again without 22 bits, then by the whole rank.
FINER = {44: 22, 22: 0}
COARSEST = 44
# Each row is compared with all edges, so that many ranges are split in two levels.
MAX_RANGES = 128


@dataclass(frozen=True)
class Partition:
    """The rows of a range of scores, and whether all their scores are equal (`tied`)."""

    rows: pl.LazyFrame
    size: int
    tied: bool


def store_rows(predictions: Predictions, folder: Path) -> tuple[Predictions, Keys]:
    """The valid rows in a file, and their keys, reading the source once."""
    file = folder / "rows.parquet"
    writing = predictions.valid_rows.sink_parquet(file, compression="lz4", lazy=True)
    # The in-memory engine would read the source twice, for the file and for the counts.
    _, *counted = pl.collect_all(
        [writing, totals(predictions), score_extremes(predictions)], engine="streaming"
    )
    keys = keys_from_counts(predictions, *counted)
    rows = pl.scan_parquet(file).with_columns(pl.lit(None, pl.UInt8).alias(ROW_ERROR))
    return replace(predictions, rows=rows, possible_errors=[], repeatable=True), keys


def count_by_rank(rows: pl.LazyFrame, shift: int = COARSEST) -> pl.LazyFrame:
    """The number of rows by the rank of their score without its last `shift` bits."""
    place = (rank_of(pl.col(SCORE)) // 2**shift).alias(PLACE)
    return rows.group_by(place).agg(pl.len().cast(pl.Int64).alias(SIZE))


def partitions(
    rows: pl.LazyFrame, counted: pl.DataFrame, max_rows: int, folder: Path, shift: int = COARSEST
) -> Iterator[Partition]:
    """The rows in ranges of the score, the best first, each of at most `max_rows` rows or tied.

    `counted` is the result of `count_by_rank` with `shift`. The file of a partition is deleted
    when the next one is requested.
    """
    ranges = _ranges(counted, max(max_rows, -(-int(counted[SIZE].sum()) // MAX_RANGES)))
    edges = [_score(place, shift) for place in ranges[PLACE].to_list()[:-1]]
    if edges:
        _write(rows, edges, folder)
    for i, (size, places) in enumerate(ranges.select(SIZE, PLACES).iter_rows()):
        files = folder / f"{RANGE}={len(edges) - i}"
        part = pl.scan_parquet(files / "*.parquet") if edges else rows
        if size <= max_rows or (shift == 0 and places == 1):
            yield Partition(part, size, tied=size > max_rows)
        else:
            finer = shift if places > 1 else FINER[shift]
            inner = folder / f"within-{i}"
            yield from partitions(
                part, count_by_rank(part, finer).collect(), max_rows, inner, finer
            )
        shutil.rmtree(files, ignore_errors=True)


def _ranges(counted: pl.DataFrame, max_rows: int) -> pl.DataFrame:
    """Consecutive places joined to ranges of at most `max_rows` rows, from the best score down.

    One row per range: its lowest place, its number of rows (`SIZE`) and of `PLACES`.
    """
    ranges: list[tuple[int, int, int]] = []
    for place, size in counted.sort(PLACE, descending=True).iter_rows():
        if ranges and ranges[-1][1] + size <= max_rows:
            ranges[-1] = (place, ranges[-1][1] + size, ranges[-1][2] + 1)
        else:
            ranges.append((place, size, 1))
    schema = {PLACE: pl.Int64, SIZE: pl.Int64, PLACES: pl.Int64}
    return pl.DataFrame(ranges, schema=schema, orient="row")


def _score(place: int, shift: int) -> float:
    """The least score whose rank has these leading bits."""
    return float(pl.select(score_at(pl.lit(place * 2**shift, pl.Int64))).item())


def _write(rows: pl.LazyFrame, edges: list[float], folder: Path) -> None:
    """Write each row to the file of its range; range 0 has the lowest scores."""
    above = ((pl.col(SCORE) >= edge).cast(pl.UInt8) for edge in edges)
    numbered = rows.with_columns(reduce(add, above, pl.lit(0, pl.UInt8)).alias(RANGE))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
        target = pl.PartitionBy(folder, key=RANGE, include_key=False)
    numbered.sink_parquet(target, compression="lz4", mkdir=True)
