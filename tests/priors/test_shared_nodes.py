from math import log

import numpy as np
import pytest
from scipy.integrate import quad

from polaroc.priors.beliefs import beta, uniform
from polaroc.priors.chebyshev import shared_nodes
from polaroc.priors.grids import skew

GRID = np.geomspace(0.01, 0.5, 16).tolist()


def shared_mean(belief, priors, ratio: float) -> float:
    """The mean of 1/(1 + λ ratio), the precision where f/t is this ratio."""
    given = tuple(map(skew, priors))
    shared = shared_nodes(belief.skews, belief.weights, given)
    nodes = np.array([*given, *shared.skews])
    return float(np.array([*shared.given, *shared.weights]) @ (1 / (1 + nodes * ratio)))


@pytest.mark.parametrize("priors", [GRID, [*GRID, 1e-9], [0.5, 0.1, 0.01], [1e-9]], ids=len)
@pytest.mark.parametrize("ratio", [0.0, 1e-6, 0.01, 0.3, 1.0, 50.0, 1e12])
def test_means_over_a_range_are_the_integral(priors, ratio):
    lo, hi = 0.05, 0.20
    expected = quad(lambda p: 1 / (1 + skew(p) * ratio), lo, hi, epsabs=1e-14)[0] / (hi - lo)
    assert shared_mean(uniform(lo, hi), priors, ratio) == pytest.approx(expected, abs=3e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "belief",
    [beta(2, 18), uniform(0.001, 0.9), uniform(1e-30, 0.5)],
    ids=str,
)
def test_means_under_a_belief_are_those_of_its_nodes(belief):
    for ratio in [0.0, *np.geomspace(1e-6, 1e6, 14)]:
        expected = sum(
            w / (1 + s * ratio) for s, w in zip(belief.skews, belief.weights, strict=True)
        )
        assert shared_mean(belief, GRID, ratio) == pytest.approx(expected, abs=3e-12)


def test_priors_that_are_asked_for_save_nodes():
    belief = uniform(0.05, 0.20)
    near = shared_nodes(belief.skews, belief.weights, tuple(map(skew, GRID)))
    assert len(near.skews) <= 3
    # Of no use, and not used.
    far = shared_nodes(belief.skews, belief.weights, (skew(1e-9),))
    assert far.given == (0.0,)
    assert far.skews == belief.skews


def test_weights_stay_small():
    # Large ones of both signs would lose digits of the areas.
    belief = beta(2, 18)
    shared = shared_nodes(belief.skews, belief.weights, tuple(map(skew, GRID)))
    assert sum(map(abs, (*shared.given, *shared.weights))) < 20
    assert abs(log(sum((*shared.given, *shared.weights)))) < 1e-11
