"""Distributions of a share such as the prior.

Each has the `quantile` at a share, the probability `below` a value, that included, and the mean
over values up to one, `mean_below`, those above counted as zero; continuous ones also the
`density` and the range of their `log_odds`, without negligible tails.
"""

from dataclasses import dataclass
from math import log, log1p
from typing import Literal, TypeAlias

import numpy as np

from polaroc.typing import Array

# Share of a distribution that is left out at either end.
TAIL = 1e-17


@dataclass(frozen=True)
class Atoms:
    """A few values, each with its probability."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    def quantile(self, share: Array) -> Array:
        """The value below which a share lies."""
        values, weights = self._sorted()
        reached = np.searchsorted(weights.cumsum() / weights.sum(), share)
        return values[np.minimum(reached, len(values) - 1)]

    def below(self, value: Array) -> Array:
        """The probability of at most a value."""
        return self._summed(value, by_value=False)

    def mean_below(self, value: Array) -> Array:
        """The mean over values up to one, those above counted as zero."""
        return self._summed(value, by_value=True)

    def _summed(self, limit: Array, *, by_value: bool) -> Array:
        values, weights = self._sorted()
        sums = np.concatenate(([0.0], (weights * values if by_value else weights).cumsum()))
        return sums[np.searchsorted(values, limit, side="right")]

    def _sorted(self) -> tuple[Array, Array]:
        order = np.argsort(self.values)
        return np.array(self.values)[order], np.array(self.weights)[order]


@dataclass(frozen=True)
class Flat:
    """Every prior, or every skew, of a range of priors is equally likely."""

    lo: float
    hi: float
    scale: Literal["prior", "skew"] = "prior"

    def quantile(self, share: Array) -> Array:
        """The value below which a share lies."""
        if self.scale == "prior":
            return self.lo + (self.hi - self.lo) * share
        high, low = 1 / self.lo - 1, 1 / self.hi - 1
        return 1 / (1 + high - (high - low) * share)

    def below(self, value: Array) -> Array:
        """The probability of at most a value."""
        inside = np.clip(value, self.lo, self.hi)
        if self.scale == "prior":
            return (inside - self.lo) / (self.hi - self.lo)
        return (1 / self.lo - 1 / inside) / (1 / self.lo - 1 / self.hi)

    def mean_below(self, value: Array) -> Array:
        """The mean over values up to one, those above counted as zero."""
        inside = np.clip(value, self.lo, self.hi)
        if self.scale == "prior":
            return (inside - self.lo) * (inside + self.lo) / 2 / (self.hi - self.lo)
        return np.log(inside / self.lo) / (1 / self.lo - 1 / self.hi)

    def density(self, value: Array) -> Array:
        """The density at a value."""
        if self.scale == "prior":
            return 0 * value + 1 / (self.hi - self.lo)
        return value**-2 / (1 / self.lo - 1 / self.hi)

    @property
    def log_odds(self) -> tuple[float, float]:
        """The range of the log odds, without negligible tails."""
        return log(self.lo) - log1p(-self.lo), log(self.hi) - log1p(-self.hi)


@dataclass(frozen=True)
class Beta:
    """Beta(a, b)."""

    a: float
    b: float

    def quantile(self, share: Array) -> Array:
        """The value below which a share lies."""
        from scipy.special import betaincinv

        value: Array = betaincinv(self.a, self.b, share)
        return value

    def below(self, value: Array) -> Array:
        """The probability of at most a value."""
        from scipy.special import betainc

        share: Array = betainc(self.a, self.b, np.clip(value, 0, 1))
        return share

    def mean_below(self, value: Array) -> Array:
        """The mean over values up to one, those above counted as zero."""
        from scipy.special import betainc

        share: Array = betainc(self.a + 1, self.b, np.clip(value, 0, 1))
        return self.a / (self.a + self.b) * share

    def density(self, value: Array) -> Array:
        """The density at a value."""
        from scipy.special import betaln, xlog1py, xlogy

        logs = xlogy(self.a - 1, value) + xlog1py(self.b - 1, -value)
        density: Array = np.exp(logs - betaln(self.a, self.b))
        return density

    @property
    def log_odds(self) -> tuple[float, float]:
        """The range of the log odds, without negligible tails."""
        from scipy.special import betaincinv

        low, rest = betaincinv(self.a, self.b, TAIL), betaincinv(self.b, self.a, TAIL)
        return log(low) - log1p(-low), log1p(-rest) - log(rest)


Distribution: TypeAlias = Atoms | Flat | Beta
