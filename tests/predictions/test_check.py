"""Results of `check`: totals, warnings, cases and uneven test sets."""

from math import inf

import polars as pl
import pytest
from typer.testing import CliRunner

import polaroc as pr
from polaroc.cli.app import app

COUNTS = dict.fromkeys(("rows", "missing", "positives", "negatives"), pl.Int64)
REPORT = COUNTS | {
    "prior": pl.Float64, "scores": pl.Int64, "lowest": pl.Float64, "highest": pl.Float64,
    "note": pl.String,
}  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
def test_what_each_key_holds(lazy):
    table = pl.DataFrame({
        "k": ["b", "a", "b", "b", "c", "c", "a", None], "truth": [1, 1, 0, 0, 0, 0, 1, 1],
        "score": [-0.0, inf, 0.0, 3.0, 2.0, 2.0, -inf, 1.0],
    })  # fmt: skip
    report = pr.check(table.lazy() if lazy else table, by="k")
    assert report.schema == {"k": pl.String, **REPORT}
    assert report.rows() == [
        ("a", 2, 0, 2, 0, 1.0, 2, -inf, inf, "no negatives"),
        ("b", 3, 0, 1, 2, 1 / 3, 2, 0.0, 3.0, None),
        ("c", 2, 0, 0, 2, 0.0, 1, 2.0, 2.0, "no positives; constant score"),
        (None, 1, 0, 1, 0, 1.0, 1, 1.0, 1.0, "no negatives; constant score"),
    ]


def test_weights_are_summed_and_rows_are_not():
    table = pl.DataFrame({
        "k": ["a"] * 4 + ["b"] * 4, "truth": [1, 0, 1, 0] * 2, "score": [4, 3, 2, 1] * 2,
        "weight": [0.5, 2, 0.5, 2, 0, 1, 0, 1],
    })  # fmt: skip
    report = pr.check(table, by="k", weight="weight")
    assert report.select("rows", "positives", "negatives", "prior", "note").rows() == [
        (4, 1.0, 4.0, 0.2, None),
        (4, 0.0, 2.0, 0.0, "no positives"),
    ]
    report = pr.check(table.with_columns(weight=0), weight="weight")
    assert report.select("positives", "negatives", "prior", "note").rows() == [
        (0, 0, None, "no positives, no negatives")
    ]


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ([1, 0, 1, 0], "the truth itself"), ([1, 1, 0, 0], "predicted labels"),
        ([1, 0, 1, 0.5], None), ([0, 1, 0, 1], "predicted labels"), ([2, 1, 2, 1], None),
    ],
)  # fmt: skip
def test_scores_that_are_labels_are_noted(scores, words):
    table = pl.DataFrame({"truth": [1, 0, 1, 0], "score": [*map(float, scores)], "weight": 1.0})
    for roles in ({}, {"weight": "weight"}):
        note = pr.check(table, **roles)["note"].item()
        assert note is None if words is None else words in note
    # A row of no weight is no case.
    more = pl.concat([table, table.head(1).with_columns(score=pl.lit(0.3), weight=pl.lit(0.0))],
                     how="vertical_relaxed")  # fmt: skip
    note = pr.check(more, weight="weight")["note"].item()
    assert note is None if words is None else words in note


@pytest.mark.parametrize("lazy", [False, True])
def test_of_an_empty_table_the_report_is_empty(lazy):
    kinds = {"k": pl.String, "truth": pl.Int64, "score": pl.Float64, "weight": pl.Float64}
    table = pl.DataFrame(schema=kinds)
    for keys in ([], ["k"]):
        report = pr.check(table.lazy() if lazy else table, by=keys)
        assert report.is_empty()
        assert report.schema == {key: kinds[key] for key in keys} | REPORT


# --- cases --------------------------------------------------------------------------------------

CASES = pl.DataFrame({
    "fold": [1, 1, 1, 1, 2, 2, 2, 3, 3], "case": ["a", "b", "b", "b", "a", "b", "c", "d", None],
    "truth": [1, 0, 0, 0, 1, 0, 1, 1, 0], "score": [4, 3, 2, 1, 4, 3, 2, 1, 5],
})  # fmt: skip


@pytest.mark.parametrize("lazy", [False, True])
def test_cases_that_are_there_twice_or_with_two_truths_are_noted(lazy):
    table = CASES.lazy() if lazy else CASES
    assert pr.check(table)["note"].to_list() == [
        "2 rows repeat a case", None, "1 rows without a case",
    ]  # fmt: skip
    assert pr.check(table, case=None)["note"].null_count() == 3
    two_truths = table.with_columns(truth=pl.when(pl.col("fold") == 2).then(0).otherwise("truth"))
    assert pr.check(two_truths)["note"].to_list() == [
        "2 rows repeat a case; 1 cases have two truths",
        "no positives; 1 cases have two truths", "1 rows without a case",
    ]  # fmt: skip
    (note,) = pr.check(two_truths, fold=None)["note"]
    for words in ("1 rows without a case", "4 rows repeat a case", "1 cases have two truths"):
        assert words in note


# --- uneven test sets ---------------------------------------------------------------------------

# Two models on three folds of 10 + 30 cases.
FOLDS = pl.DataFrame(
    [
        {"model": model, "fold": fold, "case": 100 * fold + case, "truth": case < 10,
         "score": (case * 7 + fold + len(model)) % 11 / 10}
        for model in ("A", "BB") for fold in (1, 2, 3) for case in range(40)
    ]
)  # fmt: skip
SMALL = FOLDS.filter((pl.col("fold") < 3) | (pl.col("case") % 10 == 0))
THIRD = [("A", 3), ("BB", 3)]
# The table, words of its notes, and the test sets that have the note.
UNEVEN = {
    "lacking": (
        FOLDS.filter(~((pl.col("model") == "BB") & (pl.col("fold") == 2))),
        "1 of 2 models lack", [("A", 2)],
    ),
    # A case of one model's third fold is missing.
    "unequal": (
        FOLDS.filter(~((pl.col("model") == "A") & (pl.col("case") == 305))),
        "different numbers of cases", THIRD,
    ),
    "small": (SMALL, "4 cases, where 40 are usual", THIRD),
    "large": (
        FOLDS.filter((pl.col("fold") == 3) | (pl.col("case") % 4 == 0)),
        "40 cases, where 10 are usual", THIRD,
    ),
    # The third fold has 36 of 40 positives, and all folds 56 of 120.
    "other share": (
        FOLDS.with_columns(
            truth=pl.when(pl.col("fold") == 3).then(pl.col("case") < 336).otherwise("truth")
        ),
        "0.9 of the cases are positive, of all test sets 0.47", THIRD,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNEVEN)
def test_uneven_test_sets_are_noted(name):
    table, words, where = UNEVEN[name]
    noted = pr.check(table).filter(pl.col("note").str.contains(words, literal=True))
    assert noted.select("model", "fold").rows() == where
    two = table.with_columns(repeat=pl.col("fold") // 2, part=pl.col("fold") % 2).drop("fold")
    noted = pr.check(two, fold=["repeat", "part"]).filter(pl.col("note").str.contains(words))
    assert noted["model"].to_list() == [model for model, _ in where]


def test_even_test_sets_have_no_note():
    assert pr.check(FOLDS)["note"].null_count() == 6
    # A third of 30 cases beside a quarter of 40: such folds are common.
    fewer = FOLDS.filter(pl.col("case") < 330)
    assert pr.check(fewer)["note"].null_count() == 6
    # Exactly half, or twice, as many is not clearly different.
    half = FOLDS.filter((pl.col("fold") < 3) | (pl.col("case") % 2 == 0))
    assert pr.check(half)["note"].null_count() == 6
    # Sums of weights are rounded.
    weighted = FOLDS.sample(fraction=1, shuffle=True, seed=1).with_columns(weight=0.1)
    assert pr.check(weighted, weight="weight")["note"].null_count() == 6


def test_nested_keys_and_one_test_set_are_not_uneven():
    patients = FOLDS.select("truth", "score", hospital="fold", patient=pl.col("case") % 17)
    patients = patients.with_columns(pl.col("patient") + 100 * pl.col("hospital"))
    for table, roles in (
        (patients, {"by": ["hospital", "patient"]}),
        (UNEVEN["unequal"][0], {"fold": None}),
        (UNEVEN["unequal"][0], {"fold": None, "model": None}),
    ):
        notes = pr.check(table, **roles)["note"].drop_nulls()
        assert not notes.str.contains("lack|different|usual|of all").any()


def test_the_command_shows_notes_of_keys_that_are_not_shown(tmp_path):
    folds = [SMALL.with_columns(fold=pl.col("fold") + 100 * i) for i in range(1, 16)]
    pl.concat(folds).write_parquet(tmp_path / "p.parquet")
    found = CliRunner().invoke(app, ["check", str(tmp_path / "p.parquet")])
    assert found.exit_code == 0, found.output
    words = " ".join(found.output.split())
    hidden = pr.check(pl.concat(folds))[40:]["note"].str.contains("4 cases").sum()
    assert "the first 40, --json has all" in words
    assert f"Note on {hidden} key(s): 4 cases" in words


@pytest.mark.parametrize(
    ("name", "words"),
    [("unequal", "different numbers of cases"), ("small", "fold=3"), ("other share", "fold=3")],
)
def test_comparisons_of_uneven_folds_warn(name, words):
    # Models with different cases are refused where cases are named.
    table = UNEVEN[name][0].drop("case")
    options = {"over": (0.3, 0.5), "test_train_ratio": 0.5}
    assert any(words in one for one in pr.choose(table, **options).warnings)
    assert any(words in one for one in pr.compare(table, **options).warnings)
