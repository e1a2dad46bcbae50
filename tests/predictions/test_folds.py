"""A column that divides the data into training and test cases is no column of folds."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app
from polaroc.errors import InvalidArgument, PolarocWarning

RNG = np.random.default_rng(3)
TRUTH = RNG.random(400) < 0.4
TABLE = pl.DataFrame(
    {
        "split": np.where(np.arange(400) % 2, "train", "test"),
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
def test_parts_that_were_found_by_name_are_refused(name):
    with pytest.raises(InvalidArgument, match=r"'split' has the values 'test', 'train'") as caught:
        CALLS[name](TABLE)
    assert "fold='split'" in caught.value.hint
    CALLS[name](TABLE.filter(split="test"))
    CALLS[name](TABLE.drop("split"))


@pytest.mark.parametrize("name", CALLS)
def test_parts_that_are_named_as_folds_are_doubted(name):
    with pytest.warns(PolarocWarning, match=r"'split' has the values 'test', 'train'"):
        found = CALLS[name](TABLE, fold="split")
    numbers = TABLE.with_columns(split=pl.col("split").replace({"train": "1", "test": "2"}))
    assert type(found) is type(CALLS[name](numbers))


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (("train", "test"), True), (("Train", "TEST"), True), (("training", "holdout"), True),
        (("validation", "test_set"), True), (("dev", "hold-out"), True), (("tuning", "test"), True),
        (("fold1", "fold2"), False), (("1", "2"), False), (("holdout_1", "holdout_2"), False),
        (("trainer A", "trainer B"), False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, "enum"], ids=str)
def test_values_that_name_parts(names, refused, kind):
    kind = pl.Enum(names) if kind == "enum" else kind
    values = pl.Series(names).gather(pl.arange(400, eager=True) % 2).cast(kind)
    table = TABLE.with_columns(fold=values).drop("split")
    if not refused:
        assert CALLS["evaluate"](table)["fold"].n_unique() == 2
        return
    with pytest.raises(InvalidArgument, match="parts of data"):
        CALLS["evaluate"](table)


def test_tables_that_are_read_later_are_refused_then(tmp_path):
    TABLE.write_parquet(tmp_path / "p.parquet")
    for source in (TABLE.lazy(), tmp_path / "p.parquet"):
        for name in ("evaluate", "check", "choose", "compare"):
            with pytest.raises(InvalidArgument, match="parts of data"):
                CALLS[name](source)
    # Measures are averaged over their folds.
    measures = pr.evaluate(TABLE, **TWO, by="split", measures="auc")
    for frame in (measures, measures.lazy()):
        with pytest.raises(InvalidArgument, match="parts of data"):
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
    assert found.exit_code == 2
    assert "--fold split" in found.output
    found = run(*asked, "--fold", "split")
    assert found.exit_code == 0, found.output
    assert "Note: The column 'split' has the values 'test', 'train'" in found.output
