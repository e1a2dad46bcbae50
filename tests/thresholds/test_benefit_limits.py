"""Limits of decision curves."""

import numpy as np
import polars as pl
import pytest
from agreement import assert_same_numbers
from scipy.stats import norm

import polaroc as pr
from polaroc.errors import InvalidArgument

NAMES = {"truth": "truth", "score": "score"}
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
    grid = np.array([0.02, 0.1, 0.25, 0.5])
    true, runs = true_benefit(prior, grid, *sizes), 60
    rows = pl.concat(drawn(*sizes, seed=run).with_columns(run=run) for run in range(runs))
    found = decided(rows.drop("patient"), grid, by="run", priors=prior, intervals=True)
    low, high = (found[end].to_numpy().reshape(runs, -1) for end in ("lower", "upper"))
    held = (low - 1e-9 <= true) & (true <= high + 1e-9)
    # Two standard errors of 240 limits below .93.
    assert held.mean() >= 0.90


def test_what_is_not_for_it_is_refused():
    rows = drawn().drop("patient")
    with pytest.raises(InvalidArgument, match="level is for intervals"):
        decided(rows, level=0.9)
    with pytest.raises(InvalidArgument, match="intervals is 'pointwise', allowed are"):
        decided(rows, intervals="pointwise")


def test_the_score_prior_of_cases_counts():
    rows = drawn().drop("patient")
    curves = pr.curve(rows, **NAMES)
    expected = pr.decision_curve(curves, THRESHOLDS, 0.1, score_prior=0.5)
    assert_same_numbers(decided(rows, priors=0.1, score_prior=0.5), expected)
    cases = pr.cases(rows, **NAMES, score_prior=0.5)
    assert_same_numbers(cases.pipe(pr.decision_curve, THRESHOLDS, 0.1), expected)
