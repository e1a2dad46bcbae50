"""A column that divides the data into training and test cases is no column of folds."""

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import PolarocWarning

RNG = np.random.default_rng(3)
TRUTH = RNG.random(400) < 0.4
TABLE = pl.DataFrame(
    {
        "fold": np.where(np.arange(400) % 2, "train", "test"),
        "truth": TRUTH,
        "a": RNG.normal(TRUTH),
        "b": RNG.normal(TRUTH),
    }
)
ONE, TWO = {"truth": "truth", "score": "a"}, {"truth": "truth", "score": ["a", "b"]}
CALLS = {
    "evaluate": lambda table: pr.evaluate(table, **ONE).lazy().collect(),
    "check": lambda table: pr.check(table, **ONE),
    "choose": lambda table: pr.choose(table, **TWO, over=(0.1, 0.3), test_train_ratio=1),
    "compare": lambda table: pr.compare(table, "auc", **TWO, test_train_ratio=1),
    # Measures are averaged over their folds.
    "measures": lambda table: pr.compare(
        pr.evaluate(table.rename({"fold": "part"}), **TWO, by="part", measures="auc").rename(
            {"part": "fold"}
        ),
        "auc",
        test_train_ratio=1,
    ),
}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_parts_that_are_folds_are_doubted(name, lazy):
    with pytest.warns(PolarocWarning, match="'test', 'train'"):
        CALLS[name](TABLE.lazy() if lazy else TABLE)
    # Warnings of folds would be errors.
    CALLS[name](TABLE.with_columns(fold=pl.col("fold").replace({"train": "1", "test": "2"})))


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
    values = pl.Series(names).gather(pl.arange(400, eager=True) % 2).cast(kind)
    table = TABLE.with_columns(fold=values)
    if doubted:
        with pytest.warns(PolarocWarning, match="parts of data"):
            CALLS["evaluate"](table)
    else:
        assert CALLS["evaluate"](table)["fold"].n_unique() == len({*names})
