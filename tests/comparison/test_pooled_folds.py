"""Scores of folds that are no key are refused where they would pass for those of one model."""

import polars as pl
import pytest
from agreement import assert_same_numbers

import polaroc as pr
from polaroc.errors import InvalidArgument

pytestmark = pytest.mark.usefixtures("words_only")

PREDICTIONS = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
# Each row of a model is a case of its own, as in k-fold cross-validation.
CASES = PREDICTIONS.drop("case").with_columns(pl.int_range(pl.len()).over("model").alias("case"))
COLUMNS = {"truth": "truth", "score": "score"}
OVER = {"over": (0.05, 0.20)}


def report(table, path, **options):
    return pr.report(table, by="model", path=path / "page.html", **COLUMNS, **OVER, **options)


def gate(table, path):
    return pr.gate(
        table, champion="A", challenger="B", by="model", case="case", **COLUMNS, **OVER
    ).difference


def compare(table, path):
    return (
        pr.compare(table, "auc", block=(), target="trained", case="case", **COLUMNS)
        .pairs["difference"]
        .to_list()
    )


@pytest.mark.parametrize("judge", [report, gate, compare])
@pytest.mark.parametrize("name", ["fold", "cvSplit"])
def test_folds_that_are_no_key_are_refused(judge, name, tmp_path):
    with pytest.raises(InvalidArgument, match=f"'{name}' has several values and is no key"):
        judge(CASES.rename({"fold": name}), tmp_path)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("judge", [gate, compare])
def test_a_column_that_divides_no_model_changes_nothing(judge, tmp_path):
    plain = CASES.drop("fold")
    seeds = plain.with_columns(pl.col("model").rank("dense").alias("seed"))
    ids = plain.with_columns(pl.col("case").alias("run"))
    expected = pytest.approx(judge(plain, tmp_path), rel=1e-9)
    assert judge(seeds, tmp_path) == expected
    assert judge(ids, tmp_path) == expected


def test_folds_are_found_and_repeats_too():
    twice = pl.concat(PREDICTIONS.with_columns(pl.lit(i).alias("repeat")) for i in (1, 2))
    assert pr.choose(twice, **COLUMNS, **OVER).folds == ("fold", "repeat")
    wide = PREDICTIONS.filter(model="A").drop("model").with_columns(other=-pl.col("score"))
    scores = {"truth": "truth", "score": ["score", "other"]}
    assert pr.choose(wide, **scores, **OVER).fold_count == 4


def test_folds_are_pooled_on_purpose():
    pooled = pr.choose(CASES, **COLUMNS, **OVER, fold=None)
    assert_same_numbers(pooled.models, pr.choose(CASES.drop("fold"), **COLUMNS, **OVER).models)
