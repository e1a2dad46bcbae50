"""Folds that are copies of others, as of a repeat with the same seed, are evidence once."""

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from layouts import tidy

import polaroc as pr

ROLES = {"truth": "truth", "score": "score"}
ASKED = {"test_train_ratio": 0.25}
OVER = (0.05, 0.2)
GRID = pr.prior_grid(*OVER, 8)
SAID = "copies of others, with the same"


def repeats(of: pl.DataFrame, size: int) -> pl.DataFrame:
    """Folds with a number within their repeat."""
    place = pl.col("fold") - 1
    return of.with_columns(repeat=place // size + 1, fold=place % size + 1)


TABLE = repeats(pr.datasets.satellite_predictions().filter(pl.col("fold") <= 10), 5)
COPY = TABLE.filter(repeat=1).with_columns(repeat=pl.lit(3, pl.Int64))
# Rows come in any order, and folds of the copy in another one.
COPIED = pl.concat([TABLE, COPY.with_columns(fold=6 - pl.col("fold"))]).sample(
    fraction=1, shuffle=True, seed=1
)
KEYS = ["repeat", "fold"]


def measured(table, fold=KEYS):
    return pr.evaluate(table, **ROLES, fold=fold, over=OVER, priors=GRID)


def numbered(table):
    """One column of folds, as those of hold-outs."""
    return table.with_columns(fold=pl.col("repeat") * 10 + pl.col("fold")).drop("repeat")


FUNCTIONS = {
    "compare": lambda table, **roles: pr.compare(table, "iauprec", **roles, **ASKED),
    "choose": lambda table, **roles: pr.choose(table, over=OVER, **roles, **ASKED),
    "choose by cost": lambda table, **roles: pr.choose(
        table, over=OVER, cost_fn=5, **roles, **ASKED
    ),
    "gate": lambda table, **roles: pr.gate(
        table, measure="iauprec", champion="A", challenger="B", **roles, **ASKED
    ),
}  # fmt: skip


def numbers_of(found):
    if hasattr(found, "pairs"):
        return found.pairs
    if hasattr(found, "models"):
        return found.models
    return pl.DataFrame([[found.difference, found.lower, found.upper]], orient="row")


def predictions_roles(name, fold):
    over = {"over": OVER} if name in ("compare", "gate") else {}
    return ROLES | {"fold": fold} | over


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *((name, None) for name in FUNCTIONS if name != "gate"),
        ("compare", "case"),
        pytest.param("choose by cost", "case", marks=pytest.mark.slow),
        pytest.param("gate", "case", marks=pytest.mark.slow),
    ],
)
def test_predictions_of_copied_folds_are_used_once(name, case):
    for one, fold in ((COPIED, KEYS), (numbered(COPIED), "fold")):
        roles = predictions_roles(name, fold) | {"case": case}
        found = FUNCTIONS[name](one, **roles)
        once = TABLE if fold == KEYS else numbered(TABLE)
        expected = FUNCTIONS[name](once, **roles)
        assert_same_numbers(numbers_of(found), numbers_of(expected))
        (said,) = (line for line in found.warnings if SAID in line)
        assert said.startswith("5 of 15 folds are copies of others, with the same cases and scores")
        assert "Each is used once" in said
        assert SAID not in " ".join(expected.warnings)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "cost" not in name])
def test_measures_of_copied_folds_are_used_once(name):
    for change, keys in ((lambda table: table, KEYS), (numbered, "fold")):
        found = FUNCTIONS[name](measured(change(COPIED), keys))
        expected = FUNCTIONS[name](measured(change(TABLE), keys))
        assert_same_numbers(numbers_of(found), numbers_of(expected))
        (said,) = (line for line in found.warnings if SAID in line)
        assert "the same estimates of all models" in said
        assert SAID not in " ".join(expected.warnings)


@pytest.mark.parametrize("factors", [["model", *KEYS], ["model", "fold"]])
def test_an_analysis_of_variance_says_that_copies_are_no_evidence(factors):
    def said(table):
        measures = measured(numbered(table), "fold")
        if "repeat" in factors:
            measures = measures.with_columns(pl.col("fold") % 10, repeat=pl.col("fold") // 10)
        return " ".join(pr.anova(measures, "iauprec", factors).warnings)

    assert "5 of 15 folds are copies of others" in said(COPIED)
    assert SAID not in said(TABLE)


def test_copied_folds_of_scores_side_by_side_are_used_once():
    # The rows of a wide table are numbered; copies have other numbers.
    wide = small(400, pl.int_range(400) // 50, 1_000)
    copied = pl.concat([wide, wide.filter(pl.col("fold") < 2).with_columns(pl.col("fold") + 10)])
    roles = {"truth": "truth", "score": ["A", "B"], "fold": "fold"}
    found, once = (pr.compare(table, "auc", **roles, **ASKED) for table in (copied, wide))
    assert "2 of 10 folds are copies of others" in " ".join(found.warnings)
    assert_same_numbers(found.pairs, once.pairs)


def small(rows: int, fold: pl.Expr, levels: int) -> pl.DataFrame:
    """Two models of scores with few values."""
    rng = np.random.default_rng(3)
    truth = rng.random(rows) < 0.5
    table = pl.DataFrame({"truth": truth}).with_columns(
        (pl.Series(rng.integers(0, levels, rows)) + pl.col("truth")).alias(model) for model in "AB"
    )
    return table.with_columns(fold=fold)


@pytest.mark.parametrize(
    "table",
    [
        # Four cases, and two answers instead of scores.
        small(200, pl.int_range(200) // 4, 50),
        small(400, pl.int_range(400) // 8, 1),
    ],
)
def test_other_folds_may_be_alike_by_chance(table):
    roles = {"truth": "truth", "score": ["A", "B"], "fold": "fold", "case": None}
    whole = table.filter(pl.col("truth").any().over("fold"), ~pl.col("truth").all().over("fold"))
    found = pr.choose(whole, **roles, over=OVER, cost_fn=2, **ASKED)
    assert SAID not in " ".join(found.warnings)


def test_models_that_are_perfect_are_no_copies():
    values = np.ones((10, 2))
    values[0, 1] = 0.9
    table = tidy(values, measure="auc")
    assert SAID not in " ".join(pr.compare(table, "auc", **ASKED).warnings)
