"""Sums of more rows than fit in memory: they are written to disk in parts, and summed in turn.

A part holds whole keys, or a range of scores of a key that is larger than memory. Sums over a
curve are sums over its parts, the best scores first, once the totals of the key and the counts
above each part are known: the areas of such a key are exact, too.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import COUNT, RANGE, SIZE, join_by_key, private, within
from polaroc.curves.hull import hull_vertices
from polaroc.curves.kernel import ranked
from polaroc.curves.totals import totals
from polaroc.errors import OutputRefused
from polaroc.evaluation.sums import (
    hull_segments,
    may_merge,
    score_sums,
    sums_of_rows,
    sums_of_segments,
)
from polaroc.files.resources import Memory, Progress, locked_folder, resolve_memory, sweep
from polaroc.measures.spec import Measure
from polaroc.measures.table import expressions_of
from polaroc.predictions.cases import Cases, check_labels_of, refuse_errors
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read

# Bytes: of the process before the first row; of a row while it is ranked, at most; of its weight.
BASE, PER_ROW, PER_WEIGHT = 250_000_000, 80, 60
ON_DISK = 24  # the most bytes of a row in a file
ENOUGH = 5_000_000  # rows of a part: larger parts are no faster, and need more memory
PART = private("part")
# A plan that scans files can be read twice; the scan of a Python function perhaps not.
FILE_SCAN = re.compile(r"\b(?!PYTHON)\w+ SCAN\b")
# Last bits of a score that its range ignores: the exponent and 16 bits of the mantissa are left.
RANGE_BITS = 36


def sums_within(
    cases: Cases[Any], measures: Sequence[Measure], memory: Memory, report: Progress | None = None
) -> pl.DataFrame:
    """Per key its totals with a `note`, and the sums and minima of the measures.

    The rows of files are counted first, and so are those of any table for which a size is given.
    """
    lazy = replace(cases, rows=cases.rows.lazy())
    if memory == "auto" and not FILE_SCAN.search(lazy.rows.explain(optimized=False)):
        return sums_of_rows(read(cases.collect()), measures)
    predictions = read(lazy, once=True)
    size = lazy.rows.select(pl.len()).collect(engine="streaming").item()
    per_row = PER_ROW + PER_WEIGHT * predictions.weighted
    most = max((resolve_memory(memory) - BASE) // per_row, 1)
    if size <= most:
        return sums_of_rows(read(cases.collect()), measures)
    _refuse_errors(lazy)
    of_keys = totals(predictions, {SIZE: pl.len()}).collect(engine="streaming")
    groups, ranges = _parts(predictions, of_keys, most)
    sums, done = [], 0
    with _scratch_folder(size * ON_DISK) as folder:
        _write(predictions, groups, ranges, folder)

        def part(number: int) -> Predictions:
            files = folder / f"{PART}={number}" / "*.parquet"
            return replace(predictions, rows=pl.scan_parquet(files, hive_partitioning=False))

        for group in groups.partition_by(PART):
            numbers = _of_same_keys(ranges, group, predictions.keys)[PART]
            if numbers.is_empty():
                sums.append(sums_of_rows(part(group[PART][0]), measures))
            else:
                parts = map(part, numbers.unique(maintain_order=True))
                sums.append(_of_large_key(parts, group.drop(PART, SIZE), measures))
            done += int(group[SIZE].sum())
            if report is not None:
                report(done, size)
    return pl.concat(sums, how="diagonal_relaxed")


@contextmanager
def _scratch_folder(needed: int) -> Iterator[Path]:
    """A folder in that of the system for temporary files, removed when the block ends.

    Files of a run that was killed are removed first.
    """
    around = Path(tempfile.gettempdir())
    sweep(around)
    free = shutil.disk_usage(around).free
    problem = f"the rows need about {needed / 1e9:.1f} GB of scratch space in {str(around)!r}, "
    hint = (
        "name a folder on a larger disk in the environment variable TMPDIR, or allow more memory."
    )
    if free < needed:
        raise OutputRefused(f"{problem}where {free / 1e9:.1f} GB are free.", hint=hint)
    try:
        with locked_folder(around) as folder:
            yield folder
    except (OSError, pl.exceptions.ComputeError) as error:
        if "No space left" not in str(error):
            raise
        raise OutputRefused(f"{problem}which is full.", hint=hint) from error


def _refuse_errors(cases: Cases[pl.LazyFrame]) -> None:
    """Raise for rows that cannot be ranked, as for a table in memory."""
    check_labels_of(cases)
    if cases.errors:
        wrong = cases.rows.filter(pl.col("error").is_not_null())
        counted = wrong.group_by("error", *cases.keys).agg(pl.len().alias(COUNT))
        counts = counted.collect(engine="streaming")
        refuse_errors(cases, counts)


def _of_same_keys(rows: Any, others: Any, keys: Sequence[str]) -> Any:
    """The rows whose key is in another table, too."""
    return join_by_key(rows, others, keys, "semi")


def _range() -> pl.Expr:
    """The range of a score: an integer that falls as the score rises."""
    bits = pl.col(SCORE).reinterpret(dtype=pl.Int64)
    size = (bits & (2**63 - 1)) // 2**RANGE_BITS
    # −0 and 0 are in one range.
    return pl.when(pl.col(SCORE) < 0).then(size).otherwise(-size - 1).alias(RANGE)


def _parts(
    predictions: Predictions, of_keys: pl.DataFrame, most: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The keys with their parts, each of at most `most` rows if scores of a range are not more.

    Returns
    -------
    The totals of keys with `PART`, the number of their part, or a negative one of their own if
    they are larger than a part; and for the latter the number of each range of scores, by key and
    `RANGE`, the best scores first.
    """
    keys = predictions.keys
    enough = max(min(most // 2, ENOUGH), 1)
    is_large = pl.col(SIZE) > most
    # Whole keys fill one part after another, in order.
    before = pl.when(is_large).then(0).otherwise(SIZE).cum_sum()
    part = pl.when(is_large).then(-1 - pl.int_range(pl.len())).otherwise(before // enough)
    groups = of_keys.with_columns(part.cast(pl.Int64).alias(PART))
    large = groups.filter(is_large)
    if large.is_empty():
        return groups, groups.clear().select(*keys, PART, pl.lit(0).alias(RANGE))
    rows = _of_same_keys(predictions.rows, large.lazy(), keys)
    counted = rows.group_by(*keys, _range()).agg(pl.len().alias(SIZE))
    ordered = counted.sort(*keys, RANGE, nulls_last=True).collect(engine="streaming")
    start = within(pl.col(SIZE).cum_sum() - pl.col(SIZE), keys)
    number = pl.struct(*keys, start // enough).rle_id().cast(pl.Int64)
    first = int(groups.select(pl.col(PART).max()).item()) + 1
    return groups, ordered.select(*keys, RANGE, (number + max(first, 0)).alias(PART))


def _write(
    predictions: Predictions, groups: pl.DataFrame, ranges: pl.DataFrame, folder: Path
) -> None:
    """Write all rows, a folder for each part."""
    keys, rows = predictions.keys, predictions.rows.with_columns(_range())
    of_keys = groups.lazy().select(*keys, PART)
    rows = join_by_key(rows, of_keys, keys, maintain_order="none")
    if ranges.height:
        number = PART + "_of_range"
        of_ranges = ranges.lazy().rename({PART: number})
        rows = join_by_key(rows, of_ranges, [*keys, RANGE], maintain_order="none")
        rows = rows.with_columns(pl.coalesce(number, PART).alias(PART)).drop(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.exceptions.UnstableWarning)
        target = pl.PartitionBy(folder, key=PART, include_key=False)
        rows.drop(RANGE).sink_parquet(target, compression="lz4", engine="streaming")


def _of_large_key(
    parts: Iterable[Predictions], of_key: pl.DataFrame, measures: Sequence[Measure]
) -> pl.DataFrame:
    """The sums of one key from its parts, of which the first has the best scores."""
    sums, least, of_hull = expressions_of(measures, "sums", "least", "hull_sums")
    ends = [
        pl.lit(of_key[name][0], of_key.schema[name]).alias(name)
        for name in ("positives", "negatives")
    ]
    above: list[Any] = [0, 0]
    added, corners = [], []
    for part in parts:
        rows = ranked(part, merged=may_merge(measures))
        counts = rows.frame().with_columns(pl.col("tp") + above[0], pl.col("fp") + above[1], *ends)
        row = [score_sums(part, of_key, measures)]
        if sums or least:
            row.append(sums_of_segments(counts, rows.starts, sums, least))
        added.append(pl.concat(row, how="horizontal"))
        if of_hull:
            # A vertex of the hull of all rows is one of the hull of its part.
            places = hull_vertices(*(np.append(0, rows.counts[name]) for name in ("fp", "tp")))
            corners.append(counts[places[1:] - 1])
        above = [
            count + rows.totals[name].sum()
            for count, name in zip(above, ("positives", "negatives"), strict=True)
        ]
    whole = pl.concat(added).select(
        (pl.col(name).min() if name in least else pl.col(name).sum()) for name in added[0].columns
    )
    wide = of_key.hstack(whole)
    if of_hull:
        # The sums of the parts, from which the totals of weights may differ by rounding.
        of_key = of_key.with_columns(positives=above[0], negatives=above[1])
        outer = pl.concat(corners)
        segments, starts = hull_segments(outer, np.array([0, outer.height]), of_key)
        wide = wide.hstack(sums_of_segments(segments, starts, of_hull, {}))
    return wide
