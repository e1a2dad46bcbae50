"""Every chart once, of small tables: what all of them must be is tested in test_every_chart.py.

Each builder takes a prediction table with `model`, `fold`, `truth`, `score` and gives a chart.
"""

from collections.abc import Callable
from typing import Any

import polars as pl

import polaroc as pr

PRIORS = (0.05, 0.1, 0.2)
OVER = (0.05, 0.2)


def curves(table: pl.DataFrame, fold: str | None = None) -> pl.DataFrame:
    return pr.curve(table, truth="truth", score="score", model="model", fold=fold)


def measures(table: pl.DataFrame, fold: str | None = "fold", **asked: Any) -> pl.DataFrame:
    asked = {"priors": PRIORS, "over": OVER} | asked
    return pr.evaluate(table, truth="truth", score="score", model="model", fold=fold, **asked)


def comparison(table: pl.DataFrame):
    return pr.compare(measures(table), test_train_ratio=1 / 3)


def watched(table: pl.DataFrame) -> pl.DataFrame:
    """Three days in use, on the last of which all scores are high."""
    days = table.select("model", "score", day=pl.int_range(pl.len()) % 3 + 1)
    raised = pl.when(pl.col("day") == 3).then(pl.col("score") + 9).otherwise("score")
    days = days.with_columns(raised)
    names = {"truth": "truth", "score": "score", "fold": None, "time": "day"}
    return pr.monitor(table, days, points=table["score"].median(), **names).table


CASES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "roc": lambda table: pr.charts.roc(curves(table)),
    "pr": lambda table: pr.charts.pr(curves(table).pipe(pr.surface, [0.5, 0.1])),
    "roc with bands": lambda table: pr.charts.roc(pr.mean_curve(curves(table, "fold"))),
    "roc with hull": lambda table: pr.charts.roc(curves(table), hull=pr.hull(curves(table))),
    "pr with bands": lambda table: pr.charts.pr(
        curves(table, "fold").pipe(pr.surface, [0.5, 0.1]).pipe(pr.mean_curve)
    ),
    "pr with achievable": lambda table: pr.charts.pr(
        curves(table).pipe(pr.surface, 0.1), achievable=pr.achievable(curves(table), 0.1)
    ),
    "monitor": lambda table: pr.charts.monitor(watched(table), over=(0.05, 0.3)),
    "operating_drift": lambda table: pr.charts.operating_drift(
        pr.operating_points(curves(table), priors=[0.1, 0.5, 0.9]), curves(table)
    ),
    "operating_drift of folds": lambda table: pr.charts.operating_drift(
        pr.operating_points(curves(table, "fold"), priors=[0.1, 0.5, 0.9])
    ),
    "cost_curves": lambda table: pr.charts.cost_curves(pr.cost_curve(curves(table), 21)),
    "decision_curves": lambda table: pr.charts.decision_curves(
        pr.decision_curve(
            curves(table.with_columns(score=1 / (1 + (-pl.col("score")).exp()))), 20, [0.5, 0.1]
        )
    ),
    "reliability": lambda table: pr.charts.reliability(
        pr.calibration(
            table.with_columns(score=1 / (1 + (-pl.col("score")).exp())),
            [0.5, 0.1],
            truth="truth",
            score="score",
            model="model",
            fold=None,
        ).curve
    ),
    "explorer": lambda table: pr.charts.explorer(curves(table)),
    "auprec_by_prior": lambda table: pr.charts.auprec_by_prior(measures(table)),
    "auprec_by_prior, intervals": lambda table: pr.charts.auprec_by_prior(
        measures(table, fold=None, over=None, intervals=True)
    ),
    "accsens_plane": lambda table: pr.charts.accsens_plane(measures(table)),
    "pairs": lambda table: pr.charts.pairs(comparison(table)),
}
