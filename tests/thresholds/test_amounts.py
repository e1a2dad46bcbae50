import amounts
import numpy as np
import polars as pl
import pytest
from amounts import ALARM, PRIORS
from polars.testing import assert_frame_equal

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions

A = {"truth": "truth", "score": "A"}
MONEY = {"cost_fn": "amount", "cost_fp": ALARM}
TABLE = amounts.cases(1)


def points(table=TABLE, **changed):
    return pr.operating_points(table, **A | {"priors": PRIORS} | MONEY | changed)


@pytest.mark.parametrize(
    "costs",
    [{"fn": "amount"}, {"fn": "amount", "fp": "work"}, {"fn": 50, "fp": "work"}],
    ids=str,
)
@pytest.mark.parametrize("weight", [None, "times"])
def test_thresholds_cost_least(costs, weight):
    said = {"cost_fn": costs["fn"], "cost_fp": costs.get("fp", ALARM)}
    for roles in [{}] if weight is None else [{"count": weight}, {"weight": weight}]:
        found = points(**said, **roles)
        for prior, at in found.select("prior", "threshold").rows():
            expected, least = amounts.cheapest(TABLE, "A", prior, weight=weight, **costs)
            assert at == expected
            own = amounts.cost(TABLE, "A", at, prior, weight=weight, **costs)
            assert own == pytest.approx(least)


def test_a_lazy_table_and_each_key_have_their_own():
    roles = {"score": ["A", "B"], "by": "site"}
    found = points(**roles)
    assert found.height == 2 * 2 * len(PRIORS)
    assert_frame_equal(points(TABLE.lazy(), **roles).collect(), found, rel_tol=1e-12)
    for model, site, prior, at in found.select("model", "site", "prior", "threshold").rows():
        own = TABLE.filter(site=site)
        assert at == amounts.cheapest(own, model, prior)[0]


def test_rates_are_those_of_cases_and_not_of_amounts():
    found = points().row(1, named=True)
    truth, called = TABLE["truth"].to_numpy(), TABLE["A"].to_numpy() >= found["threshold"]
    assert found["tpr"] == pytest.approx(called[truth].mean())
    assert found["fpr"] == pytest.approx(called[~truth].mean())
    assert found["positives"] == truth.sum()


def test_equal_amounts_are_a_number():
    plain = points(cost_fn=7, cost_fp=2)
    for fn, fp in ((pl.lit(7), 2), (pl.lit(7), pl.lit(2)), (7, pl.lit(2.0))):
        assert_frame_equal(points(cost_fn=fn, cost_fp=fp), plain, rel_tol=1e-12)


def test_amounts_are_those_of_the_class_that_pays_them():
    other = TABLE.with_columns(
        amount=pl.when("truth").then("amount"), work=pl.when(pl.col("truth").not_()).then("work")
    )
    both = {"cost_fn": "amount", "cost_fp": "work"}
    assert_frame_equal(points(other, **both), points(**both))
    # Amounts within a class may go to other cases, which changes the thresholds.
    assert not points(cost_fn=pl.col("amount").reverse().over("truth")).equals(points())


def test_another_unit_changes_no_threshold():
    cents = {"cost_fn": pl.col("amount") * 100, "cost_fp": 100 * ALARM}
    assert_frame_equal(points(**cents), points())


def test_constraints_are_kept_and_promised():
    asked = {"priors": None, "over": (0.02, 0.1), "constraints": {"posfrac": 0.1}}
    found = points(**asked, confidence=0.9).row(0, named=True)
    assert "at most 1 of 10 cases" in found["promise"]
    free = points(priors=None, over=(0.02, 0.4)).row(0, named=True)
    assert free["threshold"] == amounts.cheapest(TABLE, "A", 0.21)[0]
    called = TABLE.filter(pl.col("A") >= found["threshold"]).group_by("truth").len()
    assert called.height == 2


def test_expected_cost_as_by_brute_force():
    found = pr.expected_cost(TABLE, over=(0.02, 0.3), **A, **MONEY).row(0, named=True)
    tried = [None, *TABLE["A"].unique()]
    missed, alarms = np.array([amounts.class_costs(TABLE, "A", at) for at in tried]).T
    grid = 0.02 + 0.28 * (np.arange(20_000) + 0.5) / 20_000
    at_each = grid[:, None] * missed + (1 - grid[:, None]) * alarms
    assert found["threshold"] == amounts.cheapest(TABLE, "A", 0.16)[0]
    assert found["cost_fixed"] == pytest.approx((0.16 * missed + 0.84 * alarms).min())
    assert found["cost_following"] == pytest.approx(at_each.min(axis=1).mean(), rel=1e-6)
    trivial = np.minimum(grid * missed.max(), (1 - grid) * alarms.max()).mean()
    assert found["cost_trivial"] == pytest.approx(trivial, rel=1e-6)
    assert found["cost_informed"] == found["cost_following"]
    assert found["worth_of_prior"] > 0


def test_expected_cost_of_numbers_is_that_of_their_share():
    curve = pr.curve(TABLE, **A)
    share = pr.expected_cost(curve, over=pr.beta(2, 18), cost=0.8)
    money = pr.expected_cost(curve, over=pr.beta(2, 18), cost_fn=8, cost_fp=2)
    costs = [name for name in share.columns if name.startswith(("cost", "worth"))]
    assert_frame_equal(money.with_columns(pl.col(costs) / 10), share, rel_tol=1e-9)
    columns = pr.expected_cost(TABLE, over=pr.beta(2, 18), cost_fn=pl.lit(8), cost_fp=2, **A)
    assert_frame_equal(columns, money, rel_tol=1e-9)
    with pytest.raises(InvalidArgument, match="cost is the share of a miss, and cost_fn"):
        pr.expected_cost(curve, over=0.1, cost=0.7, cost_fn=3)


def test_expected_cost_at_estimates():
    told = pl.DataFrame(
        {"site": [0, 1], "prior": [0.1, 0.2], "lower": [0.05, 0.1], "upper": [0.2, None],
         "method": ["em", "em"]}
    )  # fmt: skip
    found = pr.expected_cost(TABLE, over=told, by="site", **A, **MONEY)
    plain = pr.expected_cost(TABLE, over=told, by="site", **A, cost_fn=pl.lit(50), cost_fp=ALARM)
    curve = pr.curve(TABLE, by="site", **A)
    numbers = pr.expected_cost(curve, over=told, cost_fn=50, cost_fp=ALARM)
    assert_frame_equal(plain, numbers, rel_tol=1e-9)
    assert found["cost_following"].is_null().to_list() == [False, True]


FUNCTIONS = {
    "operating_points": points,
    "expected_cost": lambda table=TABLE, **o: pr.expected_cost(table, over=0.1, **A | MONEY | o),
    "savings": lambda table=TABLE, **o: pr.savings(table, 0.5, **A | MONEY | o),
    "choose": lambda table=TABLE, **o: pr.choose(
        table, truth="truth", score=["A", "B"], case="id", over=(0.1, 0.2),
        tuning=amounts.cases(2), **MONEY | o,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"cost_fn": "amounts"}, r"(?s)cost_fn is 'amounts'.*no column.*did you mean 'amount'"),
        ({"cost_fp": "nothing"}, r"cost_fp is 'nothing'.*no column"),
        ({"cost_fn": pl.col("amount") - 60}, r"(?s)invalid cost.*≥ 0 and finite"),
        ({"cost_fn": pl.col("amount") / 0}, r"(?s)(80|160) invalid costs.*≥ 0 and finite"),
        ({"cost_fp": pl.lit(-1)}, r"(?s)(320|640) invalid costs.*≥ 0 and finite"),
        ({"cost_fn": pl.when(pl.col("id") % 10_000 > 3).then("amount")},
         r"(?s)(4|8) null costs.*nulls='drop'"),
        ({"cost_fn": pl.col("amount") * float("nan")}, r"(80|160) null costs"),
        ({"cost_fn": pl.col("amount").cast(pl.String)}, r"(?s)cost_fn column.*is String.*cast it"),
        ({"cost_fn": pl.col("amount") * 0}, r"(?s)cost_fn is 0 for all positives.*Hint"),
        ({"cost_fp": pl.col("amount") * 0}, r"(?s)cost_fp is 0 for all negatives.*Hint"),
        ({"cost_fp": 0}, r"cost_fp is 0, allowed are finite numbers > 0"),
        ({"cost_fp": float("inf")}, r"cost_fp is inf, allowed are finite numbers > 0"),
    ],
    # The words of an expression hold an address, which differs between processes.
    ids=lambda one: one if isinstance(one, str) else "-".join(one),
)  # fmt: skip
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_amounts_are_refused(name, costs, said):
    function = FUNCTIONS[name]
    with pytest.raises((InvalidArgument, InvalidPredictions), match=said):
        function(**costs)


def test_a_lazy_table_refuses_them_when_it_is_collected():
    plan = points(TABLE.lazy(), cost_fn=pl.col("amount") * 0)
    with pytest.raises(InvalidPredictions, match="cost_fn is 0 for all positives"):
        plan.collect()
    noted = points(TABLE.lazy(), cost_fn=pl.col("amount") - 60).collect()
    assert noted["threshold"].null_count() == noted.height == len(PRIORS)
    assert "null, NaN or unclear values" in noted["note"][0]


def test_rows_without_a_cost_may_be_dropped():
    some = pl.when(pl.col("id") % 10_000 > 3).then("amount")
    rest = TABLE.filter(pl.col("id") % 10_000 > 3)
    assert_frame_equal(points(cost_fn=some, nulls="drop"), points(rest))


def test_what_has_lost_the_cases_is_refused_with_the_cure():
    curve = pr.curve(TABLE, **A)
    for call in (
        lambda: pr.operating_points(curve, cost_fn="amount"),
        lambda: pr.expected_cost(curve, over=0.1, cost_fp=pl.col("amount")),
        lambda: pr.operating_points(curve.lazy(), cost_fn="amount"),
    ):
        with pytest.raises(InvalidArgument, match=r"(?s)a curve has lost the cases.*truth='truth'"):
            call()
    measures = pr.evaluate(TABLE, truth="truth", score=["A", "B"], over=(0.1, 0.2))
    with pytest.raises(InvalidArgument, match=r"(?s)a table of measures has lost the cases.*Hint"):
        pr.choose(measures, cost_fn="amount")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"rule": "posterior"}, r"(?s)'posterior' weighs a score.*take the rule 'cost'"),
        ({"rule": "recall", "target": 0.5}, r"(?s)rule is 'recall'.*rule='cost'"),
    ],
)
def test_rules_that_weigh_no_amounts_refuse_them(changed, said):
    with pytest.raises(InvalidArgument, match=said):
        points(**changed)


def test_functions_of_numbers_name_those_that_take_columns():
    with pytest.raises(InvalidArgument, match=r"(?s)cost_fn is 'amount', allowed.*savings and"):
        pr.apply_thresholds(TABLE, 0.5, **A, intervals="exact", cost_fn="amount")


ONE_CLASS = TABLE.filter(pl.col("truth").not_() | (pl.col("site") == 0))
COSTS = ["cost_fixed", "cost_following", "cost_informed", "worth_of_prior", "cost_trivial"]


def test_a_key_without_a_class_has_no_costs_as_with_a_number():
    for table in (ONE_CLASS, TABLE.filter(pl.col("truth") | (pl.col("site") == 0))):
        found, number = (
            pr.expected_cost(table, over=(0.02, 0.3), by="site", **A, cost_fn=fn, cost_fp=ALARM)
            for fn in ("amount", 50)
        )
        assert found.select(COSTS).row(1) == number.select(COSTS).row(1) == (None,) * 5
        assert found["note"].to_list() == number["note"].to_list()
        assert found["cost_fixed"][0] > 0
    told = pr.expected_cost(ONE_CLASS, over=0.1, by="site", **A, cost_fn=50, cost_fp="work")
    assert told.select(COSTS).row(1) == (None,) * 5


def test_a_key_whose_amounts_are_zero_says_so():
    table = TABLE.with_columns(amount=pl.when(pl.col("site") == 0).then("amount").otherwise(0.0))
    told = pl.DataFrame({"prior": [0.1], "lower": [0.05], "upper": [0.2], "method": ["em"]})
    for over in (0.1, (0.02, 0.3), told):
        found = pr.expected_cost(table, over=over, by="site", **A, **MONEY)
        assert found.select(COSTS).row(1) == (None,) * 5
        assert found["note"][0] is None
        assert found["note"][1] == (
            "the wrong calls of a class cost nothing here: no threshold is better"
        )
    unsure = told.with_columns(upper=pl.lit(None, pl.Float64))
    noted = pr.expected_cost(table, over=unsure, by="site", **A, **MONEY)["note"]
    assert noted.to_list() == ["the estimated prior has no interval"] * 2
