import numpy as np
import pytest
from evidences import evidence
from scipy import integrate, stats

from polaroc.comparison import posterior as module
from polaroc.comparison.posterior import at_least_own


def posterior(means, covariance, freedom=np.inf, **options):
    return module.posterior(evidence(means, covariance, freedom), **options)


def slab(spread, of):
    """Prior density of the spread, in standard errors of a difference."""
    scale, freedom, _ = of
    # Its square is scaled inverse χ²; with the Jacobian of the square.
    return stats.invgamma.pdf(spread**2, freedom / 2, scale=freedom * scale**2 / 2) * 2 * spread


@pytest.mark.parametrize("z", [0.3, 1.0, 2.0, 4.0])
def test_two_models_by_integration(z):
    # A difference of z standard errors, of which the spread is unknown.
    error = 0.01
    result = posterior(np.array([0.5 + z * error, 0.5]), np.eye(2) * error**2 / 2)

    def mean(what, of=module.OF_BEST):
        def weighted(s):
            return slab(s, of) * stats.norm.pdf(z, scale=np.sqrt(1 + s**2)) * what(s)

        return integrate.quad(weighted, 0.01, 500, limit=400, points=[0.5, 1, 3, 10, 50])[0]

    def unless_equal(what, of, if_equal):
        likely = (1 - of.equal) * mean(lambda _: 1, of), of.equal * stats.norm.pdf(z)
        return ((1 - of.equal) * mean(what, of) + likely[1] * if_equal) / sum(likely)

    kept = lambda s: s**2 / (1 + s**2)  # noqa: E731
    total = mean(lambda s: 1)
    ahead = lambda s: stats.norm.cdf(np.sqrt(kept(s)) * z)  # noqa: E731
    assert result.probability_best[0] == pytest.approx(
        unless_equal(ahead, module.OF_BEST, 0.5), abs=0.006
    )
    size = unless_equal(kept, module.OF_EXPECTED, 0)
    expected = 0.5 + z * error / 2 * (1 + size * np.array([1, -1]))
    assert result.expected == pytest.approx(expected, abs=2e-3 * error)

    def lost(s):
        # E max(-x, 0) of a normal x.
        m, sd = kept(s) * z, np.sqrt(kept(s))
        return sd * stats.norm.pdf(m / sd) - m * stats.norm.cdf(-m / sd)

    assert result.expected_loss[0] == pytest.approx(error * mean(lost) / total, abs=0.01 * error)
    assert result.expected_loss[1] - result.expected_loss[0] == pytest.approx(
        error * z * mean(kept) / total, abs=0.02 * error * z
    )


@pytest.mark.parametrize("freedom", [np.inf, 7])
def test_where_models_differ_widely_nothing_is_corrected(freedom):
    covariance = (np.eye(3) + 1) * 1e-8
    means = np.array([0.5, 0.9, 0.7])
    result = posterior(means, covariance, freedom)
    assert result.expected == pytest.approx(means, abs=1e-5)
    assert result.probability_best == pytest.approx([0, 1, 0], abs=1e-12)
    assert result.expected_loss == pytest.approx([0.4, 0, 0.2], abs=1e-4)
    if freedom == np.inf:
        reach = stats.norm.ppf(0.975) * np.sqrt(covariance.diagonal())
        assert result.upper - result.lower == pytest.approx(2 * reach, rel=1e-3)


def test_shift_scale_and_order_do_not_matter():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 4))
    covariance, means = root.T @ root, rng.normal(size=4) * 2
    one = posterior(means, covariance, 9)
    moved = posterior(0.7 + means / 100, covariance / 1e4, 9)
    assert moved.probability_best == pytest.approx(one.probability_best)
    assert moved.expected == pytest.approx(0.7 + one.expected / 100)
    assert moved.lower == pytest.approx(0.7 + one.lower / 100)
    assert moved.expected_loss == pytest.approx(one.expected_loss / 100)
    order = [2, 0, 3, 1]
    turned = posterior(means[order], covariance[np.ix_(order, order)], 9)
    assert turned.expected == pytest.approx(one.expected[order])
    assert turned.upper == pytest.approx(one.upper[order])
    assert turned.probability_best == pytest.approx(one.probability_best[order], abs=0.015)
    again = posterior(means, covariance, 9)
    assert all((a == b).all() for a, b in zip(one, again, strict=True))


def test_models_that_are_the_same_share_the_probability():
    means, covariance = np.array([0.8, 0.78]), np.array([[2e-4, 1e-4], [1e-4, 3e-4]])
    copied = [0, 1, 0]
    one = posterior(means, covariance)
    three = posterior(means[copied], covariance[np.ix_(copied, copied)])
    assert three.probability_best == pytest.approx(one.probability_best[copied] / [2, 1, 2])
    assert three.expected == pytest.approx(one.expected[copied])
    alike = posterior(np.full(4, 0.8), np.full((4, 4), 1e-4), 5)
    assert alike.probability_best.tolist() == [0.25] * 4
    assert alike.expected_loss.tolist() == [0] * 4
    assert alike.upper == pytest.approx(0.8 + stats.t.ppf(0.975, 5) * 0.01)


def test_without_variation_nothing_is_known():
    assert posterior(np.array([1.0, 1.0]), np.zeros((2, 2))) is None
    assert posterior(np.array([0.9, 0.8]), np.full((2, 2), 1e-4)) is None


@pytest.mark.parametrize("freedom", [9, np.inf])
def test_a_model_far_behind_does_not_make_the_others_surer(freedom):
    two = posterior(np.array([0.72, 0.70]), np.diag([1e-4, 1e-4]), freedom)
    three = posterior(np.array([0.72, 0.40, 0.70]), np.diag([1e-4, 1e-4, 1e-4]), freedom)
    for name in ("probability_best", "expected", "expected_loss"):
        both = getattr(three, name)[[0, 2]]
        assert both == pytest.approx(getattr(two, name), abs=0.01)
    assert three.probability_best.sum() == pytest.approx(1)
    assert three.probability_best[1] < 1e-3
    assert three.expected_loss[1] > 0.2


@pytest.mark.parametrize(("freedom", "counts"), [(2, True), (4, False), (np.inf, False)])
def test_six_standard_errors_of_few_folds_are_not_far(freedom, counts):
    # By Student's t the chance to be as far behind is 0.013, 0.00099 and 1e-9.
    apart = 6.0 if freedom != 4 else 7.2
    means = np.array([0.7, 0.7 - apart * 0.01, 0.7])
    left = module._contenders(means, np.eye(3) * 0.01**2 / 2, freedom)
    assert (1 in left) is counts
    assert {0, 2} <= set(left)


def test_many_models_on_few_folds():
    rng = np.random.default_rng(0)
    folds = rng.normal(size=(5, 300)) * 0.02
    result = posterior(folds.mean(axis=0), np.cov(folds.T) / 5, 4)
    assert result.probability_best.sum() == pytest.approx(1)
    assert result.probability_best.max() < 0.2
    assert (result.lower < result.expected).all()
    assert (result.expected < result.upper).all()
    assert np.abs(result.expected).max() < 0.5 * np.abs(folds.mean(axis=0)).max()


@pytest.mark.alike
@pytest.mark.parametrize("folds", [2, 4])
@pytest.mark.parametrize("sds", [(0.03, 0.03), (0.015, 0.06)])
def test_limits_of_the_better_of_two_models_hold_on_few_folds(folds, sds):
    rng, runs, shared = np.random.default_rng(5), 80, 0.6
    covariance = np.outer(sds, sds) * np.array([[1, shared], [shared, 1]])
    error = covariance * (1 / folds + 1 / (folds - 1 or 1))
    # True differences of two standard errors.
    spread = 2 * np.sqrt((error[0, 0] + error[1, 1] - 2 * error[0, 1]) / 2)
    held = 0
    for _ in range(runs):
        true = 0.8 + spread * rng.normal(size=2)
        means = rng.multivariate_normal(true, error)
        values = rng.multivariate_normal([0, 0], error, size=folds)
        result = posterior(means, np.cov(values.T), folds - 1, draws=20)
        first = means.argmax()
        held += result.lower[first] <= true[first] <= result.upper[first]
        assert (result.expected >= means.min() - 1e-12).all()
        assert (result.expected <= means.max() + 1e-12).all()
    assert held >= stats.binom.ppf(0.001, runs, 0.95)


def test_no_model_loses_more_than_a_measure_can():
    means, covariance = np.array([0.9, 0.5]), np.array([[0.2, 0.1], [0.1, 0.4]])
    free, bounded = (
        posterior(means, covariance, 1, limits=limits) for limits in ((None, None), (0, 1))
    )
    assert (free.expected_loss > 1).any()
    assert (bounded.expected_loss < 1).all()
    assert bounded.probability_best.tolist() == free.probability_best.tolist()


@pytest.mark.parametrize("error", [(0.05, 0.05), (0.05, 0.0)])
def test_limits_hold_where_models_differ_more_than_the_prior_expects(error):
    rng, runs, covariance = np.random.default_rng(8), 150, np.diag(np.square(error))
    true = np.array([0.5 + 4 * np.hypot(*error), 0.5])
    held, posterior_held = 0, 0
    for _ in range(runs):
        means = true + np.array(error) * rng.normal(size=2)
        known = posterior(means, covariance, draws=20)
        limits = at_least_own(known, evidence(means, covariance), 0.95)
        held += limits.lower[0] <= true[0] <= limits.upper[0]
        posterior_held += known.lower[0] <= true[0] <= known.upper[0]
    assert held >= stats.binom.ppf(0.001, runs, 0.95)
    # What it is for.
    assert posterior_held < held
