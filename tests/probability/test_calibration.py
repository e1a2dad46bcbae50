import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy import optimize, special, stats
from scored import binormal, expit
from simulations import probabilities
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
OF_CALIBRATION = ("observed_over_expected", "calibration_in_the_large", "slope")


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


@pytest.mark.slow
@pytest.mark.parametrize(("score", "score_prior"), [("score", "observed"), ("balanced", 0.5)])
def test_calibrated_scores_are_rejected_as_often_as_stated(score, score_prior):
    sets = 500
    table = predictions(1, 200, sets=sets)
    found = pr.calibration(
        table, truth="truth", score=score, by="set", score_prior=score_prior
    ).estimates
    low, high = stats.binom.ppf([0.0005, 0.9995], sets, 0.05) / sets
    assert low <= (found["p_value"] < 0.05).mean() <= high


@pytest.mark.parametrize("slope", [0.5, 2.0])
def test_other_scores_are_found_out(slope):
    table = predictions(2, 2000, slope)
    found = pr.calibration(table, **NAMES).estimates.row(0, named=True)
    assert found["p_value"] < 1e-6
    assert found["mean_score"] == pytest.approx(table["score"].mean())
    assert found["prior"] == pytest.approx(table["truth"].mean())


def test_a_wrong_score_prior_is_found_out():
    table = predictions(3, 2000)
    asked = {"truth": "truth", "score": "balanced"}
    right = pr.calibration(table, **asked, score_prior=0.5).estimates
    assert right["p_value"].item() > 0.01
    limits = right.select("calibration_in_the_large_lower", "slope_lower")
    assert limits.null_count().row(0) == (1, 0)
    assert "only the slope has limits" in right["note"].item()
    assert pr.calibration(table, **asked).estimates["note"].item() is None
    assert pr.calibration(table, **asked, score_prior=0.3).estimates["p_value"].item() < 1e-9
    assert pr.calibration(table, **asked).estimates["p_value"].item() < 1e-9


@pytest.mark.parametrize(
    ("score", "truth", "p_value", "note"),
    [
        ([0.0, 0.5, 0.4], [1, 0, 1], 0.0, "wrong for 1 case"),
        ([1.0, 0.5, 0.4], [0, 0, 1], 0.0, "wrong for 1 case"),
        ([0.5, 0.5, 0.5], [0, 1, 1], stats.chi2.sf(1 / 3, 1), "no slope"),
        ([0.5, 1.5, 0.5], [0, 1, 1], None, "not probabilities"),
        ([0.5, 0.2, 0.5], [1, 1, 1], None, "no negatives"),
        ([], [], None, "no positives and no negatives"),
    ],
)
@pytest.mark.parametrize("lazy", [True, False])
def test_scores_without_a_test(score, truth, p_value, note, lazy):
    table = pl.DataFrame(
        {"score": score, "truth": truth}, schema={"score": pl.Float64, "truth": pl.Int64}
    )
    found = pr.calibration(table.lazy() if lazy else table, **NAMES).estimates
    if not score:
        assert found.height in (0, 1)
        return
    assert found["p_value"].item() == (p_value if p_value is None else pytest.approx(p_value))
    assert note in found["note"].item()


def test_few_cases_are_said():
    few = pr.calibration(predictions(4, 40), **NAMES, score_prior=0.3).estimates
    assert "fewer than" in few["note"].item()


@pytest.mark.slow
@pytest.mark.parametrize("places", [range(2, 6), range(12, 14)], ids=["cases", "clusters"])
def test_limits_of_calibration_hold_as_often_as_stated(places):
    count, design = 40, probabilities.DESIGNS["calibration"]
    for place in places:
        found = design.run(count, 0, **design.cells[place])
        for name in OF_CALIBRATION:
            share = found.get(f"{name} holds")
            if share is not None:
                # A few samples may have no limits.
                assert round(share * count) >= stats.binom.ppf(1e-3, count, 0.93)


def test_few_large_clusters_are_few_degrees_of_freedom_of_a_line():
    rng = np.random.default_rng(2)
    patient = np.repeat(np.arange(40), np.where(np.arange(40) < 4, 60, 4))
    log_odds = rng.normal(size=patient.size) + rng.normal(size=40)[patient]
    truth = rng.random(patient.size) < 1 / (1 + np.exp(-log_odds))
    table = {"truth": truth, "score": 1 / (1 + np.exp(-log_odds)), "patient": patient}
    widths = []
    for level in (0.95, 0.5):
        found = pr.calibration(
            table, truth="truth", score="score", cluster="patient", level=level
        ).estimates
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


@pytest.mark.parametrize("slope", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("weights", [None, "count", "weight"])
def test_calibration_in_the_large_is_the_intercept_at_slope_1(slope, weights):
    table = predictions(7, 3000, slope).with_columns(w=(pl.int_range(pl.len()) % 3 + 1))
    log_odds = np.log(table["score"] / (1 - table["score"])).to_numpy()
    weight = None if weights is None else table["w"].to_numpy().astype(float)
    expected = in_the_large(table["truth"], log_odds, weight)
    roles = {} if weights is None else {weights: "w"}
    found = pr.calibration(table, **NAMES, **roles).estimates.row(0, named=True)
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
    found = pr.calibration({"truth": truth, "score": score}, **NAMES).estimates.row(0, named=True)
    assert found["calibration_in_the_large"] == pytest.approx(0, abs=1e-9)
    assert found["observed_over_expected"] == pytest.approx(1)
    assert found["slope"] == (pytest.approx(1 / slope, rel=1e-4) if slope else None)


def test_equal_scores_and_scores_that_separate_have_calibration_in_the_large():
    equal = {"truth": [1, 0, 0, 0], "score": [0.5] * 4}
    found = pr.calibration(equal, **NAMES).estimates
    assert found["calibration_in_the_large"].item() == pytest.approx(np.log(1 / 3))
    apart = {"truth": [1, 1, 0, 0], "score": [0.9, 0.8, 0.3, 0.1]}
    found = pr.calibration(apart, **NAMES).estimates
    log_odds = np.log(np.divide(apart["score"], np.subtract(1, apart["score"])))
    expected = in_the_large(apart["truth"], log_odds).params.item()
    assert found["calibration_in_the_large"].item() == pytest.approx(expected, abs=1e-9)
    assert found["slope"].item() is None
    of_one_class = {"truth": [1, 1, 0], "score": [1.0, 1.0, 0.3]}
    assert (
        pr.calibration(of_one_class, **NAMES).estimates["calibration_in_the_large"].item() is None
    )


@pytest.mark.parametrize("score_prior", ["observed", 0.5])
@pytest.mark.parametrize("prior", ["observed", 0.05])
def test_the_curve_is_an_isotonic_regression(prior, score_prior):
    table = predictions(1, 500)
    cells = pr.curve(table, **NAMES).drop_nulls("threshold")
    found = pr.calibration(table, prior, score_prior=score_prior, **NAMES).curve
    own = cells["positives"][0] / (cells["positives"][0] + cells["negatives"][0])
    to = own if prior == "observed" else prior
    right_at = own if score_prior == "observed" else score_prior

    def moved(p: np.ndarray, start: float) -> np.ndarray:
        up = p * (1 - start) / start
        return up / (up + (1 - p) * (1 - to) / to)

    score, pos, neg = (cells[name].to_numpy() for name in ("threshold", "pos", "neg"))
    fitted = IsotonicRegression().fit(score, pos / (pos + neg), sample_weight=pos + neg)
    at = moved(score, right_at)
    for point, share in found.select("score", "probability").iter_rows():
        nearest = np.abs(at - point).argmin()
        assert point == pytest.approx(at[nearest], rel=1e-9)
        assert share == pytest.approx(moved(fitted.predict(score[[nearest]]), own)[0], abs=1e-9)
    assert found["score"].is_sorted()
    assert found["cases"].sum() == 500
    assert found["score"].max() == pytest.approx(at.max())


def test_calibrated_scores_stay_in_the_band_as_often_as_stated():
    inside = []
    for seed in range(15):
        found = pr.calibration(predictions(seed, 300), 0.1, seed=seed, **NAMES).curve
        inside.append(
            found.select(pl.col("probability").is_between("lower", "upper").mean()).item()
        )
    # A mean over points of one curve, which move together.
    assert 0.90 < np.mean(inside) < 0.99
    outside = pr.calibration(predictions(1, 3000, slope=3.0), **NAMES).curve
    assert outside.select(pl.col("probability").is_between("lower", "upper").mean()).item() < 0.7


@pytest.mark.parametrize("lazy", [True, False])
def test_keys_without_a_curve_say_why(lazy):
    table = pl.DataFrame(
        {
            "key": ["a", "a", "b", "b", "c", "c"], "truth": [1, 0, 1, 1, 1, 0],
            "score": [0.7, 0.2, 0.5, 0.6, 3.0, 0.1],
        }
    )  # fmt: skip
    found = pr.calibration(table.lazy() if lazy else table, **NAMES, by="key").curve
    notes = found.group_by("key", maintain_order=True).agg(pl.col("note").first())
    assert notes.rows() == [
        ("a", None),
        ("b", "no negatives"),
        ("c", "scores are not probabilities"),
    ]
    weighted = pr.calibration(table.with_columns(w=0.5), **NAMES, weight="w", by="key")
    found = weighted.curve.filter(key="a")
    assert found["lower"].null_count() == found.height
    assert found["note"][0] == "weights are not counts of cases: no band"


def sandwich(terms, residuals, fitted, weight, clusters):
    """The cluster-robust covariance of a logistic regression, with its small-sample factor."""
    bread = np.linalg.inv((terms.T * weight * fitted * (1 - fitted)) @ terms)
    scores = terms * (weight * residuals)[:, None]
    sums = np.stack([scores[clusters == one].sum(axis=0) for one in np.unique(clusters)])
    (rows, parameters), groups = terms.shape, len(sums)
    factor = groups / (groups - 1) * (rows - 1) / (rows - parameters)
    return factor * bread @ sums.T @ sums @ bread


@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "patient"}])
def test_limits_have_cluster_robust_standard_errors(roles):
    table = predictions(8, 240, 1.4).with_columns(
        w=(pl.int_range(pl.len()) % 4 + 1) / 2, patient=pl.int_range(pl.len()) // 3
    )
    found = pr.calibration(table, **NAMES, **roles).estimates.row(0, named=True)
    truth, score = table["truth"].to_numpy().astype(float), table["score"].to_numpy()
    logit = np.log(score / (1 - score))
    weight = table["w"].to_numpy() if "weight" in roles else np.ones(240)
    clusters = table["patient"].to_numpy() if "cluster" in roles else np.arange(240)
    line = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(
        logit[:, None], truth, sample_weight=weight
    )
    intercept, slope = line.intercept_.item(), line.coef_.item()
    assert found["slope"] == pytest.approx(slope, abs=1e-7)
    assert found["intercept"] == pytest.approx(intercept, abs=1e-7)
    both = np.stack([np.ones(240), logit], axis=1)
    at_line = expit(intercept + slope * logit)
    of_line = sandwich(both, truth - at_line, at_line, weight, clusters)
    in_large = expit(found["calibration_in_the_large"] + logit)
    of_large = sandwich(both[:, :1], truth - in_large, in_large, weight, clusters)
    sums = [
        (weight * (truth / (weight @ truth) - score / (weight @ score)))[clusters == one].sum()
        for one in np.unique(clusters)
    ]
    variances = {
        "intercept": of_line[0, 0], "slope": of_line[1, 1],
        "calibration_in_the_large": of_large[0, 0],
        "observed_over_expected": np.sum(np.square(sums)) * len(sums) / (len(sums) - 1),
    }  # fmt: skip
    reach = []
    for name, variance in variances.items():
        ends = np.array([found[f"{name}_lower"], found[f"{name}_upper"]])
        estimate = found[name]
        if name == "observed_over_expected":
            ends, estimate = np.log(ends), np.log(estimate)
        assert ends.mean() == pytest.approx(estimate)
        reach.append(np.diff(ends).item() / 2 / variance**0.5)
    # The quantile of Student's t is the same for all.
    assert reach == pytest.approx([reach[0]] * 4, rel=1e-6)
    if not roles:
        assert reach[0] == pytest.approx(stats.t.ppf(0.975, truth.sum() - 1), rel=1e-6)
    assert 1.96 < reach[0] < 3
    assert (found["p_value"] is None) == bool(roles)
    assert ("no test" in (found["note"] or "")) == bool(roles)


@pytest.mark.parametrize(("scale", "shift"), [(1, 30), (1, -30), (0.01, 8), (30, 0), (30, -20)])
def test_scores_that_are_far_off_have_estimates(scale, shift):
    random = np.random.default_rng(4)
    logit = random.normal(size=300)
    truth = random.random(300) < expit(logit)
    score = special.expit(scale * logit + shift).clip(1e-300, 1 - 1e-15)
    moved = np.log(score) - np.log1p(-score)
    found = pr.calibration({"truth": truth, "score": score}, **NAMES).estimates.row(0, named=True)
    in_large = optimize.brentq(lambda a: special.expit(a + moved).sum() - truth.sum(), -900, 900)
    assert found["calibration_in_the_large"] == pytest.approx(in_large, abs=1e-6)
    if scale != 30:
        assert found["slope"] == pytest.approx(
            LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
            .fit(logit[:, None], truth).coef_.item() / scale, rel=0.05 if abs(shift) == 30 else 1e-4
        )  # fmt: skip


@pytest.mark.parametrize(
    ("score", "truth"),
    [
        ([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]),
        ([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]),
        ([0.5, 0.5, 0.5, 0.5], [1, 1, 0, 0]),
        ([0.7, 0.2], [1, 0]),
        ([0.7, 0.2], [0, 1]),
        ([0.0, 0.0, 0.0], [1, 0, 0]),
        ([1.0, 0.0, 1.0], [1, 0, 1]),
    ],
)
@pytest.mark.parametrize("roles", [{}, {"weight": "w"}, {"cluster": "c"}])
def test_cases_without_a_slope_have_none_and_say_so(score, truth, roles):
    table = pl.DataFrame({"truth": truth, "score": score}).with_columns(
        w=pl.int_range(1, pl.len() + 1), c=pl.int_range(pl.len()) // 2
    )
    result = pr.calibration(table, **NAMES, **roles)
    row = result.estimates.row(0, named=True)
    assert row["slope"] is row["slope_lower"] is row["intercept"] is None
    assert row["note"]
    assert "slope" in result.summary()
