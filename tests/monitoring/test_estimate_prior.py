"""The prior in use from scores without labels: a likelihood of binned scores."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import optimize, special, stats

import polaroc as pr
from polaroc.errors import InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
PRIORS = [0.01, 0.05, 0.1, 0.3, 0.5]
TWENTY = pr.datasets.twenty_scores()


def cases(seed: int, rows: int, prior: float, runs: int = 1, posterior: float = 0.3):
    """Binormal cases: `score` is their posterior at a prior, `odd` a distortion of it."""
    rng = np.random.default_rng(seed)
    truth = rng.random(runs * rows) < prior
    raw = rng.normal(size=truth.size) + 2 * truth
    odds = posterior / (1 - posterior) * np.exp(2 * raw - 2)
    return pl.DataFrame(
        {
            "table": np.repeat(np.arange(runs), rows),
            "truth": truth,
            "score": odds / (1 + odds),
            "odd": np.sign(raw) * np.abs(raw) ** 3 * 40 - 7,
        }
    )


def of_models(models, seed: int, rows: int, prior: float) -> pl.DataFrame:
    tables = [
        cases(seed + i, rows, prior).with_columns(model=pl.lit(model, pl.String))
        for i, model in enumerate(models)
    ]
    return pl.concat(tables)


def counted(score, pos, neg) -> pl.DataFrame:
    """How many positives and negatives have each score."""
    truth = [True] * len(score) + [False] * len(score)
    return pl.DataFrame({"truth": truth, "score": [*score] * 2, "n": [*pos, *neg]})


def estimate(reference, deployed, **asked) -> dict:
    found = pr.estimate_prior(reference, deployed, **NAMES, **asked)
    return found.row(0, named=True)


# Either method


@pytest.mark.parametrize("prior", [0.01, 0.5])
@pytest.mark.parametrize("score", ["score", "odd"])
def test_the_prior_of_a_shifted_deployment_is_found(score, prior):
    reference, deployed = cases(1, 4_000, 0.3), cases(2, 20_000, prior)
    found = pr.estimate_prior(reference, deployed.drop("truth"), truth="truth", score=score)
    row = found.row(0, named=True)
    assert abs(row["prior"] - prior) < 0.03
    assert row["lower"] < row["prior"] < row["upper"] < row["lower"] + 0.06
    assert row["reference_prior"] == reference["truth"].mean()
    assert (row["deployed"], row["note"]) == (20_000, None)


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS[::2])
@pytest.mark.parametrize("score", ["score", "odd"])
def test_the_interval_holds_the_prior_as_often_as_it_says(score, prior):
    runs = 300
    reference, deployed = cases(3, 400, 0.3, runs), cases(4, 1_000, prior, runs)
    found = pr.estimate_prior(reference, deployed, truth="truth", score=score, by="table")
    held = found.filter(pl.lit(prior).is_between("lower", "upper")).height
    least, most = stats.binom.interval(0.999, runs, 0.95)
    assert least <= held <= most


def test_the_truth_of_the_deployed_is_never_read():
    deployed = cases(9, 500, 0.2)
    without = pr.estimate_prior(TWENTY, deployed.select("score"), **NAMES)
    for other in (deployed, deployed.with_columns(truth=pl.lit("unknown"))):
        assert_frame_equal(pr.estimate_prior(TWENTY, other, **NAMES), without)


@pytest.mark.parametrize(
    ("truth", "note"), [([True] * 3, "reference: no negatives"), ([False] * 3, "no positives")]
)
def test_without_a_class_in_the_reference_there_is_no_estimate(truth, note):
    reference = pl.DataFrame({"truth": truth, "score": [0.2, 0.5, 0.7]})
    row = estimate(reference, TWENTY)
    assert row["prior"] is None
    assert row["reference_prior"] == float(truth[0])
    assert note in row["note"]


@pytest.mark.parametrize("score", [0.3, 0.0, 1.0])
def test_a_constant_score_tells_no_prior(score):
    reference = pl.DataFrame({"truth": [True] * 30 + [False] * 70, "score": score})
    row = estimate(reference, pl.DataFrame({"score": [score] * 50}))
    assert (row["prior"], row["lower"], row["upper"]) == (None,) * 3
    assert row["note"]


@pytest.mark.parametrize("by", [[], ["a", "b"]], ids=len)
def test_empty_tables_have_the_same_schema(by):
    table = TWENTY.with_columns(a=pl.lit("x"), b=pl.lit(1), n=pl.lit(2))
    arguments = {**NAMES, "by": by, "count": "n"}
    whole = pr.estimate_prior(table, table, **arguments)
    assert whole.columns[: len(by)] == by
    for empty in (table.clear(), table.clear().lazy()):
        found = pr.estimate_prior(empty, empty, **arguments)
        assert isinstance(found, pl.LazyFrame) == isinstance(empty, pl.LazyFrame)
        assert found.lazy().collect_schema() == whole.schema
        assert found.lazy().collect().is_empty()
    for tables, note in (
        ((table, table.clear()), "no deployed scores"),
        ((table.clear(), table), "not in the reference"),
    ):
        assert pr.estimate_prior(*tables, **arguments)["note"].to_list() == [note]


def test_each_key_of_either_table_has_the_row_that_it_has_alone():
    reference = of_models(["A", "B", None], 0, 300, 0.3)
    deployed = of_models([None, "A", "C"], 3, 900, 0.1)
    found = pr.estimate_prior(reference, deployed, **NAMES, fold=None)
    assert found["model"].to_list() == ["A", "B", "C", None]
    assert found["note"].to_list() == [None, "no deployed scores", "not in the reference", None]
    assert found["deployed"].to_list() == [900, 0, 900, 900]
    for model in ("A", None):
        same = pl.col("model").eq_missing(pl.lit(model))
        alone = pr.estimate_prior(reference.filter(same), deployed.filter(same), **NAMES, fold=None)
        assert_frame_equal(found.filter(same), alone)


def test_deployed_scores_may_have_further_keys():
    reference = cases(1, 500, 0.3).with_columns(model=pl.lit("A"))
    days = [cases(10 + day, 800, 0.1 * day).with_columns(day=day) for day in (1, 2, 3)]
    deployed = pl.concat(days).with_columns(model=pl.lit("A"))
    in_use = pr.cases(deployed, score="score", by="day", fold=None)
    found = pr.estimate_prior(reference, in_use, **NAMES, fold=None)
    assert found.columns[:2] == ["day", "model"]
    assert found["day"].to_list() == [1, 2, 3]
    for i, day in enumerate(days):
        day = day.with_columns(model=pl.lit("A"))
        alone = pr.estimate_prior(reference, day, **NAMES, fold=None)
        assert_frame_equal(found[i : i + 1].drop("day"), alone)


@pytest.mark.parametrize("score", [None, nan])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("table", ["reference", "deployed"])
def test_rows_without_a_score_are_refused_or_dropped(score, lazy, table):
    spoilt = pl.concat([TWENTY, pl.DataFrame({"truth": [True, False], "score": [score, 0.5]})])
    tables = {"reference": TWENTY, "deployed": TWENTY} | {table: spoilt}
    if lazy:
        tables = {name: frame.lazy() for name, frame in tables.items()}
    with pytest.raises(InvalidPredictions, match=rf"{table}: 1 (null|NaN) score\.\nHint: "):
        pr.estimate_prior(**tables, **NAMES)
    found = pr.estimate_prior(**tables, **NAMES, nulls="drop").lazy().collect()
    assert found["note"].item().startswith(f"{table}: dropped 1 ")
    sound = tables | {table: spoilt.drop_nulls().drop_nans()}
    kept = pr.estimate_prior(**sound, **NAMES).lazy().collect()
    assert_frame_equal(found.drop("note"), kept.drop("note"))


# The likelihood


def greatest(pos, neg, mixed, prior: float | None = None) -> tuple[float, float]:
    """The greatest log likelihood of three samples in the same bins, and its prior, by BFGS."""
    k = len(pos)

    def lost(values: np.ndarray) -> tuple[float, np.ndarray]:
        p, q = (special.softmax(np.append(part, 0)) for part in np.split(values[: 2 * k - 2], 2))
        share = special.expit(values[-1]) if prior is None else prior
        in_use = share * p + (1 - share) * q
        of_p, of_q = mixed * share * p / in_use, mixed * (1 - share) * q / in_use
        slopes = [
            *(pos + of_p - (pos + of_p).sum() * p)[:-1],
            *(neg + of_q - (neg + of_q).sum() * q)[:-1],
            ((1 - share) * of_p - share * of_q).sum() if prior is None else 0.0,
        ]
        return -(pos @ np.log(p) + neg @ np.log(q) + mixed @ np.log(in_use)), -np.array(slopes)

    found = min(
        (optimize.minimize(lost, np.append(np.zeros(2 * k - 2), start), jac=True)
         for start in (-3.0, 0.0)),
        key=lambda one: one.fun,
    )  # fmt: skip
    return -found.fun, float(special.expit(found.x[-1]))


@pytest.mark.parametrize("mixed", [[10, 16, 30, 44], [60, 40, 50, 50], [4, 6, 50, 200]])
def test_estimate_limits_and_p_value_are_those_of_the_likelihood(mixed):
    scores, pos, neg = [4.0, 3.0, 2.0, 1.0], [40, 30, 20, 10], [5, 15, 60, 220]
    found = estimate(
        counted(scores, pos, neg), pl.DataFrame({"score": scores, "n": mixed}), count="n"
    )
    # Half a pseudo-case of each class is spread over the bins.
    samples = np.array(pos) + 0.125, np.array(neg) + 0.125, np.array(mixed)
    top, prior = greatest(*samples)
    assert found["prior"] == pytest.approx(prior, abs=1e-5)
    quantile = stats.f.ppf(0.95, 1, 99)

    def beyond(other: float) -> float:
        return 2 * (top - greatest(*samples, other)[0]) - quantile

    least = optimize.brentq(beyond, 1e-4, prior) if beyond(1e-4) > 0 else 0.0
    assert found["lower"] == pytest.approx(least, abs=1e-4)
    assert found["upper"] == pytest.approx(optimize.brentq(beyond, prior, 0.999), abs=1e-4)
    free = sum(float(n @ np.log(n / n.sum())) for n in samples)
    assert found["shift_p"] == pytest.approx(stats.f.sf((free - top), 2, 99), abs=1e-5)


@given(st.integers(0, 10**6), st.sampled_from(["odd", "raw", "tiny"]))
@settings(max_examples=20, deadline=None)
def test_only_the_order_of_scores_matters(seed, form):
    forms = {
        "odd": pl.col("odd"), "raw": (pl.col("score") / (1 - pl.col("score"))).log(),
        "tiny": pl.col("score") * 1e-300,
    }  # fmt: skip
    reference, deployed = cases(seed, 300, 0.3), cases(seed + 1, 400, 0.1)
    same = (table.with_columns(score=forms[form]) for table in (reference, deployed))
    # Logarithms may tie scores that differ in the last digit.
    assert estimate(*same) == pytest.approx(estimate(reference, deployed), nan_ok=True)


def test_reversed_scores_tell_the_prior_as_well():
    reference, deployed = cases(1, 4_000, 0.3), cases(2, 4_000, 0.1)
    less = (table.with_columns(score=-pl.col("score")) for table in (reference, deployed))
    found, turned = estimate(reference, deployed), estimate(*less)
    assert turned["prior"] == pytest.approx(found["prior"], abs=0.005)


def test_the_cases_of_a_copied_table_in_clusters_say_no_more_than_one_of_each():
    def copied(table, copies=5):
        table = table.with_columns(patient=pl.int_range(pl.len()))
        return pl.concat([table] * copies)

    reference, deployed = cases(1, 400, 0.3), cases(2, 600, 0.2)
    found = estimate(reference, deployed)
    clustered = estimate(copied(reference), copied(deployed), cluster="patient")
    assert clustered["prior"] == pytest.approx(found["prior"], abs=1e-2)
    width = found["upper"] - found["lower"]
    assert width <= clustered["upper"] - clustered["lower"] <= 1.05 * width
    alone = estimate(
        reference.with_columns(patient=pl.int_range(pl.len())),
        deployed.with_columns(patient=pl.int_range(pl.len())), cluster="patient",
    )  # fmt: skip
    assert alone["upper"] - alone["lower"] == pytest.approx(width, rel=0.02)


def test_intervals_of_clusters_are_as_wide_as_estimates_vary():
    # Clusters of five cases, of both classes, with a correlation of 0.8.
    def clustered(seed, prior, clusters, samples=200):
        rng = np.random.default_rng(seed)
        cluster = np.arange(samples * clusters * 5) // 5
        truth = rng.random(cluster.size) < prior
        error = 0.8**0.5 * rng.normal(size=samples * clusters)[cluster]
        score = 2 * truth + error + 0.2**0.5 * rng.normal(size=cluster.size)
        sample = cluster // clusters
        return pl.DataFrame({"table": sample, "truth": truth, "score": score, "patient": cluster})

    reference, deployed = clustered(31, 0.3, 120), clustered(32, 0.3, 200).drop("truth")
    found = pr.estimate_prior(reference, deployed, by="table", cluster="patient", **NAMES)
    quantile = np.sqrt(stats.f.ppf(0.95, 1, 100))
    half = (found["upper"] - found["lower"]).mean() / 2
    # The standard deviation of 200 estimates has a standard error of 5 %.
    assert half / quantile == pytest.approx(found["prior"].std(), rel=0.1)


# Batches


def in_batches(seed, number, size, sd, prior=0.3):
    """Batches whose scores are shifted by a normal number each, and one more batch."""
    rng = np.random.default_rng(seed)
    day = np.repeat(np.arange(number + 1), size)
    truth = rng.random(day.size) < prior
    score = rng.normal(size=day.size) + 2 * truth + rng.normal(scale=sd, size=number + 1)[day]
    table = pl.DataFrame({"day": day, "truth": truth, "score": score})
    return table.filter(pl.col("day") < number), table.filter(pl.col("day") == number).drop("day")


def test_batches_that_differ_widen_the_interval_which_then_holds():
    held = {"with": 0, "without": 0}
    runs = 30
    for seed in range(runs):
        reference, deployed = in_batches(seed, 12, 400, 0.2)
        apart = estimate(reference.drop("day"), deployed)
        found = estimate(reference, deployed, batch="day")
        assert found["prior"] == apart["prior"]
        if found["lower"] is not None:
            held["with"] += found["lower"] <= 0.3 <= found["upper"]
        if apart["lower"] is not None:
            held["without"] += apart["lower"] <= 0.3 <= apart["upper"]
        assert found["shift_p"] >= apart["shift_p"]
        assert found["assumes"] == "scores differ as between the 12 values of 'day'"
        assert apart["assumes"] == "only the prior has shifted"
    assert held["with"] >= stats.binom.ppf(0.001, runs, 0.93)
    assert held["without"] < stats.binom.ppf(0.001, runs, 0.93)


def test_one_batch_tells_no_difference():
    reference, deployed = in_batches(0, 3, 300, 0.0)
    found = estimate(reference.with_columns(day=pl.lit("a")), deployed, batch="day")
    assert "fewer than two values of 'day'" in found["note"]
    assert found["lower"] == estimate(reference.drop("day"), deployed)["lower"]


# Ends


def test_shares_of_one_class_alone_are_ends_and_no_priors():
    reference = cases(1, 2_000, 0.3)
    for prior in (0.0, 1.0):
        found = estimate(reference, cases(2, 2_000, prior))
        assert found["lower"] <= found["prior"] <= found["upper"]
        if found["prior"] in (0, 1):
            assert "cannot be passed on" in found["note"]
        assert min(found["upper"], 1 - found["lower"]) < 0.06


def test_infinite_scores_have_an_order():
    beyond = pl.when(pl.col("score") > 0.7).then(inf).when(pl.col("score") < 0.35).then(-inf)
    ends = TWENTY.with_columns(beyond.otherwise("score").alias("score"))
    finite = ends.with_columns(pl.col("score").clip(-9, 9))
    assert estimate(ends, ends) == estimate(finite, finite)


# Scores that no mixture of the classes gives

# What 1,000 reference cases and 2,000 deployed ones must show at level 0.05.
DRIFTS = {
    "all scores": (pl.col("raw") + 0.5, 0.95),
    "negatives": (pl.col("raw") + 0.4 * (1 - pl.col("truth")), 0.95),
    "positives": (pl.col("raw") - pl.col("truth"), 0.71),
    "spread": (1.4 * pl.col("raw"), 0.82),
}


def drawn(seed, runs, size, prior):
    """Normal scores, those of positives 2 higher, of runs."""
    rng = np.random.default_rng(seed)
    truth = rng.random(runs * size) < prior
    raw = rng.normal(size=truth.size) + 2 * truth
    return pl.DataFrame({"table": np.repeat(np.arange(runs), size), "truth": truth, "raw": raw})


def shift_p(reference, deployed) -> np.ndarray:
    found = pr.estimate_prior(
        reference,
        deployed.drop("truth"),
        truth="truth",
        score="raw",
        by="table",
    )
    return found["shift_p"].fill_null(1).to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("prior", "use", "digits"), [(0.3, 0.1, None), (0.05, 0.5, None), (0.3, 0.01, 0)]
)
def test_a_shift_of_the_prior_alone_is_found_as_rarely_as_the_level_says(prior, use, digits):
    runs = 200
    reference, deployed = drawn(1, runs, 200, prior), drawn(2, runs, 500, use)
    if digits is not None:
        rounded = pl.col("raw").round(digits)
        reference, deployed = (table.with_columns(rounded) for table in (reference, deployed))
    found = shift_p(reference, deployed)
    for level in (0.05, 0.2):
        assert (found <= level).sum() <= stats.binom.ppf(0.999, runs, level)


def test_few_labelled_cases_beside_many_scores_find_no_drift_too_often():
    runs = 100
    called = (pl.col("raw") > 1.2).cast(pl.Float64).alias("raw")
    found = shift_p(
        drawn(3, runs, 40, 0.5).with_columns(called),
        drawn(4, runs, 2_000, 0.01).with_columns(called),
    )
    for level in (0.05, 0.2):
        assert (found <= level).sum() <= stats.binom.ppf(0.999, runs, level)


@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_that_is_no_mixture_is_found(drift):
    change, power = DRIFTS[drift]
    runs = 20
    moved = drawn(6, runs, 2_000, 0.2).with_columns(change.alias("raw"))
    found = shift_p(drawn(5, runs, 1_000, 0.3), moved)
    assert (found <= 0.05).sum() >= stats.binom.ppf(0.001, runs, power)


def test_an_exact_mixture_fits():
    scores, pos, neg = [3.0, 2.0, 1.0], [60, 30, 10], [10, 20, 70]
    reference = counted(scores, pos, neg)
    for prior in (0.0, 0.25, 1.0):
        mixed = [int(1000 * (prior * t + (1 - prior) * f)) for t, f in zip(pos, neg, strict=True)]
        found = estimate(reference, pl.DataFrame({"score": scores, "n": mixed}), count="n")
        assert found["shift_p"] > 0.5
        assert found["prior"] == pytest.approx(prior, abs=0.02)
    other = pl.DataFrame({"score": scores, "n": [0, 1_000, 0]})
    assert estimate(reference, other, count="n")["shift_p"] < 0.01


@pytest.mark.parametrize("chosen", ["reference", "deployed"])
def test_scores_of_alarms_alone_have_an_estimate_without_an_interval(chosen):
    tables = {
        "reference": cases(3, 20_000, 0.05, posterior=0.05),
        "deployed": cases(4, 20_000, 0.02, posterior=0.05),
    }
    tables[chosen] = tables[chosen].filter(pl.col("score") >= 0.3)
    found = estimate(tables["reference"], tables["deployed"].drop("truth"))
    assert found["shift_p"] < 0.01
    assert found["lower"] is found["upper"] is None
    assert "more than the prior has shifted" in found["note"]


def test_folds_of_several_columns_are_those_of_both_tables():
    parts = [cases(i, 400, 0.3).with_columns(repeat=i // 2, fold=i % 2) for i in range(4)]
    table = pl.concat(parts)
    asked = {"fold": ["repeat", "fold"]}
    found = pr.estimate_prior(table, table.drop("truth"), **NAMES, **asked)
    assert found["fold"].to_list() == ["0.0", "0.1", "1.0", "1.1"]
