"""Costs of single cases are given as the weight of each case, with the mean cost of each class."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument

PRIORS = (0.02, 0.1, 0.4)
A = {"truth": "truth", "score": "A"}
WEIGHTED = {"weight": "cost"}


def cases(seed, size=400):
    """Scores of two models, with ties, and what a wrong call of each case costs."""
    rng = np.random.default_rng(seed)
    truth = np.arange(size) < size // 5
    shared = rng.normal(size=size)
    scores = {
        name: (shared + rng.normal(size=size) + gap * truth).round(1)
        for name, gap in (("A", 2.5), ("B", 1.0))
    }
    cost = np.where(truth, np.exp(4 + rng.normal(size=size)), rng.integers(0, 30, size))
    ids, sites = np.arange(size) + 10_000 * seed, rng.integers(0, 2, size)
    return pl.DataFrame({"id": ids, "truth": truth, "cost": cost, "site": sites, **scores})


def mean_costs(table):
    """The mean cost of a miss and of a false alarm."""
    of_class = dict(table.group_by("truth").agg(pl.col("cost").mean()).iter_rows())
    return {"cost_fn": of_class[True], "cost_fp": of_class[False]}


def class_costs(table, model, at):
    """Amount missed per positive and cost of alarms per negative, case by case."""
    sums, totals = {True: 0.0, False: 0.0}, {True: 0, False: 0}
    for truth, score, cost in table.select("truth", model, "cost").iter_rows():
        called = at is not None and score >= at
        sums[truth] += cost * (called != truth)
        totals[truth] += 1
    return sums[True] / totals[True], sums[False] / totals[False]


def cheapest(table, model, prior):
    """The highest threshold of least cost, None for calling nothing positive, and its cost."""
    found = None
    for at in [None, *sorted(table[model].unique(), reverse=True)]:
        missed, alarms = class_costs(table, model, at)
        own = prior * missed + (1 - prior) * alarms
        if found is None or own < found[1] * (1 - 1e-12):
            found = at, own
    return found


@pytest.mark.parametrize("seed", range(5))
def test_thresholds_cost_least(seed):
    table = cases(seed)
    found = pr.operating_points(table, "cost", priors=PRIORS, **A, **WEIGHTED, **mean_costs(table))
    for prior, at, tpr, fpr in found.select("prior", "threshold", "tpr", "fpr").rows():
        expected, least = cheapest(table, "A", prior)
        assert at == expected
        fn, fp = mean_costs(table).values()
        assert prior * fn * (1 - tpr) + (1 - prior) * fp * fpr == pytest.approx(least)


def test_each_model_and_key_has_its_own():
    table = cases(1)
    for site in (0, 1):
        own = table.filter(site=site)
        found = pr.operating_points(
            own, "cost", priors=PRIORS, truth="truth", score=["A", "B"], **WEIGHTED,
            **mean_costs(own),
        )  # fmt: skip
        for model, prior, at in found.select("model", "prior", "threshold").rows():
            assert at == cheapest(own, model, prior)[0]


def test_expected_cost_as_by_brute_force():
    table = cases(1)
    found = pr.expected_cost(table, over=(0.02, 0.3), **A, **WEIGHTED, **mean_costs(table)).row(
        0, named=True
    )
    tried = [None, *table["A"].unique()]
    missed, alarms = np.array([class_costs(table, "A", at) for at in tried]).T
    grid = 0.02 + 0.28 * (np.arange(20_000) + 0.5) / 20_000
    at_each = grid[:, None] * missed + (1 - grid[:, None]) * alarms
    assert found["threshold"] == cheapest(table, "A", 0.16)[0]
    assert found["cost_fixed"] == pytest.approx((0.16 * missed + 0.84 * alarms).min())
    assert found["cost_following"] == pytest.approx(at_each.min(axis=1).mean(), rel=2e-5)
    trivial = np.minimum(grid * missed.max(), (1 - grid) * alarms.max()).mean()
    assert found["cost_trivial"] == pytest.approx(trivial, rel=2e-5)
    assert found["cost_informed"] == found["cost_following"]
    assert found["worth_of_prior"] > 0


def test_choose_takes_the_threshold_that_costs_least():
    tuning, test = cases(1), cases(2)
    models = pr.choose(
        test, truth="truth", score=["A", "B"], case="id", over=(0.02, 0.3), tuning=tuning,
        **WEIGHTED, **mean_costs(tuning),
    ).models  # fmt: skip
    for model, at in models.select("model", "threshold").rows():
        assert at == cheapest(tuning, model, 0.16)[0]


def test_expected_cost_of_numbers_is_that_of_their_share():
    curve = pr.curve(cases(1), **A)
    share = pr.expected_cost(curve, over=pr.beta(2, 18), cost=0.8)
    money = pr.expected_cost(curve, over=pr.beta(2, 18), cost_fn=8, cost_fp=2)
    costs = [name for name in share.columns if name.startswith(("cost", "worth"))]
    assert_frame_equal(money.with_columns(pl.col(costs) / 10), share, rel_tol=1e-9)
    with pytest.raises(InvalidArgument, match="cost is the share of a miss, and cost_fn"):
        pr.expected_cost(curve, over=0.1, cost=0.7, cost_fn=3)


TABLE = cases(1)
FUNCTIONS = {
    "operating_points": lambda **o: pr.operating_points(TABLE, "cost", priors=0.1, **A, **o),
    "expected_cost": lambda **o: pr.expected_cost(TABLE, over=0.1, **A, **o),
    "apply_thresholds": lambda **o: pr.apply_thresholds(TABLE, 0.5, intervals=True, **A, **o),
    "choose": lambda **o: pr.choose(
        TABLE, truth="truth", score=["A", "B"], case="id", over=(0.1, 0.2),
        tuning=cases(2), **o,
    ),
}  # fmt: skip


COSTS = {
    "column": "cost", "expression": pl.col("cost"), "series": TABLE["cost"], "below": -1,
    "infinite": float("inf"),
}  # fmt: skip


@pytest.mark.parametrize("argument", ["cost_fn", "cost_fp"])
@pytest.mark.parametrize("cost", COSTS.values(), ids=COSTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_cost_is_a_number(name, argument, cost):
    with pytest.raises(InvalidArgument, match=f"{argument} .*allowed are finite numbers") as caught:
        FUNCTIONS[name](**{argument: cost})
    assert "give that as `weight`" in str(caught.value)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_thresholds_that_are_there_may_have_errors_without_a_cost(name):
    if name == "apply_thresholds":
        judged = FUNCTIONS[name](cost_fn=0)
        prior, f = judged.select("prior", "fpr").row(0)
        assert judged["cost"][0] == pytest.approx((1 - prior) * f)
        return
    with pytest.raises(InvalidArgument, match="cost_fn is 0, allowed are finite numbers > 0"):
        FUNCTIONS[name](cost_fn=0)
