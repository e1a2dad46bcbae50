import numpy as np
import pytest
from evidences import evidence
from scipy.stats import kstest, multivariate_t, studentized_range, t
from statsmodels.stats.multitest import multipletests

from polaroc.uncertainty.adjusted import (
    _adjusted,
    _critical,
    by_holm,
    by_largest_t,
    least_p_values,
)
from polaroc.uncertainty.evidence import all_pairs


def largest_t(means, covariance, freedom, level, **options):
    """The pairs, their adjusted p-values, and whether their adjusted intervals leave out 0."""
    known = evidence(means, covariance, freedom)
    pairs = all_pairs(known)
    adjusted = by_largest_t(pairs, known, level, **options)
    lower, upper = pairs.limits(adjusted.level)
    return pairs, adjusted.p_value, (lower > 0) | (upper < 0)


def test_two_models_are_students_t():
    drawn = least_p_values(np.diag([1.0, 2.0]), 12)
    assert kstest(drawn, "uniform").pvalue > 1e-4
    pairs, p_adjusted, _ = largest_t(np.array([0.3, 0.1]), np.diag([0.01, 0.02]), 7.5, 0.9)
    assert p_adjusted[0] == pairs.p_value[0]
    assert pairs.p_value[0] == pytest.approx(2 * t.sf(0.2 / 0.03**0.5, 7.5))


# With many degrees of freedom the largest |t| of models of one variance is a studentized range.
@pytest.mark.alike
@pytest.mark.parametrize("models", [3, 5])
def test_many_degrees_of_freedom_give_tukeys_range(models):
    drawn = least_p_values(np.eye(models), 2000, draws=10_000)
    for alpha in (0.05, 0.005):
        critical = studentized_range.isf(alpha, models, 2000) / 2**0.5
        share = (drawn < 2 * t.sf(critical, 2000)).mean()
        assert share == pytest.approx(alpha, abs=4.5 * (alpha / 10_000) ** 0.5)


def test_independent_pairs_multiply():
    # Of models a, b far more variable than c, d the pair c, d moves alone.
    covariance = np.diag([1.0, 1e-8, 1e-8])
    drawn = least_p_values(covariance, 30, draws=20_000)
    assert (drawn < 0.05).mean() == pytest.approx(1 - 0.95**2, abs=0.008)


@pytest.mark.slow
def test_all_hold_at_once_by_simulation():
    rng = np.random.default_rng(2)
    covariance = multivariate_t(shape=np.eye(4), df=30, seed=1).rvs(9).T
    covariance = covariance @ covariance.T
    root, df = np.linalg.cholesky(covariance), 15
    below = 0
    for seed in range(200):
        sample = rng.normal(size=(df, 4)) @ root.T
        _, p_adjusted, leave_out_0 = largest_t(
            root @ rng.normal(size=4), sample.T @ sample / df, df, 0.9, draws=2_000, seed=seed
        )  # fmt: skip
        below += p_adjusted.min() < 0.1
        assert (leave_out_0 == (p_adjusted < 0.1)).all()
    # 20 are expected; 4 standard deviations to either side.
    assert 4 <= below <= 37


def test_models_without_variation():
    pairs, p_adjusted, _ = largest_t(np.array([0.5, 0.5, 0.6]), np.zeros((3, 3)), 10, 0.95)
    assert p_adjusted.tolist() == [1, 0, 0]
    assert pairs.constant.tolist() == [False, True, True]


def test_the_same_seed_gives_the_same():
    drawn = [least_p_values(np.eye(3), 10.7, draws=500, seed=seed) for seed in (0, 0, 1)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()


@pytest.mark.parametrize("draws", range(19, 260, 12))
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_intervals_and_adjusted_p_values_agree_on_every_pair(draws, alpha):
    least_p = np.sort(np.random.default_rng(draws).random(draws)) / 10
    critical = _critical(alpha, least_p, pairs=10_000)
    many = np.ones(9_998)
    below, at = _adjusted(np.array([critical * (1 - 1e-9), critical, *many]), least_p)[:2]
    assert below < alpha <= at


@pytest.mark.alike(2)
@pytest.mark.parametrize("seed", range(5))
def test_holm_is_statsmodels(seed):
    # Six means that tie now and then, of errors that differ.
    rng = np.random.default_rng(seed)
    pairs = all_pairs(evidence(rng.normal(size=6).round(), np.diag(rng.random(6)), 9))
    adjusted = multipletests(pairs.p_value, method="holm")[1]
    assert by_holm(pairs, 0.95).p_value == pytest.approx(adjusted)
