"""Permutation p-values: ranks of two models exchanged at random."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from polaroc.base.private_columns import DRAW, TRUTH
from polaroc.comparison.paired_cases import NO_DIFFERENCE, Block, PairedCases
from polaroc.measures.spec import Measure
from polaroc.measures.table import per_key
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array
from polaroc.uncertainty.draws import blocks_of_draws, check_draws, generator, segments_of_draws

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Exchange:
    """Number of permutations, and their seed."""

    draws: int
    seed: int

    def __post_init__(self) -> None:
        check_draws(self.draws, self.seed)


def permuted(
    part: pl.DataFrame, cases: PairedCases, measure: Measure, block: Block, exchange: Exchange
) -> list[float | None]:
    """Of each two models, the share of exchanges that leave a difference as large."""
    import numpy as np

    models = part.partition_by(cases.between, maintain_order=True)
    ranks = [model[SCORE].rank("average").to_numpy() for model in models]
    truth = models[0][TRUTH].to_numpy()
    chances: list[float | None] = []
    for a, b in combinations(range(len(models)), 2):
        observed = abs(block.estimates[a] - block.estimates[b])
        if np.isnan(observed):
            chances.append(None)
            continue
        rng = generator(exchange.seed, (*block.key, block.models[a], block.models[b]))
        differences = np.concatenate(
            [
                np.subtract(*(_of_ranks(first, own, truth, measure) for own in exchanged))
                for first, exchanged in _exchanges(ranks[a], ranks[b], rng, exchange.draws)
            ]
        )
        as_large = int((np.abs(differences) >= observed - NO_DIFFERENCE).sum())
        chances.append((1 + as_large) / (1 + exchange.draws))
    return chances


def _exchanges(
    a: "Array", b: "Array", rng: "np.random.Generator", draws: int
) -> Iterator[tuple[int, tuple["Array", "Array"]]]:
    """Blocks of draws of the ranks of two models, of which each case may change places."""
    import numpy as np

    _, dense = np.unique(np.concatenate([-a, -b]), return_inverse=True)
    own, other = dense[: a.size], dense[a.size :]
    for first, size in blocks_of_draws(draws, 4 * a.size):
        moved = rng.random((size, a.size)) < 0.5
        yield first, (np.where(moved, other, own), np.where(moved, own, other))


def _of_ranks(first: int, ranks: "Array", truth: "Array", measure: Measure) -> "Array":
    """The measure of each draw, of the ranks that a draw gives the cases, 0 the best."""
    import numpy as np

    size, width = ranks.shape[0], int(ranks.max()) + 1
    place = ranks + width * np.arange(size)[:, None]
    pos, neg = (
        np.bincount(place[:, mask].ravel(), minlength=size * width).reshape(size, width)
        for mask in (truth, ~truth)
    )
    totals = int(truth.sum()), int((~truth).sum())
    segments = segments_of_draws(first, pos, neg, neg.cumsum(axis=1), *totals)
    wide = per_key(segments.lazy(), [DRAW], [measure]).sort(DRAW)
    return wide.select(measure.estimate.alias("estimate")).collect()["estimate"].to_numpy()
