"""Class priors: prior ↔ skew, grids of priors, and beliefs about the prior."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import asinh, ceil, exp, isfinite, log, log1p, pi
from typing import Literal

import polars as pl

from polaroc.errors import InvalidArgument, check_choice
from polaroc.typing import Priors, Quantity

OBSERVED = "observed"
TOLERANCE = 1e-12
MOST_NODES = 1000


def skew(prior: Quantity) -> Quantity:
    """Negatives per positive at a prior: λ = (1−π)/π, P-ROC §4.

    Parameters
    ----------
    prior
        Probability of a positive: a float in (0, 1), a numpy array or a
        Polars expression.

    Returns
    -------
    The same kind, from 0 to ∞.

    Raises
    ------
    InvalidArgument
        For a float outside (0, 1).

    Examples
    --------
    >>> skew(0.1)
    9.0
    """
    if isinstance(prior, int | float):
        check_prior(prior)
    return (1 - prior) / prior


def prior(skew: Quantity) -> Quantity:
    """The prior at a skew: π = 1/(1+λ), the inverse of `skew`.

    Parameters
    ----------
    skew
        Negatives per positive: a float > 0, a numpy array or a Polars expression.

    Returns
    -------
    The same kind, from 0 to 1.

    Raises
    ------
    InvalidArgument
        For a float that is not finite and positive.

    Examples
    --------
    >>> prior(9.0)
    0.1
    """
    if isinstance(skew, int | float) and not (isfinite(skew) and skew > 0):
        raise InvalidArgument(
            f"skew is {skew}, allowed is 0 < skew < ∞.", hint="skew is negatives per positive."
        )
    return 1 / (1 + skew)


def prior_grid(
    lo: float, hi: float, n: int, spacing: Literal["linear", "log", "skew"] = "linear"
) -> pl.DataFrame:
    """`n` priors from `lo` to `hi`, both included.

    Parameters
    ----------
    lo, hi
        The range, 0 < lo < hi < 1.
    n
        How many, at least 2.
    spacing
        Equal steps of the prior (``"linear"``), of its logarithm (``"log"``) or
        of the skew (``"skew"``).

    Returns
    -------
    DataFrame
        `prior`, `skew`: Float64, prior ascending.

    Raises
    ------
    InvalidArgument
        For a range or a number outside what is allowed.

    Examples
    --------
    >>> prior_grid(0.1, 0.5, 3, spacing="skew")["skew"].to_list()
    [9.0, 5.0, 1.0]
    """
    check_range(lo, hi)
    check_choice("spacing", spacing, ("linear", "log", "skew"))
    if not isinstance(n, int) or n < 2:
        raise InvalidArgument(f"n is {n!r}, allowed are whole numbers ≥ 2.", hint="ask for more.")
    steps = [i / (n - 1) for i in range(n)]
    if spacing == "linear":
        inner = [lo + (hi - lo) * step for step in steps]
    elif spacing == "log":
        inner = [lo * (hi / lo) ** step for step in steps]
    else:
        inner = [prior(skew(lo) + (skew(hi) - skew(lo)) * step) for step in steps]
    return _grid([lo, *inner[1:-1], hi])


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
        below 1e-12: there AUPREC is analytic but for Im ln λ = ±π.

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
    left, right = log(skew(hi)), log(skew(lo))
    half = (right - left) / 2
    # The error falls as ρ^(−2n), ρ the Bernstein ellipse that reaches the
    # singularities at ±iπ; a few more nodes absorb its constant.
    n = ceil(-log(TOLERANCE) / (2 * asinh(pi / half))) + 4
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
        For parameters outside what is allowed.

    Examples
    --------
    >>> belief = beta(2, 18)
    >>> round(sum(p * w for p, w in zip(belief.priors, belief.weights)), 12)
    0.1
    """
    if not all(_is_number(x) and isfinite(x) and x > 0 for x in (a, b)):
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
    sound = all(_is_number(w) and isfinite(w) and w >= 0 for w in shares) and sum(shares) > 0
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


def resolve_priors(priors: Priors) -> list[float | None]:
    """The priors asked for, each once, in order; None stands for "observed"."""
    if isinstance(priors, pl.DataFrame):
        if "prior" not in priors.columns:
            raise InvalidArgument(
                f"the prior grid has the columns {priors.columns}, it needs 'prior'.",
                hint="make it with prior_grid(lo, hi, n).",
            )
        asked: list[object] = priors["prior"].to_list()
    elif isinstance(priors, str | int | float):
        asked = [priors]
    else:
        asked = list(priors)
    resolved: list[float | None] = []
    for value in asked:
        if value == OBSERVED:
            resolved.append(None)
        else:
            check_prior(value)
            resolved.append(float(value))  # type: ignore[arg-type]
    return list(dict.fromkeys(resolved))


def check_prior(value: object) -> None:
    """Refuse what is not a prior strictly between 0 and 1."""
    if isinstance(value, bool) or not _is_number(value) or not 0 < float(value) < 1:  # type: ignore[arg-type]
        raise InvalidArgument(
            f"prior is {value!r}, allowed are 0 < prior < 1 and 'observed'.",
            hint="5 % positives is prior 0.05.",
        )


def check_range(lo: float, hi: float) -> None:
    """Refuse a range of priors that is empty or leaves (0, 1)."""
    check_prior(lo)
    check_prior(hi)
    if lo >= hi:
        raise InvalidArgument(
            f"the range of priors is ({lo}, {hi}), allowed is lo < hi.", hint="swap the two."
        )


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)


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


def _grid(priors: list[float]) -> pl.DataFrame:
    return pl.DataFrame({"prior": priors}, schema={"prior": pl.Float64}).with_columns(
        skew(pl.col("prior")).alias("skew")
    )
