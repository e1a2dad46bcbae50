import numpy as np
import pytest
from scipy import stats
from scored import binormal, expit, labelled
from sklearn.linear_model import LogisticRegression

from polaroc.deployment.estimators import Labelled
from polaroc.probability.score_test import FALSE_ALARMS
from polaroc.probability.score_test import miscalibration_note as note_of_cells


def miscalibration_note(cells: Labelled) -> str | None:
    return note_of_cells(cells.score, cells.pos, cells.neg)


@pytest.mark.alike
@pytest.mark.slow
@pytest.mark.parametrize(("rows", "prior"), [(200, 0.3), (1000, 0.05), (2000, 0.5)])
@pytest.mark.parametrize("distance", [1, 2])
def test_posteriors_are_doubted_no_more_often_than_stated(rows, prior, distance):
    rng = np.random.default_rng(rows + distance)
    runs = 1000
    doubted = 0
    for _ in range(runs):
        logit, truth = binormal(rng, rows, prior, distance, prior)
        doubted += miscalibration_note(labelled(expit(logit), truth)) is not None
    assert doubted <= stats.binom.ppf(0.9995, runs, FALSE_ALARMS)


@pytest.mark.parametrize(
    ("intercept", "slope", "rows"), [(0, 0.5, 500), (0, 2, 500), (1, 1, 500), (-0.2, 1, 20_000)]
)
def test_scores_that_are_not_posteriors_are_doubted(intercept, slope, rows):
    rng = np.random.default_rng(rows)
    logit, truth = binormal(rng, rows, 0.3, 2, 0.3)
    moved = intercept + slope * logit
    said = miscalibration_note(labelled(expit(moved), truth))
    fitted = LogisticRegression(C=np.inf, tol=1e-10).fit(moved[:, None], truth).coef_.item()
    assert f"calibration slope {fitted:.2g}, " in said
    assert f"mean {expit(moved).mean():.2g} for a share of positives of {truth.mean():.2g}" in said


def test_the_test_is_the_score_test_of_a_logistic_regression():
    rng = np.random.default_rng(5)
    logit, truth = binormal(rng, 400, 0.4, 1, 0.4)
    logit = 0.75 * logit - 0.3

    def log_likelihood(line: np.ndarray) -> float:
        at = line[0] + line[1] * logit
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
    assert 1e-3 < chance < FALSE_ALARMS
    assert f"p = {chance:.2g})" in miscalibration_note(labelled(expit(logit), truth))


@pytest.mark.parametrize(
    ("score", "truth", "said"),
    [
        ([1.0, 0.0, 1.0, 0.0], [1, 0, 1, 0], None),
        ([1.0, 0.0, 0.0, 0.0], [1, 0, 1, 1], "scores of 0 or 1 are wrong for 2 cases"),
        ([1.0, 1.0, 0.5, 0.5], [1, 0, 1, 0], "scores of 0 or 1 are wrong for 1 case"),
        ([0.5] * 40, [1, 0] * 20, None),
        ([0.5] * 40, [1, 0, 0, 0] * 10, "mean 0.5 for a share of positives of 0.25, p = 0.0016"),
        ([0.5] * 1000, [0] * 1000, "p < 0.001"),
    ],
)
def test_scores_at_the_ends_and_constant_ones(score, truth, said):
    found = miscalibration_note(labelled(np.array(score), np.array(truth)))
    assert found is None if said is None else said in found
