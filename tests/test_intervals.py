import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import stats
from scipy.special import expit, logit
from strategies import tables

import polaroc as pr
from polaroc.columns import INTERVAL
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.quantiles import student

NAMES = {"truth": "truth", "score": "score"}
TWENTY = pr.datasets.twenty_scores()
OVER = (0.05, 0.2)
COLUMNS = [
    "measure", "prior", "estimate", "lower", "upper", "std_error", "positives", "negatives", "note",
]  # fmt: skip


def table(positives: list[float], negatives: list[float]) -> pl.DataFrame:
    truth = [True] * len(positives) + [False] * len(negatives)
    return pl.DataFrame({"truth": truth, "score": [*positives, *negatives]})


def sure(frame: pl.DataFrame, **arguments: object) -> pl.DataFrame:
    return pr.evaluate(frame, **NAMES, **{"intervals": "logit", **arguments})


@pytest.mark.parametrize("method", ["logit", "wald"])
@pytest.mark.parametrize("arguments", [{}, {"over": OVER}, {"over": pr.beta(2, 18), "priors": 0.1}])
def test_a_curve_gives_what_evaluate_does(method, arguments):
    found = TWENTY.pipe(pr.curve, **NAMES).pipe(pr.intervals, method=method, **arguments)
    assert found.columns == COLUMNS
    assert [found.schema[name] for name in INTERVAL] == [pl.Float64] * 3
    assert_frame_equal(found, sure(TWENTY, intervals=method, **arguments), rel_tol=1e-10)
    without = pr.evaluate(TWENTY, **NAMES, **arguments)
    assert_frame_equal(found.drop(INTERVAL), without, rel_tol=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_limits_follow_from_the_standard_error(level):
    wald = sure(TWENTY, intervals="wald", level=level, over=OVER)
    estimate, lower, upper, error = wald.select("estimate", *INTERVAL).to_numpy().T
    width = stats.norm.ppf((1 + level) / 2) * error
    assert lower == pytest.approx(np.maximum(estimate - width, 0), abs=1e-12)
    assert upper == pytest.approx(np.minimum(estimate + width, 1), abs=1e-12)
    odds = sure(TWENTY, level=level, over=OVER)
    assert odds["std_error"].to_numpy() == pytest.approx(error, rel=1e-12)
    width = stats.t.ppf((1 + level) / 2, 9) * error / (estimate * (1 - estimate))
    assert odds["lower"].to_numpy() == pytest.approx(expit(logit(estimate) - width), rel=1e-9)
    assert odds["upper"].to_numpy() == pytest.approx(expit(logit(estimate) + width), rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_students_quantile(level):
    freedom = np.r_[1:60, 100, 1000, 10**6]
    found = pl.DataFrame({"n": freedom}).select(student(pl.col("n"), level)).to_series().to_numpy()
    assert found == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-5)


def test_intervals_within_a_given_memory_are_refused():
    with pytest.raises(InvalidArgument, match="memory is '1GB', allowed is one"):
        sure(TWENTY, memory="1GB")


def test_limits_stay_within_0_and_1():
    near = table([5.0, 4.0, 3.0, 0.5], [2.0, 1.0, 0.0, -1.0, -2.0])
    for method in ("wald", "logit"):
        found = sure(near, intervals=method, over=OVER).drop_nulls("lower")
        assert found.height >= 6
        assert (found["lower"] >= 0).all()
        assert (found["upper"] <= 1).all()


# With k disjoint pairs of one positive and one negative, an AUC of a ranks all rightly
# with chance aᵏ; a rate r keeps n cases on its side with chance rⁿ.
def test_a_perfect_score_has_a_lower_limit_from_the_numbers_of_cases():
    found = sure(table([3.0, 2.0, 4.0], [1.0, 0.0, -1.0, -2.0]), priors=0.1)
    assert found["estimate"].to_list() == [1, 1]
    assert found["upper"].to_list() == [1, 1]
    assert found["std_error"].to_list() == [0, 0]
    expected = [0.025 ** (1 / 3), least_area(9)]
    assert found["lower"].to_list() == pytest.approx(expected, rel=1e-6)
    assert found["note"].str.contains("perfect score").all()


def least_area(skew: float) -> float:
    """AUPREC of three positives and four negatives at the rates they keep to, with chance 1/40."""
    t, f = 0.0125 ** (1 / 3), 1 - 0.0125 ** (1 / 4)
    recall = np.linspace(0, t, 100_001)
    return np.trapezoid(recall / (recall + skew * f), recall)


def test_so_has_its_mean_over_priors():
    perfect = table([3.0, 2.0, 4.0], [1.0, 0.0, -1.0, -2.0])
    found = sure(perfect, over=(0.05, 0.2), measures="iauprec")
    middles = 0.05 + 0.15 * (np.arange(200) + 0.5) / 200
    expected = np.mean([least_area(1 / prior - 1) for prior in middles])
    assert found["estimate"].item() == pytest.approx(1)
    assert found["lower"].item() == pytest.approx(expected, rel=1e-5)


def test_the_limit_of_a_perfect_score_holds_where_it_is_likely():
    # P(positive > negative) of the exponential with means 1/θ and 1 is 1/(1 + θ).
    rate, generator = 0.05, np.random.default_rng(4)
    scores = generator.exponential(size=(4000, 10))
    scores[:, :5] /= rate
    replications = pl.DataFrame(
        {
            "replication": np.repeat(np.arange(4000), 10),
            "truth": np.tile(np.arange(10) < 5, 4000),
            "score": scores.ravel(),
        }
    )
    found = sure(replications, by="replication", measures="auc")
    perfect = found.filter(pl.col("estimate") == 1)
    assert perfect.height > 1000
    missed = (perfect["lower"] > 1 / (1 + rate)).sum() / 4000
    assert missed <= 0.025


NOTHING_TO_SAY = {
    "constant": (table([1.0] * 3, [1.0] * 4), 0.0, "no spread"),
    "one positive": (table([1.0], [0.0, 2.0]), None, "one positive"),
    "one negative": (table([1.0, 3.0], [2.0]), None, "one negative"),
    "worst": (table([0.0, 1.0], [2.0, 3.0]), 0.0, "no spread"),
}


@pytest.mark.parametrize(("frame", "error", "note"), NOTHING_TO_SAY.values(), ids=NOTHING_TO_SAY)
@pytest.mark.parametrize("method", ["logit", "wald"])
def test_where_the_sample_says_nothing_limits_are_null_with_a_note(frame, error, note, method):
    found = sure(frame, measures="auc", intervals=method)
    assert found.select("lower", "upper", "std_error").row(0) == (None, None, error)
    assert note in found["note"].item()


def test_where_there_is_no_estimate_there_is_no_interval():
    found = sure(table([1.0, 2.0], []), over=OVER)
    assert found.select("estimate", *INTERVAL).null_count().row(0) == (found.height,) * 4
    assert set(found["note"]) == {"no negatives"}


@settings(max_examples=60)
@given(
    tables(kinds=("none", "whole"), max_rows=14),
    st.sampled_from(["logit", "wald", "percentile", "bca"]),
    st.sampled_from(["exact", "linear", "step"]),
)
def test_limits_hold_the_estimate_or_are_null_with_a_note(frame, method, interpolation):
    weight = "weight" if "weight" in frame.columns else None
    curves = pr.curve(frame, **NAMES, weight=weight)
    asked = {"priors": [0.01, 0.5], "over": OVER, "interpolation": interpolation}
    if method in ("logit", "wald"):
        found = pr.intervals(curves, **asked, method=method)
    else:
        found = pr.bootstrap(curves, **asked, method=method, draws=100)
    assert not found.select(pl.col(*INTERVAL).is_nan().any()).row(0).count(True)
    told = found.drop_nulls("lower")
    assert told["upper"].null_count() == 0
    assert (told["lower"] >= 0).all()
    assert (told["upper"] <= 1).all()
    assert (told["lower"] <= told["upper"]).all()
    if method in ("logit", "wald"):
        assert (told["lower"] <= told["estimate"] + 1e-12).all()
        assert (told["upper"] >= told["estimate"] - 1e-12).all()
    untold = found.filter(pl.col("lower").is_null())
    assert untold["upper"].null_count() == untold.height
    assert untold["note"].null_count() == 0


def test_weights_that_are_not_counts_have_no_interval():
    weighted = TWENTY.with_columns(weight=pl.lit(0.5))
    with pytest.raises(InvalidPredictions, match="20 weights are not whole"):
        sure(weighted, weight="weight")
    lazy = sure(weighted.lazy(), weight="weight").collect()
    curves = weighted.pipe(pr.curve, **NAMES, weight="weight").pipe(pr.intervals)
    for found in (lazy, curves):
        assert found.select(INTERVAL).null_count().row(0) == (found.height,) * 3
        assert found["note"].str.contains("not counts").all()
        assert found["estimate"].null_count() == 0


# Of the first key all scores are there twice, so that its cells look like counts.
@pytest.mark.parametrize("method", ["wald", "percentile"])
def test_only_the_keys_with_such_weights_are_without_interval(method):
    twice = pl.concat([TWENTY, TWENTY])
    by_key = pl.concat([twice.with_columns(key=pl.lit(k), weight=pl.lit(k / 2)) for k in (1, 2)])
    asked = {"by": "key", "weight": "weight", "measures": "auc", "intervals": method}
    found = sure(by_key.lazy(), **asked).collect()
    assert found["lower"].is_null().to_list() == [True, False]
    assert found["note"].str.contains("not counts").to_list() == [True, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"intervals": "exact"}, "allowed are"),
        ({"level": 0}, "0 < level < 1"),
        ({"level": 95}, "0 < level < 1"),
        ({"interpolation": "hull"}, "hull"),
    ],
)
def test_what_has_no_interval_is_refused(arguments, message):
    with pytest.raises(InvalidArgument, match=message):
        sure(TWENTY, **arguments)
    renamed = {{"intervals": "method"}.get(name, name): value for name, value in arguments.items()}
    with pytest.raises(InvalidArgument, match=message):
        TWENTY.pipe(pr.curve, **NAMES).pipe(pr.intervals, **renamed)


# Nominal 0.95 with a standard error of 0.005 at 2,000 replications; the first order is a
# little short for IAUPREC.
def test_coverage_of_the_true_measures():
    from binormal import replications, true_values

    found = sure(replications(2000, 100, seed=1), by="replication", over=OVER, priors=[])
    true = true_values(OVER)
    covered = found.filter(pl.col("measure").is_in(list(true))).with_columns(
        pl.col("measure").replace_strict(true).is_between("lower", "upper").alias("covered")
    )
    shares = covered.group_by("measure").agg(pl.col("covered").mean())
    assert shares.height == 2
    assert shares["covered"].is_between(0.925, 0.97).all(), shares
