import numpy as np
import pytest
from scipy import optimize, stats
from scored import binormal, expit, labelled, unlabelled

from polaroc.deployment.estimators import UNIDENTIFIED, Labelled, Mixture, Unlabelled, em_prior

Z = stats.norm.ppf(0.975)
NO_NOISE = 1e12


def by_em(score: np.ndarray, reference_prior: float, steps: int = 5_000) -> float:
    """Saerens, Latinne and Decaestecker: re-weight the posteriors, average, repeat."""
    prior = reference_prior
    for _ in range(steps):
        positive = prior / reference_prior * score
        negative = (1 - prior) / (1 - reference_prior) * (1 - score)
        prior = float((positive / (positive + negative)).mean())
    return prior


def mixture(score: np.ndarray, reference_prior: float) -> Mixture:
    ones = np.ones(len(score))
    return Mixture(score / reference_prior, (1 - score) / (1 - reference_prior), ones)


@pytest.mark.product
@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.01, 0.05, 0.1, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("reference_prior", [0.1, 0.5])
@pytest.mark.parametrize("distance", [1.5, 3])
def test_the_peak_is_the_fixed_point_of_em(prior, reference_prior, distance):
    rng = np.random.default_rng(1)
    score = expit(binormal(rng, 2_000, prior, distance, reference_prior)[0])
    found = mixture(score, reference_prior).peak()
    assert 0 < found < 1
    assert found == pytest.approx(by_em(score, reference_prior), rel=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.25, 1e-6, 0.5])
def test_scores_of_0_and_1_give_their_share(share):
    count = np.array([share, 1 - share])
    found = Mixture(np.array([2.0, 0.0]), np.array([0.0, 2.0]), count).peak()
    assert found == pytest.approx(share, rel=1e-12)


def test_two_scores_by_hand():
    # k of n cases have the likelihood ratio 3, the rest ½: the slope is nil where
    # 2k/(1 + 2π) = (n − k)/(2 − π), at π = (4k − (n − k))/(2n).
    k, n = 30, 100
    found = Mixture(np.array([3.0, 0.5]), np.ones(2), np.array([k, n - k])).peak()
    assert found == pytest.approx((4 * k - (n - k)) / (2 * n), rel=1e-14)


@pytest.mark.parametrize(
    ("score", "end"), [([0.1, 0.2, 0.3, 0.49], 0.0), ([0.0, 0.4], 0.0), ([0.6, 0.9, 1.0], 1.0)]
)
def test_without_a_maximum_inside_the_peak_is_an_end(score, end):
    assert mixture(np.array(score), 0.5).peak() == end
    assert by_em(np.array(score), 0.5) == pytest.approx(end, abs=1e-3)
    reference = Labelled(np.array([0.9, 0.1]), np.array([90, 10]), np.array([10, 90]))
    found = em_prior(reference, Unlabelled(np.array(score), np.full(len(score), 50)), Z)
    assert (found.prior, found.std_error) == (end, None)
    assert found.lower == 0 or end == 1
    assert found.lower < found.upper
    assert "outside (0, 1): it cannot be passed on as a prior" in found.note


def test_the_interval_of_a_great_reference_is_that_of_the_likelihood():
    rng = np.random.default_rng(2)
    score = expit(binormal(rng, 400, 0.1, 2, 0.5)[0])
    reference = Labelled(
        np.array([0.9, 0.1]), NO_NOISE * np.array([9, 1]), NO_NOISE * np.array([1, 9])
    )
    found = em_prior(reference, Unlabelled(score, np.ones(400)), Z)

    def total(prior: float) -> float:
        return float(np.log(prior * score / 0.5 + (1 - prior) * (1 - score) / 0.5).sum())

    top = total(by_em(score, 0.5))

    def lost(prior: float) -> float:
        return 2 * (top - total(prior)) - stats.chi2.ppf(0.95, 1)

    assert found.lower == pytest.approx(optimize.bisect(lost, 1e-9, found.prior), rel=1e-6)
    assert found.upper == pytest.approx(optimize.bisect(lost, found.prior, 0.9), rel=1e-6)
    step = 1e-4
    bend = (lost(found.prior + step) - 2 * lost(found.prior) + lost(found.prior - step)) / step**2
    assert found.std_error == pytest.approx((bend / 2) ** -0.5, rel=1e-4)


def test_without_a_shift_the_prior_is_what_the_posteriors_say():
    rng = np.random.default_rng(6)
    logit, truth = binormal(rng, 1_000, 0.3, 2, 0.3)
    found = em_prior(labelled(expit(logit), truth), unlabelled(expit(logit)), Z)
    assert found.prior == pytest.approx(expit(logit).mean(), rel=1e-9)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
@pytest.mark.parametrize("score", [[1.0, 0.0], [0.9, 0.2]])
def test_weights_of_any_size(weight, score):
    reference = Labelled(np.array([0.9, 0.1]), np.array([9, 1]), np.array([1, 9]))
    count = np.array([1, 3])
    plain, heavy = (
        em_prior(reference, Unlabelled(np.array(score), count * factor), Z)
        for factor in (1, weight)
    )
    assert plain.prior is not None
    assert heavy.prior in (None, pytest.approx(plain.prior, rel=1e-9))


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_the_standard_error_is_the_spread_of_estimates(prior):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(400):
        logit, truth = binormal(rng, 500, 0.3, 2, 0.3)
        deployed, _ = binormal(rng, 500, prior, 2, 0.3)
        found.append(em_prior(labelled(expit(logit), truth), unlabelled(expit(deployed)), Z))
    spread = np.std([estimate.prior for estimate in found])
    assert np.mean([estimate.std_error for estimate in found]) == pytest.approx(spread, rel=0.12)


@pytest.mark.parametrize("score", [0.3, 0.0, 1.0])
def test_a_constant_score_tells_no_prior(score):
    found = em_prior(
        Labelled(np.array([score]), np.array([30]), np.array([70])),
        Unlabelled(np.array([score]), np.array([50])),
        Z,
    )
    assert (found.prior, found.lower, found.upper, found.std_error) == (None,) * 4
    assert found.note == UNIDENTIFIED
