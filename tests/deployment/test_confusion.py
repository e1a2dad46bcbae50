import numpy as np
import pytest
from scipy import optimize, stats
from scored import binormal, labelled, unlabelled

from polaroc.deployment.estimators import Labelled, ThresholdRates, Unlabelled, adjusted_count

Z = stats.norm.ppf(0.975)
# The rates of a threshold by counting, and the adjusted share.
REFERENCE = Labelled(np.array([3.0, 2.0, 1.0]), np.array([40, 40, 20]), np.array([4, 16, 180]))


@pytest.mark.parametrize(
    ("count", "expected"), [([10, 16, 74], 0.16 / 0.7), ([30, 30, 40], 0.5 / 0.7)]
)
def test_the_adjusted_share_by_hand(count, expected):
    # At prior ½ the errors, 0.2 and 0.1, balance best at score 2; so they do at
    # any other prior here.
    found = adjusted_count(REFERENCE, Unlabelled(REFERENCE.score, np.array(count)), Z)
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


def test_where_the_prior_may_be_one_half_the_threshold_is_that_of_one_half():
    # At prior ½ the errors, 0.2 and 0.1, balance best at score 3, from 0.7 on at score 2.
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    reference = Labelled(scores, np.array([50, 30, 15, 5]), np.array([5, 15, 50, 130]))
    found = adjusted_count(reference, Unlabelled(scores, np.array([10, 9, 10, 11])), Z)
    assert found.upper > 0.7
    assert found.prior == pytest.approx((19 / 40 - 0.1) / (0.8 - 0.1))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_the_limits_are_where_the_share_is_as_far_off_as_chance_allows(share):
    point = ThresholdRates(0.8, 0.1, share, (100, 200, 500))
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
    found = adjusted_count(REFERENCE, Unlabelled(REFERENCE.score, np.array([0, 0, 1000])), Z)
    assert found.prior is None
    assert "no prior explains the share called positive, 0 (TPr 0.8, FPr 0.1)" in found.note


@pytest.mark.parametrize(("count", "end"), [([1, 5, 94], 0), ([60, 25, 15], 1)])
def test_a_share_beyond_the_rates_is_clipped(count, end):
    found = adjusted_count(REFERENCE, Unlabelled(REFERENCE.score, np.array(count)), Z)
    assert (found.prior, found.std_error) == (end, None)
    assert 0 <= found.lower <= found.prior <= found.upper <= 1
    assert found.note.startswith("clipped from ")
    assert "cannot be passed on" in found.note


def test_reversed_scores_are_said():
    turned = Labelled(-REFERENCE.score[::-1], REFERENCE.pos[::-1], REFERENCE.neg[::-1])
    found = adjusted_count(turned, Unlabelled(turned.score, np.array([50, 30, 20])), Z)
    assert found.prior is None
    assert found.note.endswith("are the scores reversed?")


def test_rare_positives_get_a_stricter_threshold():
    rng = np.random.default_rng(4)
    logit, truth = binormal(rng, 5_000, 0.3, 2, 0.3)
    errors = {}
    for prior in (0.01, 0.5):
        deployed, _ = binormal(rng, 20_000, prior, 2, 0.3)
        found = adjusted_count(labelled(logit, truth), unlabelled(deployed), Z)
        assert abs(found.prior - prior) < 3 * found.std_error
        errors[prior] = found.std_error
    # At the threshold of prior ½ the error at 0.01 would be nearly as great as at 0.5.
    assert errors[0.01] < 0.6 * errors[0.5]


@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_the_standard_error_is_the_spread_of_estimates(prior):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(400):
        logit, truth = binormal(rng, 500, 0.3, 2, 0.3)
        deployed, _ = binormal(rng, 500, prior, 2, 0.3)
        found.append(adjusted_count(labelled(logit, truth), unlabelled(deployed), Z))
    spread = np.std([estimate.prior for estimate in found])
    errors = [estimate.std_error for estimate in found if estimate.std_error is not None]
    assert np.mean(errors) == pytest.approx(spread, rel=0.12)


@pytest.mark.parametrize("level", [0.02, 0.95])
@pytest.mark.parametrize(("positives", "negatives"), [(30, 70), (10**6, 2), (2, 10**6)])
def test_a_constant_score_tells_no_prior(positives, negatives, level):
    found = adjusted_count(
        Labelled(np.array([0.3]), np.array([positives]), np.array([negatives])),
        Unlabelled(np.array([0.3]), np.array([50])),
        stats.norm.ppf((1 + level) / 2),
    )
    assert (found.prior, found.lower, found.upper, found.std_error) == (None,) * 4
    assert found.note.startswith("TPr − FPr = ")
