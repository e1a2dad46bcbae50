"""Costs of single cases are given as the weight of each case, with the mean cost of each class."""

import amounts
import numpy as np
import polars as pl
import pytest
from amounts import PRIORS
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument

A = {"truth": "truth", "score": "A"}
WEIGHTED = {"weight": "cost"}


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_cost_least(seed):
    table = amounts.cases(seed)
    found = pr.operating_points(
        table, "cost", priors=PRIORS, **A, **WEIGHTED, **amounts.mean_costs(table)
    )
    for prior, at, tpr, fpr in found.select("prior", "threshold", "tpr", "fpr").rows():
        expected, least = amounts.cheapest(table, "A", prior)
        assert at == expected
        fn, fp = amounts.mean_costs(table).values()
        assert prior * fn * (1 - tpr) + (1 - prior) * fp * fpr == pytest.approx(least)


def test_each_model_and_key_has_its_own():
    table = amounts.cases(1)
    for site in (0, 1):
        own = table.filter(site=site)
        found = pr.operating_points(
            own, "cost", priors=PRIORS, truth="truth", score=["A", "B"], **WEIGHTED,
            **amounts.mean_costs(own),
        )  # fmt: skip
        for model, prior, at in found.select("model", "prior", "threshold").rows():
            assert at == amounts.cheapest(own, model, prior)[0]


def test_expected_cost_as_by_brute_force():
    table = amounts.cases(1)
    found = pr.expected_cost(
        table, over=(0.02, 0.3), **A, **WEIGHTED, **amounts.mean_costs(table)
    ).row(0, named=True)
    tried = [None, *table["A"].unique()]
    missed, alarms = np.array([amounts.class_costs(table, "A", at) for at in tried]).T
    grid = 0.02 + 0.28 * (np.arange(20_000) + 0.5) / 20_000
    at_each = grid[:, None] * missed + (1 - grid[:, None]) * alarms
    assert found["threshold"] == amounts.cheapest(table, "A", 0.16)[0]
    assert found["cost_fixed"] == pytest.approx((0.16 * missed + 0.84 * alarms).min())
    assert found["cost_following"] == pytest.approx(at_each.min(axis=1).mean(), rel=1e-6)
    trivial = np.minimum(grid * missed.max(), (1 - grid) * alarms.max()).mean()
    assert found["cost_trivial"] == pytest.approx(trivial, rel=1e-6)
    assert found["cost_informed"] == found["cost_following"]
    assert found["worth_of_prior"] > 0


def test_choose_takes_the_threshold_that_costs_least():
    tuning, test = amounts.cases(1), amounts.cases(2)
    models = pr.choose(
        test, truth="truth", score=["A", "B"], case="id", over=(0.02, 0.3), tuning=tuning,
        **WEIGHTED, **amounts.mean_costs(tuning),
    ).models  # fmt: skip
    for model, at in models.select("model", "threshold").rows():
        assert at == amounts.cheapest(tuning, model, 0.16)[0]


def test_expected_cost_of_numbers_is_that_of_their_share():
    curve = pr.curve(amounts.cases(1), **A)
    share = pr.expected_cost(curve, over=pr.beta(2, 18), cost=0.8)
    money = pr.expected_cost(curve, over=pr.beta(2, 18), cost_fn=8, cost_fp=2)
    costs = [name for name in share.columns if name.startswith(("cost", "worth"))]
    assert_frame_equal(money.with_columns(pl.col(costs) / 10), share, rel_tol=1e-9)
    with pytest.raises(InvalidArgument, match="cost is the share of a miss, and cost_fn"):
        pr.expected_cost(curve, over=0.1, cost=0.7, cost_fn=3)


TABLE = amounts.cases(1)
FUNCTIONS = {
    "operating_points": lambda **o: pr.operating_points(TABLE, "cost", priors=0.1, **A, **o),
    "expected_cost": lambda **o: pr.expected_cost(TABLE, over=0.1, **A, **o),
    "apply_thresholds": lambda **o: pr.apply_thresholds(TABLE, 0.5, intervals=True, **A, **o),
    "choose": lambda **o: pr.choose(
        TABLE, truth="truth", score=["A", "B"], case="id", over=(0.1, 0.2),
        tuning=amounts.cases(2), **o,
    ),
}  # fmt: skip


@pytest.mark.parametrize("argument", ["cost_fn", "cost_fp"])
@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ("cost", r" is 'cost', allowed are finite numbers > 0.*give that as `weight`"),
        (pl.col("cost"), r".*allowed are finite numbers > 0.*give that as `weight`"),
        (TABLE["cost"], r".*allowed are finite numbers > 0.*give that as `weight`"),
        (0, r" is 0, allowed are finite numbers > 0"),
        (float("inf"), r" is inf, allowed are finite numbers > 0"),
    ],
    ids=["column", "expression", "series", "zero", "infinite"],
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_cost_is_a_number(name, argument, cost, said):
    with pytest.raises(InvalidArgument, match=f"(?s){argument}{said}"):
        FUNCTIONS[name](**{argument: cost})
