"""Limits of what the best thresholds cost."""

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import norm, t

import polaroc as pr

ROLES = {"truth": "truth", "score": "score"}


def drawn(positives=60, negatives=240, seed=0, distance=1.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    score = (rng.normal(size=truth.size) + distance * truth).round(2)
    return pl.DataFrame({"truth": truth, "score": score, "row": np.arange(truth.size)})


def least_cost(table: pl.DataFrame, prior: float, **roles) -> pl.DataFrame:
    """The cost at the best thresholds where all shares of the cost of a miss are equally likely.

    Twice that cost is the refinement loss, what calibration by the hull leaves of the Brier score.
    """
    costs = pr.expected_cost(table, **ROLES, **roles, over=prior, cost=pr.uniform(1e-9, 1 - 1e-9))
    return costs.rename(lambda name: name.replace("cost_informed_", "")).rename(
        {"cost_informed": "estimate"}
    )


def test_the_standard_error_is_that_of_a_jackknife():
    table, prior = drawn(40, 60), 0.3
    sure = least_cost(table.drop("row"), prior, intervals=True)
    without = [
        table.with_columns(key=pl.lit(row)).filter(pl.col("row") != row) for row in range(100)
    ]
    each = least_cost(pl.concat(without).drop("row"), prior, by="key")
    found = each.sort("key")["estimate"].to_numpy()
    # Of each class the deviations of its cases, from their own mean.
    squares = sum(
        (own.size - 1) / own.size * ((own - own.mean()) ** 2).sum()
        for own in (found[:40], found[40:])
    )
    # Student's limits of the logarithm, with one degree of freedom less than positives.
    estimate, lower = sure.select("estimate", "lower").row(0)
    error = estimate * np.log(estimate / lower) / t.ppf(0.975, 39)
    assert error == pytest.approx(squares**0.5, rel=0.1)


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
    found = least_cost(table.drop("row"), prior, intervals=True)
    assert found["estimate"].is_not_null().all()
    assert found.select("lower", "upper").null_count().row(0) == (1, 1)
    assert why in found["note"].item()


def true_loss(distance: float, prior: float) -> float:
    """Half the expected p(1 − p) of the true probability p, with normal scores."""

    def at(x):
        of_pos, of_neg = prior * norm.pdf(x - distance), (1 - prior) * norm.pdf(x)
        return of_pos * of_neg / (of_pos + of_neg)

    return quad(at, -12, 14)[0] / 2


@pytest.mark.parametrize(("sizes", "prior"), [((15, 60), 0.3), ((50, 200), 0.1)])
def test_limits_hold_the_true_value(sizes, prior):
    runs = 120
    tables = [drawn(*sizes, seed=seed).with_columns(run=pl.lit(seed)) for seed in range(runs)]
    found = least_cost(pl.concat(tables).drop("row"), prior, by="run", intervals=True)
    true = true_loss(1.5, prior)
    # Two standard errors of 120 samples below .93.
    assert found.select(pl.lit(true).is_between("lower", "upper").mean()).item() >= 0.88


def test_without_limits_twice_the_cost_is_the_refinement_loss():
    table = drawn().drop("row")
    loss = pr.evaluate(table, **ROLES, measure="refinement_loss", priors=0.3)["estimate"].item()
    assert 2 * least_cost(table, 0.3)["estimate"].item() == pytest.approx(loss, rel=1e-8)


def test_clusters_of_one_case_leave_limits_as_they_are():
    names = "estimate", "lower", "upper"
    plain = least_cost(drawn().drop("row"), 0.3, intervals=True).select(names).row(0)
    of_clusters = least_cost(drawn(), 0.3, intervals=True, cluster="row").select(names).row(0)
    assert of_clusters == pytest.approx(plain, rel=1e-9)
