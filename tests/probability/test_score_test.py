"""Whether scores are probabilities: the p-value of `calibration`."""

import numpy as np
import pytest
from scipy import stats

import polaroc as pr

NAMES = {"truth": "truth", "score": "score"}


def expit(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def drawn(rng, rows, prior, distance):
    """Normal scores as the log odds of a positive, and the truth."""
    truth = (rng.random(rows) < prior).astype(int)
    raw = rng.normal(size=rows) + distance * truth
    return np.log(prior / (1 - prior)) + distance * raw - distance**2 / 2, truth


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


@pytest.mark.parametrize(
    ("score", "truth", "p_value"),
    [
        ([1.0, 0.0, 1.0, 0.0], [1, 0, 1, 0], 1.0),
        ([1.0, 0.0, 0.0, 0.0], [1, 0, 1, 1], 0.0),
        ([0.5] * 40, [1, 0] * 20, 1.0),
        # Ten of forty, where twenty are expected with variance ten.
        ([0.5] * 40, [1, 0, 0, 0] * 10, stats.chi2.sf(10, 1)),
    ],
)
def test_scores_at_the_ends_and_constant_ones(score, truth, p_value):
    found = pr.calibration({"score": score, "truth": truth}, **NAMES).estimates
    assert found["p_value"].item() == pytest.approx(p_value)
