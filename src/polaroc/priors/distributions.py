"""Distributions of a share such as the prior, each with the `quantile` below which a share lies."""

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
        order = np.argsort(self.values)
        values, weights = np.array(self.values)[order], np.array(self.weights)[order]
        reached = np.searchsorted(weights.cumsum() / weights.sum(), share)
        return values[np.minimum(reached, len(values) - 1)]


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

    @property
    def log_odds(self) -> tuple[float, float]:
        """The range of the log odds, without negligible tails."""
        from scipy.special import betaincinv

        low, rest = betaincinv(self.a, self.b, TAIL), betaincinv(self.b, self.a, TAIL)
        return log(low) - log1p(-low), log1p(-rest) - log(rest)


Distribution: TypeAlias = Atoms | Flat | Beta
