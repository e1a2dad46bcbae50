"""Pack key, score and truth of a row into one integer, so that one sort ranks all rows."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from polaroc.typing import Array

MAGNITUDE = 2**63 - 1
# Least number of Float64 ranks between neighbours of a narrower type.
STEPS: dict[pl.DataType, int] = {
    pl.Float16(): 2**42,
    pl.Float32(): 2**29,
    pl.Int8(): 2**46,
    pl.UInt8(): 2**45,
    pl.Int16(): 2**38,
    pl.UInt16(): 2**37,
    pl.Int32(): 2**22,
    pl.UInt32(): 2**21,
}


@dataclass(frozen=True)
class Packing:
    """How key, score and truth share the bits of an integer code.

    Ascending codes are sorted by key, then by score with the best first. Sorting this single
    column is cheap and leaves equal scores of a key next to each other.

    Examples
    --------
    >>> rows = pl.DataFrame({"k": [0, 0, 1], "s": [0.1, 0.9, 2.0], "t": [True, False, True]})
    >>> code = packing(2, rows["s"]).code(pl.col("k"), pl.col("s"), pl.col("t"))
    >>> rows.sort(code)["s"].to_list()
    [0.9, 0.1, 2.0]
    """

    best: int  # a rank (see `rank_of`) above those of all scores
    scores: int  # how many positions of scores a key has, counted down from `best`
    zero_gap: int = 0  # ranks next to zero that no score has
    step: int = 1  # from the rank of a score to that of the next

    def code(self, index: pl.Expr, score: pl.Expr, truth: pl.Expr) -> pl.Expr:
        """The code of a row.

        The key is an integer below 2³²; the score neither null nor NaN; −0.0 equals 0.0.
        """
        below_best = self.best - rank_of(score, self.zero_gap, self.step)
        place = index.cast(pl.UInt64) * pl.lit(self.scores, pl.UInt64) + below_best.cast(pl.UInt64)
        return place * pl.lit(2, pl.UInt64) + truth

    def scores_of(self, codes: "Array") -> "Array":
        """The scores in an array of codes."""
        below_best = ((codes >> np.uint64(1)) % np.uint64(self.scores)).view(np.int64)
        rank = self.best - below_best
        size = np.where(rank == 0, 0, np.abs(rank) * self.step + self.zero_gap)
        scores: Array = np.copysign(size.view(np.float64), rank)
        return scores


def packing(keys: int, scores: pl.Series, step: int = 1) -> Packing | None:
    """A packing in 64 bits, None where `keys` times the range of `scores` does not fit.

    `scores` needs only the lowest, the highest and the least nonzero magnitude of all scores;
    `step` is the number of ranks from one score to the next.

    Examples
    --------
    >>> [packing(60, pl.Series(ends)) is None for ends in ([0.001, 0.999], [-1.0, 1e-12])]
    [False, True]
    """
    scores_known = scores.drop_nulls()
    if scores_known.is_empty() or scores_known.is_nan().any():
        return None
    magnitudes = scores_known.to_frame("score").select(rank_of(pl.col("score").abs()))["score"]
    zero_gap = min((size for size in magnitudes if size), default=step) - step
    rank = rank_of(pl.col("score"), zero_gap, step)
    ranks = scores_known.to_frame("score").select(rank)["score"].to_list()
    best, positions = max(ranks) + 1, max(ranks) - min(ranks) + 2
    fits = 2 * positions * keys < 2**64
    return Packing(best, positions, zero_gap, step) if fits else None


def rank_of(score: pl.Expr, zero_gap: int = 0, step: int = 1) -> pl.Expr:
    """A Float64, neither null nor NaN, as an Int64 of the same order; 0.0 and −0.0 are both 0."""
    bits = score.reinterpret(dtype=pl.Int64)
    magnitude = bits & MAGNITUDE
    if zero_gap:
        magnitude = (magnitude - zero_gap).clip(lower_bound=0)
    if step > 1:
        magnitude = magnitude // step
    # Bits order floats, except that negative ones are reversed.
    return pl.when(bits < 0).then(-magnitude).otherwise(magnitude)


def ranks_of(scores: "Array") -> "Array":
    """`rank_of` of an array."""
    bits = scores.view(np.int64)
    if not len(bits) or bits.min() >= 0:
        return bits
    magnitude = bits & MAGNITUDE
    ranks: Array = np.where(bits < 0, -magnitude, magnitude)
    return ranks
