"""Thresholds judged on other cases, with limits of their rates."""

from functools import partial
from itertools import product

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy.integrate import quad
from scipy.stats import beta, binom, binomtest, norm

import polaroc as pr
from polaroc.errors import InvalidTable

NAMES = {"truth": "truth", "score": "score"}
TWENTY = pr.datasets.twenty_scores()


def table(tp: int, fn: int, fp: int, tn: int, **more) -> pl.DataFrame:
    truth = [True] * (tp + fn) + [False] * (fp + tn)
    score = [0.9] * tp + [0.1] * fn + [0.9] * fp + [0.1] * tn
    return pl.DataFrame({"truth": truth, "score": score, **more})


TEST = table(30, 10, 12, 28)
POINTS = pr.operating_points(table(3, 1, 1, 5), "threshold", target=0.5, priors=0.2, **NAMES)


def judged(test: pl.DataFrame, points=POINTS, **arguments) -> dict:
    arguments = NAMES | {"intervals": True} | arguments
    return pr.apply_thresholds(test, points, **arguments).row(0, named=True)


def counted(tp, fn, fp, tn, **arguments) -> dict:
    """A table of so many cases, one row for each kind."""
    rows = table(1, 1, 1, 1, n=[tp, fn, fp, tn])
    return judged(rows, 0.5, count="n", **arguments)


def ends_of(row, name):
    return row[f"{name}_lower"], row[f"{name}_upper"]


# Numbers as thresholds

WIDE = pl.DataFrame({
    "y": [1, 1, 0, 0, 0],
    "tree": [0.9, 0.4, 0.6, 0.2, 0.1],
    "forest": [0.8, 0.7, 0.3, 0.2, 0.1],
})  # fmt: skip
OF_MODELS = {"truth": "y", "score": ["tree", "forest"]}


@pytest.mark.parametrize("points", [0.5, {"tree": 0.5, "forest": 0.5}], ids=["one", "by model"])
def test_a_threshold_in_use_is_judged(points):
    found = pr.apply_thresholds(WIDE, points, **OF_MODELS)
    # 2 of 5 are positive; of them and of the 3 negatives these are called positive at 0.5.
    assert found.select("model", "prior", "threshold", "tpr", "fpr").rows() == [
        ("forest", 0.4, 0.5, 1.0, 0.0), ("tree", 0.4, 0.5, 0.5, 1 / 3),
    ]  # fmt: skip
    assert found["precision"].to_list() == pytest.approx([1, 0.5])
    assert found["note"].null_count() == 2


def test_each_model_has_its_number_and_each_prior_a_row():
    found = pr.apply_thresholds(WIDE, {"tree": 0.15}, **OF_MODELS, priors=[0.1, 0.5])
    tree = found.filter(model="tree")
    assert tree["fpr"].to_list() == pytest.approx([2 / 3, 2 / 3])
    assert tree["precision"].to_list() == pytest.approx([0.1 / (0.1 + 0.9 * 2 / 3), 0.6])
    assert set(found.filter(model="forest")["note"]) == {"there is no point for this key"}
    # None, as points without a threshold have, is no threshold.
    found = pr.apply_thresholds(WIDE, {"tree": 0.5, "forest": None}, **OF_MODELS)
    assert found.select("tpr", "note").row(0) == (None, "no point was chosen")
    numbers = pl.DataFrame({"model": ["forest", "tree"], "threshold": [0.25, 0.5]})
    found = pr.apply_thresholds(WIDE, numbers, **OF_MODELS)
    assert found.select("model", "prior", "threshold", "tpr").rows() == [
        ("forest", 0.4, 0.25, 1.0), ("tree", 0.4, 0.5, 0.5),
    ]  # fmt: skip


# Points of tuning cases


def test_thresholds_of_a_model_apply_to_its_folds():
    rows = pr.datasets.satellite_predictions()
    tuning, test = rows.filter(pl.col("fold") <= 10), rows.filter(pl.col("fold") > 10)
    points = pr.operating_points(tuning, "recall", target=0.8, fold=None, **NAMES)
    found = pr.apply_thresholds(test, points, **NAMES)
    assert found.height == 30
    limit = points.filter(model="B")["threshold"].item()
    fold = test.filter(model="B", fold=15)
    called = fold.filter(pl.col("score") >= limit)
    row = found.filter(model="B", fold=15).row(0, named=True)
    assert row["tpr"] == pytest.approx(called["truth"].sum() / fold["truth"].sum())
    assert row["fpr"] == pytest.approx((~called["truth"]).sum() / (~fold["truth"]).sum())
    with pytest.raises(InvalidTable, match="differ by 'model'"):
        pr.apply_thresholds(TWENTY, points, **NAMES)


def test_the_tuning_table_is_refused_unless_meant():
    points = pr.operating_points(TWENTY, "cost", priors=0.5, **NAMES)
    with pytest.raises(InvalidTable, match="same_table=True"):
        pr.apply_thresholds(TWENTY, points, **NAMES)
    lazy = pr.apply_thresholds(TWENTY.lazy(), points, **NAMES)
    with pytest.raises(InvalidTable, match="same_table=True"):
        lazy.collect()
    meant = pr.apply_thresholds(TWENTY, points, **NAMES, same_table=True)
    assert_same_numbers(meant.drop("note"), points.drop("note"))


def test_rates_on_other_folds_have_no_bias_and_those_on_the_same_cases_are_too_good():
    tables, folds, prior, lead = 400, 5, 0.2, 1.5
    rng, case = np.random.default_rng(7), np.tile(np.arange(100), tables)
    truth = case < 20
    rows = pl.DataFrame({
        "table": np.repeat(np.arange(tables), 100), "fold": case % folds, "truth": truth,
        "score": rng.normal(size=case.size) + lead * truth,
    })  # fmt: skip
    # Each fold is judged at the threshold of the others.
    held_out = rows.join(pl.DataFrame({"held_out": range(folds)}), how="cross")
    is_test = pl.col("fold") == pl.col("held_out")
    names = NAMES | {"by": ["table", "held_out"], "fold": None}
    points = pr.operating_points(held_out.filter(~is_test), "cost", priors=prior, **names)
    on_others = pr.apply_thresholds(held_out.filter(is_test), points, **names)
    names |= {"by": "table"}
    points = pr.operating_points(rows, "cost", priors=prior, **names)
    on_same = pr.apply_thresholds(rows, points, **names, same_table=True, intervals=True)
    assert on_same["note"].str.contains("limits leave that out").all()

    def excess(judged):
        """Rates and costs less the true ones, the mean of each table."""
        at = judged["threshold"].fill_null(np.inf).to_numpy()
        t, f = judged["tpr"].to_numpy() - norm.sf(at - lead), judged["fpr"].to_numpy() - norm.sf(at)
        of_rows = np.stack([t, f, (1 - prior) * f - prior * t])
        return of_rows.reshape(3, tables, -1).mean(axis=2)

    def in_errors(excess):
        """The mean over tables in its standard errors."""
        return excess.mean(axis=1) / (excess.std(axis=1, ddof=1) / tables**0.5)

    assert np.abs(in_errors(excess(on_others.sort("table", "held_out")))).max() < 3
    assert (in_errors(excess(on_same.sort("table"))) * [1, -1, -1] > 3).all()


@pytest.mark.parametrize(("rule", "is_set"), [("fpr", True), ("threshold", False)])
def test_limits_of_a_threshold_set_on_the_same_cases_say_so(rule, is_set):
    points = pr.operating_points(TWENTY, rule, target=0.3, **NAMES)
    on_all = partial(pr.apply_thresholds, TWENTY, points, **NAMES, same_table=True)
    for note, expected in ((on_all(intervals=True), is_set), (on_all(), False)):
        said = note["note"].item() or ""
        assert ("limits leave that out, and may hold less often than they say" in said) == expected


def test_points_that_were_applied_can_be_applied_again():
    once = pr.apply_thresholds(TEST, POINTS, **NAMES, intervals=True, priors=pr.beta(2, 8))
    again = pr.apply_thresholds(table(20, 20, 8, 32), once, **NAMES, intervals=True)
    assert set(again.columns) == set(once.columns)
    assert again["prior_upper"].to_list() == once["prior_upper"].to_list()


# Limits


def below(ratio, t, f):
    """The probability that f is above t times a ratio."""
    return quad(lambda u: f.sf(ratio * t.ppf(u)), 0, 1, limit=500)[0]


@pytest.mark.parametrize("prior", [0.01, 0.2])
@pytest.mark.parametrize(("tp", "fp"), [(30, 7), (39, 1), (4000, 100)])
def test_limits_of_precision_leave_out_what_they_should(tp, fp, prior):
    total, others = max(40, tp + 10), 8 * max(40, tp)
    low, high = ends_of(counted(tp, total - tp, fp, others - fp, priors=prior), "precision")
    # Precision is below q where f is above t times this.
    for q, share, a, b in (
        (low, 0.025, (tp, total - tp + 1), (fp + 1, others - fp)),
        (high, 0.975, (tp + 1, total - tp), (fp, others - fp + 1)),
    ):
        ratio = prior * (1 - q) / (q * (1 - prior))
        assert below(ratio, beta(*a), beta(*b)) == pytest.approx(share, abs=1e-3)


def test_known_rates_leave_the_limits_of_the_prior():
    many = (800_000_000, 200_000_000, 100_000_000, 900_000_000)

    def precision(prior):
        return pr.rates.precision(0.8, 0.1, pr.skew(prior))

    known = counted(*many, priors=0.1, cost_fn=10)
    for name, value in {"precision": precision(0.1), "posfrac": 0.17, "cost": 0.29}.items():
        assert ends_of(known, name) == pytest.approx((value, value), abs=1e-4)
    belief = ends_of(counted(*many, priors=pr.beta(2, 18), level=0.9), "precision")
    assert belief == pytest.approx([precision(p) for p in beta(2, 18).ppf([0.05, 0.95])], abs=1e-4)
    # Of even skews from 4 to 19 a prior has 1 / (1 + skew).
    belief = ends_of(counted(*many, priors=pr.uniform(0.05, 0.2, "skew"), level=0.9), "precision")
    assert belief == pytest.approx([precision(1 / (1 + s)) for s in (18.25, 4.75)], abs=1e-4)
    told = estimates(prior=0.1, lower=0.06, upper=0.15)
    estimate = ends_of(counted(*many, priors=told), "precision")
    assert estimate == pytest.approx([precision(p) for p in (0.06, 0.15)], abs=1e-4)


RATES = {
    "precision": pr.rates.precision, "posfrac": pr.rates.posfrac, "npv": pr.rates.npv,
    "f_measure": pr.rates.f_measure,
    "likelihood_ratio_positive": pr.rates.likelihood_ratio_positive,
    "cost": lambda t, f, skew: (10 * (1 - t) + skew * f) / (1 + skew),
}  # fmt: skip


def coverage(positives, negatives, priors, truths):
    """Coverage at pairs of rates, from all tables and their probabilities."""
    tp, fp = (grid.ravel() for grid in np.indices((positives + 1, negatives + 1)))
    rows = pl.DataFrame({
        "table": np.repeat(np.arange(tp.size), 4),
        "truth": [True, True, False, False] * tp.size,
        "score": [0.9, 0.1] * (2 * tp.size),
        "n": np.stack([tp, positives - tp, fp, negatives - fp], axis=1).ravel(),
    })  # fmt: skip
    found = pr.apply_thresholds(
        rows, 0.5, **NAMES, by="table", count="n", priors=priors, intervals=True, cost_fn=10,
        rates=["npv", "f_measure", "likelihood_ratio_positive"],
    ).sort("table")  # fmt: skip
    for name, rate in RATES.items():
        low, high = (found[f"{name}_{end}"].to_numpy()[:, None] for end in ("lower", "upper"))
        for t, f in product((0.1, 0.5, 0.85, 0.97), (0.01, 0.07, 0.2, 0.5)):
            weights = binom.pmf(tp, positives, t) * binom.pmf(fp, negatives, f)
            true = np.array([rate(t, f, pr.skew(prior)) for prior in truths])
            held = (low <= true + 1e-7) & (true - 1e-7 <= high)
            yield (name, t, f), (weights @ held).mean()


@pytest.mark.parametrize(
    ("sizes", "prior"),
    [((20, 20), 0.3), pytest.param((20, 60), 0.02, marks=pytest.mark.slow),
     pytest.param((15, 15), 0.1, marks=pytest.mark.slow)],
)  # fmt: skip
def test_limits_hold_in_95_of_100_tables(sizes, prior):
    for case, held in coverage(*sizes, prior, [prior]):
        assert held >= 0.95, case


@pytest.mark.slow
def test_limits_at_a_belief_hold_in_95_of_100_tables():
    draws = 0.05 + 0.15 * (np.arange(50) + 0.5) / 50
    for case, held in coverage(12, 12, pr.uniform(0.05, 0.2), draws):
        assert held >= 0.95, case


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
        assert beta(*a).cdf(at).mean() == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("rate", ["likelihood_ratio_positive", "likelihood_ratio_negative"])
def test_limits_of_a_likelihood_ratio_are_those_of_its_logarithm_with_many_cases(rate):
    t, f, size = 0.8, 0.1, 40_000
    found = counted(*(round(size * own) for own in (t, 1 - t, f, 1 - f)), rates=rate)
    # By the delta method (Simel, Samsa and Matchar 1991).
    a, b = (t, f) if rate.endswith("positive") else (1 - t, 1 - f)
    error = ((1 - a) / (a * size) + (1 - b) / (b * size)) ** 0.5
    ends = [a / b * np.exp(sign * norm.ppf(0.975) * error) for sign in (-1, 1)]
    assert ends_of(found, rate) == pytest.approx(ends, rel=2e-3)
    never = judged(table(30, 10, 0, 40), rates="likelihood_ratio_positive")
    assert ends_of(never, "likelihood_ratio_positive")[1] == np.inf


FURTHER = (
    "specificity", "fnr", "npv", "likelihood_ratio_positive", "likelihood_ratio_negative",
    "f_measure", "accuracy", "error", "informedness",
)  # fmt: skip


def test_further_rates_are_beside_the_others():
    found = judged(TEST, rates=FURTHER, priors=0.1)
    for name in FURTHER:
        assert found[name] == pytest.approx(getattr(pr.rates, name)(0.75, 0.3, 9.0))
        low, high = ends_of(found, name)
        assert low < found[name] < high
    plain = judged(TEST, priors=0.1)
    assert plain == {name: found[name] for name in plain}
    alone = judged(TEST, rates="npv", priors=0.1, intervals=False)
    assert alone["npv"] == found["npv"]
    assert "npv_lower" not in alone
    # The negative predictive value is the precision of the other class.
    other = judged(table(28, 12, 10, 30), priors=0.9)
    assert ends_of(found, "npv") == pytest.approx(ends_of(other, "precision"), abs=1e-3)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_threshold_that_calls_all_weighted_cases_has_rates_of_one(lazy):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "site": np.repeat(np.arange(200), 8), "truth": [1, 0] * 800,
            "score": rng.random(1_600), "weight": rng.random(1_600),
        }
    )  # fmt: skip
    rows = table.lazy() if lazy else table
    names = ["npv", "likelihood_ratio_negative"]
    found = pr.apply_thresholds(rows, -1.0, by="site", weight="weight", rates=names)
    found = found.lazy().collect()
    assert found.select("tpr", "fpr").unique().rows() == [(1.0, 1.0)]
    # No case is called negative.
    assert found[names].null_count().row(0) == (200, 200)


def test_limits_of_unequal_weights_are_wider():
    rows = table(15, 5, 6, 14).with_columns(w=1 + pl.int_range(pl.len()) % 2 * 3)
    weighted, of_counts = judged(rows, weight="w"), judged(rows, count="w")
    for name in ("tpr", "fpr", "precision"):
        assert weighted[name] == pytest.approx(of_counts[name])
        wide, narrow = (np.subtract(*ends_of(one, name)[::-1]) for one in (weighted, of_counts))
        assert wide > 1.3 * narrow


def test_limits_of_rates_are_wider_where_rows_of_a_cluster_are_alike():
    rng = np.random.default_rng(3)
    patient = np.repeat(np.arange(100), 10)
    truth = patient < 20
    score = 2.2 * truth + 0.7 * rng.normal(size=100)[patient] + 0.7 * rng.normal(size=1_000)
    rows = pl.DataFrame({"patient": patient, "truth": truth, "score": score})
    of_rows, of_patients = (
        pr.apply_thresholds(rows, 1.2, **NAMES, cluster=cluster, intervals=True, priors=0.2)
        for cluster in (None, "patient")
    )
    for name in of_rows.select(pl.col("^.*_(lower|upper)$")).columns:
        wider = 1 if name.endswith("upper") else -1
        assert (wider * (of_patients[name] - of_rows[name]) > 0).all()


@pytest.mark.parametrize("points", ["points", 0.5], ids=str)
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("label", [True, False])
def test_a_rate_has_limits_from_the_cases_of_its_own_class(label, lazy, points):
    rows = pl.DataFrame({"truth": [label] * 100, "score": [0.9] * 90 + [0.1] * 10})
    asked = NAMES | {"intervals": True, "rates": FURTHER}
    found = pr.apply_thresholds(rows.lazy() if lazy else rows,
                                POINTS if points == "points" else points, **asked)  # fmt: skip
    row = found.lazy().collect().row(0, named=True)
    assert row["note"].startswith("no ")
    own = {"tpr": 90, "fnr": 10} if label else {"fpr": 90, "specificity": 10}
    for name, count in own.items():
        exact = binomtest(count, 100).proportion_ci(method="exact")
        assert row[name] == pytest.approx(count / 100)
        assert ends_of(row, name) == pytest.approx((exact.low, exact.high), abs=1e-12)
    others = {
        value
        for name, value in row.items()
        if name.endswith(("_lower", "_upper")) and name.rpartition("_")[0] not in own
    }
    assert others <= {None, *(row.get(f"prior_{end}") for end in ("lower", "upper"))}


def test_few_clusters_of_one_class_leave_the_limits_of_the_other():
    # Positives are of three patients, negatives of forty.
    case = pl.int_range(pl.len())
    test = table(20, 10, 12, 28).with_columns(
        patient=pl.when("truth").then(case % 3 + 100).otherwise(case)
    )
    found = judged(test, cluster="patient")
    exact = binomtest(12, 40).proportion_ci(method="exact")
    assert ends_of(found, "fpr") == pytest.approx((exact.low, exact.high))
    assert found["tpr_lower"] is found["precision_lower"] is None
    assert "no interval of what depends on it" in found["note"]


# Priors in use


def test_a_belief_in_use():
    found, known = judged(TEST, priors=pr.uniform(0.1, 0.3)), judged(TEST, priors=0.2)
    assert found["prior"] == pytest.approx(0.2)
    assert ends_of(found, "prior") == pytest.approx((0.105, 0.295))
    for name in ("precision", "posfrac", "cost"):
        assert found[f"{name}_lower"] < known[f"{name}_lower"]
        assert found[f"{name}_upper"] > known[f"{name}_upper"]
    assert ends_of(found, "tpr") == ends_of(known, "tpr")


def estimates(**columns) -> pl.DataFrame:
    given = {"prior": 0.2, "lower": 0.12, "upper": 0.3, "note": None}
    return pl.DataFrame([given | columns])


def test_an_estimate_in_use():
    found = judged(TEST, priors=estimates())
    assert (found["prior"], *ends_of(found, "prior")) == (0.2, 0.12, 0.3)
    ends = [judged(TEST, priors=prior) for prior in (0.12, 0.3)]
    outer = ends[0]["precision_lower"], ends[1]["precision_upper"]
    inner = ends_of(found, "precision")
    assert inner == pytest.approx(outer)


@pytest.mark.parametrize("prior", [0.2, None])
def test_an_estimate_without_an_interval_leaves_the_limits_of_class_rates(prior):
    found, known = judged(TEST, priors=estimates(prior=prior, lower=None, upper=None)), judged(TEST)
    assert found["note"] in (
        "the estimated prior has no interval: none at it", "the prior was not estimated",
    )  # fmt: skip
    assert (found["precision"] is None) == (prior is None)
    for name in ("tpr", "fpr"):
        assert ends_of(found, name) == pytest.approx(ends_of(known, name), rel=1e-12)
    for name in ("precision", "posfrac", "cost"):
        assert ends_of(found, name) == (None, None)


def test_estimates_go_with_their_keys():
    keyed = pl.concat([TEST.with_columns(model=pl.lit(name)) for name in "AB"])
    points = pl.concat([POINTS.with_columns(model=pl.lit(name)) for name in "AB"])
    both = pl.concat([estimates(model="A"), estimates(model="B", prior=0.3)])
    arguments = NAMES | {"priors": both, "intervals": True}
    found = pr.apply_thresholds(keyed, points, **arguments)
    lazy = pr.apply_thresholds(keyed.lazy(), points, **arguments)
    assert lazy.collect_schema() == found.schema
    assert_same_numbers(lazy.collect(), found)
    assert found["prior"].to_list() == [0.2, 0.3]
    with pytest.raises(InvalidTable, match="differ by 'day'"):
        pr.apply_thresholds(TEST, POINTS, **NAMES, priors=estimates(day=1))
