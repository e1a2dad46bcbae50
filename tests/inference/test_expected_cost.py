"""Limits of the expected cost at the best thresholds."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy.stats import norm

import polaroc as pr
from polaroc.errors import InvalidArgument

ROLES = {"truth": "truth", "score": "score"}
ASKED = ROLES | {"intervals": True}
COSTS = ("cost_fixed", "cost_following", "cost_informed")


def drawn(positives=60, negatives=240, seed=0, distance=1.5, runs=1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.tile(np.arange(positives + negatives) < positives, runs)
    score = (rng.normal(size=truth.size) + distance * truth).round(2)
    run = np.repeat(np.arange(runs), positives + negatives)
    return pl.DataFrame({"truth": truth, "score": score, "run": run})


TABLE = drawn().drop("run")


def limits(found: pl.DataFrame, cost: str) -> tuple[float, float]:
    return found.select(f"{cost}_lower", f"{cost}_upper").row(0)


def test_without_intervals_it_is_that_of_the_curve():
    found = pr.expected_cost(TABLE, **ROLES, over=(0.1, 0.3), cost=pr.beta(2, 2))
    of_curve = pr.expected_cost(pr.curve(TABLE, **ROLES), over=(0.1, 0.3), cost=pr.beta(2, 2))
    assert_frame_equal(found, of_curve)
    sure = pr.expected_cost(TABLE, **ASKED, over=(0.1, 0.3), cost=pr.beta(2, 2))
    assert_frame_equal(sure.select(found.columns), found)
    for name in COSTS:
        lower, upper = limits(sure, name)
        assert lower < sure[name].item() < upper


def test_curves_have_limits():
    # A curve has the same cases, up to their order, which the folds behind the upper limit follow.
    of_curve = pr.expected_cost(pr.curve(TABLE, **ROLES), over=0.3, intervals=True)
    of_cases = pr.expected_cost(TABLE, **ASKED, over=0.3)
    lower, upper = limits(of_cases, "cost_fixed")
    assert limits(of_curve, "cost_fixed") == (
        pytest.approx(lower, abs=1e-12), pytest.approx(upper, rel=0.1),
    )  # fmt: skip
    assert of_curve["note"].item() == "limits take the cases of the curve as independent"


def test_nothing_costs_more_than_to_call_all_or_none():
    useless = drawn(30, 60, seed=3, distance=0.0).drop("run")
    sure = pr.expected_cost(useless, **ASKED, over=0.4, cost=0.5)
    assert limits(sure, "cost_fixed")[1] == pytest.approx(sure["cost_trivial"].item())


def test_why_there_are_none():
    few = pr.expected_cost(TABLE, **ASKED, over=0.01)
    assert limits(few, "cost_fixed") == (None, None)
    assert few["note"].item() == "too few negatives for this prior: no interval"
    # At so low a prior nothing is called positive.
    alike = pr.expected_cost(drawn(40, 400, 1, 0.3).drop("run"), **ASKED, over=0.03)
    assert limits(alike, "cost_fixed") == (None, None)
    assert alike["note"].item() == "no spread among the cases: no interval"
    weighted = pr.curve(TABLE.with_columns(w=0.5), **ROLES, weight="w")
    sure = pr.expected_cost(weighted, over=0.3, intervals=True)
    assert sure["note"].item() == "weights are not counts of cases: no interval"
    one = pr.expected_cost(TABLE.filter("truth"), **ASKED, over=0.3)
    assert one["note"].item() == "no negatives"


@pytest.mark.parametrize("cluster", [None, "one"])
def test_cases_that_all_stand_together_have_no_limits(cluster):
    few = pl.DataFrame({"truth": [True, False], "score": [0.7, 0.2], "one": 1})
    sure = pr.expected_cost(few, **ASKED, cluster=cluster, over=0.3)
    assert limits(sure, "cost_fixed") == (None, None)
    assert "fewer than" in sure["note"].item()


def test_an_estimate_has_limits_at_its_own_level():
    told = {"prior": [0.2, 0.3], "lower": [0.15, None], "upper": [0.3, None], "method": ["em"] * 2}
    estimates = pl.DataFrame(told | {"site": [1, 2], "level": [0.9, 0.9]})
    table = pl.concat([TABLE.with_columns(site=site) for site in (1, 2)])
    with pytest.raises(InvalidArgument, match=r"the estimated prior is one at 0\.9"):
        pr.expected_cost(table, **ASKED, by="site", over=estimates)
    sure = pr.expected_cost(table, **ASKED, by="site", over=estimates, level=0.9)
    assert sure["cost_following_lower"].is_null().to_list() == [False, True]
    assert sure["level"].to_list() == [0.9, 0.9]


@pytest.mark.slow
def test_how_often_limits_hold():
    runs, distance, share = 60, 1.5, 0.8
    table = drawn(30, 120, 7, distance, runs)
    at = np.linspace(0.05, 0.2, 501)
    cut = distance / 2 - np.log(share * at / ((1 - share) * (1 - at))) / distance
    cost = share * at * norm.cdf(cut - distance) + (1 - share) * (1 - at) * norm.sf(cut)
    sure = pr.expected_cost(table, **ASKED, by="run", over=(0.05, 0.2), cost=share)
    held = pl.lit(cost.mean()).is_between("cost_following_lower", "cost_following_upper")
    # Of 60 at 0.95, 52 or fewer have a probability of 0.02.
    assert sure.select(held.sum()).item() > 52


@pytest.mark.parametrize("cluster", [None, "patient"])
def test_the_order_of_rows_has_no_bearing_where_scores_are_tied(cluster):
    rng = np.random.default_rng(8)
    truth = np.arange(300) % 3 == 0
    common = rng.normal(size=300) + truth
    table = pl.DataFrame(
        {"y": truth, "patient": np.arange(300) // 3}
        | {name: (common + rng.normal(size=300)).round() for name in "AB"}
    )
    asked = {"truth": "y", "score": ["A", "B"], "cluster": cluster, "over": 0.1, "cost": 5 / 6}
    one, other = (
        pr.expected_cost(rows, **asked, intervals=True)
        for rows in (table, table.sample(fraction=1, shuffle=True, seed=1))
    )
    assert_frame_equal(one, other, rel_tol=1e-9)
