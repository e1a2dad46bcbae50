import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import draw, tidy

import polaroc as pr
from polaroc.comparison.design import balanced
from polaroc.comparison.measure_rows import rows_of
from polaroc.errors import InvalidArgument


def layout(table, folds=("fold",)):
    return balanced(rows_of(table, "iauprec"), [None], "model", folds).layout


FOLDS = tidy(draw(12, 2))
REPEATED = FOLDS.with_columns(repeat=(pl.col("fold") - 1) // 4)


@pytest.mark.parametrize(
    ("table", "kind", "folds", "times"),
    [
        (FOLDS, None, 1, 0),
        (FOLDS.with_columns(repeat=1), "k-fold", 12, 1),
        (REPEATED, "k-fold", 4, 3),
        (FOLDS.with_columns(repeat=pl.col("fold")), "hold-outs", 1, 12),
        # A repeat with fewer folds, or with other cases, is none of a k-fold.
        (REPEATED.filter(pl.col("fold") < 12), "hold-outs", 1, 3),
        (REPEATED.with_columns(positives=pl.col("fold")), "hold-outs", 1, 3),
    ],
)
def test_kinds(table, kind, folds, times):
    found = layout(table)
    assert (found.kind, found.per_repeat, len(set(found.repeats))) == (kind, folds, times)
    assert found.test_train_ratio == (1 / (folds - 1) if kind == "k-fold" else None)


def test_repeats_with_different_numbers_of_folds_are_no_k_fold():
    # All cases of each repeat, in four folds of three or in three folds of four.
    three = REPEATED.filter(pl.col("repeat") < 2).with_columns(positives=3, negatives=30)
    four = REPEATED.filter((pl.col("repeat") == 2) & (pl.col("fold") < 12))
    both = pl.concat([three, four.with_columns(positives=4, negatives=40)], how="vertical_relaxed")
    found = layout(both)
    assert (found.kind, found.per_repeat, len(set(found.repeats))) == ("hold-outs", 1, 3)


def test_the_repeat_may_be_a_fold():
    found = layout(REPEATED.with_columns(fold=(pl.col("fold") - 1) % 4), ["repeat", "fold"])
    assert (found.kind, found.per_repeat, len(set(found.repeats))) == ("k-fold", 4, 3)
    assert found.cases == (40, 160)


def test_the_ratio_follows_from_the_folds():
    found, same = pr.compare(REPEATED), pr.compare(FOLDS, test_train_ratio=1 / 3)
    assert_same_numbers(found.pairs, same.pairs)
    assert found.plan.test_train_ratio == pytest.approx(1 / 3)
    for table in (FOLDS, FOLDS.with_columns(repeat=pl.col("fold"))):
        with pytest.raises(InvalidArgument, match="test_train_ratio is None"):
            pr.compare(table)


@pytest.mark.parametrize(
    ("repeats", "folds", "ratio", "said"),
    [
        # One k-fold tests each case once.
        (1, 10, None, False), (1, 5, None, False),
        (10, 10, None, True), (5, 2, None, True),
        (30, 1, 0.25, True), (5, 1, 0.25, True),
        # Nothing says whether these are hold-outs.
        (0, 10, 1 / 9, True), (0, 20, 0.25, True),
    ],
)  # fmt: skip
def test_unstable_learners_are_named_where_test_sets_may_share_cases(repeats, folds, ratio, said):
    table = tidy(draw(max(repeats, 1) * folds, 2))
    if repeats:
        table = table.with_columns(repeat=(pl.col("fold") - 1) // folds)
    warnings = " ".join(pr.compare(table, test_train_ratio=ratio).warnings)
    assert ("if these are unstable, such as nearest neighbours" in warnings) == said
