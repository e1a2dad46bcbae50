"""Rows that are given several times, with the row as their cluster, say no more than the rows."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

import polaroc as pr
from polaroc.errors import PolarocError

rng = np.random.default_rng(8)
CASES = 160
NAMES = {"truth": "y", "score": "p", "model": "m"}
TIMES = 3
OVER = (0.1, 0.3)


def drawn(seed: int) -> pl.DataFrame:
    """Two models on the same cases, with ties."""
    rng = np.random.default_rng(seed)
    truth = np.arange(CASES) % 4 == 0
    shared = rng.normal(size=CASES)
    return pl.concat(
        pl.DataFrame({
            "m": model, "row": np.arange(CASES), "y": truth,
            "p": (1 / (1 + np.exp(1.2 - lead * truth - shared - rng.normal(size=CASES)))).round(2),
        })
        for model, lead in (("A", 1.7), ("B", 1.3))
    ).with_columns(pl.col("p").clip(0.01, 0.99))  # fmt: skip


TABLE = drawn(1)
COPIES = pl.concat(TABLE.with_columns(copy=pl.lit(i)) for i in range(TIMES)).with_columns(
    case=pl.col("row") * TIMES + pl.col("copy")
)
POINTS = pr.operating_points(pr.curve(drawn(2), **NAMES), "cost", priors=0.2)
ROWS, CLUSTERS = {"case": "row"}, {"case": "case", "cluster": "row"}
# Estimates, variances, limits and p-values of each function, in tables of one order.
FUNCTIONS: dict[str, Callable[..., pl.DataFrame]] = {
    "evaluate, logit": lambda table, **roles: pr.evaluate(
        table, **NAMES, **roles, over=OVER, priors=[0.5, 0.1], intervals="logit"
    ),
    "evaluate, wald": lambda table, **roles: pr.evaluate(
        table, **NAMES, **roles, over=OVER, priors=[0.5, 0.1], intervals="wald"
    ),
    "evaluate, losses": lambda table, **roles: pr.evaluate(
        table, **NAMES, **roles, priors=0.2, measures=["brier", "log_loss"], intervals="logit"
    ),
    "apply_thresholds": lambda table, **roles: pr.apply_thresholds(
        table, POINTS, **NAMES, **roles, intervals="exact"
    ),
    "delong": lambda table, **roles: pr.delong(table, **NAMES, **roles),
    "compare": lambda table, **roles: pr.compare(
        table, "auprec", **NAMES, **roles, prior=0.1
    ).pairs,
    "choose": lambda table, **roles: pr.choose(table, **NAMES, **roles, over=OVER).models,
    "choose, losses": lambda table, **roles: pr.choose(
        table, "brier", **NAMES, **roles, over=OVER
    ).models,
    "choose, costs": lambda table, **roles: pr.choose(
        table, "expected_cost", **NAMES, **roles, over=OVER, cost_fn=3,
        tuning=pr.cases(drawn(2), **NAMES, case="row"),
    ).models,
    "gate": lambda table, **roles: pl.DataFrame([
        {name: getattr(
            pr.gate(table, **NAMES, **roles, champion="B", challenger="A", measure="auc"), name
        ) for name in ("difference", "lower", "upper")}
    ]),
}  # fmt: skip
# What copies do not change at all.
SAME = ("estimate", "std_error", "difference", "statistic", "tpr", "fpr", "precision", "posfrac",
        "cost", "mean", "mean_regret", "worst_regret", "threshold")  # fmt: skip
# Functions that refuse a cluster still.
REFUSE = {"apply_thresholds"}


def limits(names: list[str]) -> list[tuple[str, str]]:
    """The columns of lower limits with those of the upper ones."""
    lower = [name for name in names if name.endswith("lower")]
    return [(name, name.removesuffix("lower") + "upper") for name in lower]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_copies_in_clusters_say_what_the_rows_say(name):
    function = FUNCTIONS[name]
    if name in REFUSE:
        with pytest.raises(PolarocError, match="cluster"):
            function(COPIES, **CLUSTERS)
        return
    rows, copies = function(TABLE, **ROWS), function(COPIES, **CLUSTERS)
    for column in rows.columns:
        if column in SAME:
            np.testing.assert_allclose(copies[column], rows[column], rtol=1e-9, atol=1e-12)
    for low, high in limits(rows.columns):
        lost = (rows[high] - rows[low]) - (copies[high] - copies[low])
        assert (lost.drop_nulls() <= 1e-9).all(), (low, lost.to_list())
        assert rows[low].null_count() == copies[low].null_count() < rows.height
    for column in ("p_value", "p_adjusted"):
        if column in rows.columns:
            assert (copies[column] >= rows[column] * (1 - 1e-9)).all()
