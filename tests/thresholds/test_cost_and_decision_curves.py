"""Cost curves, and decision curves with their limits."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm
from strategies import tables

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}
DATA = Path(__file__).parents[1] / "reference" / "data"


def curve(table: pl.DataFrame, **by) -> pl.DataFrame:
    weight = "weight" if "weight" in table.columns else None
    return pr.curve(table, **NAMES, weight=weight, **by)


@pytest.mark.slow
@given(tables(), st.sampled_from([0.0, 0.1, 0.5, 0.77, 1.0]))
def test_the_envelope_is_the_least_of_all_lines(table, x):
    roc = curve(table)
    row = pr.cost_curve(roc, [x]).row(0, named=True)
    lines = [(1 - t) * x + f * (1 - x) for t, f in roc.select("tpr", "fpr").rows()]
    assert row["cost"] == pytest.approx(min(lines), abs=1e-12)
    assert (1 - row["tpr"]) * x + row["fpr"] * (1 - x) == pytest.approx(row["cost"], abs=1e-12)


# dcurves: a marker for cancer, as observed and at a stated prior (see reference/cases.jsonl),
# where it takes scores as right in the population.
@pytest.mark.parametrize(
    ("file", "truth", "prior", "model", "treat_all"),
    [
        ("dcurves_df_binary.csv", "cancer", "observed", 0.064, -0.1466667),
        ("dcurves_df_case_control.csv", "casecontrol", 0.15, 0.01495671, -0.13333333),
    ],
)
def test_net_benefit_is_that_of_dcurves(file, truth, prior, model, treat_all):
    table = pl.read_csv(DATA / file).with_columns(
        pl.col(truth).cast(pl.String).str.to_lowercase().is_in(["true", "1"])
    )
    roc = pr.curve(table, truth=truth, score="cancerpredmarker")
    row = pr.decision_curve(roc, [0.25], priors=prior, score_prior=None).row(0, named=True)
    assert row["net_benefit"] == pytest.approx(model, abs=1e-5)
    assert row["treat_all"] == pytest.approx(treat_all, abs=1e-5)


def posteriors(table: pl.DataFrame, prior: float, right_at: float) -> list[Fraction]:
    """The probability at a prior that each score stands for if it is right at another."""
    times = Fraction(prior) / (1 - Fraction(prior)) * (1 - Fraction(right_at)) / Fraction(right_at)
    scores = [Fraction(score) for score in table["score"]]
    return [s * times / (1 - s + s * times) for s in scores]


@pytest.mark.slow
@given(
    tables(scores=(0.0, 0.125, 0.25, 0.5, 0.875, 1.0)),
    st.sampled_from([0.0, 0.125, 0.3, 0.5, 0.77]),
    st.sampled_from([0.125, 0.5, 0.75]),
    st.sampled_from(["observed", None, 0.125, 0.5]),
)
def test_net_benefit_by_counting(table, p, prior, score_prior):
    row = pr.decision_curve(curve(table), [p], priors=prior, score_prior=score_prior)
    weights = table["weight"].to_list() if "weight" in table.columns else [1.0] * len(table)
    own = sum(w for y, w in zip(table["truth"], weights, strict=True) if y) / sum(weights)
    right_at = {"observed": own, None: prior}.get(score_prior, score_prior)
    # The share of weights is rounded: equal but for that is equal.
    called = [s >= Fraction(p) - Fraction(1, 10**10) for s in posteriors(table, prior, right_at)]
    t, f = (
        sum(w for y, c, w in zip(table["truth"], called, weights, strict=True) if y is truth and c)
        / sum(w for y, w in zip(table["truth"], weights, strict=True) if y is truth)
        for truth in (True, False)
    )
    expected = prior * t - (1 - prior) * f * p / (1 - p)
    assert row["net_benefit"].item() == pytest.approx(expected, abs=1e-12)
    assert row["note"].to_list() == [None]


# Normal scores, positives 1.8 higher: the posterior of a balanced sample is calibrated there,
# and at a share of 0.05 acting on it as it stands loses what a re-weighted one gains.
@pytest.mark.parametrize(
    ("score_prior", "cut", "about"),
    [("observed", logit(0.1) - logit(0.05), 0.024), (None, logit(0.1), -0.017)],
)
def test_calibrated_scores_at_another_prior_have_their_closed_form(score_prior, cut, about):
    distance, cases = 1.8, 20_000
    share = (np.arange(cases) + 0.5) / cases
    raw = np.concatenate([norm.ppf(share) + distance, norm.ppf(share)])
    table = pl.DataFrame(
        {"truth": np.repeat([1, 0], cases), "score": expit(distance * raw - distance**2 / 2)}
    )
    row = pr.decision_curve(curve(table), [0.1], priors=0.05, score_prior=score_prior)
    at = (cut + distance**2 / 2) / distance
    expected = 0.05 * norm.sf(at - distance) - 0.95 * norm.sf(at) / 9
    assert row["net_benefit"].item() == pytest.approx(expected, abs=1e-4)
    assert expected == pytest.approx(about, abs=5e-4)


def test_each_key_is_reweighted_from_its_own_prior():
    balanced = pl.DataFrame({"truth": [1, 0] * 4, "score": [0.8, 0.3] * 4, "key": "a"})
    rare = balanced.with_columns(truth=pl.Series([1, 0, 0, 0] * 2), key=pl.lit("b"))
    both = curve(pl.concat([balanced, rare]), by="key")
    found = pr.decision_curve(both, [0.5, 0.9], priors=0.25)
    # Odds of 4 at even shares are 4/3 at a quarter; those of "b" are right as they stand.
    assert found.filter(key="a", threshold=0.5)["tpr"].item() == 1.0
    assert found.filter(key="a", threshold=0.9)["tpr"].item() == 0.0
    apart = [pr.decision_curve(both.filter(key=k), [0.5, 0.9], priors=0.25) for k in "ab"]
    assert_same_numbers(found, pl.concat(apart))


@pytest.mark.parametrize("lazy", [False, True])
def test_scores_that_are_no_probabilities_have_no_net_benefit(lazy):
    table = pr.datasets.satellite_predictions().filter(fold=1).drop("case")
    shares = table.with_columns(pl.col("score").rank() / (table.height + 1), model=pl.lit("share"))
    roc = curve(pl.concat([table.filter(model="A"), shares]))
    found = pr.decision_curve(roc.lazy() if lazy else roc, [0.2, 0.5], priors=0.1)
    found = found.lazy().collect()
    bad, good = (found.filter(model=model) for model in ("A", "share"))
    assert set(bad["note"]) == {"scores are not probabilities"}
    assert bad.select(pl.col("tpr", "fpr", "net_benefit").null_count()).row(0) == (2, 2, 2)
    assert bad["treat_all"].equals(good["treat_all"])
    assert good.null_count().select(pl.exclude("note")).sum_horizontal().item() == 0


@pytest.mark.parametrize("step", [pr.cost_curve, pr.decision_curve])
def test_a_key_without_a_class_has_no_rows(step):
    table = pl.DataFrame({"truth": [1, 1], "score": [0.2, 0.1]})
    assert step(curve(table), [0.5]).is_empty()


def test_of_thresholds_that_cost_the_same_the_one_with_fewer_alarms():
    # At 0.5 a recall of 0.5 without false alarms costs what recall 1 costs with half of them.
    table = pl.DataFrame({"truth": [1, 1, 0, 0, 0, 0], "score": [3, 2, 2, 2, 1, 1]})
    cheapest = pr.cost_curve(curve(table), [0.5])
    assert cheapest.select("cost", "threshold", "tpr", "fpr").row(0) == (0.25, 3.0, 0.5, 0.0)


# Limits of decision curves

THRESHOLDS = [0.05, 0.2, 0.5, 0.8]
DISTANCE = 1.5


def drawn(positives=40, negatives=120, seed=0, rows=1, correlation=0.5) -> pl.DataFrame:
    """Probabilities that are right at the share of positives, of rows of patients."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(positives + negatives), rows)
    truth = patient < positives
    shared, own = rng.normal(size=positives + negatives)[patient], rng.normal(size=patient.size)
    noise = shared if rows == 1 else correlation**0.5 * shared + (1 - correlation) ** 0.5 * own
    odds = positives / negatives * np.exp(DISTANCE * (DISTANCE * truth + noise) - DISTANCE**2 / 2)
    return pl.DataFrame({"truth": truth, "score": odds / (1 + odds), "patient": patient})


def decided(rows, thresholds=THRESHOLDS, **asked) -> pl.DataFrame:
    return pr.decision_curve(rows, thresholds, **NAMES, **asked)


@pytest.mark.parametrize("priors", ["observed", 0.02])
def test_limits_at_a_threshold_are_those_of_its_cost(priors):
    rows = drawn()
    sure = decided(rows.drop("patient"), intervals=True, priors=priors)
    for row in sure.iter_rows(named=True):
        odds = row["threshold"] / (1 - row["threshold"])
        # The score whose odds, three negatives for a positive, are moved to these.
        raw = 1 / (1 + 3 / odds * row["prior"] / (1 - row["prior"]))
        cost = pr.apply_thresholds(
            rows.drop("patient"), raw, **NAMES, priors=row["prior"], intervals=True,
            cost_fp=odds,
        ).row(0, named=True)  # fmt: skip
        assert cost["tpr"] == row["tpr"]
        assert row["net_benefit"] == pytest.approx(row["prior"] - cost["cost"])
        assert row["lower"] == pytest.approx(row["prior"] - cost["cost_upper"], abs=1e-7)
        assert row["upper"] == pytest.approx(row["prior"] - cost["cost_lower"], abs=1e-7)


def test_predictions_and_their_curve_have_the_same_limits():
    rows = drawn().drop("patient")
    curves = pr.curve(rows, **NAMES)
    found = decided(rows, intervals=True)
    assert_same_numbers(found, pr.decision_curve(curves, THRESHOLDS, intervals=True))
    plain = decided(rows)
    assert_same_numbers(found.select(plain.columns), plain)
    assert found.select((pl.col("lower") < pl.col("net_benefit")).all()).item()
    assert found.select((pl.col("net_benefit") < pl.col("upper")).all()).item()
    assert found["level"].to_list() == [0.95] * len(THRESHOLDS)
    lazy = decided(rows.lazy(), intervals=True)
    assert lazy.collect_schema() == lazy.collect().schema
    assert_same_numbers(lazy.collect(), found)


def test_clusters_widen_limits_and_few_have_none():
    rows = drawn(rows=6)
    width = (pl.col("upper") - pl.col("lower")).mean()
    alone = decided(rows.drop("patient"), intervals=True).select(width).item()
    known = decided(rows, intervals=True, cluster="patient")
    assert known.select(width).item() > 1.1 * alone
    few = decided(drawn(5, 40, rows=6), intervals=True, cluster="patient")
    assert few["lower"].is_null().all()
    assert few["net_benefit"].is_not_null().all()
    assert few["note"].str.contains("fewer than 7 clusters").all()
    doubted = decided(rows, intervals=True)
    assert doubted["note"].str.contains("'patient' are not independent").all()


def true_benefit(prior: float, thresholds: np.ndarray, positives: int, negatives: int):
    """The net benefit at thresholds of scores that are moved to a prior."""
    odds = thresholds / (1 - thresholds) * (1 - prior) / prior
    cut = (np.log(odds) + DISTANCE**2 / 2) / DISTANCE
    t, f = norm.sf(cut - DISTANCE), norm.sf(cut)
    return prior * t - (1 - prior) * f * thresholds / (1 - thresholds)


@pytest.mark.parametrize("sizes", [(15, 60), (60, 240)])
@pytest.mark.parametrize("prior", [0.01, 0.3])
def test_limits_hold_the_true_net_benefit(sizes, prior):
    grid = np.linspace(0.02, 0.9, 45)
    true, runs = true_benefit(prior, grid, *sizes), 60
    rows = pl.concat(drawn(*sizes, seed=run).with_columns(run=run) for run in range(runs))
    found = decided(rows.drop("patient"), grid, by="run", priors=prior, intervals=True)
    low, high = (found[end].to_numpy().reshape(runs, -1) for end in ("lower", "upper"))
    held = (low - 1e-9 <= true) & (true <= high + 1e-9)
    assert held.mean() >= 0.93


def test_the_score_prior_counts():
    rows = drawn().drop("patient")
    curves = pr.curve(rows, **NAMES)
    expected = pr.decision_curve(curves, THRESHOLDS, 0.1, score_prior=0.5)
    assert_same_numbers(decided(rows, priors=0.1, score_prior=0.5), expected)
    cases = pr.cases(rows, **NAMES)
    found = cases.pipe(pr.decision_curve, THRESHOLDS, 0.1, score_prior=0.5)
    assert_same_numbers(found, expected)
