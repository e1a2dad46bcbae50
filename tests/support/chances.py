"""The documented posterior of two models whose error is known, by numerical integration."""

from typing import NamedTuple

import numpy as np
from scipy import integrate, stats

# Scale and degrees of freedom of the squared spread (docs/concepts/how_certain.md).
SCALE, FREEDOM = 0.45, 0.5


class Two(NamedTuple):
    """The results for the model that is ahead, and for the other one."""

    probability_best: float  # of the one that is ahead
    kept: float  # the share of its lead that is left of it
    loss: tuple[float, float]  # expected, in standard errors of the difference


def of_two(lead: float) -> Two:
    """The posterior of a lead in standard errors of the difference."""

    def integral(what):
        def weighted(spread):
            # The square is scaled inverse chi squared; with the Jacobian of the square.
            prior = stats.invgamma.pdf(spread**2, FREEDOM / 2, scale=FREEDOM * SCALE**2 / 2)
            likely = stats.norm.pdf(lead, scale=np.sqrt(1 + spread**2))
            return 2 * spread * prior * likely * what(spread)

        return integrate.quad(weighted, 0.01, 500, limit=400, points=[0.5, 1, 3, 10, 50])[0]

    def kept(spread):
        return spread**2 / (1 + spread**2)

    def lost(spread, sign):
        # E max(-x, 0) of a normal x.
        center, sd = sign * kept(spread) * lead, np.sqrt(kept(spread))
        return sd * stats.norm.pdf(center / sd) - center * stats.norm.cdf(-center / sd)

    total = integral(lambda _: 1)
    return Two(
        integral(lambda s: stats.norm.cdf(np.sqrt(kept(s)) * lead)) / total,
        integral(kept) / total,
        tuple(integral(lambda s, sign=sign: lost(s, sign)) / total for sign in (1, -1)),
    )
