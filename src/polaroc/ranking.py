"""Key, score and truth of a row packed into one whole number, so that one narrow sort ranks all."""

import polars as pl

from polaroc.columns import PRIVATE

INDEX = PRIVATE + "index"
CODE = PRIVATE + "code"
# A score takes 64 bits below the key's index, the truth the lowest bit.
MAGNITUDE = 2**63 - 1
SCORES = 2**64


def code(index: pl.Expr, score: pl.Expr, truth: pl.Expr) -> pl.Expr:
    """Key, score and truth as one Int128: ascending, it goes by key, then the best score first.

    Sorting this single column took half the time of sorting a table of key,
    score and truth by score, and it leaves equal scores of a key side by side.

    Parameters
    ----------
    index
        The key as a whole number ≥ 0, below 2³².
    score
        Float64, neither null nor NaN; −0.0 counts as 0.0.
    truth
        Boolean.

    Examples
    --------
    >>> rows = pl.DataFrame({"k": [0, 0, 1], "s": [0.1, 0.9, 2.0], "t": [True, False, True]})
    >>> codes = rows.select(code(pl.col("k"), pl.col("s"), pl.col("t")).alias("c"), "s").sort("c")
    >>> codes["s"].to_list()
    [0.9, 0.1, 2.0]
    """
    place = _wide(MAGNITUDE) - rank_of(score)
    return (index.cast(pl.Int128) * _wide(SCORES) + place) * _wide(2) + truth


def rank_of(score: pl.Expr) -> pl.Expr:
    """A Float64 as the Int64 that orders alike; 0.0 and −0.0 are both 0."""
    bits = score.reinterpret(dtype=pl.Int64)
    # Floats are in order of their bits, but for those below zero, which go backwards.
    magnitude = bits & MAGNITUDE
    return pl.when(bits < 0).then(-magnitude).otherwise(magnitude)


def score_at(rank: pl.Expr) -> pl.Expr:
    """The Float64 of a rank."""
    return rank.abs().reinterpret(dtype=pl.Float64) * pl.when(rank < 0).then(-1.0).otherwise(1.0)


def before(index: pl.Expr) -> pl.Expr:
    """A code that comes right before all those of a key."""
    return index.cast(pl.Int128) * _wide(2 * SCORES) - _wide(1)


def index_of(code: pl.Expr) -> pl.Expr:
    """The key's index in a code."""
    return (code // _wide(2 * SCORES)).cast(pl.UInt32)


def truth_of(code: pl.Expr) -> pl.Expr:
    """The truth in a code, as Int64."""
    return (code & _wide(1)).cast(pl.Int64)


def score_of(code: pl.Expr) -> pl.Expr:
    """The score in a code, as Float64."""
    return score_at((_wide(MAGNITUDE) - (code // _wide(2)) % _wide(SCORES)).cast(pl.Int64))


def ends_run(code: pl.Expr) -> pl.Expr:
    """Whether a row of sorted codes is the last of its key and score."""
    run = code | _wide(1)
    return (run != run.shift(-1)).fill_null(True)


def _wide(number: int) -> pl.Expr:
    return pl.lit(number, pl.Int128)
