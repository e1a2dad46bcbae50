"""How the folds of a table were made, as far as its keys and cases tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from polaroc.base.columns import column_name
from polaroc.base.joins import join_on
from polaroc.base.lazy import np
from polaroc.base.private_columns import HAVE, PLACE
from polaroc.comparison.measure_rows import Rows
from polaroc.typing import Array
from polaroc.uncertainty.evidence import of_folds

REPEAT = "repeat"
# Share by which the cases of two repeats of a k-fold may differ: sums of weights are rounded.
SAME_CASES = 1e-9


@dataclass(frozen=True, eq=False)
class Layout:
    """The folds of a comparison.

    Attributes
    ----------
    folds
        How many there are.
    kind
        "k-fold" where each repeat tests all cases once; None where no key `repeat` tells.
    repeats
        The repeat of each fold, from 0; empty where it is not known.
    per_repeat
        How many folds each repeat has, where all have as many.
    cases
        Positives and negatives of a repeat of a k-fold.
    """

    folds: int
    kind: Literal["k-fold", "hold-outs"] | None = None
    repeats: tuple[int, ...] = ()
    per_repeat: int = 1
    cases: tuple[float, float] | None = None

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases, where the folds tell."""
        return 1 / (self.per_repeat - 1) if self.kind == "k-fold" else None

    def noise(self, values: "Array") -> "Array | None":
        """The covariance of means of folds × models that is due to how the cases were split.

        None where the cases were split once, which does not tell.
        """
        if self.kind == "k-fold":
            places = np.array(self.repeats)
            repeats = [values[places == place].mean(axis=0) for place in set(places)]
            if len(repeats) < 2:
                return None
            values = np.stack(repeats)
        noise: Array = of_folds(values, 0).covariance[0]
        return noise


def layout_of(rows: Rows, folds: pl.DataFrame, model: str) -> Layout:
    """The layout of folds with these keys, by the key `repeat` and the numbers of cases."""
    names = folds.columns
    if not names or REPEAT not in rows.keys or model == REPEAT:
        return Layout(max(folds.height, 1))
    lacking = [name for name in (REPEAT, "positives", "negatives") if name not in names]
    sizes = rows.frame.group_by(names).agg(pl.col(lacking).max())
    numbered = join_on(folds, sizes, names, "left", order="left").with_columns(
        (pl.col(REPEAT).rank("dense") - 1).alias(PLACE)
    )
    per = numbered.group_by(PLACE).agg(
        pl.len().alias(HAVE), pl.col("positives").sum(), pl.col("negatives").sum()
    )
    repeats = tuple(numbered[PLACE].fill_null(0).to_list())
    count = per[HAVE][0]
    if per[HAVE].n_unique() > 1 or count < 2 or not _equal(per, ("positives", "negatives")):
        return Layout(folds.height, "hold-outs", repeats)
    cases = per["positives"][0], per["negatives"][0]
    return Layout(folds.height, "k-fold", repeats, count, cases)


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
