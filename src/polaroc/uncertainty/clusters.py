"""Cases by key and score, with what tells their clusters apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import CLUSTER, TRUTH, WEIGHT
from polaroc.curves.ranking import CellArrays, RankedCells, ScoredCells
from polaroc.predictions.row_checks import SCORE, check_clusters
from polaroc.typing import Array
from polaroc.uncertainty.cells import cells_of, with_positives

# Possible clusters per row up to which each has a place of its own.
SPARSE = 4


@dataclass(frozen=True, eq=False)
class ClusteredCases:
    """Cases by key, best score first, and what tells clusters apart.

    Attributes
    ----------
    truth, weight
        Of each case; without weights each counts once.
    cluster
        A number from 0 on; in different keys clusters are different.
    starts
        The first case of each key, then the number of cases.
    totals
        The `positives` and `negatives` of each key.
    areas
        The cells with positives.
    tied, ends
        Of each of them, the first case with its score, and the case after its last.
    scored, firsts
        All cells, with their scores, and the first case of each, where they are not one each.
    """

    truth: "Array"
    weight: "Array | None"
    cluster: "Array"
    starts: "Array"
    totals: "dict[str, Array]"
    areas: CellArrays
    tied: "Array"
    ends: "Array"
    scored: CellArrays | ScoredCells | None
    firsts: "Array | None"


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


def ranked_clusters(ranked: RankedCells, totals: "dict[str, Array]") -> ClusteredCases | None:
    """Ranked rows as cases, where they have clusters; `totals` as of these."""
    rows, cells = ranked.rows, ranked
    if rows.clusters is None:
        return None
    first = np.repeat(rows.starts[:-1], np.diff(cells.starts))
    ends = first + cells.counts["tp"] + cells.counts["fp"]
    tied = ends - cells.counts["pos"] - cells.counts["neg"]
    truth = (rows.codes & np.uint64(1)).astype(bool)
    firsts = None if ranked.scored is None else ranked.scored.firsts
    return ClusteredCases(
        truth, None, numbered(rows.clusters.to_frame()), rows.starts, totals, cells,
        tied, ends, ranked.scored, firsts,
    )  # fmt: skip


def ranked_cases(cases: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Cases that weigh something by key, best score first."""
    if WEIGHT in cases.columns:
        cases = cases.filter(pl.col(WEIGHT) > 0)
    return cases.sort(*keys, SCORE, descending=[*(False for _ in keys), True], nulls_last=True)


def clustered_cases(rows: pl.DataFrame, starts: "Array") -> ClusteredCases:
    """Cases that are sorted by key, best score first, with their `CLUSTER`."""
    score, truth = rows[SCORE].cast(pl.Float64).to_numpy(), rows[TRUTH].to_numpy()
    weight = rows[WEIGHT].to_numpy() if WEIGHT in rows.columns else None
    new = np.append(True, score[1:] != score[:-1])[: len(score)]
    new[starts[:-1]] = True
    firsts = np.flatnonzero(new)
    each = np.ones(len(score)) if weight is None else weight
    pos, neg = (
        np.add.reduceat(np.where(own, each, 0.0), firsts) if firsts.size else np.zeros(0)
        for own in (truth, ~truth)
    )
    cells = cells_of(np.searchsorted(firsts, starts), pos=pos, neg=neg, **{SCORE: score[firsts]})
    totals = {name: cells.counts[name][cells.starts[:-1]] for name in ("positives", "negatives")}
    rising, ends = np.flatnonzero(pos > 0), np.append(firsts[1:], len(score))
    return ClusteredCases(
        truth, weight, numbered(rows), starts, totals, with_positives(cells), firsts[rising],
        ends[rising], cells, firsts,
    )  # fmt: skip
