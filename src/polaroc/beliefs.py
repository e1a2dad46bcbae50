"""Beliefs about the prior in use, as weighted priors."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import asinh, ceil, exp, isfinite, log, log1p, pi
from typing import Literal

from polaroc.errors import InvalidArgument, check_choice
from polaroc.priors import check_prior, check_range, is_number, prior, skew

TOLERANCE = 1e-12
MOST_NODES = 1000
# Nodes beyond which λ/N is judged by bins of them.
MOST_BINS = 256
# The share of a range that is left out at an end that is far away in ln λ.
NEGLIGIBLE = 1e-13


@dataclass(frozen=True)
class Belief:
    """What is believed about the prior in use, as weighted priors.

    An expectation under the belief is the weighted sum over its nodes; for a
    continuous belief they are quadrature nodes. Made by `uniform`, `beta` and
    `points`.

    Attributes
    ----------
    name
        How it was asked for.
    skews
        The skew λ = (1−π)/π at each node.
    weights
        Their weights, ≥ 0, that sum to 1.

    Examples
    --------
    >>> points([0.1, 0.2], [3, 1])
    points([0.1, 0.2], weights=[0.75, 0.25])
    """

    name: str
    skews: tuple[float, ...]
    weights: tuple[float, ...]

    def __repr__(self) -> str:
        return self.name

    @property
    def priors(self) -> tuple[float, ...]:
        """The prior at each node."""
        return tuple(prior(node) for node in self.skews)

    @property
    def in_bins(self) -> list[tuple[float, float]]:
        """Skews and weights; where they are many, the mean of each of some bins of ln λ."""
        if len(self.skews) <= MOST_BINS:
            return list(zip(self.skews, self.weights, strict=True))
        logs = [log(node) for node in self.skews]
        lo, width = min(logs), (max(logs) - min(logs)) / MOST_BINS or 1.0
        masses: dict[int, tuple[float, float]] = {}
        for node, weight, u in zip(self.skews, self.weights, logs, strict=True):
            number = min(int((u - lo) / width), MOST_BINS - 1)
            moment, mass = masses.get(number, (0.0, 0.0))
            masses[number] = moment + weight * node, mass + weight
        return [(moment / mass, mass) for moment, mass in masses.values() if mass > 0]


def uniform(lo: float, hi: float, measure: Literal["prior", "skew"] = "prior") -> Belief:
    """Every prior from `lo` to `hi` is equally likely.

    Parameters
    ----------
    lo, hi
        The range of the prior, 0 < lo < hi < 1.
    measure
        Whether it is the ``"prior"`` that is spread evenly, or the ``"skew"``
        (the range P-ROC Eq. 5 is written in).

    Returns
    -------
    Belief
        Gauss-Legendre nodes in ln λ, as many as keep the error of an IAUPREC
        below 1e-10: there AUPREC is analytic but for Im ln λ = ±π. Of extreme
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
    from numpy.polynomial.legendre import leggauss

    check_range(lo, hi)
    check_choice("measure", measure, ("prior", "skew"))
    left, right = _ends(lo, hi, measure)
    half = (right - left) / 2
    # The error falls as ρ^(−2n), ρ the Bernstein ellipse up to ±3πi/4: short of
    # the singularities at ±iπ, so that there no precision is above √2.
    n = ceil(log(100 / TOLERANCE) / (2 * asinh(0.75 * pi / half)))
    nodes, weights = leggauss(n)
    logs = [left + half * (1 + float(node)) for node in nodes]
    densities = [_slope(u) if measure == "prior" else exp(u) for u in logs]
    name = f"uniform({lo:g}, {hi:g}{', measure=skew' if measure == 'skew' else ''})"
    masses = [float(w) * d for w, d in zip(weights, densities, strict=True)]
    return _belief(name, [exp(u) for u in logs], masses)


def beta(a: float, b: float) -> Belief:
    """The prior follows a Beta(a, b) distribution, with mean a/(a+b).

    Parameters
    ----------
    a, b
        Its shape parameters, > 0: as after a − 1 positives and b − 1 negatives
        seen from a flat start.

    Returns
    -------
    Belief
        Trapezoid nodes in ln λ, where the density is analytic and the rule
        converges geometrically.

    Raises
    ------
    InvalidArgument
        For parameters that are not positive, or so small (below about 0.1) that
        the belief would need more than a thousand nodes.

    Examples
    --------
    >>> belief = beta(2, 18)
    >>> round(sum(p * w for p, w in zip(belief.priors, belief.weights)), 12)
    0.1
    """
    if not all(is_number(x) and isfinite(x) and x > 0 for x in (a, b)):
        raise InvalidArgument(
            f"beta({a}, {b}): allowed are finite parameters > 0.",
            hint="beta(2, 18) has mean 0.1; larger parameters are narrower.",
        )
    step = _beta_step(a, b)
    mode = log(b / a)

    def mass(u: float) -> float:
        """The density of u = ln λ as a share of its height at the mode."""
        return exp(a * (_softplus(mode) - _softplus(u)) + b * (_softplus(-mode) - _softplus(-u)))

    logs = [mode]
    for direction in (-step, step):
        u = mode + direction
        while mass(u) > TOLERANCE / 10:
            logs.append(u)
            u += direction
            if len(logs) > MOST_NODES:
                raise InvalidArgument(
                    f"beta({a:g}, {b:g}) needs more than {MOST_NODES} nodes.",
                    hint="use larger parameters, or points([...]) for a few likely priors.",
                )
    logs.sort(reverse=True)
    return _belief(f"beta({a:g}, {b:g})", [exp(u) for u in logs], [mass(u) for u in logs])


def points(priors: Sequence[float], weights: Sequence[float] | None = None) -> Belief:
    """One of a few priors, as likely as `weights` say.

    Parameters
    ----------
    priors
        The possible priors, each in (0, 1).
    weights
        As many weights ≥ 0, not all zero; equal where none are given. They are
        scaled to sum to 1.

    Returns
    -------
    Belief
        The priors themselves as nodes.

    Raises
    ------
    InvalidArgument
        For priors or weights outside what is allowed.

    Examples
    --------
    >>> points([0.01, 0.1])
    points([0.01, 0.1], weights=[0.5, 0.5])
    """
    for p in priors:
        check_prior(p)
    chosen = [float(p) for p in priors]
    shares = [1.0] * len(chosen) if weights is None else list(weights)
    sound = all(is_number(w) and isfinite(w) and w >= 0 for w in shares) and sum(shares) > 0
    if len(shares) != len(chosen) or not sound:
        raise InvalidArgument(
            f"points got {len(chosen)} priors and the weights {weights}, allowed is one weight "
            "≥ 0 per prior, not all zero.",
            hint="leave weights out for equal ones.",
        )
    listed = ", ".join(f"{p:g}" for p in chosen)
    shown = ", ".join(f"{w / sum(shares):g}" for w in shares)
    name = f"points([{listed}], weights=[{shown}])"
    return _belief(name, [skew(p) for p in chosen], shares)


def resolve_belief(over: object, measure: Literal["prior", "skew"] = "prior") -> Belief:
    """A belief from what `over` may be: a belief, or a pair (lo, hi) of priors."""
    if isinstance(over, Belief):
        check_choice("measure", measure, ("prior", "skew"))
        if measure == "skew":
            raise InvalidArgument(
                f"measure='skew' with {over!r}: a belief already says how likely each prior is.",
                hint="give over=(lo, hi), or uniform(lo, hi, measure='skew').",
            )
        return over
    if isinstance(over, Sequence) and len(over) == 2 and not isinstance(over, str):
        return uniform(over[0], over[1], measure)
    raise InvalidArgument(
        f"over is {over!r}, allowed are a pair (lo, hi) of priors or a belief.",
        hint="for example over=(0.05, 0.20) or over=polaroc.beta(2, 18).",
    )


def _ends(lo: float, hi: float, measure: str) -> tuple[float, float]:
    """ln λ at the ends of a range, without what is negligible of it."""
    highest, lowest = skew(lo), skew(hi)
    if measure == "skew":
        return log(max(lowest, NEGLIGIBLE * (highest - lowest))), log(highest)
    share = NEGLIGIBLE * (hi - lo)
    return log(max(lowest, share)), log(min(highest, 1 / share))


def _slope(u: float) -> float:
    """|dπ/du| at u = ln λ: π(1−π)."""
    return exp(-abs(u)) / (1 + exp(-abs(u))) ** 2


def _beta_step(a: float, b: float) -> float:
    """The step at which the trapezoid rule meets the tolerance for Beta(a, b) in ln λ.

    Its error is the characteristic function of ln λ at the frequency 2π/step,
    |Γ(a + iω)Γ(b − iω)| / (Γ(a)Γ(b)).
    """
    from scipy.special import loggamma

    step = 0.6
    while True:
        at = 2j * pi / step
        decay = loggamma(a + at) + loggamma(b - at) - loggamma(a) - loggamma(b)
        if decay.real < log(TOLERANCE / 100):
            return step
        step *= 0.9


def _softplus(x: float) -> float:
    """ln(1 + eˣ) without overflow."""
    return max(x, 0.0) + log1p(exp(-abs(x)))


def _belief(name: str, skews: list[float], masses: list[float]) -> Belief:
    total = sum(masses)
    return Belief(name, tuple(skews), tuple(mass / total for mass in masses))
