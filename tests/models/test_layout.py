import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy

import polaroc as pr
from polaroc.errors import InvalidArgument

FOLDS = tidy(draw(12, 2))
REPEATED = FOLDS.with_columns(repeat=(pl.col("fold") - 1) // 4)


@pytest.mark.parametrize(("table", "count"), [(FOLDS.with_columns(repeat=1), 12), (REPEATED, 4)])
def test_the_ratio_follows_from_repeats_that_test_all_cases(table, count):
    found, same = pr.compare(table), pr.compare(FOLDS, test_train_ratio=1 / (count - 1))
    assert_same_numbers(found.pairs, same.pairs)
    assert found.test_train_ratio == pytest.approx(1 / (count - 1))


def test_numbers_of_rows_do_not_tell_the_ratio():
    truth = np.arange(120) % 2
    wide = {"truth": truth, "fold": np.arange(120) % 4 // 2, "A": np.arange(120) % 7 + truth,
            "B": np.arange(120) % 9 + truth}  # fmt: skip
    roles = {"truth": "truth", "score": ["A", "B"]}
    assert repr(pr.cases(wide, **roles)).startswith("120 rows, 60 positives\n")
    assert "case" not in repr(pr.cases(wide, **roles))
    with pytest.raises(InvalidArgument, match="test_train_ratio is None"):
        pr.compare(wide, "auc", **roles)
    choice = pr.choose(wide, over=(0.1, 0.3), **roles)
    assert "because of its name" not in " ".join(choice.warnings)
    # Each case is tested once: half of them train.
    named = pr.compare(wide | {"id": np.arange(120)}, "auc", **roles, case="id")
    assert named.test_train_ratio == 1


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
