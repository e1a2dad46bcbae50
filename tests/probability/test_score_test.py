"""Whether scores are probabilities: the note of "em", and the p-value of `calibration`."""

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}


def expit(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def drawn(rng, rows, prior, distance):
    """Normal scores as the log odds of a positive, and the truth."""
    truth = (rng.random(rows) < prior).astype(int)
    raw = rng.normal(size=rows) + distance * truth
    return np.log(prior / (1 - prior)) + distance * raw - distance**2 / 2, truth


def note_of_em(score, truth):
    reference = pl.DataFrame({"score": np.asarray(score, float), "truth": truth})
    found = pr.estimate_prior(reference, reference.select("score"), **NAMES, method="em")
    return found["note"].item() or ""


@pytest.mark.parametrize(
    ("intercept", "slope", "rows"), [(0, 0.5, 500), (0, 2, 500), (1, 1, 500), (-0.2, 1, 20_000)]
)
def test_scores_that_are_not_probabilities_are_doubted_by_em(intercept, slope, rows):
    log_odds, truth = drawn(np.random.default_rng(rows), rows, 0.3, 2)
    assert "calibration slope" not in note_of_em(expit(log_odds), truth)
    moved = intercept + slope * log_odds
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(moved[:, None], truth).coef_.item()
    said = note_of_em(expit(moved), truth)
    assert f"calibration slope {fitted:.2g}, " in said
    assert f"mean {expit(moved).mean():.2g} for a share of positives of {truth.mean():.2g}" in said


def test_the_p_value_is_that_of_the_score_test_of_a_logistic_regression():
    log_odds, truth = drawn(np.random.default_rng(5), 400, 0.4, 1)
    log_odds = 0.75 * log_odds - 0.3

    def log_likelihood(line):
        at = line[0] + line[1] * log_odds
        return float(truth @ at - np.logaddexp(0, at).sum())

    # The slope and the curvature of the log likelihood, by differences.
    step, start = 1e-3, np.array([0.0, 1.0])
    units = step * np.eye(2)
    slope = [(log_likelihood(start + u) - log_likelihood(start - u)) / (2 * step) for u in units]
    bend = [
        [
            sum(
                a * b * log_likelihood(start + a * u + b * v) for a in (-1, 1) for b in (-1, 1)
            ) / (4 * step**2)
            for u in units
        ]
        for v in units
    ]  # fmt: skip
    statistic = np.array(slope) @ np.linalg.solve(-np.array(bend), slope)
    chance = stats.chi2.sf(statistic, 2)
    found = pr.calibration({"score": expit(log_odds), "truth": truth}, **NAMES).estimates
    assert found["statistic"].item() == pytest.approx(statistic, rel=1e-4)
    assert found["p_value"].item() == pytest.approx(chance, rel=1e-4)
    assert f"p = {chance:.2g})" in note_of_em(expit(log_odds), truth)


@pytest.mark.parametrize(
    ("score", "truth", "said"),
    [
        ([1.0, 0.0, 1.0, 0.0], [1, 0, 1, 0], None),
        ([1.0, 0.0, 0.0, 0.0], [1, 0, 1, 1], "scores of 0 or 1 are wrong for 2 cases"),
        ([0.5] * 40, [1, 0] * 20, None),
        ([0.5] * 40, [1, 0, 0, 0] * 10, "mean 0.5 for a share of positives of 0.25, p = 0.0016"),
    ],
)
def test_scores_at_the_ends_and_constant_ones(score, truth, said):
    found = note_of_em(score, truth)
    assert ("wrong for" not in found and "mean" not in found) if said is None else said in found
