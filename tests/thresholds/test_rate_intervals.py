from itertools import product

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy.integrate import quad
from scipy.stats import beta, binom, binomtest, norm

import polaroc as pr
from polaroc.errors import InvalidArgument, InvalidTable
from polaroc.priors.in_use import BelievedPrior, EstimatedPrior, KnownPrior
from polaroc.thresholds.rate_intervals import Calls, Costs, Meld, limits

NAMES = {"truth": "truth", "score": "score"}
QUANTITIES = ("precision", "posfrac", "cost")
COSTS = Costs(10, 1)


def table(tp: int, fn: int, fp: int, tn: int, **more) -> pl.DataFrame:
    truth = [True] * (tp + fn) + [False] * (fp + tn)
    score = [0.9] * tp + [0.1] * fn + [0.9] * fp + [0.1] * tn
    return pl.DataFrame({"truth": truth, "score": score, **more})


TUNING = table(3, 1, 1, 5)
POINTS = pr.curve(TUNING, **NAMES).pipe(pr.operating_points, "threshold", target=0.5, priors=0.2)


def judged(test: pl.DataFrame, points: pl.DataFrame = POINTS, **arguments) -> dict:
    arguments = NAMES | {"intervals": True} | arguments
    return pr.apply_thresholds(test, points, **arguments).row(0, named=True)


def calls(count: float, total: float) -> Calls:
    return Calls(np.array([count]), np.array([count]), np.array([total]))


def value(quantity, t, f, prior):
    return Meld(quantity, None, None, None, COSTS).value(np.array(t), np.array(f), np.array(prior))


def below(ratio, t, f):
    """The probability that f is above t times a ratio."""
    return quad(lambda u: f.sf(ratio * t.ppf(u)), 0, 1, limit=500)[0]


@pytest.mark.parametrize("prior", [0.01, 0.2])
@pytest.mark.parametrize(("tp", "fp"), [(30, 7), (39, 1), (4000, 100)])
def test_limits_of_precision_leave_out_what_they_should(tp, fp, prior):
    total, others = max(40, tp + 10), 8 * max(40, tp)
    known = KnownPrior(np.array([prior]))
    low, high = limits("precision", calls(tp, total), calls(fp, others), known, 0.95, COSTS)
    # Precision is below q where f is above t times this.
    for q, share, a, b in (
        (low[0], 0.025, (tp, total - tp + 1), (fp + 1, others - fp)),
        (high[0], 0.975, (tp + 1, total - tp), (fp, others - fp + 1)),
    ):
        ratio = prior * (1 - q) / (q * (1 - prior))
        assert below(ratio, beta(*a), beta(*b)) == pytest.approx(share, abs=1e-6)


def test_posfrac_and_cost_between_known_rates():
    prior = KnownPrior(np.array([0.1]))
    many = calls(8e8, 1e9), calls(1e8, 1e9)
    for quantity, expected in (("posfrac", 0.17), ("cost", 10 * 0.1 * 0.2 + 0.9 * 0.1)):
        low, high = limits(quantity, *many, prior, 0.95, COSTS)
        assert low[0] == pytest.approx(expected, abs=1e-4)
        assert high[0] == pytest.approx(expected, abs=1e-4)


def enumerated(positives, negatives, prior, draws):
    """Coverage at every pair of rates, from all tables and their probabilities."""
    x, y = (a.ravel().astype(float) for a in np.mgrid[: positives + 1, : negatives + 1])
    tables = Calls(x, x, np.full_like(x, positives)), Calls(y, y, np.full_like(y, negatives))
    for quantity in QUANTITIES:
        low, high = limits(quantity, *tables, prior(len(x)), 0.95, COSTS)
        for t, f in product((0.1, 0.5, 0.85, 0.97), (0.01, 0.07, 0.2, 0.5)):
            weights = np.outer(
                binom.pmf(np.arange(positives + 1), positives, t),
                binom.pmf(np.arange(negatives + 1), negatives, f),
            ).ravel()
            truths = value(quantity, np.full_like(draws, t), np.full_like(draws, f), draws)
            yield np.mean([weights @ ((low <= p + 1e-7) & (p - 1e-7 <= high)) for p in truths])


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.02, 0.3])
@pytest.mark.parametrize("sizes", [(20, 20), (20, 60)])
def test_coverage_from_20_positives_on(sizes, prior):
    covered = enumerated(*sizes, lambda rows: KnownPrior(np.full(rows, prior)), np.array([prior]))
    assert min(covered) >= 0.95


@pytest.mark.long
@pytest.mark.slow
def test_coverage_over_a_belief():
    belief = pr.uniform(0.05, 0.2)

    def in_use(rows):
        return BelievedPrior(belief.distribution, np.full(rows, belief.mean))

    draws = belief.distribution.quantile((np.arange(50) + 0.5) / 50)
    assert min(enumerated(12, 12, in_use, draws)) >= 0.95


def test_known_rates_leave_the_limits_of_the_prior():
    many = calls(8e8, 1e9), calls(1e8, 1e9)
    belief = BelievedPrior(pr.beta(2, 18).distribution, np.array([0.1]))
    low, high = limits("precision", *many, belief, 0.9, COSTS)
    ends = [float(value("precision", 0.8, 0.1, p)) for p in beta(2, 18).ppf([0.05, 0.95])]
    assert (low[0], high[0]) == pytest.approx(ends, abs=1e-4)
    estimate = EstimatedPrior(*(np.array([p]) for p in (0.1, 0.06, 0.15)), 0.9)
    low, high = limits("precision", *many, estimate, 0.9, COSTS)
    ends = [float(value("precision", 0.8, 0.1, p)) for p in (0.06, 0.15)]
    assert (low[0], high[0]) == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_limits_hold_the_estimate(seed):
    rng = np.random.default_rng(seed)
    total = rng.integers(1, 60, 2)
    count = [rng.integers(1, n + 1) for n in total]
    pair = [calls(float(c), float(n)) for c, n in zip(count, total, strict=True)]
    rates = [c / n for c, n in zip(count, total, strict=True)]
    prior = np.array([rng.uniform(0.01, 0.99)])
    for quantity in QUANTITIES:
        low, high = limits(quantity, *pair, KnownPrior(prior), 0.95, COSTS)
        assert low - 1e-9 <= value(quantity, *rates, prior) <= high + 1e-9


def test_cases_at_a_threshold_called_by_chance_count_as_whichever_is_worse():
    points = POINTS.with_columns(pl.lit(0.5).alias("share"), pl.lit(0.5).alias("threshold"))
    test = pl.DataFrame(
        {"truth": [1] * 30 + [0] * 30, "score": ([0.9] * 10 + [0.5] * 10 + [0.1] * 10) * 2}
    )
    found = judged(test, points)
    assert found["tpr"] == 0.5
    least, most = (binomtest(k, 30).proportion_ci(method="exact") for k in (10, 20))
    for name in ("tpr", "fpr"):
        assert found[f"{name}_lower"] == pytest.approx(least.low)
        assert found[f"{name}_upper"] == pytest.approx(most.high)


def test_limits_of_unequal_weights_are_wider():
    cases = table(15, 5, 6, 14, w=1).with_columns(w=1 + pl.int_range(pl.len()) % 2 * 3)
    weighted, counted = judged(cases, weight="w"), judged(cases, count="w")
    for name in ("tpr", "fpr", "precision"):
        assert weighted[name] == pytest.approx(counted[name])
        wide, narrow = (one[f"{name}_upper"] - one[f"{name}_lower"] for one in (weighted, counted))
        assert wide > 1.3 * narrow


def test_cost_and_share_of_alarms():
    found = judged(table(15, 5, 6, 14), cost_fn=10)
    assert found["cost"] == pytest.approx(10 * 0.2 * 0.25 + 0.8 * 0.3)
    assert found["posfrac"] == pytest.approx(0.2 * 0.75 + 0.8 * 0.3)
    assert found["cost_lower"] < found["cost"] < found["cost_upper"]


TEST = table(30, 10, 12, 28)


def test_other_priors_in_use():
    alone = judged(TEST, priors=0.05)
    assert alone["prior"] == 0.05
    assert alone["precision"] == pytest.approx(0.05 * 0.75 / (0.05 * 0.75 + 0.95 * 0.3))
    assert "prior_lower" not in alone
    both = pr.apply_thresholds(TEST, POINTS, **NAMES, priors=[0.05, 0.5])
    assert both["prior"].to_list() == [0.05, 0.5]


def test_a_belief_in_use():
    found = judged(TEST, priors=pr.uniform(0.1, 0.3))
    assert found["prior"] == pytest.approx(0.2)
    assert (found["prior_lower"], found["prior_upper"]) == pytest.approx((0.105, 0.295))
    known = judged(TEST)
    assert found["precision_lower"] < known["precision_lower"]
    assert found["precision_upper"] > known["precision_upper"]


def estimates(**columns) -> pl.DataFrame:
    given = {"method": "em", "prior": 0.2, "lower": 0.12, "upper": 0.3, "note": None}
    return pl.DataFrame([given | columns])


@pytest.mark.parametrize("method", ["em", "confusion"])
def test_an_estimate_in_use(method):
    found = judged(TEST, priors=estimates(method=method))
    assert (found["prior"], found["prior_lower"], found["prior_upper"]) == (0.2, 0.12, 0.3)
    ends = [judged(TEST, priors=prior) for prior in (0.12, 0.3)]
    assert found["tpr_lower"] == pytest.approx(ends[0]["tpr_lower"], rel=1e-12)
    outer = ends[0]["precision_lower"], ends[1]["precision_upper"]
    inner = found["precision_lower"], found["precision_upper"]
    if method == "confusion":
        assert inner == pytest.approx(outer)
    else:
        assert outer[0] < inner[0] < judged(TEST)["precision_lower"]
        assert outer[1] > inner[1] > judged(TEST)["precision_upper"]


def test_an_estimate_without_an_interval_has_none_to_carry():
    found = judged(TEST, priors=estimates(lower=None, upper=None))
    assert found["note"] == "the estimated prior has no interval: none at it"
    assert found["precision"] is not None
    assert found["tpr_lower"] == pytest.approx(judged(TEST)["tpr_lower"], rel=1e-12)
    for name in ("precision", "posfrac", "cost"):
        assert (found[f"{name}_lower"], found[f"{name}_upper"]) == (None, None)


def test_estimates_go_with_their_keys():
    keyed = pl.concat([TEST.with_columns(model=pl.lit(name)) for name in "AB"])
    points = pl.concat([POINTS.with_columns(model=pl.lit(name)) for name in "AB"])
    both = pl.concat(
        [estimates(model="A"), estimates(model="B", prior=None, lower=None, upper=None)],
        how="vertical_relaxed",
    )
    arguments = NAMES | {"priors": both, "intervals": True}
    found = pr.apply_thresholds(keyed, points, **arguments)
    lazy = pr.apply_thresholds(keyed.lazy(), points, **arguments)
    assert lazy.collect_schema() == found.schema
    assert_same_numbers(lazy.collect(), found)
    assert found["prior"].to_list() == [0.2, None]
    assert found["note"].to_list() == [None, "the prior was not estimated"]
    assert found["precision_lower"].is_null().to_list() == [False, True]
    with pytest.raises(InvalidTable, match="no role of the cases names the key 'day'"):
        pr.apply_thresholds(TEST, POINTS, **NAMES, priors=estimates(day=1))


def test_points_that_were_applied_can_be_applied_again():
    once = pr.apply_thresholds(TEST, POINTS, **NAMES, intervals=True, priors=pr.beta(2, 8))
    again = pr.apply_thresholds(table(20, 20, 8, 32), once, **NAMES, intervals=True)
    assert set(again.columns) == set(once.columns)
    assert again["prior_upper"].to_list() == once["prior_upper"].to_list()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"intervals": "exact"}, "intervals is 'exact', allowed are True and False"),
        ({"level": 95}, "level is 95, allowed is 0 < level < 1"),
        ({"cost_fn": 0}, "cost_fn is 0"),
        ({"priors": 2}, "prior is 2, allowed is 0 < prior < 1"),
    ],
)
def test_arguments_outside_what_is_allowed(arguments, message):
    with pytest.raises(InvalidArgument, match=message):
        pr.apply_thresholds(TEST, POINTS, **NAMES, **arguments)


@pytest.mark.parametrize("points", [POINTS, 0.5, pr.datasets.twenty_scores()], ids=type)
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("label", [True, False])
def test_a_rate_has_limits_from_the_cases_of_its_own_class(label, lazy, points):
    one_class = pl.DataFrame({"truth": [label] * 100, "score": [0.9] * 90 + [0.1] * 10})
    if isinstance(points, pl.DataFrame) and "score" in points.columns:
        points = pr.operating_points(points, "recall", target=0.5, **NAMES)
        assert 0.1 < points["threshold"].item() < 0.9
    frame = one_class.lazy() if lazy else one_class
    asked = NAMES | {"intervals": True, "rates": FURTHER}
    row = pr.apply_thresholds(frame, points, **asked).lazy().collect().row(0, named=True)
    assert row["note"].startswith("no ")
    own = {"tpr": 90, "fnr": 10} if label else {"fpr": 90, "specificity": 10}
    for name, count in own.items():
        exact = binomtest(count, 100).proportion_ci(method="exact")
        assert row[name] == pytest.approx(count / 100)
        assert row[f"{name}_lower"] == pytest.approx(exact.low, abs=1e-12)
        assert row[f"{name}_upper"] == pytest.approx(exact.high, abs=1e-12)
    others = {
        value
        for name, value in row.items()
        if name.endswith(("_lower", "_upper")) and name.rpartition("_")[0] not in own
    }
    assert others == {None}


def test_few_clusters_of_one_class_leave_the_limits_of_the_other():
    # Positives are of three patients, negatives of forty.
    test = (
        table(20, 10, 12, 28)
        .with_row_index("case")
        .with_columns(patient=pl.when("truth").then(pl.col("case") % 3 + 100).otherwise("case"))
    )
    found = judged(test, cluster="patient")
    exact = binomtest(12, 40).proportion_ci(method="exact")
    assert (found["fpr_lower"], found["fpr_upper"]) == pytest.approx((exact.low, exact.high))
    assert found["tpr_lower"] is found["precision_lower"] is None
    assert "no interval of what depends on it" in found["note"]


def test_a_prior_that_was_not_estimated_leaves_the_limits_of_class_rates():
    found = judged(TEST, priors=estimates(prior=None, lower=None, upper=None))
    known = judged(TEST)
    for name in ("tpr_lower", "tpr_upper", "fpr_lower", "fpr_upper"):
        assert found[name] == pytest.approx(known[name], rel=1e-12)
    assert found["precision_lower"] is None


FURTHER = (
    "specificity", "fnr", "npv", "likelihood_ratio_positive", "likelihood_ratio_negative",
    "f_measure", "accuracy", "error", "informedness",
)  # fmt: skip


def test_further_rates_are_beside_the_others():
    found = judged(table(30, 10, 12, 28), rates=FURTHER, priors=0.1)
    for name in FURTHER:
        assert found[name] == pytest.approx(getattr(pr.rates, name)(0.75, 0.3, 9.0))
        assert found[f"{name}_lower"] < found[name] < found[f"{name}_upper"]
    plain = judged(table(30, 10, 12, 28), priors=0.1)
    assert plain == {name: found[name] for name in plain}
    alone = judged(table(30, 10, 12, 28), rates="npv", priors=0.1, intervals=False)
    assert alone["npv"] == found["npv"]
    assert "npv_lower" not in alone


def test_rates_of_a_class_are_those_of_clopper_and_pearson():
    found = judged(table(30, 10, 12, 28), rates=["specificity", "fnr"])
    for name, count in (("specificity", 28), ("fnr", 10)):
        exact = binomtest(count, 40).proportion_ci(method="exact")
        assert found[f"{name}_lower"] == pytest.approx(exact.low, abs=1e-12)
        assert found[f"{name}_upper"] == pytest.approx(exact.high, abs=1e-12)


def test_the_negative_predictive_value_is_the_precision_of_the_other_class():
    found = judged(table(30, 10, 12, 28), rates="npv", priors=0.1)
    turned = table(28, 12, 10, 30)
    other = judged(turned, priors=0.9)
    for end in ("", "_lower", "_upper"):
        assert found[f"npv{end}"] == pytest.approx(other[f"precision{end}"], abs=1e-9)


@pytest.mark.parametrize("rate", ["likelihood_ratio_positive", "likelihood_ratio_negative"])
def test_limits_of_a_likelihood_ratio_are_those_of_its_logarithm_with_many_cases(rate):
    t, f, size = 0.8, 0.1, 40_000
    n = [round(size * own) for own in (t, 1 - t, f, 1 - f)]
    found = judged(table(*n), rates=rate)
    # By the delta method (Simel, Samsa and Matchar 1991).
    a, b = (t, f) if rate.endswith("positive") else (1 - t, 1 - f)
    error = ((1 - a) / (a * size) + (1 - b) / (b * size)) ** 0.5
    ends = (a / b * np.exp(sign * norm.ppf(0.975) * error) for sign in (-1, 1))
    assert (found[f"{rate}_lower"], found[f"{rate}_upper"]) == pytest.approx([*ends], rel=2e-3)


def test_limits_of_f1_leave_out_what_they_should():
    tp, total, fp, others, prior = 30, 40, 12, 160, 0.2
    found = judged(table(tp, total - tp, fp, others - fp), rates="f_measure", priors=prior)
    u = (np.arange(200_000) + 0.5) / 200_000
    for end, share, a, b in (
        ("lower", 0.025, (tp, total - tp + 1), (fp + 1, others - fp)),
        ("upper", 0.975, (tp + 1, total - tp), (fp, others - fp + 1)),
    ):
        q = found[f"f_measure_{end}"]
        # F1 is at most q where t is at most this.
        at = q * ((1 - prior) * beta(*b).ppf(u) + prior) / (prior * (2 - q))
        assert beta(*a).cdf(at).mean() == pytest.approx(share, abs=1e-4)


def test_a_ratio_without_false_alarms_has_no_upper_limit():
    found = judged(table(30, 10, 0, 40), rates="likelihood_ratio_positive")
    assert found["likelihood_ratio_positive_upper"] == np.inf
    assert found["likelihood_ratio_positive_lower"] > 1


def test_further_rates_at_a_belief_are_wider():
    known, belief = (
        judged(table(300, 100, 120, 280), rates=FURTHER, priors=priors)
        for priors in (0.2, pr.uniform(0.1, 0.3))
    )
    for name in ("npv", "f_measure", "accuracy"):
        assert belief[f"{name}_lower"] < known[f"{name}_lower"]
        assert belief[f"{name}_upper"] > known[f"{name}_upper"]
    assert belief["specificity_lower"] == known["specificity_lower"]


@pytest.mark.parametrize("rate", ["npv", "f_measure", "likelihood_ratio_positive"])
def test_further_limits_hold_the_rate(rate):
    positives, negatives, prior = 15, 15, 0.1
    x, y = (a.ravel().astype(float) for a in np.mgrid[: positives + 1, : negatives + 1])
    calls_ = [Calls(own, own, np.full_like(own, 15.0)) for own in (x, y)]
    low, high = limits(rate, *calls_, KnownPrior(np.full(len(x), prior)), 0.95, COSTS)
    for t, f in product((0.3, 0.85), (0.07, 0.5)):
        weight = binom.pmf(x, positives, t) * binom.pmf(y, negatives, f)
        truth = getattr(pr.rates, rate)(t, f, (1 - prior) / prior)
        assert weight @ ((low <= truth + 1e-7) & (truth - 1e-7 <= high)) >= 0.95


def test_an_unknown_rate_is_refused():
    with pytest.raises(InvalidArgument, match="rates is 'nvp'"):
        judged(TEST, rates="nvp")
