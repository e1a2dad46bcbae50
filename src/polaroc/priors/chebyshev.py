"""Chebyshev interpolation in ln λ: areas at many priors, and their means, from a few nodes.

A precision t/(t + λf) is analytic in u = ln λ for |Im u| < π. With r = λf/t and
c = cos θ, where |Im u| ≤ θ and π/2 ≤ θ < π,

    |t/(t + λf) − ½|² = ¼ (1 + r² − 2rc)/(1 + r² + 2rc) ≤ ¼ tan²(θ/2),

the most being at r = 1, Im u = ±θ. The constants 0 and 1 (`start`) are no farther
from ½. An area is an integral, or a sum, of precisions with weights ≥ 0 of at most
1 in all, whatever the interpolation, the range of recall and the start, and so is
its mean over a belief: it differs by no more than M = ½ tan(θ/2) from a constant,
which interpolation gets right.

On a range of u of length L the largest Bernstein ellipse in that strip has the
parameter ρ with (ρ − 1/ρ)/2 = 2θ/L. The polynomial through n Chebyshev nodes is
then off by at most 4Mρ^(1−n)/(ρ − 1) (Trefethen, Approximation Theory and
Approximation Practice, theorem 8.2). θ is chosen so that the fewest nodes will do.

A mean over a belief may also come from areas at priors that are evaluated anyway. Of a segment,
precision at recall t and false positive rate f is 1/(1 + λf/t), so every area is a mean of the
functions 1/(1 + exp(u − c)) of u = ln λ, over some c, with weights of at most 1 in all; c is
infinite where precision is 0 or 1. What replaces one weighted sum over nodes by another is then
wrong by at most the greatest difference for a single c, which is one number to maximise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import asinh, ceil, cos, exp, log, pi, sin, tan
from typing import NamedTuple

import numpy as np

from polaroc.priors.grids import skew
from polaroc.typing import Array

# Error of the interpolation, rounding aside.
TOLERANCE = 5e-13
# Number of priors up to which each is evaluated directly.
DIRECT = 24
# Length of a piece in ln λ. Longer pieces save few nodes, and a prior takes as many terms
# as its piece has nodes.
LONGEST = 8.0
ANGLES = 200
# Beyond, with weights above 1e-26 of the total, an area changes by less than 1e-12.
MAX_SKEW = 1e40
# Error of a mean from shared nodes.
SHARED_TOLERANCE = 1e-12
# Given nodes farther from the belief, in ln λ, are of no use.
FARTHEST = 8.0
# Range of ln λ of a belief beyond which its own nodes are used.
WIDEST = 40.0
# From the ends, beyond this distance all functions are 0 or 1 to the last digit.
TAIL = 45.0


@dataclass(frozen=True)
class Piece:
    """A range of ln λ with the nodes that interpolate over it, as skews, and barycentric weights.

    `start` and `end` are the least and the greatest ln λ that is asked for.
    """

    skews: tuple[float, ...]
    weights: tuple[float, ...]
    start: float
    end: float


@dataclass(frozen=True)
class ManyPriors:
    """Priors, and the pieces, by rising ln λ, that they are interpolated on.

    The prior None is each key's own, which is evaluated directly.
    """

    priors: tuple[float | None, ...]
    pieces: tuple[Piece, ...]

    @property
    def nodes(self) -> list[float | None]:
        """λ at the nodes of all pieces in order, then None if it is among the priors."""
        skews: list[float | None] = [node for piece in self.pieces for node in piece.skews]
        return skews + [None] * (None in self.priors)

    @property
    def firsts(self) -> list[int]:
        """Index of the first node of each piece, then of each key's own prior."""
        places = [0]
        for piece in self.pieces:
            places.append(places[-1] + len(piece.skews))
        return places

    @property
    def width(self) -> int:
        """Nodes of the largest piece."""
        return max(len(piece.skews) for piece in self.pieces)

    @cached_property
    def piece_of(self) -> "Array":
        """Index of the piece of each prior; each key's own comes after the last."""
        places = np.searchsorted(cuts(self.pieces), self._logs)
        return np.where([p is None for p in self.priors], len(self.pieces), places)

    @cached_property
    def basis(self) -> "Array":
        """Weights of the nodes at each prior; shape (priors, width)."""
        counts = np.zeros((len(self.priors), self.width))
        counts[:, 0] = 1.0
        for i, piece in enumerate(self.pieces):
            own = np.flatnonzero(self.piece_of == i)
            counts[own, : len(piece.skews)] = cardinals(piece, self._logs[own])
        return counts

    @cached_property
    def _logs(self) -> "Array":
        return np.log([1.0 if p is None else _bounded(skew(p)) for p in self.priors])

    def at(self, place: int, values: "Array") -> "Array":
        """The value at the prior in that place, of values at all nodes along the last axis."""
        piece = int(self.piece_of[place])
        first, *others = self.firsts[piece : piece + 2]
        count = others[0] - first if others else 1
        own = values[..., first : first + count]
        # Differences, so that constants stay exact.
        start = own[..., 0]
        moved: Array = start + (own - own[..., :1]) @ self.basis[place, :count]
        return moved


def many_priors(priors: Sequence[float | None]) -> ManyPriors | None:
    """The interpolation at some priors, None where they are few."""
    skews = [skew(p) for p in priors if p is not None]
    if len(skews) <= DIRECT:
        return None
    return ManyPriors(tuple(priors), tuple(pieces(skews)))


def pieces(skews: Sequence[float]) -> list[Piece]:
    """The pieces that hold all skews; one with fewer skews than it needs nodes has them as nodes.

    Examples
    --------
    >>> [len(piece.skews) for piece in pieces([1 + i / 1000 for i in range(1000)])]
    [12]
    """
    known = np.unique([_bounded(skewed) for skewed in skews])
    logs = np.log(known)
    count = max(1, ceil((logs[-1] - logs[0]) / LONGEST))
    inner = np.linspace(logs[0], logs[-1], count + 1)[1:-1]
    parts = np.split(known, np.searchsorted(logs, inner, side="right"))
    return [_piece(part.tolist()) for part in parts if part.size]


def cuts(parts: Sequence[Piece]) -> list[float]:
    """The ln λ between each two pieces."""
    return [(low.end + high.start) / 2 for low, high in pairwise(parts)]


def cardinals(piece: Piece, logs: "Array") -> "Array":
    """Weights of the nodes at each ln λ; shape (len(logs), nodes)."""
    away = logs[:, None] - np.log(piece.skews)
    # At a node its own term is infinite.
    shares = np.array(piece.weights) / np.where(away == 0, 1e-200, away)
    counts: Array = shares / shares.sum(axis=1, keepdims=True)
    return counts


def condensed(skews: Sequence[float], weights: Sequence[float]) -> tuple[list[float], list[float]]:
    """Fewer skews with weights that give the same mean of areas.

    Returned unchanged where interpolation needs as many.
    """
    parts = pieces(skews)
    nodes = [node for piece in parts for node in piece.skews]
    if len(skews) <= DIRECT or len(nodes) >= len(skews):
        return list(skews), list(weights)
    logs = np.log([_bounded(skewed) for skewed in skews])
    of_piece = np.searchsorted(cuts(parts), logs)
    own, masses = [of_piece == i for i in range(len(parts))], np.array(weights)
    shares = [masses[of] @ cardinals(piece, logs[of]) for piece, of in zip(parts, own, strict=True)]
    return nodes, np.concatenate(shares).tolist()


@lru_cache
def nodes_needed(length: float) -> int:
    """How many nodes keep the error below `TOLERANCE` on a range of ln λ of that length.

    Examples
    --------
    >>> nodes_needed(1.56), nodes_needed(7.0)
    (16, 42)
    """
    if length == 0:
        return 1
    fewest = []
    for i in range(ANGLES // 2, ANGLES):
        angle = pi * i / ANGLES
        bound = tan(angle / 2) / 2
        rate = asinh(2 * angle / length)
        fewest.append(1 + ceil(log(4 * bound / (TOLERANCE * (exp(rate) - 1))) / rate))
    return max(2, min(fewest))


def _piece(skews: Sequence[float]) -> Piece:
    start, end = log(skews[0]), log(skews[-1])
    count = nodes_needed(end - start)
    if count >= len(skews):
        return Piece(tuple(skews), (1.0,) * len(skews), start, end)
    nodes = tuple(exp(node) for node in _chebyshev(start, end, count))
    weights = tuple((-1) ** k * sin((2 * k + 1) * pi / (2 * count)) for k in range(count))
    return Piece(nodes, weights, start, end)


def _chebyshev(low: float, high: float, count: int) -> list[float]:
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle + half * cos((2 * k + 1) * pi / (2 * count)) for k in range(count)]


def _bounded(skewed: float) -> float:
    return min(skewed, MAX_SKEW)


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
            if np.abs(fitted @ areas - mean).max() <= SHARED_TOLERANCE:
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
