import numpy as np
import polars as pl
import pytest
from comparison import assert_same, predictions
from engines import Engine

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.measures.scoring import INFINITE
from polaroc.probability.probabilities import SAME_SCORES

NAMES = {"truth": "truth", "score": "score"}
SCORING = ["brier", "log_loss", "calibration_loss", "refinement_loss", "brier_skill"]
RANGES = [f"{name}_range" for name in SCORING[:4]]


def scored(seed: int, **options) -> pl.DataFrame:
    """Scores that are probabilities, but for one model's; of another some are 0 and 1."""
    table = predictions(seed, **options).with_columns(pl.col("score").clip(-4, 4))
    squeezed = 1 / (1 + (-pl.col("score")).exp())
    model = pl.col("model")
    ends = squeezed.round(1).clip(0, 1)
    return table.with_columns(
        pl.when(model == "a").then(squeezed).when(model == "B").then(ends).otherwise("score")
        .alias("score")
    )  # fmt: skip


@pytest.mark.alike(2)
@pytest.mark.parametrize(("by", "weighted"), [("model", False), (["model", "fold"], True)])
@pytest.mark.parametrize("measures", [SCORING + RANGES, ["auc", "brier", "log_loss"]], ids=len)
def test_scoring_rules_are_those_of_the_polars_functions(engine: Engine, by, weighted, measures):
    table = scored(len(by), weights=weighted)
    asked = {
        **NAMES, "by": by, "over": (0.05, 0.2), "weight": "weight" if weighted else None,
        "priors": ["observed", 0.01], "measures": measures, "score_prior": 0.4,
    }  # fmt: skip
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, pr.evaluate(table, **asked))


def test_an_infinite_log_loss_is_said_not_clipped(engine: Engine):
    table = pl.DataFrame({"truth": [True, False, True, False], "score": [0.0, 0.2, 0.9, 0.4]})
    asked = {**NAMES, "priors": 0.1, "over": (0.1, 0.2), "measures": ["log_loss", "log_loss_range"]}
    found = pr.warehouse.collected(pr.warehouse.evaluate(engine.table(table), **asked))
    assert found["estimate"].null_count() == 2
    assert found["note"].unique().to_list() == [INFINITE]


@pytest.mark.long
@pytest.mark.elsewhere
def test_scoring_rules_at_many_priors(engine: Engine):
    table = scored(3)
    asked = {**NAMES, "priors": np.linspace(0.01, 0.9, 26).tolist()}
    asked |= {"measures": ["auprec", "brier", "log_loss", "brier_skill"]}
    found = pr.warehouse.evaluate(engine.table(table), **asked)
    assert_same(found, pr.evaluate(table, **asked))


@pytest.mark.alike
@pytest.mark.parametrize("by", ["model", ["model", "fold"], ()])
def test_probabilities_are_those_of_the_polars_function(engine: Engine, by):
    tuning, use = predictions(1), predictions(2).with_row_index("case")
    use = use.with_columns(
        pl.col("case").cast(pl.Int64),
        score=pl.when(pl.col("case") != 7).then("score"),
        model=pl.when(pl.col("case") == 9).then(pl.lit("new")).otherwise("model"),
    )
    asked = {"score": "score", "by": by, "priors": ["observed", 0.05]}
    expected = pr.probabilities(use.lazy(), pr.curve(tuning, **NAMES, by=by), **asked).collect()
    there, curve = engine.table(use), pr.warehouse.curve(engine.table(tuning), **NAMES, by=by)
    assert_same(pr.warehouse.probabilities(there, curve, **asked), expected)
    local = pr.curve(tuning, **NAMES, by=by)
    assert_same(pr.warehouse.probabilities(there, local, **asked), expected)


def test_the_tuning_table_is_noted(engine: Engine):
    table = predictions(3).with_columns(pl.col("score").clip(-9, 9))
    there = engine.table(table)
    curve = pr.warehouse.curve(there, **NAMES)
    asked = {"score": "score", "priors": 0.1}
    found = pr.warehouse.collected(pr.warehouse.probabilities(there, curve, **asked))
    assert found["note"].unique().to_list() == [SAME_SCORES]
    meant = pr.warehouse.probabilities(there, curve, **asked, same_table=True)
    assert pr.warehouse.collected(meant)["note"].null_count() == table.height


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"score": "p"}, InvalidArgument, "no column 'p'"),
        ({"model": None}, InvalidTable, "no role of the cases names the key"),
        ({"priors": 1}, InvalidArgument, "prior is 1"),
        ({"same_table": 1}, InvalidArgument, "same_table is 1"),
    ],
)
def test_wrong_arguments_are_refused(change, error, words):
    import ibis

    table = predictions(4)
    arguments = {
        "curve": pr.curve(table, **NAMES, fold=None), "score": "score",
        "priors": 0.1,
    } | change  # fmt: skip
    with pytest.raises(error, match=words):
        pr.warehouse.probabilities(ibis.memtable(table), **arguments)
