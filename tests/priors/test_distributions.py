import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import polaroc as pr
from polaroc.priors.distributions import Atoms

BELIEFS = {
    "uniform": (pr.uniform(0.05, 0.2), stats.uniform(0.05, 0.15)),
    "beta": (pr.beta(2, 18), stats.beta(2, 18)),
    "wide beta": (pr.beta(0.5, 0.5), stats.beta(0.5, 0.5)),
}


@pytest.mark.parametrize("name", BELIEFS)
def test_quantiles_probabilities_and_densities(name):
    belief, expected = BELIEFS[name]
    shares = np.array([0.001, 0.3, 0.975])
    found = belief.distribution.quantile(shares)
    assert found == pytest.approx(expected.ppf(shares), rel=1e-9)
    assert belief.distribution.below(found) == pytest.approx(shares, rel=1e-9)
    assert belief.distribution.density(found) == pytest.approx(expected.pdf(found), rel=1e-9)


@pytest.mark.parametrize("name", BELIEFS)
@pytest.mark.parametrize("limit", [0.06, 0.1, 0.99])
def test_partial_means(name, limit):
    belief, expected = BELIEFS[name]
    start = expected.ppf(0)
    value, _ = quad(lambda p: p * expected.pdf(p), start, min(limit, expected.ppf(1)), limit=200)
    assert belief.distribution.mean_below(np.array([limit]))[0] == pytest.approx(value, abs=1e-8)
    assert belief.distribution.mean_below(np.array([1.0]))[0] == pytest.approx(belief.mean)


def test_even_skews():
    flat = pr.uniform(0.05, 0.2, "skew").distribution
    skews = stats.uniform(4, 15)
    at = np.array([0.06, 0.1, 0.15])
    assert flat.below(at) == pytest.approx(skews.sf(1 / at - 1))
    assert flat.quantile(flat.below(at)) == pytest.approx(at)
    mean = [quad(lambda s: 1 / (1 + s) / 15, 1 / one - 1, 19)[0] for one in at]
    assert flat.mean_below(at) == pytest.approx(mean)
    assert quad(flat.density, 0.05, 0.2)[0] == pytest.approx(1)


def test_a_few_priors():
    few = Atoms((0.4, 0.1), (0.25, 0.75))
    at = np.array([0.05, 0.1, 0.2, 1.0])
    assert few.below(at).tolist() == [0, 0.75, 0.75, 1]
    assert few.mean_below(at) == pytest.approx([0, 0.075, 0.075, 0.175])
    assert few.quantile(np.array([0.1, 0.75, 0.8])).tolist() == [0.1, 0.1, 0.4]


def test_beliefs_are_compared_and_kept_as_before():
    belief = pr.beta(2, 18)
    assert pickle.loads(pickle.dumps(belief)) == belief == pr.beta(2, 18)
    assert repr(belief) == "beta(2, 18)"
