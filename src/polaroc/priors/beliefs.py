"""Distributions of the prior in use, as weighted nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import asinh, ceil, exp, fsum, log, log1p, pi, sqrt
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from polaroc.base.checks import is_number, pair_of, shortened
from polaroc.base.statistics import NORMAL, legendre, normal, quadrature
from polaroc.errors import InvalidArgument, check_choice
from polaroc.priors.distributions import Atoms, Beta, Distribution, Flat
from polaroc.priors.grids import check_range, prior, range_of, skew
from polaroc.priors.in_use import level_of, the_estimate

TOLERANCE = 1e-12
MAX_NODES = 1000
# Above, a Beta distribution is a single prior, and its density loses digits.
MAX_SHAPE = 1e6
# Keeps skews and their products within the range of floats.
MAX_LOG_SKEW = log(1e300)
# Share of a range that is left out at an extreme end.
NEGLIGIBLE = 1e-13
# The shares of a distribution without ends that are below its middle 99 %, and up to its end.
MIDDLE = (0.005, 0.995)
# Nodes on either side of an estimate, and the level of an interval that does not say it.
NODES_OF_ESTIMATE, USUAL_LEVEL = 8, 0.95


@dataclass(frozen=True)
class Belief:
    """A belief about the prior in use, as weighted priors.

    An expectation under the belief is the weighted sum over its nodes; for a
    continuous belief they are quadrature nodes. Made by `uniform` and `beta`.

    Attributes
    ----------
    name
        How it was asked for.
    skews
        The skew λ = (1−π)/π at each node.
    weights
        Their weights, ≥ 0, that sum to 1.
    ends
        The interval of an estimated prior, None of other beliefs.

    Examples
    --------
    >>> beta(2, 18)
    beta(2, 18)
    """

    name: str
    skews: tuple[float, ...]
    weights: tuple[float, ...]
    # Quantiles and probabilities, which the nodes of a continuous belief have only roughly.
    _exact: Distribution | None = field(default=None, repr=False, compare=False)
    # The interval of an estimate.
    ends: tuple[float, float] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return self.name

    @property
    def distribution(self) -> Distribution:
        """The distribution itself; that of the nodes where they are the belief."""
        return self._exact or Atoms(self.priors, self.weights)

    @property
    def priors(self) -> tuple[float, ...]:
        """The prior at each node."""
        return tuple(prior(node) for node in self.skews)

    @property
    def mean(self) -> float:
        """The expected prior."""
        return fsum(p * w for p, w in zip(self.priors, self.weights, strict=True))

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest prior; of a beta distribution the ends of its middle 99 %."""
        if self.ends is not None:
            return self.ends
        known = self.distribution
        if isinstance(known, Flat):
            return known.lo, known.hi
        if isinstance(known, Atoms):
            possible = [p for p, w in zip(known.values, known.weights, strict=True) if w > 0]
            return min(possible), max(possible)
        low, high = known.quantile(np.array(MIDDLE)).tolist()
        return low, high

    @property
    def inner_ends(self) -> list[float]:
        """The ends of the interval of an estimate at which measures can be taken."""
        return [end for end in self.ends or () if 0 < end < 1]

    @property
    def interval_note(self) -> str:
        """A note on limits at an estimated prior: over which priors they hold."""
        return f"Limits hold for every share of positives in its interval: {self.name}."


# What a mean over priors is taken over: a range (lo, hi), or a belief.
Over: TypeAlias = tuple[float, float] | Belief


def uniform(lo: float, hi: float, scale: Literal["prior", "skew"] = "prior") -> Belief:
    """Every prior from `lo` to `hi` is equally likely.

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
        below 1e-10: there AUPREC is analytic but for Im ln λ = ±π. At extreme
        ends a share of 1e-13 of the range is left out.

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
    check_range(lo, hi)
    check_choice("scale", scale, ("prior", "skew"))
    left, right = _ends(lo, hi, scale)
    half = (right - left) / 2
    # The error falls as ρ^(−2n), ρ the Bernstein ellipse up to ±3πi/4: short of
    # the singularities at ±iπ, so that there no precision is above √2.
    n = ceil(log(100 / TOLERANCE) / (2 * asinh(0.75 * pi / half)))
    nodes, weights = legendre(n)
    logs = [left + half * (1 + node) for node in nodes]
    densities = [_slope(u) if scale == "prior" else exp(u) for u in logs]
    name = f"uniform({lo:g}, {hi:g}{', scale=skew' if scale == 'skew' else ''})"
    masses = [w * d for w, d in zip(weights, densities, strict=True)]
    return _belief(name, [exp(u) for u in logs], masses, Flat(lo, hi, scale))


def beta(a: float, b: float) -> Belief:
    """The prior follows a Beta(a, b) distribution, with mean a/(a+b).

    Parameters
    ----------
    a, b
        Its shape parameters, > 0 and up to a million: as after a − 1 positives and b − 1
        negatives seen from a flat start.

    Returns
    -------
    Belief
        Trapezoid nodes in ln λ, where the density is analytic and the rule
        converges geometrically.

    Raises
    ------
    InvalidArgument
        For parameters outside what is allowed, or so small (below about 0.05) that the
        belief would need more than a thousand nodes, or priors nearer to 0 or 1 than 1e-300.

    Examples
    --------
    >>> belief = beta(2, 18)
    >>> round(sum(p * w for p, w in zip(belief.priors, belief.weights)), 12)
    0.1
    """
    if not all(is_number(x) and 0 < x <= MAX_SHAPE for x in (a, b)):
        raise InvalidArgument(
            f"beta({shortened(a)}, {shortened(b)}): allowed are parameters > 0, up to a million.",
            hint="beta(2, 18) has mean 0.1; larger parameters are narrower.",
        )
    a, b = float(a), float(b)

    def log_density(u: float) -> float:
        # At u = ln λ, but for a constant: a ln π + b ln(1 − π).
        return -a * _softplus(u) - b * _softplus(-u)

    mode, step = log(b) - log(a), _beta_step(a, b)
    most = log_density(mode)
    logs = [mode]
    for direction in (-step, step):
        u = mode + direction
        while log_density(u) - most > log(TOLERANCE / 10):
            logs.append(u)
            u += direction
            if len(logs) > MAX_NODES or abs(u) > MAX_LOG_SKEW:
                raise InvalidArgument(
                    f"beta({a:g}, {b:g}) is spread too widely: it needs more than {MAX_NODES} "
                    "nodes, or priors nearer to 0 or 1 than 1e-300.",
                    hint="use larger or less unequal parameters.",
                )
    logs.sort(reverse=True)
    masses = [exp(log_density(u) - most) for u in logs]
    return _belief(f"beta({a:g}, {b:g})", [exp(u) for u in logs], masses, Beta(a, b))


def discrete(priors: Sequence[float], weights: Sequence[float] | None = None) -> Belief:
    """One of a few priors: by weights that sum to 1, or equally likely.

    Examples
    --------
    >>> discrete([0.05, 0.2])
    0.05, 0.2
    """
    shares = [1 / len(priors)] * len(priors) if weights is None else weights
    name = ", ".join(f"{p:g}" for p in priors)
    return Belief(name, tuple(skew(p) for p in priors), tuple(shares))


def belief_of_estimate(estimates: pl.DataFrame | pl.LazyFrame) -> Belief:
    """An estimated prior as a belief: half normal to either side, within its interval.

    Examples
    --------
    >>> row = pl.DataFrame({"prior": [0.1], "lower": [0.07], "upper": [0.14], "method": ["em"]})
    >>> belief_of_estimate(row)
    an estimated 10 % positives (7 to 14 %)
    """
    prior, lower, upper = the_estimate(estimates)
    values, weights, level = [], [], level_of(estimates) or USUAL_LEVEL
    for at, weight in quadrature(NODES_OF_ESTIMATE):
        # From the estimate to an end of its interval, which is two standard errors away at 0.95.
        reach = NORMAL.inv_cdf((1 + at * level) / 2) / normal(level)
        for end in (lower, upper):
            if end != prior:
                values.append(prior + reach * (end - prior))
                weights.append(weight)
    if not values:
        return replace(discrete([prior]), ends=(prior, prior))
    low, middle, high = (f"{100 * share:.3g}" for share in (lower, prior, upper))
    name = f"an estimated {middle} % positives ({low} to {high} %)"
    order = sorted(range(len(values)), key=values.__getitem__)
    return Belief(
        name, tuple(skew(values[i]) for i in order), tuple(_to_one([weights[i] for i in order])),
        ends=(lower, upper),
    )  # fmt: skip


def resolve_belief(over: object, scale: Literal["prior", "skew"] = "prior") -> Belief:
    """The belief of `over`, which is one already or a pair (lo, hi) of priors."""
    if isinstance(over, Belief):
        check_choice("scale", scale, ("prior", "skew"))
        if scale == "skew":
            raise InvalidArgument(
                f"scale='skew' with {over!r}: a belief already says how likely each prior is.",
                hint="give over=(lo, hi), or uniform(lo, hi, scale='skew').",
            )
        return over
    pair = pair_of(over)
    if pair is not None:
        return uniform(*pair, scale)
    raise InvalidArgument(
        f"over is {shortened(over)}, allowed are a pair (lo, hi) of priors or a belief.",
        hint="for example over=(0.05, 0.20) or over=polaroc.beta(2, 18).",
    )


def over_label(over: object, scale: Literal["prior", "skew"] = "prior") -> str:
    """How a measure table says what a measure was taken over: all digits of a range.

    Examples
    --------
    >>> over_label((0.05, 0.2)), over_label(beta(2, 18))
    ('0.05 to 0.2', 'beta(2, 18)')
    """
    belief = resolve_belief(over, scale)
    if isinstance(over, Belief) or scale == "skew":
        return belief.name
    lo, hi = range_of(over)
    return f"{float(lo)!r} to {float(hi)!r}"


def labelled_range(label: str) -> tuple[float, float] | None:
    """The range that a label names, None for a belief.

    Examples
    --------
    >>> labelled_range("0.05 to 0.2"), labelled_range("beta(2, 18)")
    ((0.05, 0.2), None)
    """
    low, to, high = label.partition(" to ")
    try:
        return (float(low), float(high)) if to else None
    except ValueError:
        return None


def same_over(label: str, over: tuple[float, float] | Belief) -> bool:
    """Whether a label names a range, or a belief.

    Examples
    --------
    >>> same_over("0.05 to 0.2", uniform(0.05, 0.2)), same_over("0.05 to 0.2", (0.05, 0.3))
    (True, False)
    """
    known = labelled_range(label)
    if known is None:
        return label == resolve_belief(over).name
    return resolve_belief(known) == resolve_belief(over)


def _ends(lo: float, hi: float, scale: str) -> tuple[float, float]:
    """ln λ at the ends of a range, without negligible tails."""
    highest, lowest = skew(lo), skew(hi)
    if scale == "skew":
        return log(max(lowest, NEGLIGIBLE * (highest - lowest))), log(highest)
    share = NEGLIGIBLE * (hi - lo)
    return log(max(lowest, share)), log(min(highest, 1 / share))


def _slope(u: float) -> float:
    """|dπ/du| at u = ln λ: π(1−π)."""
    return exp(-abs(u)) / (1 + exp(-abs(u))) ** 2


def _softplus(u: float) -> float:
    """ln(1 + eᵘ): at u = ln λ, the logarithm of 1/π."""
    return max(u, 0.0) + log1p(exp(-abs(u)))


def _beta_step(a: float, b: float) -> float:
    """The step at which the trapezoid rule meets the tolerance for Beta(a, b) in ln λ.

    Its error is the characteristic function of ln λ at the frequency 2π/step,
    |Γ(a + iω)Γ(b − iω)| / (Γ(a)Γ(b)).
    """
    from scipy.special import loggamma

    def decays(step: float) -> bool:
        """Whether the logarithm of the error is small enough."""
        ends = ((loggamma(complex(x, 2 * pi / step)) - loggamma(x)).real for x in (a, b))
        return bool(sum(ends) <= log(TOLERANCE / 100))

    # A standard deviation of ln λ, nearly, where the parameters are large.
    step = min(0.6, sqrt(1 / a + 1 / b))
    while not decays(step):
        step *= 0.9
    return step


def _belief(
    name: str, skews: list[float], masses: list[float], distribution: Distribution
) -> Belief:
    return Belief(name, tuple(skews), tuple(_to_one(masses)), distribution)


def _to_one(masses: Sequence[float]) -> list[float]:
    """Scale masses to sum to 1, although their sum may overflow."""
    most = max(masses)
    total = fsum(mass / most for mass in masses)
    return [mass / most / total for mass in masses]
