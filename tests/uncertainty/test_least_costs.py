"""Limits of what the best thresholds cost, and of what they leave of the Brier score."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import polaroc as pr

ROLES = {"truth": "truth", "score": "score"}
ASKED = ROLES | {"intervals": True}


def drawn(positives=60, negatives=240, seed=0, distance=1.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = (rng.normal(size=truth.size) + distance * truth).round(2)
    return pl.DataFrame({"truth": truth, "score": score, "row": np.arange(truth.size)})


TABLE = drawn()
PLAIN = TABLE.drop("row")


def left_over(table: pl.DataFrame, prior: float, **roles) -> pl.DataFrame:
    """The refinement loss, with limits."""
    return pr.evaluate(table, **ROLES, **roles, measure="refinement_loss", priors=prior)


def test_the_standard_error_is_that_of_a_jackknife():
    table, prior = drawn(40, 60), 0.3
    sure = left_over(table.drop("row"), prior, intervals=True)
    without = [
        table.with_columns(key=pl.lit(row)).filter(pl.col("row") != row) for row in range(100)
    ]
    each = left_over(pl.concat(without).drop("row"), prior, by="key")
    found = each.sort("key")["estimate"].to_numpy()
    # Of each class the deviations of its cases, from their own mean.
    squares = sum(
        (own.size - 1) / own.size * ((own - own.mean()) ** 2).sum()
        for own in (found[:40], found[40:])
    )
    assert sure["std_error"].item() == pytest.approx(squares**0.5, rel=0.1)


@pytest.mark.parametrize(
    ("table", "prior", "why"),
    [
        (drawn(50, 200), 0.01, "too few negatives for this prior"),
        (drawn(200, 50), 0.99, "too few positives for this prior"),
        (drawn(20, 40, distance=30), 0.3, "no spread among the cases"),
        (drawn(1, 100), 0.3, "a class has fewer than two cases"),
    ],
)
def test_where_limits_do_not_hold_there_are_none(table, prior, why):
    found = left_over(table.drop("row"), prior, intervals=True)
    assert found["estimate"].is_not_null().all()
    assert found.select("lower", "upper").null_count().row(0) == (1, 1)
    assert why in found["note"].item()


def true_loss(distance: float, prior: float) -> float:
    """The expected p(1 − p) of the true probability p, with normal scores."""

    def at(x):
        of_pos, of_neg = prior * norm.pdf(x - distance), (1 - prior) * norm.pdf(x)
        return of_pos * of_neg / (of_pos + of_neg)

    return quad(at, -12, 14)[0]


@pytest.mark.parametrize(("sizes", "prior"), [((15, 60), 0.3), ((50, 200), 0.1)])
def test_limits_hold_the_true_value(sizes, prior):
    runs = 120
    tables = [drawn(*sizes, seed=seed).with_columns(run=pl.lit(seed)) for seed in range(runs)]
    found = left_over(pl.concat(tables).drop("row"), prior, by="run", intervals=True)
    true = true_loss(1.5, prior)
    # Two standard errors of 120 samples below .93.
    assert found.select(pl.lit(true).is_between("lower", "upper").mean()).item() >= 0.88


@pytest.mark.parametrize("cluster", [None, "row"])
def test_what_is_left_of_the_brier_score_is_a_cost_whose_share_is_uniform(cluster):
    prior = 0.3
    rows = PLAIN if cluster is None else TABLE
    roles = ASKED if cluster is None else ASKED | {"cluster": cluster}
    of_scores = {"measure": ["refinement_loss", "refinement_loss_range"]}
    found = pr.evaluate(rows, **roles, **of_scores, priors=prior, over=(0.299999, 0.300001))
    costs = pr.expected_cost(rows, **roles, over=prior, cost=pr.uniform(1e-9, 1 - 1e-9))
    names = "cost_informed", "cost_informed_lower", "cost_informed_upper"
    expected = [2 * cost for cost in costs.select(names).row(0)]
    for row in found.select("estimate", "lower", "upper").rows():
        assert row == pytest.approx(expected, rel=1e-5)
    assert found["note"].to_list() == [None, None]
