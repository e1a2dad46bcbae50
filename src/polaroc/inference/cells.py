"""Cells of curves as arrays, in groups of keys, and cases with what tells their clusters apart."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from polaroc.base.private_columns import CLUSTER
from polaroc.curves.kernel import Ranked
from polaroc.curves.segments import COUNTS
from polaroc.inference.moved_segments import Segments
from polaroc.predictions.row_checks import check_clusters
from polaroc.typing import Array

# Cells of a block: few enough for the cache of a processor, and for running sums to keep
# their digits, and enough for threads to pay.
BLOCK = 65_536
# Possible clusters per row up to which each has a place of its own.
SPARSE = 4


@dataclass(frozen=True)
class Cells:
    """The segments with positives of curves, key after key, best score first."""

    # `pos`, `neg`, `tp`, `fp`, `positives` and `negatives` of each, by column name.
    counts: "dict[str, Array]"
    starts: "Array"  # the first segment of each key, then the number of segments

    @classmethod
    def of(cls, found: Ranked) -> "Cells":
        """The segments of ranked rows."""
        frame = found.frame()
        return cls({name: frame[name].to_numpy() for name in COUNTS}, found.starts)

    @classmethod
    def of_curves(cls, curves: pl.DataFrame, firsts: "Array") -> "Cells":
        """Those of sorted curves, the first row of each of which is given."""
        kept = curves["pos"].to_numpy() > 0
        starts = np.append(0, np.cumsum(kept))[np.append(firsts, curves.height)]
        cells = curves.filter(pl.col("pos") > 0)
        return cls({name: cells[name].cast(pl.Float64).to_numpy() for name in COUNTS}, starts)


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
    cells: Cells, keys: "Array", units: "tuple[Array, Array] | None" = None
) -> Segments:
    """The segments of consecutive keys, all of which have some; `units` are of all keys."""
    first, last = (int(cells.starts[place]) for place in (keys[0], keys[-1] + 1))
    counts = {name: own[first:last].astype(float) for name, own in cells.counts.items()}
    starts = cells.starts[keys] - first
    totals = {name: counts.pop(name)[starts] for name in ("positives", "negatives")}
    own = None if units is None else (units[0][keys], units[1][keys])
    return Segments(**counts, **totals, starts=starts, units=own)


@dataclass(frozen=True, eq=False)
class ClusteredCases:
    """Cases by key, best score first, and what tells clusters apart.

    In different keys clusters are different.
    """

    truth: "Array"
    weight: "Array | None"
    clusters: "Array"  # their numbers, as from `numbered`
    starts: "Array"  # the first case of each key, then the number of cases
    totals: "dict[str, Array]"  # the `positives` and `negatives` of each key
    areas: Cells
    tied: "Array"  # of each of these, the first case with its score
    ends: "Array"  # and the case after its last


def numbered(rows: pl.DataFrame) -> "Array":
    """The clusters of rows as numbers from 0 on, of which some may be left out."""
    check_clusters(rows[CLUSTER].null_count())
    number = pl.col(CLUSTER).rank("dense").cast(pl.Int64) - 1
    if rows.height and rows.schema[CLUSTER].is_integer():
        least, most = rows.select(pl.min(CLUSTER).alias("least"), pl.max(CLUSTER)).row(0)
        if most - least < SPARSE * rows.height and most < 2**63:
            number = pl.col(CLUSTER).cast(pl.Int64) - least
    numbers: Array = rows.select(number).to_series().to_numpy()
    return numbers


def ranked_clusters(found: Ranked, totals: "dict[str, Array]") -> ClusteredCases | None:
    """Ranked rows as cases, where they have clusters; `totals` as of these."""
    if found.clusters is None:
        return None
    truth = (found.codes & np.uint64(1)).astype(bool)
    clusters = numbered(found.clusters.alias(CLUSTER).to_frame())
    return ClusteredCases(
        truth, found.weights, clusters, found.row_starts, totals, Cells.of(found), *found.spans
    )  # fmt: skip
