"""How the folds of a table were made, as far as its keys and cases tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from polaroc.base.columns import column_name
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import BLOCK, HAVE
from polaroc.comparison.design import Design
from polaroc.comparison.measure_rows import Rows
from polaroc.typing import Array

REPEAT = "repeat"
# Share by which the cases of two repeats of a k-fold may differ: sums of weights are rounded.
SAME_CASES = 1e-9


@dataclass(frozen=True, eq=False)
class Layout:
    """The folds of a comparison.

    Attributes
    ----------
    blocks
        How many there are.
    kind
        "k-fold" where each repeat tests all cases once; None where no key `repeat` tells.
    repeats
        The repeat of each fold, from 0; empty where it is not known.
    folds
        How many folds each repeat has, where all have as many.
    cases
        Positives and negatives of a repeat of a k-fold.
    """

    blocks: int
    kind: Literal["k-fold", "hold-outs"] | None = None
    repeats: tuple[int, ...] = ()
    folds: int = 1
    cases: tuple[float, float] | None = None

    @property
    def times(self) -> int:
        """How many repeats there are."""
        return len(set(self.repeats))

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases, where the folds tell."""
        return 1 / (self.folds - 1) if self.kind == "k-fold" else None

    def repeat_means(self, values: "Array") -> "Array":
        """The means over the folds of each repeat: repeats × models."""
        places = np.array(self.repeats)
        means: Array = np.stack([values[places == place].mean(axis=0) for place in set(places)])
        return means


def layout_of(rows: Rows, design: Design, model: str) -> Layout:
    """The layout of the folds that a design has, from the key `repeat` and the numbers of cases."""
    blocks = len(design.values)
    names = design.blocks.columns
    if REPEAT not in rows.keys or model == REPEAT:
        return Layout(blocks)
    lacking = [name for name in (REPEAT, "positives", "negatives") if name not in names]
    sizes = rows.frame.group_by(names).agg(pl.col(lacking).max())
    folds = join_on(design.blocks, sizes, names, "left", order="left")
    folds = folds.with_columns((pl.col(REPEAT).rank("dense") - 1).alias(BLOCK))
    per = folds.group_by(BLOCK).agg(
        pl.len().alias(HAVE), pl.col("positives").sum(), pl.col("negatives").sum()
    )
    repeats = tuple(folds[BLOCK].fill_null(0).to_list())
    count = per[HAVE][0]
    if per[HAVE].n_unique() > 1 or count < 2 or not _equal(per, ("positives", "negatives")):
        return Layout(blocks, "hold-outs", repeats)
    return Layout(blocks, "k-fold", repeats, count, (per["positives"][0], per["negatives"][0]))


def _equal(table: pl.DataFrame, names: Sequence[str]) -> bool:
    """Whether each column has one number, not 0."""
    sums = (table[name] for name in names)
    ends = ((float(one.min() or 0), float(one.max() or 0)) for one in sums)  # type: ignore[arg-type]
    return all(lo > 0 and hi - lo <= SAME_CASES * hi for lo, hi in ends)


def ratio_of(table: pl.DataFrame, keys: Sequence[str], case: str) -> float | None:
    """Test over training cases, where all cases that a fold does not test are trained on."""
    sizes = table.group_by(keys).agg(pl.len().cast(pl.Float64).alias(HAVE))
    tested = sizes.select(pl.col(HAVE).mean()).item()
    cases = table.get_column(column_name(case, "case")).n_unique()
    return tested / (cases - tested) if tested is not None and tested < cases else None
