import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions


def test_numbers_of_rows_do_not_tell_the_ratio():
    truth = np.arange(120) % 2
    wide = {"truth": truth, "fold": np.arange(120) % 4 // 2, "A": np.arange(120) % 7 + truth,
            "B": np.arange(120) % 9 + truth}  # fmt: skip
    roles = {"truth": "truth", "score": ["A", "B"]}
    assert repr(pr.cases(wide, **roles)).startswith("120 rows, 60 positives\n")
    assert "case" not in repr(pr.cases(wide, **roles))
    with pytest.raises(InvalidArgument, match="test_train_ratio is needed"):
        pr.compare(wide, "auc", **roles)
    choice = pr.choose(wide, over=(0.1, 0.3), **roles)
    assert "test_train_ratio" in " ".join(choice.warnings)
    # Each case is tested once: half of them train.
    named = pr.compare(wide | {"id": np.arange(120)}, "auc", **roles, case="id")
    assert named.test_train_ratio == 1


def test_folds_that_are_numbered_anew_in_each_repeat_need_both_columns():
    rng = np.random.default_rng(5)
    table = pl.concat(
        pl.DataFrame({
            "truth": np.arange(90) % 4 == 0, "id": np.arange(90), "fold": np.arange(90) % 3,
            "repeat": np.full(90, repeat), "A": rng.normal(size=90), "B": rng.normal(size=90),
        })
        for repeat in (1, 2)
    )  # fmt: skip
    asked = {"truth": "truth", "score": ["A", "B"], "over": (0.1, 0.3)}
    (warning,) = [one for one in pr.choose(table, **asked).warnings if "'repeat'" in one]
    assert "give fold=['repeat', 'fold']" in warning
    numbered = table.with_columns(fold=3 * pl.col("repeat") + pl.col("fold"))
    for one, further in (
        (table, {"fold": ["repeat", "fold"]}), (numbered, {}), (table.drop("repeat"), {}),
        (table, {"fold": None}),
    ):  # fmt: skip
        assert not [
            line for line in pr.choose(one, **asked, **further).warnings if "repeat'" in line
        ]
    with pytest.raises(InvalidPredictions, match=r"twice(.|\n)*fold=\['repeat', 'fold'\]"):
        pr.choose(table, **asked, case="id")
    assert pr.choose(table, **asked, case="id", fold=["repeat", "fold"]).fold_count == 6
