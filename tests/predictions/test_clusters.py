"""Rows without a cluster are refused wherever clusters are read."""

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

RNG = np.random.default_rng(5)
ROWS = 400
TRUTH = RNG.random(ROWS) < 0.4
FOLD = np.arange(ROWS) % 4
TABLE = pl.DataFrame(
    {
        "truth": TRUTH,
        "a": RNG.normal(TRUTH),
        "b": RNG.normal(TRUTH),
        "at": np.arange(ROWS),
        "f": FOLD,
        # Each cluster is within a fold.
        "who": 100.0 * FOLD + RNG.integers(0, 15, ROWS),
    }
)
TUNING = TABLE.with_columns(pl.col("a", "b") + pl.col("a", "b").shuffle(seed=1) / 100)
IN_USE = TUNING.select("a", day="at")
ONE = {"truth": "truth", "score": "a", "cluster": "who"}
TWO = {"truth": "truth", "score": ["a", "b"], "cluster": "who"}
FOLDS = {"fold": "f", "case": "at"}
POINTS = pr.operating_points(TUNING, "recall", target=0.8, truth="truth", score="a")
CALLS = {
    "evaluate": lambda table: pr.evaluate(table, **ONE, intervals=True),
    "compare": lambda table: pr.compare(table, "auc", **TWO),
    "compare of folds": lambda table: pr.compare(table, "auc", **TWO, **FOLDS),
    "choose": lambda table: pr.choose(table, over=(0.1, 0.3), **TWO),
    "choose by cost": lambda table: pr.choose(
        table, over=(0.1, 0.3), cost_fn=5, tuning=TUNING, **TWO
    ),
    "choose by cost of folds": lambda table: pr.choose(
        table, over=(0.1, 0.3), cost_fn=5, **TWO, **FOLDS
    ),
    "gate": lambda table: pr.gate(
        table, champion="a", challenger="b", measure="auc", margin=0.1, **TWO
    ),
    "operating_points": lambda table: pr.operating_points(
        table, "recall", target=0.8, confidence=0.9, **ONE
    ),
    "apply_thresholds": lambda table: pr.apply_thresholds(table, POINTS, intervals=True, **ONE),
    "expected_cost": lambda table: pr.expected_cost(table, over=(0.1, 0.3), intervals=True, **ONE),
    "decision_curve": lambda table: pr.decision_curve(table, priors=0.1, intervals=True, **ONE),
    "monitor": lambda table: pr.monitor(table, IN_USE, points=POINTS, time="day", **ONE),
}


def without(missing, dtype=pl.Float64):
    """The table, of which 30 rows have no cluster."""
    who = pl.when(pl.col("at") < 30).then(pl.lit(missing, pl.Float64)).otherwise("who")
    return TABLE.with_columns(who.cast(dtype).alias("who"))


@pytest.mark.parametrize("missing", [None, np.nan])
@pytest.mark.parametrize("name", CALLS)
def test_rows_without_a_cluster_are_refused(name, missing):
    with pytest.raises(InvalidPredictions, match=r"\d+ (cases have no cluster|rows have no 'who')"):
        CALLS[name](without(missing))


def test_a_lazy_table_is_refused_when_it_is_collected():
    for table in (without(np.nan), without(np.nan, pl.Float32)):
        plan = CALLS["evaluate"](table.lazy())
        with pytest.raises(InvalidPredictions, match="30 cases have no cluster"):
            plan.collect()


def test_clusters_may_be_floats():
    whole = TABLE.with_columns(pl.col("who").cast(pl.Int64))
    assert CALLS["evaluate"](TABLE).equals(CALLS["evaluate"](whole))


@pytest.mark.parametrize("function", [pr.cases, pr.evaluate, pr.compare, pr.choose, pr.check])
def test_two_columns_of_clusters_are_refused(function):
    with pytest.raises(InvalidArgument, match=r"cluster is a column name \(str\), found list"):
        function(TABLE, truth="truth", score="a", cluster=["who", "f"])
