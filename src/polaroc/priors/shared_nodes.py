"""Means of areas over a belief from areas at priors that are evaluated anyway.

Of a segment, precision at recall t and false positive rate f is 1/(1 + λf/t), so every area is a
mean of the functions 1/(1 + exp(u − c)) of u = ln λ, over some c, with weights of at most 1 in
all; c is infinite where precision is 0 or 1. What replaces one weighted sum over nodes by another
is then wrong by at most the greatest difference for a single c, which is one number to maximise.
"""

from functools import lru_cache
from math import cos, log, pi
from typing import NamedTuple

from polaroc.base.lazy import np
from polaroc.priors.chebyshev import condensed
from polaroc.typing import Array

TOLERANCE = 1e-12
# Given nodes farther from the belief, in ln λ, are of no use.
FARTHEST = 8.0
# Range of ln λ of a belief beyond which its own nodes are used.
WIDEST = 40.0
# From the ends, beyond this distance all functions are 0 or 1 to the last digit.
TAIL = 45.0


class SharedNodes(NamedTuple):
    """Weights of given nodes, 0 for those not needed; and further nodes with their weights."""

    given: tuple[float, ...]
    skews: tuple[float, ...]
    weights: tuple[float, ...]


@lru_cache(maxsize=64)
def shared_nodes(
    skews: tuple[float, ...], weights: tuple[float, ...], given: tuple[float, ...]
) -> SharedNodes:
    """Nodes that give the mean over a belief, as many of them as possible among the `given`.

    Parameters
    ----------
    skews, weights
        The nodes of the belief.
    given
        Skews at which areas are evaluated anyway.

    Examples
    --------
    >>> from polaroc.priors.beliefs import uniform
    >>> from polaroc.priors.grids import skew
    >>> belief = uniform(0.05, 0.20)
    >>> priors = [0.01, 0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.2, 0.3, 0.5]
    >>> shared = shared_nodes(belief.skews, belief.weights, tuple(map(skew, priors)))
    >>> len(belief.skews), len(shared.skews)
    (9, 5)
    """
    own = condensed(skews, weights)
    logs, masses = np.log(own[0]), np.array(own[1])
    low, high = logs.min(), logs.max()
    near = [i for i, one in enumerate(given) if low - FARTHEST < log(one) < high + FARTHEST]
    if near and high - low <= WIDEST:
        places = _places(low - FARTHEST, high + FARTHEST)
        mean = masses @ _precisions(logs, places)
        known = np.log([given[i] for i in near])
        for count in range(len(logs)):
            nodes = np.concatenate([known, _chebyshev(low, high, count)])
            areas = _precisions(nodes, places)
            fitted = np.linalg.lstsq(areas.T, mean, rcond=1e-14)[0]
            if np.abs(fitted @ areas - mean).max() <= TOLERANCE:
                of_given = dict(zip(near, fitted.tolist(), strict=False))
                return SharedNodes(
                    tuple(of_given.get(i, 0.0) for i in range(len(given))),
                    tuple(np.exp(nodes[len(near) :]).tolist()),
                    tuple(fitted[len(near) :].tolist()),
                )
    return SharedNodes((0.0,) * len(given), tuple(own[0]), tuple(own[1]))


def _precisions(logs: Array, places: Array) -> Array:
    """1/(1 + exp(u − c)) for each node u and place c."""
    precisions: Array = 1 / (1 + np.exp(np.subtract.outer(logs, places)))
    return precisions


def _places(low: float, high: float) -> Array:
    """Values of c, dense where the functions bend."""
    core = np.arange(low, high, 0.05)
    return np.concatenate(
        [np.arange(low - TAIL, low, 0.5), core, np.arange(high, high + TAIL, 0.5)]
    )


def _chebyshev(low: float, high: float, count: int) -> list[float]:
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle + half * cos((2 * k + 1) * pi / (2 * count)) for k in range(count)]
