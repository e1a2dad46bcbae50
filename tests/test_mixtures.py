import numpy as np
import pytest
from scipy import optimize, stats

from polaroc.mixtures import UNTOLD, Called, Labelled, Mixture, Unlabelled, adjusted, likeliest

Z = stats.norm.ppf(0.975)
NO_NOISE = 1e12


def expit(logit: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-logit))


def posteriors(rng, rows, prior, distance, reference_prior):
    truth = rng.random(rows) < prior
    raw = rng.normal(size=rows) + distance * truth
    odds = np.log(reference_prior / (1 - reference_prior)) + distance * raw - distance**2 / 2
    return expit(odds), truth


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


@pytest.mark.parametrize("prior", [0.01, 0.05, 0.1, 0.3, 0.5, 0.97])
@pytest.mark.parametrize("reference_prior", [0.1, 0.5])
@pytest.mark.parametrize("distance", [1.5, 3])
def test_the_peak_is_the_fixed_point_of_em(prior, reference_prior, distance):
    rng = np.random.default_rng(1)
    score, _ = posteriors(rng, 2_000, prior, distance, reference_prior)
    found = mixture(score, reference_prior).peak()
    assert 0 < found < 1
    assert found == pytest.approx(by_em(score, reference_prior), rel=1e-9)


@pytest.mark.parametrize(("share", "ones"), [(0.1, 1), (0.25, 5), (1e-6, 1), (0.5, 0)])
def test_scores_of_0_and_1_give_their_share(share, ones):
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
    found = likeliest(reference, Unlabelled(np.array(score), np.full(len(score), 50)), Z)
    assert (found.prior, found.std_error) == (end, None)
    assert found.lower == 0 or end == 1
    assert found.lower < found.upper
    assert "outside (0, 1): it cannot be passed on as a prior" in found.note


def test_the_interval_of_a_great_reference_is_that_of_the_likelihood():
    rng = np.random.default_rng(2)
    score, _ = posteriors(rng, 400, 0.1, 2, 0.5)
    reference = Labelled(
        np.array([0.9, 0.1]), NO_NOISE * np.array([9, 1]), NO_NOISE * np.array([1, 9])
    )
    found = likeliest(reference, Unlabelled(score, np.ones(400)), Z)

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


@pytest.mark.parametrize("method", [likeliest, adjusted])
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_the_standard_error_is_the_spread_of_estimates(method, prior):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(400):
        score, truth = posteriors(rng, 500, 0.3, 2, 0.3)
        deployed, _ = posteriors(rng, 500, prior, 2, 0.3)
        order = np.argsort(-score)
        reference = Labelled(score[order], truth[order] * 1, ~truth[order] * 1)
        found.append(method(reference, Unlabelled(-np.sort(-deployed), np.ones(500)), Z))
    spread = np.std([estimate.prior for estimate in found])
    errors = [estimate.std_error for estimate in found if estimate.std_error is not None]
    assert np.mean(errors) == pytest.approx(spread, rel=0.12)


@pytest.mark.parametrize("score", [[0.3], [0.3, 0.3]])
@pytest.mark.parametrize("method", [likeliest, adjusted])
def test_scores_that_say_nothing_tell_no_prior(method, score):
    score = np.array(score[:1])
    reference = Labelled(score, np.array([30]), np.array([70]))
    found = method(reference, Unlabelled(score, np.array([50])), Z)
    assert (found.prior, found.lower, found.upper, found.std_error) == (None,) * 4
    assert UNTOLD in found.note


# The rates of a threshold by counting, and the adjusted share.
REFERENCE = Labelled(np.array([3.0, 2.0, 1.0]), np.array([40, 40, 20]), np.array([4, 16, 180]))


@pytest.mark.parametrize(
    ("count", "expected"), [([10, 16, 74], 0.16 / 0.7), ([30, 30, 40], 0.5 / 0.7)]
)
def test_the_adjusted_share_by_hand(count, expected):
    # At prior ½ the errors, 0.2 and 0.1, balance best at score 2; so they do at
    # any other prior here.
    found = adjusted(REFERENCE, Unlabelled(REFERENCE.score, np.array(count)), Z)
    share = sum(count[:2]) / 100
    assert found.prior == pytest.approx(expected)
    slope_t, slope_f = found.prior / 0.7, (1 - found.prior) / 0.7
    variance = (
        share * (1 - share) / 100 / 0.7**2
        + slope_t**2 * 0.8 * 0.2 / 100
        + slope_f**2 * 0.1 * 0.9 / 200
    )
    assert found.std_error == pytest.approx(variance**0.5)
    assert found.lower < found.prior < found.upper


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_the_limits_are_where_the_share_is_as_far_off_as_chance_allows(share):
    point = Called(0.8, 0.1, share, (100, 200, 500))
    extra = Z**2 / 2
    t, f = (0.8 * 100 + 1) / 102, (0.1 * 200 + 1) / 202
    q = (share * 500 + extra) / (500 + 2 * extra)

    def off(prior: float) -> float:
        """Standard errors between the share called positive and that at a prior, squared."""
        variance = (
            q * (1 - q) / (500 + 2 * extra)
            + prior**2 * t * (1 - t) / 102
            + (1 - prior) ** 2 * f * (1 - f) / 202
        )
        return (q - prior * t - (1 - prior) * f) ** 2 / variance - Z**2

    middle = (q - f) / (t - f)
    expected = optimize.bisect(off, middle - 1, middle), optimize.bisect(off, middle, middle + 1)
    assert point.limits(Z) == pytest.approx(expected, abs=1e-9)


def test_what_no_prior_explains_is_said():
    found = adjusted(REFERENCE, Unlabelled(REFERENCE.score, np.array([0, 0, 1000])), Z)
    assert found.prior is None
    assert "no prior explains the share called positive, 0 (TPr 0.8, FPr 0.1)" in found.note


@pytest.mark.parametrize(("count", "end"), [([1, 5, 94], 0), ([60, 25, 15], 1)])
def test_a_share_beyond_the_rates_is_clipped(count, end):
    found = adjusted(REFERENCE, Unlabelled(REFERENCE.score, np.array(count)), Z)
    assert (found.prior, found.std_error) == (end, None)
    assert 0 <= found.lower <= found.prior <= found.upper <= 1
    assert found.note.startswith("clipped from ")
    assert "cannot be passed on" in found.note


def test_reversed_scores_are_said():
    turned = Labelled(-REFERENCE.score[::-1], REFERENCE.pos[::-1], REFERENCE.neg[::-1])
    found = adjusted(turned, Unlabelled(turned.score, np.array([50, 30, 20])), Z)
    assert found.prior is None
    assert found.note.endswith("are the scores reversed?")


def test_rare_positives_get_a_stricter_threshold():
    rng = np.random.default_rng(4)
    score, truth = posteriors(rng, 5_000, 0.3, 2, 0.3)
    order = np.argsort(-score)
    reference = Labelled(score[order], truth[order] * 1, ~truth[order] * 1)
    errors = {}
    for prior in (0.01, 0.5):
        deployed, _ = posteriors(rng, 20_000, prior, 2, 0.3)
        found = adjusted(reference, Unlabelled(-np.sort(-deployed), np.ones(20_000)), Z)
        assert abs(found.prior - prior) < 3 * found.std_error
        errors[prior] = found.std_error
    # At the threshold of prior ½ the error at 0.01 would be nearly as great as at 0.5.
    assert errors[0.01] < 0.6 * errors[0.5]
