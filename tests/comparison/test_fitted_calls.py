"""Models compared by what they call positive: rates at fixed thresholds, and costs."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, norm

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidPredictions, InvalidTable

SCORES = {"truth": "truth", "score": ["a", "b"]}
POINTS = {"a": 0.8, "b": 1.1}


def drawn(positives=60, negatives=140, seed=0, ahead=0.5) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = np.arange(positives + negatives) < positives
    shared = rng.normal(size=truth.size)
    own = rng.normal(size=(2, truth.size))
    a, b = ((shared + one) / 2**0.5 for one in own)
    return pl.DataFrame({"truth": truth, "a": a + 1.2 * truth, "b": b + (1.2 + ahead) * truth})


TABLE = drawn()


def compared(table=TABLE, measure="recall", points=POINTS, **asked):
    return pr.compare(table, measure, points=points, **{**SCORES, **asked})


def calls(table=TABLE):
    return [table.select(pl.col(name) >= at).to_series().to_numpy() for name, at in POINTS.items()]


def rates(a, b, truth):
    return [(one[truth].mean(), one[~truth].mean()) for one in (a, b)]


@pytest.mark.parametrize(("measure", "among"), [("recall", True), ("specificity", False)])
def test_class_rates_have_mcnemars_variance_and_two_cases_more_that_disagree(measure, among):
    a, b = (own == among for own in calls())
    a, b = (own[TABLE["truth"].to_numpy() == among] for own in (a, b))
    n, only_a, only_b = a.size, (a & ~b).sum(), (b & ~a).sum()
    found = compared(measure=measure).pairs
    difference = (only_a - only_b) / n
    assert found["difference"].item() == pytest.approx(difference)
    variance = (only_a + only_b + 2 - n * difference**2) / (n * (n - 1))
    assert found["std_error"].item() == pytest.approx(variance**0.5)
    reach = norm.ppf(0.975) * variance**0.5
    assert found["upper"].item() - difference == pytest.approx(reach)


def jackknifed(value, truth) -> float:
    """The variance of a value of the cases, by leaving out one of each class at a time."""
    total = 0.0
    for of_class in (truth, ~truth):
        each = np.array([value(np.arange(truth.size) != one) for one in np.flatnonzero(of_class)])
        total += (each.size - 1) / each.size * ((each - each.mean()) ** 2).sum()
    return total


@pytest.mark.parametrize(
    ("measure", "rate", "asked"),
    [
        ("precision", lambda t, f: 0.1 * t / (0.1 * t + 0.9 * f), {"prior": 0.1}),
        ("npv", lambda t, f: 0.7 * (1 - f) / (0.7 * (1 - f) + 0.3 * (1 - t)), {"prior": 0.3}),
        ("net_benefit", lambda t, f: 0.2 * t - 0.8 * f / 4, {"prior": 0.2, "cost_fn": 4}),
        (
            "expected_cost",
            lambda t, f: 5 * 0.15 * (1 - t) + 2 * 0.85 * f,
            {"over": (0.1, 0.2), "cost_fn": 5, "cost_fp": 2},
        ),
        ("f_measure", lambda t, f: 0.6 * t / (0.3 * t + 0.7 * f + 0.3), {}),
    ],
)
def test_rates_at_a_prior_have_the_variance_of_a_jackknife(measure, rate, asked):
    truth = TABLE["truth"].to_numpy()
    a, b = calls()

    def apart(kept):
        own = rates(a[kept], b[kept], truth[kept])
        return rate(*own[0]) - rate(*own[1])

    found = compared(measure=measure, **asked).pairs
    assert found["difference"].item() == pytest.approx(apart(np.ones(truth.size, bool)))
    step, more = 1e-6, 0.0
    for t, f in rates(a, b, truth):
        for n, moved in ((truth.sum(), rate(t + step, f)), ((~truth).sum(), rate(t, f + step))):
            more += ((moved - rate(t, f)) / step) ** 2 / (n * (n - 1))
    expected = (jackknifed(apart, truth) + more) ** 0.5
    assert found["std_error"].item() == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("asked", "is_said"),
    [
        ({"measure": "net_benefit", "prior": 0.1}, True),
        ({"measure": "expected_cost", "prior": 0.1}, True),
        ({"measure": "expected_cost", "prior": 0.1, "points": None}, True),
        ({"measure": "net_benefit", "prior": 0.1, "cost_fn": 4}, False),
        ({"measure": "recall"}, False),
    ],
)
def test_costs_that_nobody_gave_are_said(asked, is_said):
    gated = {"points": POINTS, "champion": "a", "challenger": "b", "margin": 0.1}
    for found in (compared(**asked), pr.gate(TABLE, **SCORES, **gated | asked)):
        said = "A miss counts as much as a false alarm: both cost 1." in found.warnings
        assert said == is_said


def test_models_that_call_alike_do_not_differ():
    same = TABLE.with_columns(b=pl.col("a"))
    found = compared(same, points=0.8).pairs
    assert found.select("difference", "p_value").row(0) == (0.0, 1.0)
    assert found["upper"].item() > 0


def test_thresholds_may_be_a_number_one_per_model_or_points():
    number = compared(points=1.0).pairs
    assert number.equals(compared(points={"a": 1.0, "b": 1.0}).pairs)
    tuned = pr.operating_points(pr.curve(drawn(seed=9), **SCORES), "recall", target=0.8)
    at = dict(tuned.select("model", "threshold").iter_rows())
    assert compared(points=tuned).pairs.equals(compared(points=at).pairs)
    judged = pr.apply_thresholds(TABLE, tuned, **SCORES).sort("model")
    assert compared(points=tuned).letters.sort("model")["mean"].to_list() == pytest.approx(
        judged["tpr"].to_list()
    )


def test_cases_at_a_threshold_are_called_by_its_share():
    tied = TABLE.with_columns(pl.col("a", "b").round(0))
    tuned = pr.operating_points(pr.curve(tied, **SCORES), "balanced", priors=0.3)
    other = drawn(seed=4).with_columns(pl.col("a", "b").round(0))
    assert tuned["share"].min() < 1
    judged = pr.apply_thresholds(other, tuned, **SCORES)["tpr"].to_list()
    found = compared(other, points=tuned).letters.sort("model")["mean"].to_list()
    assert found == pytest.approx(judged)


@pytest.mark.parametrize("asked", [{"over": (0.05, 0.2), "cost_fn": 8}, {"prior": 0.3}])
def test_at_the_best_thresholds_costs_are_those_of_expected_cost(asked):
    found = compared(measure="expected_cost", points=None, **asked)
    fn = asked.get("cost_fn", 1)
    over = asked.get("over", asked.get("prior"))
    alone = pr.expected_cost(TABLE, **SCORES, over=over, cost=fn / (fn + 1)).sort("model")
    costs = (alone["cost_following"] * (fn + 1)).to_list()
    assert found.letters.sort("model")["mean"].to_list() == pytest.approx(costs)
    assert found.pairs["difference"].item() == pytest.approx(costs[0] - costs[1])
    assert not found.higher_is_better
    # With thresholds that were chosen elsewhere models cost more.
    tuned = pr.operating_points(pr.curve(drawn(seed=3), **SCORES), "cost", priors=0.1, cost_fn=fn)
    fixed = compared(measure="expected_cost", points=tuned, **asked).letters["mean"]
    assert (fixed.to_numpy() > found.letters["mean"].to_numpy()).all()


def test_gate_takes_calls():
    asked = {"champion": "a", "challenger": "b", "points": POINTS, **SCORES}
    pair = compared().pairs
    result = pr.gate(TABLE, **asked, measure="recall", margin=0.1)
    assert -result.upper == pytest.approx(pair["lower"].item())
    assert -result.lower == pytest.approx(pair["upper"].item())
    assert "recall at fixed thresholds" in result.answer
    for margin, verdict in ((-result.lower + 1e-9, "pass"), (-result.lower - 1e-3, "undecided")):
        if margin >= 0:
            got = pr.gate(TABLE, **asked, measure="recall", margin=margin).verdict
            assert got == verdict
    worse = pr.gate(
        TABLE, **asked | {"champion": "b", "challenger": "a"}, measure="expected_cost",
        prior=0.3, cost_fn=10,
    )  # fmt: skip
    assert not worse.higher_is_better
    assert worse.difference > 0
    assert "in expected cost at fixed thresholds" in worse.answer
    assert "net benefit at fixed" in compared(measure="net_benefit", prior=0.3).summary()
    best = pr.gate(TABLE, **asked | {"points": None}, measure="expected_cost", margin=0.2)
    assert best.verdict == "pass"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"points": None}, "of what thresholds call positive, and points is not given"),
        ({"prior": 0.1}, "prior is for measures at a prior, and measure is 'recall'"),
        ({"measure": "auc"}, "points is for what thresholds call positive"),
        ({"measure": "lift"}, "measure is 'lift', allowed are"),
        ({"cost_fn": 2}, "cost_fn is for costs and net benefit"),
        ({"over": (0.1, 0.2)}, "over is for costs and net benefit"),
        ({"measure": "expected_cost", "over": (0.1, 0.2), "prior": 0.1}, "both over and prior"),
        ({"points": {"a": 0.5}}, "a model has no threshold: b"),
        ({"measure": "expected_cost", "cost_fn": 0}, "cost_fn is 0"),
    ],
)
@pytest.mark.parametrize("function", ["compare", "gate"])
def test_what_is_refused(function, asked, message):
    asked = {"measure": "recall", "points": POINTS, **SCORES} | asked
    if function == "gate":
        asked |= {"champion": "a", "challenger": "b"}
    with pytest.raises(InvalidArgument, match=message):
        getattr(pr, function)(TABLE, **asked)


def test_thresholds_are_not_judged_on_the_cases_they_were_chosen_on():
    curves = pr.curve(TABLE, **SCORES)
    tuned = pr.operating_points(curves, "recall", target=0.8)
    with pytest.raises(InvalidTable, match="chosen on"):
        compared(points=tuned)
    several = pr.operating_points(curves, "cost", priors=[0.1, 0.4])
    with pytest.raises(InvalidTable, match="several thresholds of a model"):
        compared(drawn(seed=5), points=several)


def test_precision_of_a_model_that_calls_nothing_is_not_compared():
    with pytest.raises(InvalidPredictions, match="the precision of 'b' is not defined"):
        compared(measure="precision", points={"a": 0.5, "b": 99.0})


def test_folds_have_no_thresholds():
    table = TABLE.with_columns(fold=pl.int_range(pl.len()) % 3)
    with pytest.raises(InvalidArgument, match="points is for models on one test set"):
        compared(table, fold="fold")


@pytest.mark.alike
@pytest.mark.parametrize("measure", ["recall", "precision", "expected_cost"])
def test_how_often_limits_hold_with_few_cases(measure):
    runs, at, prior = 80, 1.3, 0.1
    asked = {} if measure == "recall" else {"prior": prior}
    t = norm.sf(at - np.array([1.2, 1.7]))
    f = norm.sf(at)
    true = {
        "recall": t,
        "precision": prior * t / (prior * t + (1 - prior) * f),
        "expected_cost": prior * (1 - t) + (1 - prior) * f,
    }[measure]
    held = 0
    for seed in range(runs):
        found = compared(drawn(15, 60, seed), measure, at, **asked).pairs
        lower, upper = found.select("lower", "upper").row(0)
        held += lower <= true[0] - true[1] <= upper
    assert held > binom.ppf(0.009, runs, 0.95)
