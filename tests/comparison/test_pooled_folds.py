"""Scores of folds that are no key are refused where they would pass for those of one model."""

import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument

pytestmark = pytest.mark.usefixtures("words_only")

PREDICTIONS = pr.datasets.satellite_predictions().filter(pl.col("fold") <= 4)
# Each row of a model is a case of its own, as in k-fold cross-validation.
CASES = PREDICTIONS.drop("case").with_columns(pl.int_range(pl.len()).over("model").alias("case"))
COLUMNS = {"truth": "truth", "score": "score"}
OVER = {"over": (0.05, 0.20)}


def choose(table, path, **options):
    return pr.choose(table, by="model", **COLUMNS, **OVER, **options).models["mean"].to_list()


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


@pytest.mark.parametrize("judge", [choose, gate, compare])
@pytest.mark.parametrize("name", ["fold", "cvSplit"])
def test_folds_that_are_no_key_are_refused(judge, name, tmp_path):
    with pytest.raises(InvalidArgument, match=f"'{name}' has several values and is no key"):
        judge(CASES.rename({"fold": name}), tmp_path)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("judge", [choose, gate, compare])
def test_a_column_that_divides_no_model_changes_nothing(judge, tmp_path):
    plain = CASES.drop("fold")
    seeds = plain.with_columns(pl.col("model").rank("dense").alias("seed"))
    ids = plain.with_columns(pl.col("case").alias("run"))
    expected = pytest.approx(judge(plain, tmp_path), rel=1e-9)
    assert judge(seeds, tmp_path) == expected
    assert judge(ids, tmp_path) == expected


def test_repeats_within_folds_are_refused():
    twice = pl.concat(PREDICTIONS.with_columns(pl.lit(i).alias("repeat")) for i in (1, 2))
    with pytest.raises(InvalidArgument, match="'repeat' has several values"):
        pr.choose(twice, by=["model", "fold"], **COLUMNS, **OVER)


def test_wide_tables_are_checked_too():
    wide = PREDICTIONS.filter(model="A").drop("model").with_columns(other=-pl.col("score"))
    with pytest.raises(InvalidArgument, match="'fold' has several values"):
        pr.choose(wide, by=[], truth="truth", score=["score", "other"], **OVER)
