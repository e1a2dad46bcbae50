import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr
from polaroc.measures.catalog import CATALOG

KEYS = [([], True), (["model"], False), (["model", "fold"], True)]


@pytest.mark.alike
@pytest.mark.parametrize(("by", "weighted"), KEYS)
def test_measures_are_those_of_the_polars_functions(engine: Engine, by, weighted):
    table = predictions(len(by), weights=weighted)
    asked = {
        "truth": "truth", "score": "score", "by": by, "over": (0.05, 0.2),
        "weight": "weight" if weighted else None, "priors": ["observed", 0.5, 0.01, 1e-6],
    }  # fmt: skip
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, pr.evaluate(table, **asked))


@pytest.mark.long
@pytest.mark.parametrize("priors", [["observed", 0.3, 0.01], [i / 50 for i in range(1, 40)]])
def test_all_measures_are_taken_at_once(priors):
    import ibis

    table = predictions(7).with_columns(score=pl.col("score").clip(-3, 3) / 10 + 0.5)
    asked = {
        "truth": "truth", "score": "score", "priors": priors, "over": (0.05, 0.2),
        "measures": list(CATALOG),
    }  # fmt: skip
    alone = [pr.evaluate(table, **asked | {"measures": name}) for name in CATALOG]
    expected = pl.concat(alone, how="diagonal")
    found = pr.warehouse.collected(pr.warehouse.evaluate(ibis.memtable(table), **asked))
    assert_same(found.select(expected.columns), expected)


def test_the_log_loss_of_one_class_is_missing(engine: Engine):
    # A score of 1 and no negatives, or of 0 and no positives: terms that are logarithms of zero.
    table = pl.DataFrame(
        {
            "model": ["a", "a", "b", "b", "c", "c"],
            "truth": [True, False, True, True, False, False],
            "score": [0.7, 0.2, 1.0, 0.5, 0.0, 0.5],
        }
    )
    asked = {"truth": "truth", "score": "score", "measures": "log_loss"}
    assert_same(pr.warehouse.evaluate(engine.table(table), **asked), pr.evaluate(table, **asked))


@pytest.mark.long
@pytest.mark.parametrize("score", [["score", "other"], {"a": "other", "it's": "score"}], ids=str)
def test_a_column_of_scores_per_model(engine: Engine, score):
    table = predictions(5, weights=True).drop("model").with_columns(other=pl.int_range(pl.len()))
    asked = {"truth": "truth", "score": score, "weight": "weight", "priors": 0.1}
    assert_same(pr.warehouse.evaluate(engine.table(table), **asked), pr.evaluate(table, **asked))
    nulls = table.with_columns(score=pl.when(pl.col("truth")).then("score"))
    asked |= {"nulls": "drop"}
    assert_same(pr.warehouse.evaluate(engine.table(nulls), **asked), pr.evaluate(nulls, **asked))


def test_notes_tell_doubts_of_every_size(engine: Engine):
    # λ/N from 0.02 to 8·10¹⁴, some of them halfway between two of two digits.
    priors = [1 / (1 + skew) for skew in (0.25, 0.5, 1, 1.5, 10, 99.5, 150, 12345, 1e9, 6.4e15)]
    table = pl.DataFrame({"truth": [True] * 4 + [False] * 8, "score": range(12)}).cast(
        {"score": pl.Float64}
    )
    asked = {"truth": "truth", "score": "score", "priors": priors}
    assert_same(pr.warehouse.evaluate(engine.table(table), **asked), pr.evaluate(table, **asked))


def test_priors_may_be_as_rare_as_can_be(engine: Engine):
    table = predictions(9)
    asked = {"truth": "truth", "score": "score", "priors": [1e-30, 1e-100], "measures": "auprec"}
    asked |= {"model": None, "fold": None}
    found = pr.warehouse.collected(pr.warehouse.evaluate(engine.table(table), **asked))
    expected = pr.evaluate(table, **asked)
    assert found["note"].to_list() == ["λ/N = above 1e15: biased upward"] * 2
    assert found["estimate"].sort().to_list() == pytest.approx(
        expected["estimate"].sort().to_list()
    )


@pytest.mark.long
@pytest.mark.slow
def test_many_priors_are_interpolated_as_polars_does():
    import ibis

    grid = [i / 401 for i in range(20, 401)]
    assert_many_priors_same(ibis.memtable, "linear", [*grid, "observed", 1e-12, 1 - 1e-12])


@pytest.mark.long
def test_many_priors_are_interpolated_on_every_engine(engine: Engine):
    extreme = [1e-12, 1 - 1e-12] if engine.name == "duckdb" else []
    grid = [i / 101 for i in range(5, 101 if extreme else 60)]
    assert_many_priors_same(engine.table, "exact", [*grid, "observed", *extreme])


def assert_many_priors_same(upload, interpolation: str, priors: list[float | str]) -> None:
    table = predictions(2, weights=True)
    asked = {
        "truth": "truth", "score": "score", "fold": None, "over": (0.05, 0.2),
        "weight": "weight", "priors": priors, "interpolation": interpolation,
    }  # fmt: skip
    found = pr.warehouse.evaluate(upload(table), **asked)
    assert_same(found, pr.evaluate(table, **asked), 1e-12)
