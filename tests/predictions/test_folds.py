"""A column that divides the data into training and test cases is no column of folds."""

import polars as pl
import pytest
from verbs import TABLE

import polaroc as pr
from polaroc.errors import PolarocWarning

ROLES = {"truth": "y", "score": "p"}
OPTIONS = ROLES | {"over": (0.1, 0.3), "test_train_ratio": 1}
CALLS = {
    "evaluate": lambda table: pr.evaluate(table, **ROLES).lazy().collect(),
    "check": lambda table: pr.check(table, **ROLES),
    "choose": lambda table: pr.choose(table, **OPTIONS),
    "compare": lambda table: pr.compare(table, **OPTIONS),
    # Measures are averaged over their folds.
    "measures": lambda table: pr.compare(
        pr.evaluate(table.rename({"fold": "day", "day": "fold"}), **ROLES, by="day", fold=None)
        .rename({"day": "fold"}),
        "auc", test_train_ratio=1,
    ),
}  # fmt: skip


def with_folds(*names, kind=pl.String):
    words = pl.when(pl.col("fold") == 1).then(pl.lit(names[0])).otherwise(pl.lit(names[1]))
    return TABLE.with_columns(fold=words.cast(kind))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_parts_that_are_folds_are_doubted(name, lazy):
    table = with_folds("train", "test")
    with pytest.warns(PolarocWarning, match="'test', 'train'"):
        CALLS[name](table.lazy() if lazy else table)
    # Warnings of folds would be errors.
    CALLS[name](with_folds("1", "2"))


@pytest.mark.parametrize(
    ("names", "doubted"),
    [
        (("Train", "TEST"), True), (("training", "holdout"), True), (("dev", "hold-out"), True),
        (("validation", "test_set"), True), (("tuning", "other"), True),
        (("fold1", "fold2"), False), (("1", "2"), False), (("holdout_1", "holdout_2"), False),
        (("trainer A", "trainer B"), False), (("train", "train"), False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum], ids=str)
def test_values_that_name_parts(names, doubted, kind):
    kind = pl.Enum([*dict.fromkeys(names)]) if kind == pl.Enum else kind
    table = with_folds(*names, kind=kind)
    if doubted:
        with pytest.warns(PolarocWarning, match="parts of data"):
            CALLS["evaluate"](table)
    else:
        assert CALLS["evaluate"](table)["fold"].n_unique() == len({*names})
