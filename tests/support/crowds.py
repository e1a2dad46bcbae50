"""Thousands of small random tables as the keys of one frame: one call of ours judges them all."""

from collections.abc import Iterator

import exact
import numpy as np
import polars as pl

inf = float("inf")
TIED = (-inf, -1.0, -0.0, 0.0, 0.25, 0.5, 2.0, inf)
EDGES = (
    -inf, -1.7976931348623157e308, -1.0, -2.2250738585072014e-308, -1e-310, -5e-324, -0.0, 0.0,
    5e-324, 1e-323, 2.2250738585072014e-308, 0.5, 0.5000000000000001, 1.0, 9007199254740993.0,
    1.7976931348623157e308, inf,
)  # fmt: skip
# Weights of a kind differ so little that their sums are exact in 64-bit floats.
WEIGHTS = {
    "none": None,
    "whole": (0, 1, 1, 2, 5),
    "dyadic": (0.0, 0.125, 0.25, 0.5, 1.0, 3.0),
    "past 32 bits": (2**31, 2**31 - 1, 2**32 + 1, 3 * 2**33),
    "past 53 bits": (2**53, 2**54, 3 * 2**52, 2**60),
    "tiny": (2.0**-1000, 2.0**-999, 3 * 2.0**-1000),
}
MAX_ROWS = 14


def crowd(kind: str, count: int, seed: int) -> pl.DataFrame:
    """So many tables, told apart by `table`; some lack a class."""
    rng = np.random.default_rng([seed, *kind.encode()])
    sizes = rng.integers(1, MAX_ROWS + 1, count)
    owner = np.repeat(np.arange(count), sizes)
    # Each table has its own share of positives and its own taste for ties.
    share = rng.choice([0.1, 0.3, 0.5, 0.8], count)[owner]
    pools = [np.array(TIED), np.array(EDGES), np.array([0.5, 0.6]), rng.standard_normal(500)]
    taste = rng.choice(len(pools), count)[owner]
    drawn = np.stack([pool[rng.integers(0, pool.size, owner.size)] for pool in pools])
    columns = {
        "table": owner,
        "truth": rng.random(owner.size) < share,
        "score": drawn[taste, np.arange(owner.size)],
    }
    weights = WEIGHTS[kind]
    if weights is not None:
        at = rng.integers(0, len(weights), owner.size)
        columns["weight"] = np.array(weights, dtype=float)[at]
    return pl.DataFrame(columns)


def curves(tables: pl.DataFrame) -> Iterator[exact.Curve]:
    """The exact curve of each table, in order."""
    weighted = "weight" in tables.columns
    for part in tables.partition_by("table", maintain_order=True):
        weights = part["weight"].to_list() if weighted else [1] * part.height
        rows = zip(part["truth"].to_list(), part["score"].to_list(), weights, strict=True)
        yield exact.curve(rows)
