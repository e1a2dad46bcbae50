"""A column that divides the data into training and test cases is no column of folds."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app
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
ONE = {"truth": "truth", "score": "a"}
TWO = {"truth": "truth", "score": ["a", "b"]}
OVER = {"over": (0.1, 0.3)}
CALLS = {
    "cases": lambda table, **folds: pr.cases(table, **ONE, **folds),
    "curve": lambda table, **folds: pr.curve(table, **ONE, **folds),
    "evaluate": lambda table, **folds: pr.evaluate(table, **ONE, **folds).lazy().collect(),
    "check": lambda table, **folds: pr.check(table, **ONE, **folds),
    "operating_points": lambda table, **folds: pr.operating_points(
        table, "recall", target=0.8, **ONE, **folds
    ),
    "choose": lambda table, **folds: pr.choose(table, **TWO, **OVER, test_train_ratio=1, **folds),
    "compare": lambda table, **folds: pr.compare(table, "auc", **TWO, test_train_ratio=1, **folds),
}


@pytest.mark.parametrize("name", CALLS)
def test_parts_that_are_folds_are_doubted(name):
    with pytest.warns(PolarocWarning, match=r"'fold' has the values 'test', 'train'"):
        found = CALLS[name](TABLE)
    numbers = TABLE.with_columns(fold=pl.col("fold").replace({"train": "1", "test": "2"}))
    assert type(found) is type(CALLS[name](numbers))


@pytest.mark.parametrize(
    ("names", "doubted"),
    [
        (("train", "test"), True), (("Train", "TEST"), True), (("training", "holdout"), True),
        (("validation", "test_set"), True), (("dev", "hold-out"), True), (("tuning", "test"), True),
        (("fold1", "fold2"), False), (("1", "2"), False), (("holdout_1", "holdout_2"), False),
        (("trainer A", "trainer B"), False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, "enum"], ids=str)
def test_values_that_name_parts(names, doubted, kind):
    kind = pl.Enum(names) if kind == "enum" else kind
    values = pl.Series(names).gather(pl.arange(400, eager=True) % 2).cast(kind)
    table = TABLE.with_columns(fold=values)
    if not doubted:
        assert CALLS["evaluate"](table)["fold"].n_unique() == 2
        return
    with pytest.warns(PolarocWarning, match="parts of data"):
        CALLS["evaluate"](table)


def test_tables_that_are_read_later_are_doubted_then(tmp_path):
    TABLE.write_parquet(tmp_path / "p.parquet")
    for source in (TABLE.lazy(), tmp_path / "p.parquet"):
        for name in ("evaluate", "check", "choose", "compare"):
            with pytest.warns(PolarocWarning, match="parts of data"):
                CALLS[name](source)
    # Measures are averaged over their folds.
    measures = pr.evaluate(TABLE, **TWO, by="fold", measures="auc")
    for frame in (measures, measures.lazy()):
        with pytest.warns(PolarocWarning, match="parts of data"):
            pr.compare(frame, "auc", test_train_ratio=1)


@pytest.mark.parametrize("command", ["check", "evaluate", "choose"])
def test_on_the_command_line(tmp_path, command):
    file = tmp_path / "p.csv"
    TABLE.write_csv(file)
    asked = [command, file, "--truth", "truth", "--score", "a", "--score", "b"]
    if command == "choose":
        asked += ["--over", 0.1, 0.3, "--test-train-ratio", 1]
    run = lambda *words: CliRunner().invoke(app, [str(word) for word in words])  # noqa: E731
    found = run(*asked)
    assert found.exit_code == 0, found.output
    assert "Note: The column 'fold' has the values 'test', 'train'" in found.output
