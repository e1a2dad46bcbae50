import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from crossed import rows_of_both
from polars import selectors as cs
from polars.testing import assert_frame_equal
from scipy import stats
from simulations import binormal, expit
from sizes import replicates
from sklearn.linear_model import LogisticRegression

import polaroc as pr
from polaroc.calibration.check_calibration import NO_SLOPE, TOO_FEW
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.measures.scoring import NOT_PROBABILITIES

NAMES = {"truth": "truth", "score": "score"}
OF_CALIBRATION = ("observed_over_expected", "calibration_in_the_large", "slope")
SCRIPT = runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "calibration.py"))


def predictions(seed: int, rows: int, slope: float = 1.0, sets: int = 1) -> pl.DataFrame:
    """Scores that are right, at slope 1, at a share of positives of 0.3."""
    random = np.random.default_rng(seed)
    logit, truth = binormal(random, rows * sets, 0.3, 1.5, 0.3)
    return pl.DataFrame(
        {
            "set": np.repeat(np.arange(sets), rows), "truth": truth,
            "score": expit(slope * logit), "balanced": expit(slope * (logit - np.log(3 / 7))),
        }
    )  # fmt: skip


def in_the_large(truth, log_odds, weight=None):
    """The regression with the slope fixed at 1, by statsmodels."""
    family, constant = sm.families.Binomial(), np.ones((len(truth), 1))
    regression = sm.GLM(
        np.asarray(truth, float), constant, family=family, offset=log_odds, freq_weights=weight
    )
    return regression.fit(cov_type="HC0", tol=1e-12, maxiter=200)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(("score", "score_prior"), [("score", "observed"), ("balanced", 0.5)])
def test_calibrated_scores_are_rejected_as_often_as_stated(score, score_prior):
    sets = replicates(1500, 500)
    table = predictions(1, 200, sets=sets)
    found = pr.check_calibration(
        table, truth="truth", score=score, by="set", score_prior=score_prior
    )
    low, high = stats.binom.ppf([0.0005, 0.9995], sets, 0.05) / sets
    assert low <= (found["p_value"] < 0.05).mean() <= high


@pytest.mark.slow
def test_with_few_positives_scores_that_are_right_at_another_prior_are_rejected_as_rarely():
    sets, cases = replicates(1000, 300), 500
    random = np.random.default_rng(0)
    logit, truth = binormal(random, cases * sets, 0.03, 1.8, 0.5)
    table = pl.DataFrame(
        {"set": np.repeat(np.arange(sets), cases), "truth": truth, "score": expit(logit)}
    )
    found = pr.check_calibration(table, **NAMES, by="set", score_prior=0.5)["p_value"]
    assert (found < 0.05).mean() < 0.0625 + 2 * (0.0625 * 0.9375 / sets) ** 0.5


@pytest.mark.parametrize(("slope", "score_prior"), [(0.5, "observed"), (2.0, "observed")])
def test_other_scores_are_found_out(slope, score_prior):
    table = predictions(2, 2000, slope)
    found = pr.check_calibration(table, **NAMES).row(0, named=True)
    assert found["p_value"] < 1e-6
    logit = np.log(table["score"] / (1 - table["score"])).to_numpy()[:, None]
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(logit, table["truth"])
    assert found["slope"] == pytest.approx(fitted.coef_.item(), rel=1e-3)
    assert found["mean_score"] == pytest.approx(table["score"].mean())
    assert found["prior"] == pytest.approx(table["truth"].mean())


def test_a_wrong_score_prior_is_found_out():
    table = predictions(3, 2000)
    asked = {"truth": "truth", "score": "balanced"}
    right = pr.check_calibration(table, **asked, score_prior=0.5)
    assert right["p_value"].item() > 0.01
    limits = right.select("calibration_in_the_large_lower", "slope_lower")
    assert limits.null_count().row(0) == (1, 0)
    assert "calibration_in_the_large: no limits of them" in right["note"].item()
    assert pr.check_calibration(table, **asked)["note"].item() is None
    assert pr.check_calibration(table, **asked, score_prior=0.3)["p_value"].item() < 1e-9
    assert pr.check_calibration(table, **asked)["p_value"].item() < 1e-9


@pytest.mark.parametrize(
    ("score", "truth", "p_value", "note"),
    [
        ([0.0, 0.5, 0.4], [1, 0, 1], 0.0, "wrong for 1 case"),
        ([1.0, 0.5, 0.4], [0, 0, 1], 0.0, "wrong for 1 case"),
        ([0.5, 0.5, 0.5], [0, 1, 1], stats.chi2.sf(1 / 3, 1), NO_SLOPE),
        ([0.5, 1.5, 0.5], [0, 1, 1], None, NOT_PROBABILITIES),
        ([0.5, 0.2, 0.5], [1, 1, 1], None, "no negatives"),
        ([], [], None, "no positives and no negatives"),
    ],
)
@pytest.mark.parametrize("lazy", [True, False])
def test_scores_without_a_test(score, truth, p_value, note, lazy):
    table = pl.DataFrame(
        {"score": score, "truth": truth}, schema={"score": pl.Float64, "truth": pl.Int64}
    )
    found = pr.check_calibration(table.lazy() if lazy else table, **NAMES)
    if lazy:
        assert found.collect_schema() == found.collect().schema
        found = found.collect()
    if not score:
        assert found.height in (0, 1)
        return
    assert found["p_value"].item() == (p_value if p_value is None else pytest.approx(p_value))
    assert note in found["note"].item()


def test_scores_between_0_and_1_of_one_class_tell_nothing_of_the_intercept():
    table = pl.DataFrame({"score": [1.0, 1.0, 0.3, 0.4, 0.2], "truth": [1, 1, 0, 0, 0]})
    found = pr.check_calibration(table, **NAMES, score_prior=0.3).row(0, named=True)
    assert found["p_value"] is None or found["p_value"] > 0.05


def test_keys_counts_and_few_cases():
    table = predictions(4, 60, sets=3).with_columns(n=pl.int_range(pl.len()) % 3)
    repeated = table.select(pl.exclude("n").repeat_by("n").explode())
    counted = pr.check_calibration(table, **NAMES, by="set", count="n")
    plain = pr.check_calibration(repeated, **NAMES, by="set")
    assert counted["set"].to_list() == [0, 1, 2]
    assert counted["p_value"].to_list() == pytest.approx(plain["p_value"].to_list())
    few = pr.check_calibration(table[:40], **NAMES, score_prior=0.3)
    assert TOO_FEW in few["note"].item()


def test_wrong_arguments_are_refused():
    with pytest.raises(InvalidArgument, match="prior is 2"):
        pr.check_calibration(predictions(1, 50), **NAMES, score_prior=2)
    with pytest.raises(InvalidPredictions, match="null score"):
        pr.check_calibration(predictions(1, 50).with_columns(score=None), **NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [slice(2, 6), slice(18, 20)], ids=["cases", "clusters"])
def test_limits_of_calibration_hold_as_often_as_stated(cells):
    for row in SCRIPT["line"](replicates(100, 40), cells).iter_rows(named=True):
        for name in OF_CALIBRATION:
            if row.get(name) is not None:
                count, of = round(row[name] * row[f"{name}_of"]), row[f"{name}_of"]
                assert count >= stats.binom.ppf(1e-3, of, 0.93)


def test_rows_of_a_cluster_are_not_independent():
    table = predictions(5, 300).with_columns(patient=pl.int_range(pl.len()))
    copies, twice = pl.concat([table] * 4), pl.concat([table] * 2)
    alone, clustered, single = (
        pr.check_calibration(one, **NAMES, **roles).row(0, named=True)
        for one, roles in (
            (copies, {}), (copies, {"cluster": "patient"}), (twice, {"cluster": "patient"}),
        )
    )  # fmt: skip
    for name in OF_CALIBRATION:
        ends = [f"{name}_lower", f"{name}_upper"]
        assert [clustered[end] for end in ends] == pytest.approx([single[end] for end in ends])
        assert alone[ends[1]] - alone[ends[0]] < 0.6 * (clustered[ends[1]] - clustered[ends[0]])
    assert clustered["p_value"] is None
    assert "no test" in clustered["note"]


def test_rows_of_two_crossed_clusterings_have_limits_of_both():
    table = rows_of_both(np.random.default_rng(5)).with_columns(
        pl.struct("customer", "row").alias("inner"),
        pl.col("A").map_batches(lambda score: 1 / (1 + (1 - score).exp())),
    )

    def limits(cluster):
        found = pr.check_calibration(table, truth="truth", score="A", cluster=cluster)
        return found.select(cs.ends_with("_lower", "_upper"))

    customers = limits("customer")
    assert_frame_equal(limits(["customer", "inner"]), customers, rel_tol=1e-9)
    both = limits(["customer", "day"])
    assert not both.equals(customers)
    assert not both.equals(limits("day"))


def test_few_large_clusters_are_few_degrees_of_freedom_of_a_line():
    rng = np.random.default_rng(2)
    patient = np.repeat(np.arange(40), np.where(np.arange(40) < 4, 60, 4))
    log_odds = rng.normal(size=patient.size) + rng.normal(size=40)[patient]
    truth = rng.random(patient.size) < 1 / (1 + np.exp(-log_odds))
    table = {"truth": truth, "score": 1 / (1 + np.exp(-log_odds)), "patient": patient}
    widths = []
    for level in (0.95, 0.5):
        found = pr.check_calibration(
            table, truth="truth", score="score", cluster="patient", level=level
        )
        widths.append((found["slope_upper"] - found["slope_lower"]).item())
    terms = np.stack([np.ones_like(log_odds), log_odds], axis=1)
    line = sm.Logit(truth.astype(float), terms).fit(disp=False).params
    fitted = 1 / (1 + np.exp(-terms @ line))
    of_line = np.linalg.solve((terms.T * fitted * (1 - fitted)) @ terms, terms.T * (truth - fitted))
    intercept = in_the_large(truth, log_odds).params
    of_intercept = truth - 1 / (1 + np.exp(-(intercept + log_odds)))
    freedom = []
    for one in (of_intercept, of_line[1]):
        squares = np.bincount(patient, one) ** 2
        freedom.append(squares.sum() ** 2 / (squares**2).sum() - 1)
    expected = stats.t.ppf([0.975, 0.75], min(freedom))
    assert min(freedom) < 10
    assert widths[0] / widths[1] == pytest.approx(expected[0] / expected[1], rel=1e-3)


@pytest.mark.alike
@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("weights", [None, "count", "weight"])
def test_calibration_in_the_large_is_the_intercept_at_slope_1(slope, weights):
    table = predictions(7, 3000, slope).with_columns(w=(pl.int_range(pl.len()) % 3 + 1))
    log_odds = np.log(table["score"] / (1 - table["score"])).to_numpy()
    weight = None if weights is None else table["w"].to_numpy().astype(float)
    expected = in_the_large(table["truth"], log_odds, weight)
    roles = {} if weights is None else {weights: "w"}
    found = pr.check_calibration(table, **NAMES, **roles).row(0, named=True)
    assert found["calibration_in_the_large"] == pytest.approx(expected.params.item(), abs=1e-9)
    if weights is None:
        # Student's t with many degrees of freedom, and divisors of n - 1 by class.
        width = found["calibration_in_the_large_upper"] - found["calibration_in_the_large_lower"]
        assert width / 2 == pytest.approx(stats.norm.ppf(0.975) * expected.bse.item(), rel=5e-3)


@pytest.mark.parametrize("slope", [0.0, 0.5, 1.0, 3.0])
def test_scores_that_are_right_on_average_have_calibration_in_the_large_0(slope):
    # At each score of the pair p and 1 - p as many positives are missing as there are too many.
    p, size = 0.8, 1000
    logit = slope * np.log(p / (1 - p))
    truth = np.concatenate([np.arange(size) < share * size for share in (p, 1 - p)])
    score = np.repeat([expit(logit), expit(-logit)], size)
    found = pr.check_calibration({"truth": truth, "score": score}, **NAMES).row(0, named=True)
    assert found["calibration_in_the_large"] == pytest.approx(0, abs=1e-9)
    assert found["observed_over_expected"] == pytest.approx(1)
    assert found["slope"] == (pytest.approx(1 / slope, rel=1e-4) if slope else None)


def test_equal_scores_and_scores_that_separate_have_calibration_in_the_large():
    equal = {"truth": [1, 0, 0, 0], "score": [0.5] * 4}
    found = pr.check_calibration(equal, **NAMES)
    assert found["calibration_in_the_large"].item() == pytest.approx(np.log(1 / 3))
    apart = {"truth": [1, 1, 0, 0], "score": [0.9, 0.8, 0.3, 0.1]}
    found = pr.check_calibration(apart, **NAMES)
    log_odds = np.log(np.divide(apart["score"], np.subtract(1, apart["score"])))
    expected = in_the_large(apart["truth"], log_odds).params.item()
    assert found["calibration_in_the_large"].item() == pytest.approx(expected, abs=1e-9)
    assert found["slope"].item() is None
    of_one_class = {"truth": [1, 1, 0], "score": [1.0, 1.0, 0.3]}
    assert pr.check_calibration(of_one_class, **NAMES)["calibration_in_the_large"].item() is None
