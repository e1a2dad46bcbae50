"""What each model is worth over uncertain priors, and how far it falls short of the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING, Any

from polaroc.beliefs import Belief
from polaroc.designs import ROUNDING
from polaroc.errors import InvalidArgument
from polaroc.priors import skew
from polaroc.selections import SAME

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

# The share of a belief, at each end, that is too small to judge a model by.
TAIL = 0.005
# The share of a belief that may lie beyond the priors that were measured.
BEYOND = 0.01
# Priors within a range below which interpolation between them is said.
FEW = 8


@dataclass(frozen=True, eq=False)
class Stakes:
    """A measure known at some priors, seen under a belief about the prior.

    Attributes
    ----------
    values
        Blocks × models × priors of the grid.
    grid
        The priors at which it is known, ascending.
    belief
        The belief.
    judged
        The priors at which models are judged one by one, ascending.
    """

    values: "Array"
    grid: tuple[float, ...]
    belief: Belief
    judged: tuple[float, ...]

    @property
    def expected(self) -> "Array":
        """The expected measure, blocks × models."""
        return self._expectation(self._at(self.belief.priors))

    @property
    def means(self) -> "Array":
        """The mean over the blocks, models × judged priors."""
        means: Array = self._at(self.judged).mean(axis=0)
        return means

    @property
    def regret(self) -> "Array":
        """How far that mean is below the best, models × judged priors."""
        return shortfall(self.means)

    @property
    def mean_regret(self) -> "Array":
        """The expected regret of each model."""
        return self._expectation(shortfall(self._at(self.belief.priors).mean(axis=0)))

    @property
    def shares(self) -> "Array":
        """The share of blocks in which each model is the best, models × judged priors."""
        shares: Array = wins(self._at(self.judged)).mean(axis=0)
        return shares

    def _expectation(self, at_nodes: "Array") -> "Array":
        import numpy as np

        expectation: Array = at_nodes @ np.array(self.belief.weights)
        return expectation

    def _at(self, priors: Sequence[float]) -> "Array":
        """The measure at other priors, interpolated in ln λ."""
        import numpy as np

        known = [-log(skew(prior)) for prior in self.grid]
        wanted = [-log(skew(prior)) for prior in priors]
        places = np.interp(wanted, known, np.arange(len(known)))
        below = np.floor(places).astype(int)
        above = np.minimum(below + 1, len(known) - 1)
        share = places - below
        before, after = self.values[..., below], self.values[..., above]
        interpolated: Array = before * (1 - share) + after * share
        return interpolated


def shortfall(means: "Array") -> "Array":
    """How far each model (axis 0) is below the best."""
    below: Array = means.max(axis=0) - means
    return below


def wins(values: "Array") -> "Array":
    """1 for the best model (axis 1), shared among those that tie, 0 for the others."""
    import numpy as np

    best = values.max(axis=1, keepdims=True)
    ties = values >= best - ROUNDING * np.abs(best)
    shared: Array = ties / ties.sum(axis=1, keepdims=True)
    return shared


def priors_used(
    over: tuple[float, float] | None, belief: Belief, grid: Sequence[float]
) -> list[float]:
    """The priors of the grid from which the measure is interpolated."""
    lo, hi = _ends(over, belief)
    below = [prior for prior in grid if prior <= lo + SAME]
    above = [prior for prior in grid if prior >= hi - SAME]
    first, last = max(below, default=grid[0]), min(above, default=grid[-1])
    return [prior for prior in grid if first <= prior <= last]


def priors_judged(
    over: tuple[float, float] | None, belief: Belief, grid: Sequence[float]
) -> tuple[float, ...]:
    """The priors at which models are judged one by one.

    Those of the grid within a range, and its ends; the nodes of a belief but for
    its tails.
    """
    if over is not None:
        lo, hi = over
        return (lo, *(prior for prior in grid if lo + SAME < prior < hi - SAME), hi)
    nodes = sorted(zip(belief.priors, belief.weights, strict=True))
    below = list(accumulate(weight for _, weight in nodes))
    return tuple(
        prior
        for (prior, weight), upto in zip(nodes, below, strict=True)
        if upto > TAIL and upto - weight < 1 - TAIL
    )


def check_coverage(
    over: tuple[float, float] | None, belief: Belief, grid: Sequence[float]
) -> list[str]:
    """Refuse a range or belief that leaves the grid; what is to be said of it else."""
    lo, hi = grid[0] - SAME, grid[-1] + SAME
    nodes = list(zip(belief.priors, belief.weights, strict=True))
    beyond = sum(weight for prior, weight in nodes if not lo <= prior <= hi)
    if beyond > BEYOND or (over is not None and not lo <= over[0] < over[1] <= hi):
        raise InvalidArgument(
            f"{over or belief!r} leaves the priors at which the table has the measure, "
            f"{grid[0]:.6g} to {grid[-1]:.6g}.",
            hint="evaluate with priors=prior_grid(lo, hi, 16) over the whole range, or with "
            "priors=belief.priors.",
        )
    said = []
    if beyond > 0:
        said.append(
            f"{beyond:.2g} of the belief lies beyond the priors of the table and counts at the "
            "nearest of them."
        )
    first, last = _ends(over, belief)
    within = sum(first - SAME <= prior <= last + SAME for prior in grid)
    known = all(any(abs(prior - at) <= SAME for at in grid) for prior, _ in nodes)
    if within < FEW and not known:
        said.append(
            f"Only {within} of the table's priors lie within the range: between them the measure "
            "is interpolated in ln λ. Evaluate at more, with priors=prior_grid(lo, hi, 16)."
        )
    return said


def _ends(over: tuple[float, float] | None, belief: Belief) -> tuple[float, float]:
    return over or (min(belief.priors), max(belief.priors))
