import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy

import polaroc as pr
from polaroc.errors import InvalidArgument

FOLDS = tidy(draw(12, 2))
REPEATED = FOLDS.with_columns(repeat=(pl.col("fold") - 1) // 4)
NUMBERED = REPEATED.with_columns(fold=(pl.col("fold") - 1) % 4)


@pytest.mark.parametrize(
    ("table", "fold", "count"),
    [
        (FOLDS.with_columns(repeat=1), "fold", 12),
        (REPEATED, "fold", 4),
        (NUMBERED, ["repeat", "fold"], 4),
    ],
)
def test_the_ratio_follows_from_repeats_that_test_all_cases(table, fold, count):
    found, same = pr.compare(table, fold=fold), pr.compare(FOLDS, test_train_ratio=1 / (count - 1))
    assert_same_numbers(found.pairs, same.pairs)
    assert found.plan.test_train_ratio == pytest.approx(1 / (count - 1))


# All cases of each repeat, in four folds of three or in three folds of four.
THREE = REPEATED.filter(pl.col("repeat") < 2).with_columns(positives=3, negatives=30)
FOUR = REPEATED.filter((pl.col("repeat") == 2) & (pl.col("fold") < 12)).with_columns(
    positives=4, negatives=40
)


@pytest.mark.parametrize(
    "table",
    [
        FOLDS,
        FOLDS.with_columns(repeat=pl.col("fold")),
        # A repeat with fewer folds, or with other cases, is none of a k-fold.
        REPEATED.filter(pl.col("fold") < 12),
        REPEATED.with_columns(positives=pl.col("fold")),
        pl.concat([THREE, FOUR], how="vertical_relaxed"),
    ],
)
def test_other_folds_do_not_tell_the_ratio(table):
    with pytest.raises(InvalidArgument, match="test_train_ratio is None"):
        pr.compare(table)
