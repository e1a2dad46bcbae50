import amounts
import numpy as np
import polars as pl
import pytest
from amount_samples import held, lognormal
from amounts import ALARM, PRIORS
from polars.testing import assert_frame_equal
from scipy import stats

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.uncertainty.savings import few_amounts

A = {"truth": "truth", "score": "A"}
MONEY = {"cost_fn": "amount", "cost_fp": ALARM}
TABLE, AT = amounts.cases(3, 600), 1.5
LIMITS = ["lower", "upper", "std_error"]


def savings(table=TABLE, points=AT, **changed):
    return pr.savings(table, points, **{**A, **MONEY, "priors": PRIORS} | changed)


def part(values):
    """A mean with Student's limits on its logarithm, by the degrees of freedom of its values."""
    moved = values - values.mean()
    error = np.sqrt((moved**2).sum() / (values.size - 1) / values.size)
    freedom = max((moved**2).sum() ** 2 / (moved**4).sum() - 1, 1)
    far = np.exp(stats.t.ppf(0.975, freedom) * error / values.mean())
    return values.mean(), values.mean() / far, values.mean() * far, error


def both(first, second, sign):
    """A sum or difference with the limits of Zou and Donner (2008)."""
    a, a_low, a_high, a_error = first
    b, b_low, b_high, b_error = second
    down, up = (b - b_low, b_high - b) if sign > 0 else (b_high - b, b - b_low)
    total = a + sign * b
    return (
        total - np.hypot(a - a_low, down), total + np.hypot(a_high - a, up),
        np.hypot(a_error, b_error),
    )  # fmt: skip


@pytest.mark.parametrize("prior", PRIORS)
def test_limits_are_those_of_what_each_class_adds(prior):
    truth, called = TABLE["truth"].to_numpy(), TABLE["A"].to_numpy() >= AT
    amount, work = TABLE["amount"].to_numpy(), TABLE["work"].to_numpy() + 1
    missed, found = (part(prior * (amount * own)[truth]) for own in (~called, called))
    false, quiet = (part((1 - prior) * (work * own)[~truth]) for own in (called, ~called))
    expected = [both(missed, false, 1), both(found, false, -1), both(quiet, missed, -1)]
    rows = savings(priors=prior, cost_fp=pl.col("work") + 1)
    assert np.allclose(rows.select(LIMITS).to_numpy(), expected)


def test_equal_costs_have_the_limits_of_applied_thresholds():
    found = savings(cost_fn=10, cost_fp=2, level=0.9)
    applied = pr.apply_thresholds(
        TABLE, AT, **A, priors=PRIORS, intervals="exact", level=0.9, cost_fn=10, cost_fp=2
    )
    limits = applied.select("cost", "cost_lower", "cost_upper").rows()
    for prior, (cost, low, high) in zip(PRIORS, limits, strict=True):
        rows = found.filter(prior=prior).select("estimate", "lower", "upper").rows()
        trivial = 10 * prior, 2 * (1 - prior)
        saved = [(one - cost, one - high, one - low) for one in trivial]
        assert np.allclose(rows, [(cost, low, high), *saved])


def test_points_of_a_tuning_table():
    tuning = amounts.cases(4, 600)
    points = pr.operating_points(tuning, **A, **MONEY, priors=PRIORS)
    found = pr.savings(TABLE, points, **A, **MONEY)
    for at, prior in points.select("threshold", "prior").rows():
        one = savings(points=at, priors=prior)
        own = found.filter(prior=prior)
        assert_frame_equal(own.drop("rule", "note"), one.drop("rule", "note"), rel_tol=1e-9)
    with pytest.raises(InvalidTable, match="just as on the tuning table"):
        pr.savings(tuning, points, **A, **MONEY)
    assert pr.savings(tuning, points, **A, **MONEY, same_table=True).height == found.height


def test_the_least_cost_is_not_above_acting_on_none_or_all():
    points = pr.operating_points(TABLE, **A, **MONEY, priors=PRIORS)
    found = pr.savings(TABLE, points, **A, **MONEY, same_table=True)
    assert (found.filter(pl.col("measure") != "expected_cost")["estimate"] >= -1e-12).all()


def test_at_an_estimated_prior_limits_are_the_widest_over_its_interval():
    told = pl.DataFrame({"prior": [0.1], "lower": [0.05], "upper": [0.2], "method": ["em"]})
    found = savings(priors=told)
    ends = [savings(priors=prior) for prior in (0.05, 0.1, 0.2)]
    low, high = (np.stack([one[name].to_numpy() for one in ends]) for name in ("lower", "upper"))
    assert np.allclose(found["lower"], low.min(axis=0))
    assert np.allclose(found["upper"], high.max(axis=0))
    assert found["estimate"].to_list() == ends[1]["estimate"].to_list()
    unsure = savings(priors=told.with_columns(upper=pl.lit(None, pl.Float64)))
    assert unsure["lower"].null_count() == 3
    assert unsure["note"].str.contains("the estimated prior has no interval").all()
    with pytest.raises(InvalidArgument, match=r"at 0\.8"):
        savings(priors=told.with_columns(level=0.8))
    believed = savings(priors=pr.uniform(0.05, 0.2))
    assert believed["prior"].unique().item() == pytest.approx(0.125)
    exact = savings(priors=told, cost_fn=10, cost_fp=2)
    assert exact["lower"].null_count() == 0


def test_few_amounts_that_decide_are_named():
    loud = pl.when(pl.col("id") % 600 == 0).then(pl.lit(1e5)).otherwise("amount")
    quiet = TABLE.with_columns(A=pl.when(pl.col("id") % 600 == 0).then(-9.0).otherwise("A"))
    missed = int((quiet.filter("truth")["A"] < AT).sum())
    (note,) = savings(quiet, cost_fn=loud, priors=0.1).filter(measure="expected_cost")["note"]
    assert note.startswith(f"the largest of {missed} amounts is half of what is missed")
    assert few_amounts(np.array([5.0, 5.0, *[1.0] * 8]), "it") == (
        "the 2 largest of 10 amounts are half of it"
    )
    assert few_amounts(np.ones(50), "it") is few_amounts(np.zeros(50), "it") is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cost_fn": pl.col("amount") ** 2}, r"logarithms by 2\.\d, above 1\.75\): no interval"),
        ({"points": 99.0}, "fewer than 5 cases add to what false alarms cost: no interval"),
        ({"points": -99.0}, "fewer than 5 cases add to what is missed: no interval"),
        ({"cluster": pl.col("id") % 4}, "a class has fewer than 5 clusters: no interval"),
        (
            {"cost_fn": pl.when(pl.col("id") % 600 < 4).then(1.0).otherwise(0.0)},
            "fewer than 5 cases add",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)
def test_without_limits_it_is_said_why(changed, said):
    found = savings(**{"priors": 0.1} | changed).filter(measure="expected_cost")
    assert found["estimate"].is_not_null().all()
    assert found.select(LIMITS).null_count().row(0) == (1, 1, 1)
    assert found["note"].str.contains(said).all()


def test_a_threshold_that_calls_nothing_costs_what_acting_on_none_does():
    turned = {"truth": "truth", "score": -pl.col("A")}
    points = pr.operating_points(TABLE, **turned, cost_fn="amount", cost_fp=1e6, priors=0.1)
    assert points["threshold"].item() is None
    found = savings(points=points, same_table=True, priors=None, **turned)
    cost, none, _ = found.rows(named=True)
    assert cost["estimate"] == pytest.approx(amounts.cost(TABLE, "A", None, 0.1))
    assert none["estimate"] == 0
    assert cost["lower"] < cost["estimate"] < cost["upper"]


def test_a_class_that_is_absent_has_no_cost():
    found = savings(TABLE.filter("truth"), priors=0.1)
    assert found["estimate"].null_count() == 3
    assert found["note"].str.contains("no negatives").all()


@pytest.mark.parametrize(
    "law", [lognormal(1), lognormal(1, in_customers=True)], ids=["rows", "customers"]
)
def test_limits_hold_in_samples(law):
    found = held(law, 200, 0.5, 150, seed=3)
    assert found["given"].min() > 140
    # Five standard errors below 0.95 are 0.86.
    assert (found["held"] / found["given"] > 0.86).all()


def few_missed(seed=1):
    rng = np.random.default_rng(seed)
    score = np.concatenate([np.repeat([0.0, 1.0], [6, 123]), np.repeat([1.0, 0.0], [30, 570])])
    amount = np.concatenate([np.exp(3 + 0.5 * rng.normal(size=129)), np.ones(600)])
    amount[0] = amount[:129].max() * 2
    return pl.DataFrame({"truth": np.arange(729) < 129, "score": score, "amount": amount})


@pytest.mark.parametrize("priors", [0.1, pr.uniform(0.05, 0.2)], ids=["number", "belief"])
def test_no_limit_is_above_what_a_class_holds(priors):
    table = few_missed()
    own = {"truth": "truth", "score": "score", "cost_fn": "amount", "cost_fp": 2}
    found = pr.savings(table, 0.5, **own, priors=priors)
    cost, none, every = (found[name].to_list() for name in ("estimate", "lower", "upper"))
    of_pos = table.filter("truth")["amount"].to_numpy()
    whole = part(of_pos)[2]
    low, high = (0.1, 0.1) if priors == 0.1 else (0.05, 0.2)
    missed = part(of_pos * (table.filter("truth")["score"].to_numpy() < 0.5))
    assert missed[2] > whole
    assert none[0] < cost[0] < every[0] < high * whole + (1 - low) * 2
    assert every[1] < high * whole
    assert every[2] < (1 - low) * 2


def test_equal_costs_without_limits_say_why():
    table = pl.concat([TABLE.filter("truth").head(12), TABLE.filter(~pl.col("truth")).head(24)])
    table = table.drop("customer", "id")
    for points in (AT, 99.0):
        found = savings(table, points, cost_fn=5, cost_fp=1, priors=pr.uniform(0.05, 0.2))
        unknown = found["lower"].is_null()
        assert unknown.to_list()[0] is False
        assert unknown.any()
        reasons = found["note"].fill_null("").str.contains("fewer than 5 cases add to .*no inter")
        assert reasons.to_list() == unknown.to_list()


def test_what_is_not_independent_is_said_once():
    for costs in ({"cost_fn": 10, "cost_fp": 2}, MONEY):
        for priors in (0.1, pr.uniform(0.05, 0.2)):
            notes = savings(**costs, priors=priors)["note"]
            assert notes.str.count_matches("are not independent").to_list() == [1, 1, 1]
    few = savings(cluster=pl.col("id") % 4, cost_fn=10, cost_fp=2, priors=pr.uniform(0.05, 0.2))
    assert few["lower"].null_count() == 3
    assert few["note"].str.count_matches("no interval").to_list() == [1, 1, 1]
    none = pl.DataFrame({"prior": [0.1], "lower": [0.05], "upper": [None], "method": ["em"]})
    unsure = savings(priors=none.cast({"upper": pl.Float64}), cost_fn=10, cost_fp=2)
    assert unsure["note"].str.count_matches("has no interval").to_list() == [1, 1, 1]
