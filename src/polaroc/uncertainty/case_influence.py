"""Stand-in."""

from collections.abc import Sequence
from typing import NamedTuple
import numpy as np
import polars as pl
from polaroc.base.private_columns import PLACE, SIZE, TRUTH
from polaroc.curves.curve import curve
from polaroc.measures.functions import table_sums
from polaroc.measures.spec import Measure
from polaroc.predictions.cases import keyed
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array
from polaroc.uncertainty.influence import influence, influence_column


class CaseInfluence(NamedTuple):
    estimates: Array
    positives: Array
    negatives: Array


def of_cases(score: Array, truth: Array, measures: Sequence[Measure]) -> CaseInfluence:
    curves = curve(keyed(pl.DataFrame({SCORE: score, TRUTH: truth}), truth=TRUTH, score=SCORE))
    numbered = curves.lazy().filter(pl.col(SCORE).is_not_null()).with_row_index(PLACE)
    sizes = (pl.col("pos") + pl.col("neg")).alias(SIZE)
    names = [[influence_column(i, k) for i in range(len(measures))] for k in ("pos", "neg")]
    cells = (
        influence(numbered, [], measures)
        .select(PLACE, sizes, *names[0], *names[1])
        .sort(PLACE)
        .collect()
    )
    est = (
        table_sums(curves.lazy(), [], measures)
        .select(m.estimate.alias(str(i)) for i, m in enumerate(measures))
        .collect()
    )
    size = cells[SIZE].to_numpy()
    cell = np.empty(score.size, np.int64)
    order = np.argsort(score, kind="stable")
    cell[order] = np.repeat(np.arange(cells.height - 1, -1, -1), size[::-1])
    pos, neg = (
        np.stack([cells[n].to_numpy()[cell[k]] for n in names[j]])
        for j, k in ((0, truth), (1, ~truth))
    )
    return CaseInfluence(est.to_numpy().astype(float)[0], pos, neg)
