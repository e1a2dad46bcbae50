"""The documented posterior of two models whose error is known, by numerical integration."""

from typing import NamedTuple

import numpy as np
from scipy import integrate, stats

# Scale and degrees of freedom of the squared spread, and the probability of equal models
# (docs/concepts/how_sure.md).
OF_BEST, OF_EXPECTED = (0.7, 3, 0.15), (2.0, 2, 0.5)


class Two(NamedTuple):
    """What is known of the model that is ahead, and of the other one."""

    probability_best: float  # of the one that is ahead
    kept: float  # the share of its lead that is left of it
    loss: tuple[float, float]  # expected, in standard errors of the difference


def of_two(lead: float) -> Two:
    """Of a lead in standard errors of the difference."""

    def mean(what, prior):
        scale, freedom, _ = prior

        def weighted(spread):
            # The square is scaled inverse chi squared; with the Jacobian of the square.
            slab = stats.invgamma.pdf(spread**2, freedom / 2, scale=freedom * scale**2 / 2)
            likely = stats.norm.pdf(lead, scale=np.sqrt(1 + spread**2))
            return 2 * spread * slab * likely * what(spread)

        return integrate.quad(weighted, 0.01, 500, limit=400, points=[0.5, 1, 3, 10, 50])[0]

    def unless_equal(what, prior, if_equal):
        differ, equal = (1 - prior[2]) * mean(lambda _: 1, prior), prior[2] * stats.norm.pdf(lead)
        return ((1 - prior[2]) * mean(what, prior) + equal * if_equal) / (differ + equal)

    def kept(spread):
        return spread**2 / (1 + spread**2)

    def lost(spread, sign):
        # E max(-x, 0) of a normal x.
        center, sd = sign * kept(spread) * lead, np.sqrt(kept(spread))
        return sd * stats.norm.pdf(center / sd) - center * stats.norm.cdf(-center / sd)

    total = mean(lambda _: 1, OF_BEST)
    return Two(
        unless_equal(lambda s: stats.norm.cdf(np.sqrt(kept(s)) * lead), OF_BEST, 0.5),
        unless_equal(kept, OF_EXPECTED, 0),
        tuple(mean(lambda s, sign=sign: lost(s, sign), OF_BEST) / total for sign in (1, -1)),
    )
