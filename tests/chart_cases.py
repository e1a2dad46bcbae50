"""Every chart once, of small tables: what all of them must be is tested in test_chart_cases.py.

Each builder takes a prediction table with `model`, `fold`, `truth`, `score` and gives a chart.
"""

from collections.abc import Callable
from typing import Any

import polars as pl

import polaroc as pr

PRIORS = (0.05, 0.1, 0.2)
OVER = (0.05, 0.2)


def curves(table: pl.DataFrame, by: str | list[str] = "model") -> pl.DataFrame:
    return pr.curve(table, truth="truth", score="score", by=by)


def measures(table: pl.DataFrame, by=("model", "fold"), **asked: Any) -> pl.DataFrame:
    asked = {"priors": PRIORS, "over": OVER} | asked
    return pr.evaluate(table, truth="truth", score="score", by=by, **asked)


def unequal(table: pl.DataFrame) -> pl.DataFrame:
    """The same with models of which the next is always better."""
    rank = pl.col("model").rank("dense").cast(pl.Float64)
    return table.with_columns(pl.col("score") + 2 * rank * pl.col("truth"))


def choice(table: pl.DataFrame):
    return pr.choose(measures(table))


def comparison(table: pl.DataFrame):
    return pr.compare(measures(table), test_train_ratio=1 / 3)


CASES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "roc": lambda table: pr.charts.roc(curves(table)),
    "pr": lambda table: pr.charts.pr(curves(table).pipe(pr.surface, [0.5, 0.1])),
    "auprec_by_prior": lambda table: pr.charts.auprec_by_prior(measures(table)),
    "auprec_by_prior, intervals": lambda table: pr.charts.auprec_by_prior(
        measures(table, by="model", over=None, intervals="logit")
    ),
    "dominance": lambda table: pr.charts.dominance(
        pr.dominance(curves(unequal(table), ["model", "fold"]))
    ),
    "winner_map": lambda table: pr.charts.winner_map(choice(table)),
    "winner_map, no folds": lambda table: pr.charts.winner_map(
        pr.choose(measures(table, by="model"), block=None)
    ),
    "regret": lambda table: pr.charts.regret(choice(table)),
    "accsens_plane": lambda table: pr.charts.accsens_plane(measures(table)),
    "pairs": lambda table: pr.charts.pairs(comparison(table)),
    "interaction": lambda table: pr.charts.interaction(measures(table)),
}
