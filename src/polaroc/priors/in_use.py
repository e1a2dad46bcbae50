"""The prior in use of each row of a table: known, estimated or believed."""

from dataclasses import dataclass
from typing import Protocol, TypeGuard

import polars as pl

from polaroc.base.statistics import normal
from polaroc.priors.distributions import Atoms, Distribution
from polaroc.typing import Array

# Columns of `estimate_prior` that are no keys.
ESTIMATE = (
    "method", "prior", "lower", "upper", "std_error", "reference_prior", "deployed", "shift_p",
    "note",
)  # fmt: skip
NOT_ESTIMATED = "the prior was not estimated"
# Keeps odds finite where an estimate is 0 or 1.
LEAST = 1e-12


def is_estimate(priors: object) -> TypeGuard[pl.DataFrame | pl.LazyFrame]:
    """Whether these are the result of `estimate_prior`."""
    if not isinstance(priors, pl.DataFrame | pl.LazyFrame):
        return False
    return {"prior", "lower", "upper", "method"} <= set(priors.lazy().collect_schema().names())


class PriorInUse(Protocol):
    """What may be the prior in use, for each row."""

    def nodes(self, scores: Array, weights: Array) -> tuple[Array, Array]:
        """Priors, a column for each of a few nodes, and the weights of the nodes.

        For a continuous prior, nodes are its quantiles at normal scores.
        """
        ...

    def below(self, prior: Array) -> Array:
        """The probability of at most a prior, for each row along the first axis."""
        ...

    def rows(self, rows: Array) -> "PriorInUse":
        """Of some of the rows."""
        ...

    @property
    def spread(self) -> tuple[Array, Array]:
        """Centre and standard deviation; 0 where the nodes are the prior."""
        ...


@dataclass(frozen=True)
class KnownPrior:
    """A prior for each row."""

    prior: Array

    def nodes(self, scores: Array, weights: Array) -> tuple[Array, Array]:
        """A few priors for each row, and their weights."""
        import numpy as np

        return np.clip(self.prior, LEAST, 1 - LEAST)[:, None], np.ones(1)

    def below(self, prior: Array) -> Array:
        """The probability of at most a prior."""
        return (prior >= _beside(self.prior, prior)).astype(float)

    def rows(self, rows: Array) -> "KnownPrior":
        """Of some of the rows."""
        return KnownPrior(self.prior[rows])

    @property
    def spread(self) -> tuple[Array, Array]:
        """Centre and standard deviation."""
        return self.prior, 0 * self.prior


@dataclass(frozen=True)
class EstimatedPrior:
    """An estimate with limits at a level for each row: half normal to either side."""

    prior: Array
    lower: Array
    upper: Array
    level: float

    def nodes(self, scores: Array, weights: Array) -> tuple[Array, Array]:
        """A few priors for each row, and their weights."""
        import numpy as np

        below, above = (scale[:, None] for scale in self._scales())
        priors = self.prior[:, None] + scores * np.where(scores < 0, below, above)
        return np.clip(priors, LEAST, 1 - LEAST), weights

    def below(self, prior: Array) -> Array:
        """The probability of at most a prior."""
        import numpy as np
        from scipy.special import ndtr

        centre = _beside(self.prior, prior)
        below, above = (_beside(scale, prior) for scale in self._scales())
        with np.errstate(divide="ignore", invalid="ignore"):
            score = (prior - centre) / np.where(prior < centre, below, above)
        inside = ndtr(np.nan_to_num(score, nan=0.0, posinf=40.0, neginf=-40.0))
        return np.where(prior >= 1, 1.0, np.where(prior < 0, 0.0, inside))

    def rows(self, rows: Array) -> "EstimatedPrior":
        """Of some of the rows."""
        return EstimatedPrior(self.prior[rows], self.lower[rows], self.upper[rows], self.level)

    @property
    def spread(self) -> tuple[Array, Array]:
        """Centre and standard deviation."""
        below, above = self._scales()
        return self.prior, (below + above) / 2

    def _scales(self) -> tuple[Array, Array]:
        z = normal(self.level)
        return (self.prior - self.lower) / z, (self.upper - self.prior) / z


@dataclass(frozen=True)
class BelievedPrior:
    """One distribution for as many rows as `centre` has, which repeats its mean."""

    distribution: Distribution
    centre: Array

    def nodes(self, scores: Array, weights: Array) -> tuple[Array, Array]:
        """A few priors for each row, and their weights."""
        import numpy as np
        from scipy.special import ndtr

        if isinstance(self.distribution, Atoms):
            values, weights = map(np.array, (self.distribution.values, self.distribution.weights))
        else:
            values = self.distribution.quantile(ndtr(scores))
        priors = np.clip(values, LEAST, 1 - LEAST)
        return np.broadcast_to(priors, (len(self.centre), len(priors))), weights

    def below(self, prior: Array) -> Array:
        """The probability of at most a prior."""
        return self.distribution.below(prior)

    def rows(self, rows: Array) -> "BelievedPrior":
        """Of some of the rows."""
        return BelievedPrior(self.distribution, self.centre[rows])

    @property
    def spread(self) -> tuple[Array, Array]:
        """Centre and standard deviation."""
        import numpy as np
        from scipy.special import ndtr

        if isinstance(self.distribution, Atoms):
            return self.centre, 0 * self.centre
        low, high = self.distribution.quantile(ndtr(np.array([-1.0, 1.0])))
        return self.centre, np.full_like(self.centre, (high - low) / 2)


def _beside(per_row: Array, values: Array) -> Array:
    """A value per row, shaped to be compared with several per row."""
    return per_row.reshape((-1,) + (1,) * (values.ndim - 1))
