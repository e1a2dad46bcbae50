"""Beliefs about the prior in use, as weighted priors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, log, log1p, sqrt
from typing import Literal, TypeAlias

import numpy as np

from polaroc.base.checks import is_number, pair_of
from polaroc.base.statistics import normal, quadrature
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.priors.grids import check_prior, prior, range_of, skew
from polaroc.priors.in_use import level_of, single_estimate
from polaroc.typing import Array, PolarsFrame

# Logarithm of the error of integrals.
LOG_ERROR = log(1e-14)
# Share of a range, and relative mass of a node, that is left out at an end.
NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class Belief:
    """A belief about the prior in use, as weighted priors.

    An expectation under the belief is the weighted sum over its nodes; for a
    continuous belief they are quadrature nodes. Made by `uniform` and `beta`.

    Attributes
    ----------
    name
        The range or the distribution, such as "0.05 to 0.2" or "beta(2, 18)".
    skews
        The skew λ = (1−π)/π at each node.
    weights
        Their weights, ≥ 0, that sum to 1.
    ends
        The least and the greatest prior, None if it may be any.

    Examples
    --------
    >>> beta(2, 18)
    beta(2, 18)
    """

    name: str
    skews: tuple[float, ...]
    weights: tuple[float, ...]
    ends: tuple[float, float] | None = field(default=None, repr=False, compare=False)
    # Limits of measures at an estimate hold over its whole interval.
    is_estimate: bool = field(default=False, repr=False, compare=False)
    # The quantile function of a continuous belief, which its nodes only approximate.
    _quantile: Callable[[Array], Array] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return self.name

    @property
    def priors(self) -> tuple[float, ...]:
        """The prior at each node."""
        return tuple(prior(node) for node in self.skews)

    @property
    def nodes(self) -> tuple[tuple[float, float], ...]:
        """The skew and the weight of each node."""
        return tuple(zip(self.skews, self.weights, strict=True))

    @property
    def mean(self) -> float:
        """The expected prior."""
        # Rounding must not move it out of the range, which may be one prior.
        return float(np.clip(np.dot(self.priors, self.weights), *self.ends or (0, 1)))

    def quantile(self, shares: Sequence[float]) -> list[float]:
        """The prior below which each of the shares lies."""
        if self._quantile is not None:
            return [float(prior) for prior in self._quantile(np.array(shares))]
        order = np.argsort(self.priors)
        reached = np.cumsum(np.array(self.weights)[order]).searchsorted(shares)
        return [self.priors[order[min(place, len(order) - 1)]] for place in reached]

    def even_nodes(self, n: int) -> tuple[Array, Array]:
        """Priors and weights for means of functions with kinks: n quantiles; all of a few priors.

        Examples
        --------
        >>> len(discrete([0.05, 0.2]).even_nodes(64)[0]), len(beta(2, 18).even_nodes(64)[0])
        (2, 64)
        """
        if self._quantile is None:
            return np.array(self.priors), np.array(self.weights)
        shares, weights = np.array(quadrature(n)).T
        return self._quantile(shares), weights

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest prior; of a beta distribution the ends of its middle 99 %."""
        low, high = self.ends or self.quantile([0.005, 0.995])
        return low, high

    @property
    def inner_ends(self) -> list[float]:
        """The ends at which measures can be taken."""
        return [end for end in self.ends or () if 0 < end < 1]

    @property
    def interval_note(self) -> str:
        """A note on limits at an estimated prior: over which priors they hold."""
        return f"Limits hold for every share of positives in its interval: {self.name}."


# A range (lo, hi) of priors, or a belief, over which a mean is taken.
Over: TypeAlias = tuple[float, float] | Belief


def uniform(lo: float, hi: float, scale: Literal["prior", "skew"] = "prior") -> Belief:
    """A belief in which every prior from `lo` to `hi` is equally likely.

    Parameters
    ----------
    lo, hi
        The range of the prior, 0 < lo < hi < 1.
    scale
        Whether it is the ``"prior"`` that is spread evenly, or the ``"skew"``
        (the range P-ROC Eq. 5 is written in).

    Returns
    -------
    Belief
        Gauss-Legendre nodes in ln λ, as many as keep the error of an IAUPREC
        below 1e-10. At extreme ends a share of 1e-13 of the range is left out.

    Raises
    ------
    InvalidArgument
        For a range outside what is allowed.

    Examples
    --------
    >>> belief = uniform(0.05, 0.20)
    >>> round(sum(p * w for p, w in zip(belief.priors, belief.weights)), 12)
    0.125
    """
    lo, hi = range_of((lo, hi))
    check_choice("scale", scale, ("prior", "skew"))
    name, ends = f"{float(lo)!r} to {float(hi)!r}", np.array([skew(hi), skew(lo)])
    if scale == "skew":
        name = f"uniform({lo:g}, {hi:g}, scale=skew)"
        ends = np.maximum(ends, NEGLIGIBLE * (ends[1] - ends[0]))
    else:
        share = NEGLIGIBLE * (hi - lo)
        ends = np.clip(ends, share, 1 / share)
    low, high = np.log(ends).tolist()
    # AUPREC is analytic in ln λ for imaginary parts below π. Up to ¾π no precision is above √2 in
    # absolute value, and the error falls as ρ^(−2n), where ρ is that of the Bernstein ellipse.
    n = ceil(-LOG_ERROR / 2 / np.arcsinh(0.75 * np.pi / ((high - low) / 2)))
    shares, weights = np.array(quadrature(n)).T
    skews = np.exp(low + (high - low) * shares)
    masses = weights * (skews if scale == "skew" else skews / (1 + skews) ** 2)
    return _belief(name, skews, masses, (lo, hi), partial(_even_quantile, lo, hi, scale))


def beta(a: float, b: float) -> Belief:
    """A belief in which the prior has a Beta(a, b) distribution, with mean a/(a+b).

    Parameters
    ----------
    a, b
        Its shape parameters, from 0.1 to a million: as after a − 1 positives and b − 1
        negatives seen from a flat start.

    Returns
    -------
    Belief
        Trapezoid nodes in ln λ, where the density is analytic and the rule
        converges geometrically: the error of an IAUPREC is below 1e-10.

    Raises
    ------
    InvalidArgument
        For parameters outside what is allowed.

    Examples
    --------
    >>> belief = beta(2, 18)
    >>> round(sum(p * w for p, w in zip(belief.priors, belief.weights)), 12)
    0.1
    """
    if not all(is_number(x) and 0.1 <= x <= 1e6 for x in (a, b)):
        raise InvalidArgument(
            f"beta({quoted([a])}, {quoted([b])}): allowed are parameters from 0.1 to a million.",
            hint="beta(2, 18) has mean 0.1; larger parameters are narrower.",
        )
    from scipy.special import betaincinv, loggamma

    a, b = float(a), float(b)
    # The error of the trapezoid rule is the characteristic function of ln λ at 2π/step.
    steps = min(0.6, sqrt(1 / a + 1 / b)) * 0.9 ** np.arange(40)
    errors = sum((loggamma(x + 2j * np.pi / steps) - loggamma(x)).real for x in (a, b))
    # Of the mass 1e-17 lies beyond either end.
    low, high = betaincinv([a, b], [b, a], 1e-17)
    logs = np.arange(
        log1p(-low) - log(low), log(high) - log1p(-high), -steps[np.argmax(errors < LOG_ERROR)]
    )
    log_masses = -a * np.logaddexp(0, logs) - b * np.logaddexp(0, -logs)
    masses = np.exp(log_masses - log_masses.max())
    kept = masses > NEGLIGIBLE
    name, quantile = f"beta({a:g}, {b:g})", partial(betaincinv, a, b)
    return _belief(name, np.exp(logs[kept]), masses[kept], None, quantile)


def discrete(priors: Sequence[float]) -> Belief:
    """One of a few priors, equally likely."""
    name = ", ".join(f"{prior:g}" for prior in priors)
    ends = min(priors), max(priors)
    return _belief(name, skew(np.array(priors)), np.ones(len(priors)), ends)


def belief_of_estimate(estimates: PolarsFrame) -> Belief:
    """An estimated prior as a belief: half normal to either side, within its interval.

    Examples
    --------
    >>> import polars as pl
    >>> row = pl.DataFrame({"prior": [0.1], "lower": [0.07], "upper": [0.14]})
    >>> belief_of_estimate(row)
    an estimated 10 % positives (7 to 14 %)
    """
    from scipy.special import ndtri

    estimate, lower, upper = single_estimate(estimates)
    sides = [end - estimate for end in (lower, upper) if end != estimate]
    if not sides:
        return replace(discrete([estimate]), ends=(lower, upper), is_estimate=True)
    level = level_of(estimates) or 0.95
    at, weights = np.array(quadrature(8)).T
    # Distances from the estimate in units of half its interval.
    distances = ndtri((1 + at * level) / 2) / normal(level)
    skews = skew(np.concatenate([estimate + side * distances for side in sides]))
    low, middle, high = (f"{100 * share:.3g}" for share in (lower, estimate, upper))
    name = f"an estimated {middle} % positives ({low} to {high} %)"
    belief = _belief(name, skews, np.tile(weights, len(sides)), (lower, upper))
    return replace(belief, is_estimate=True)


def resolve_belief(over: object, scale: Literal["prior", "skew"] = "prior") -> Belief:
    """The belief of `over`, which is one already or a pair (lo, hi) of priors."""
    if not isinstance(over, Belief):
        return uniform(*range_of(over), scale)
    if scale != "prior":
        raise InvalidArgument(
            f"scale={scale!r} with {over!r}: a belief already says how likely each prior is.",
            hint="give over=(lo, hi), or uniform(lo, hi, scale='skew').",
        )
    return over


def checked_over(over: object) -> Over | None:
    """The range or belief; a uniform one is its range, a range of one prior a belief of one."""
    if isinstance(over, PolarsFrame):
        return belief_of_estimate(over)
    if over is None or isinstance(over, Belief):
        return labelled_range(str(over)) or over
    low, high = pair_of(over) or range_of(over)
    if low != high:
        return range_of((low, high))
    check_prior(low)
    return discrete([low])


def labelled_range(label: str) -> tuple[float, float] | None:
    """The range that a label such as "0.05 to 0.2" names; None for that of a belief."""
    low, to, high = label.partition(" to ")
    try:
        return (float(low), float(high)) if to else None
    except ValueError:
        return None


def _even_quantile(lo: float, hi: float, scale: str, share: Array) -> Array:
    """The quantile of priors that are spread evenly, or whose skews are, from `lo` to `hi`."""
    if scale == "prior":
        return lo + (hi - lo) * share
    return prior(skew(lo) - (skew(lo) - skew(hi)) * share)


def _belief(
    name: str,
    skews: Array,
    masses: Array,
    ends: tuple[float, float] | None,
    quantile: Callable[[Array], Array] | None = None,
) -> Belief:
    """A belief of nodes whose masses need not sum to 1."""
    weights = masses / masses.max()
    weights /= weights.sum()
    return Belief(name, tuple(skews.tolist()), tuple(weights.tolist()), ends, _quantile=quantile)
