"""The prior of a deployment from its scores, by re-weighted posteriors and by a threshold."""

from math import inf, nan

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import optimize, stats

import polaroc as pr
from polaroc.errors import InvalidPredictions

NAMES = {"truth": "truth", "score": "score"}
METHODS = ["em", "confusion"]
PRIORS = [0.01, 0.05, 0.1, 0.3, 0.5]
TWENTY = pr.datasets.twenty_scores()
Z = stats.norm.ppf(0.975)


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


def estimate(reference, deployed, method, **asked) -> dict:
    found = pr.estimate_prior(reference, deployed, **NAMES, method=method, **asked)
    return found.row(0, named=True)


# Either method


@pytest.mark.parametrize("prior", [0.01, 0.5])
@pytest.mark.parametrize(("method", "score"), [("em", "score"), ("confusion", "odd")])
def test_the_prior_of_a_shifted_deployment_is_found(method, score, prior):
    reference, deployed = cases(1, 4_000, 0.3), cases(2, 20_000, prior)
    found = pr.estimate_prior(
        reference, deployed.drop("truth"), truth="truth", score=score, method=method
    )
    row = found.row(0, named=True)
    assert abs(row["prior"] - prior) <= 3 * row["std_error"]
    assert row["std_error"] < 0.02
    assert row["lower"] < row["prior"] < row["upper"]
    assert row["reference_prior"] == reference["truth"].mean()
    assert (row["method"], row["deployed"], row["note"]) == (method, 20_000, None)


@pytest.mark.slow
@pytest.mark.parametrize("prior", PRIORS[::2])
@pytest.mark.parametrize(("method", "score"), [("em", "score"), ("confusion", "odd")])
def test_the_interval_holds_the_prior_as_often_as_it_says(method, score, prior):
    runs = 300
    reference, deployed = cases(3, 400, 0.3, runs), cases(4, 1_000, prior, runs)
    found = pr.estimate_prior(
        reference, deployed, truth="truth", score=score, by="table", method=method
    )
    held = found.filter(pl.lit(prior).is_between("lower", "upper")).height
    least, most = stats.binom.interval(0.999, runs, 0.95)
    assert least <= held <= most


# With few cases of the reference, and with as many as deployed ones.
@pytest.mark.parametrize(("sizes", "tables"), [((150, 3_000), 100), ((500, 500), 200)])
@pytest.mark.parametrize("method", METHODS)
def test_the_standard_error_is_the_spread_of_estimates(method, sizes, tables):
    reference, deployed = cases(3, sizes[0], 0.3, tables), cases(4, sizes[1], 0.1, tables)
    found = pr.estimate_prior(reference, deployed, **NAMES, by="table", method=method)
    assert found["std_error"].mean() == pytest.approx(found["prior"].std(), rel=0.18)


def test_the_truth_of_the_deployed_is_never_read():
    deployed = cases(9, 500, 0.2)
    without = pr.estimate_prior(TWENTY, deployed.select("score"), **NAMES)
    for other in (deployed, deployed.with_columns(truth=pl.lit("unknown"))):
        assert_frame_equal(pr.estimate_prior(TWENTY, other, **NAMES), without)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("truth", "note"), [([True] * 3, "reference: no negatives"), ([False] * 3, "no positives")]
)
def test_without_a_class_in_the_reference_there_is_no_estimate(method, truth, note):
    reference = pl.DataFrame({"truth": truth, "score": [0.2, 0.5, 0.7]})
    row = estimate(reference, TWENTY, method)
    assert row["prior"] is None
    assert row["reference_prior"] == float(truth[0])
    assert note in row["note"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("score", [0.3, 0.0, 1.0])
def test_a_constant_score_tells_no_prior(method, score):
    reference = pl.DataFrame({"truth": [True] * 30 + [False] * 70, "score": score})
    row = estimate(reference, pl.DataFrame({"score": [score] * 50}), method)
    assert (row["prior"], row["lower"], row["upper"], row["std_error"]) == (None,) * 4
    assert row["shift_p"] is None
    assert row["note"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [[], ["a", "b"]], ids=len)
def test_empty_tables_have_the_same_schema(method, by):
    table = TWENTY.with_columns(a=pl.lit("x"), b=pl.lit(1), n=pl.lit(2))
    arguments = {**NAMES, "by": by, "method": method, "count": "n"}
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


@pytest.mark.parametrize("method", METHODS)
def test_each_key_of_either_table_has_the_row_that_it_has_alone(method):
    reference = of_models(["A", "B", None], 0, 300, 0.3)
    deployed = of_models([None, "A", "C"], 3, 900, 0.1)
    found = pr.estimate_prior(reference, deployed, **NAMES, fold=None, method=method)
    assert found["model"].to_list() == ["A", "B", "C", None]
    assert found["note"].to_list() == [None, "no deployed scores", "not in the reference", None]
    assert found["deployed"].to_list() == [900, 0, 900, 900]
    for model in ("A", None):
        same = pl.col("model").eq_missing(pl.lit(model))
        alone = pr.estimate_prior(
            reference.filter(same), deployed.filter(same), **NAMES, fold=None, method=method
        )
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
        pr.estimate_prior(**tables, **NAMES, method="confusion")
    found = pr.estimate_prior(**tables, **NAMES, method="confusion", nulls="drop").lazy().collect()
    assert found["note"].item().startswith(f"{table}: dropped 1 ")
    sound = tables | {table: spoilt.drop_nulls().drop_nans()}
    kept = pr.estimate_prior(**sound, **NAMES, method="confusion").lazy().collect()
    assert_frame_equal(found.drop("note"), kept.drop("note"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-99, 5e-324])
def test_scores_that_are_almost_zero_end_in_no_error(method, scale):
    tiny = pl.col("score") * scale
    reference, deployed = cases(1, 1_000, 0.3), cases(2, 1_000, 0.1).drop("truth")
    for used in (deployed, deployed.with_columns(tiny)):
        found = estimate(reference.with_columns(tiny), used, method)
        if method == "em":
            assert "posteriors" in found["note"]
        elif used is not deployed and scale == 1e-99:
            # Their order alone matters.
            assert found["prior"] == estimate(reference, deployed, method)["prior"]


# Re-weighted posteriors


def fixed_point_of_em(score: np.ndarray, reference_prior: float, steps: int = 5_000) -> float:
    """Saerens, Latinne and Decaestecker: re-weight the posteriors, average, repeat."""
    prior = reference_prior
    for _ in range(steps):
        positive = prior / reference_prior * score
        negative = (1 - prior) / (1 - reference_prior) * (1 - score)
        prior = float((positive / (positive + negative)).mean())
    return prior


@pytest.mark.parametrize("prior", [0.01, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("reference_prior", [0.1, 0.5])
def test_em_gives_the_fixed_point_of_em(prior, reference_prior):
    reference = cases(1, 2_000, reference_prior, posterior=reference_prior)
    deployed = cases(2, 2_000, prior, posterior=reference_prior)
    found = estimate(reference, deployed, "em")
    # The mean of posteriors estimates their prior with less noise than the share of positives.
    expected = fixed_point_of_em(deployed["score"].to_numpy(), reference["score"].mean())
    assert found["prior"] == pytest.approx(expected, rel=1e-9)


def test_em_of_two_scores_by_hand():
    # At the prior ½ the scores ¾ and ⅓ have the likelihood ratios 3 and ½. With k of n cases at
    # the first the slope is nil where 2k/(1 + 2π) = (n − k)/(2 − π), at π = (4k − (n − k))/(2n).
    k, n = 30, 100
    reference = counted([0.75, 1 / 3], [60, 40], [20, 80])
    deployed = pl.DataFrame({"score": [0.75, 1 / 3], "n": [k, n - k]})
    found = estimate(reference, deployed, "em", count="n")
    assert found["prior"] == pytest.approx((4 * k - (n - k)) / (2 * n), rel=1e-12)


@pytest.mark.parametrize(
    ("score", "end"), [([0.1, 0.2, 0.3, 0.49], 0.0), ([0.0, 0.4], 0.0), ([0.6, 0.9, 1.0], 1.0)]
)
def test_without_a_maximum_inside_em_gives_an_end(score, end):
    assert fixed_point_of_em(np.array(score), 0.5) == pytest.approx(end, abs=1e-3)
    reference = cases(3, 40, 0.5, posterior=0.5).with_columns(truth=pl.int_range(40) % 2 == 0)
    found = estimate(reference, pl.DataFrame({"score": score * 3}), "em")
    assert (found["prior"], found["std_error"]) == (end, None)
    assert "cannot be passed on as a prior" in found["note"]


def test_the_interval_of_em_beside_a_great_reference_is_that_of_the_likelihood():
    logit = np.linspace(-9, 9, 181)
    share = 1 / (1 + np.exp(-logit))
    raw = (logit + 2) / 2
    pos, neg = (
        np.rint(1e12 * stats.norm.pdf(raw - 2 * one)).astype(np.int64) for one in (True, False)
    )
    reference = counted(share, pos, neg)
    rng = np.random.default_rng(2)
    used = rng.choice(share, 400, p=(0.1 * pos + 0.9 * neg) / (0.1 * pos + 0.9 * neg).sum())
    deployed = pl.DataFrame({"score": used, "n": np.ones(400, dtype=int)})
    found = estimate(reference, deployed, "em", count="n")

    def total(prior: float) -> float:
        return float(np.log(prior * used / 0.5 + (1 - prior) * (1 - used) / 0.5).sum())

    top = total(fixed_point_of_em(used, 0.5))

    def lost(prior: float) -> float:
        return 2 * (top - total(prior)) - stats.chi2.ppf(0.95, 1)

    assert found["lower"] == pytest.approx(optimize.bisect(lost, 1e-9, found["prior"]), rel=1e-4)
    assert found["upper"] == pytest.approx(optimize.bisect(lost, found["prior"], 0.9), rel=1e-4)
    step, at = 1e-4, found["prior"]
    bend = (lost(at + step) - 2 * lost(at) + lost(at - step)) / step**2
    assert found["std_error"] == pytest.approx((bend / 2) ** -0.5, rel=1e-3)


def test_scores_that_are_no_posteriors_are_said_to_be():
    reference, deployed = cases(7, 2_000, 0.3), cases(8, 2_000, 0.1)
    assert estimate(reference, deployed, "em")["note"] is None
    sharper = pl.col("score") ** 2 / (pl.col("score") ** 2 + (1 - pl.col("score")) ** 2)
    doubted = estimate(reference.with_columns(sharper), deployed.with_columns(sharper), "em")
    assert doubted["note"].startswith("scores seem not to be posteriors (calibration slope 0.5")
    assert doubted["lower"] is doubted["upper"] is doubted["std_error"] is None


# A threshold with its rates

# At prior ½ the errors, 0.2 and 0.1, balance best at score 2; so they do at any other prior here.
REFERENCE = counted([3.0, 2.0, 1.0], [40, 40, 20], [4, 16, 180])


def adjusted(count, reference=REFERENCE, **asked) -> dict:
    scores = reference["score"].unique().sort(descending=True)
    deployed = pl.DataFrame({"score": scores, "n": count})
    return estimate(reference, deployed, "confusion", count="n", **asked)


@pytest.mark.parametrize("count", [[10, 16, 74], [30, 30, 40], [50, 80, 370]])
def test_the_adjusted_share_by_hand(count):
    found, n = adjusted(count), sum(count)
    share = sum(count[:2]) / n
    assert found["prior"] == pytest.approx((share - 0.1) / (0.8 - 0.1))
    slope_t, slope_f = found["prior"] / 0.7, (1 - found["prior"]) / 0.7
    variance = (
        share * (1 - share) / n / 0.7**2
        + slope_t**2 * 0.8 * 0.2 / 100
        + slope_f**2 * 0.1 * 0.9 / 200
    )
    assert found["std_error"] == pytest.approx(variance**0.5)
    # The limits are where the share is as far off as chance allows.
    extra = Z**2 / 2
    t, f = (0.8 * 100 + 1) / 102, (0.1 * 200 + 1) / 202
    q = (share * n + extra) / (n + 2 * extra)

    def off(prior: float) -> float:
        """Standard errors between the share called positive and that at a prior, squared."""
        variance = (
            q * (1 - q) / (n + 2 * extra)
            + prior**2 * t * (1 - t) / 102
            + (1 - prior) ** 2 * f * (1 - f) / 202
        )
        return (q - prior * t - (1 - prior) * f) ** 2 / variance - Z**2

    middle = (q - f) / (t - f)
    expected = optimize.bisect(off, middle - 1, middle), optimize.bisect(off, middle, middle + 1)
    assert (found["lower"], found["upper"]) == pytest.approx(expected, abs=1e-9)


def test_where_the_prior_may_be_one_half_the_threshold_is_that_of_one_half():
    # At prior ½ the errors, 0.2 and 0.1, balance best at score 3, from 0.7 on at score 2.
    found = adjusted([10, 9, 10, 11],
                     counted([4.0, 3.0, 2.0, 1.0], [50, 30, 15, 5], [5, 15, 50, 130]))  # fmt: skip
    assert found["upper"] > 0.7
    assert found["prior"] == pytest.approx((19 / 40 - 0.1) / (0.8 - 0.1))


def test_rare_positives_get_a_stricter_threshold():
    errors = {}
    for prior in (0.01, 0.5):
        found = estimate(cases(4, 5_000, 0.3), cases(5, 20_000, prior), "confusion")
        assert abs(found["prior"] - prior) < 3 * found["std_error"]
        errors[prior] = found["std_error"]
    # At the threshold of prior ½ the error at 0.01 would be nearly as great as at 0.5.
    assert errors[0.01] < 0.6 * errors[0.5]


@pytest.mark.parametrize(("count", "end"), [([1, 5, 94], 0), ([55, 27, 18], 1)])
def test_a_share_beyond_the_rates_is_clipped(count, end):
    found = adjusted(count)
    assert (found["prior"], found["std_error"]) == (end, None)
    assert 0 <= found["lower"] <= end <= found["upper"] <= 1
    assert found["lower"] < found["upper"]
    assert "clipped from " in found["note"]
    assert "cannot be passed on" in found["note"]


def test_what_no_prior_explains_has_none():
    assert adjusted([0, 0, 1000])["prior"] is None
    turned = REFERENCE.with_columns(truth=~pl.col("truth"))
    found = adjusted([50, 30, 20], turned)
    assert found["prior"] is None
    assert found["note"].endswith("are the scores reversed?")


def test_infinite_scores_are_scores_of_a_threshold():
    beyond = pl.when(pl.col("score") > 0.7).then(inf).when(pl.col("score") < 0.35).then(-inf)
    ends = TWENTY.with_columns(beyond.otherwise("score").alias("score"))
    finite = ends.with_columns(pl.col("score").clip(-9, 9))
    assert estimate(ends, ends, "confusion") == estimate(finite, finite, "confusion")


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
        method="confusion",
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


def test_an_exact_mixture_is_none_and_none_next_to_a_prior_of_one():
    pos, neg = [60, 30, 10], [10, 20, 70]
    reference = counted([3.0, 2.0, 1.0], pos, neg)
    for prior in (0.0, 0.25, 1.0):
        mixed = [int(1000 * (prior * t + (1 - prior) * f)) for t, f in zip(pos, neg, strict=True)]
        assert adjusted(mixed, reference)["shift_p"] > 0.5
    assert adjusted([0, 1_000, 0], reference)["shift_p"] < 0.01
    # The last score is one of negatives alone: the likelihood is greatest a little below one.
    beside = counted([3.0, 2.0, 1.0], [100, 900, 0], [0, 0, 100])
    found = adjusted([130, 869, 1], beside)
    assert found["shift_p"] > 0.01
    assert found["prior"] == pytest.approx(0.999)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chosen", ["reference", "deployed"])
def test_scores_of_alarms_alone_have_an_estimate_without_an_interval(method, chosen):
    tables = {
        "reference": cases(3, 20_000, 0.05, posterior=0.05),
        "deployed": cases(4, 20_000, 0.02, posterior=0.05),
    }
    tables[chosen] = tables[chosen].filter(pl.col("score") >= 0.3)
    found = estimate(tables["reference"], tables["deployed"].drop("truth"), method)
    assert found["shift_p"] < 0.01
    assert found["lower"] is found["upper"] is found["std_error"] is None
    assert "more than the prior has shifted" in found["note"]


def test_folds_of_several_columns_are_those_of_both_tables():
    parts = [cases(i, 400, 0.3).with_columns(repeat=i // 2, fold=i % 2) for i in range(4)]
    table = pl.concat(parts)
    asked = {"fold": ["repeat", "fold"], "method": "confusion"}
    found = pr.estimate_prior(table, table.drop("truth"), **NAMES, **asked)
    assert found["fold"].to_list() == ["0.0", "0.1", "1.0", "1.1"]
