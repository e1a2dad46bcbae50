"""Class priors: prior ↔ skew, probabilities moved from one to another, and grids of priors."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Literal

import polars as pl

from polaroc.base.checks import (
    MAX_NUMBER,
    check_whole,
    is_number,
    one_or_several,
    pair_of,
    shortened,
)
from polaroc.errors import InvalidArgument, check_choice, example
from polaroc.priors.in_use import is_estimate
from polaroc.typing import Prior, Priors, Quantity

OBSERVED = "observed"
A_SHARE = "a prior is a share: 5 % positives is 0.05."
# Priors closer than this are equal, such as 0.15 and 0.15000000000000002 of a grid.
SAME = 1e-9


def skew(prior: Quantity) -> Quantity:
    """Negatives per positive at a prior: λ = (1−π)/π, P-ROC §4.

    Parameters
    ----------
    prior
        Probability of a positive: a float in (0, 1), a numpy array or a
        Polars expression.

    Returns
    -------
    skew
        Of the same kind, from 0 to ∞.

    Raises
    ------
    InvalidArgument
        For a float outside (0, 1).

    Examples
    --------
    >>> skew(0.1)
    9.0
    """
    _check_quantity("prior", prior)
    if isinstance(prior, int | float):
        check_prior(prior)
    return (1 - prior) / prior


def prior(skew: Quantity) -> Quantity:
    """The prior at a skew: π = 1/(1+λ), the inverse of `skew`, P-ROC §4.

    Parameters
    ----------
    skew
        Negatives per positive: a float > 0, a numpy array or a Polars expression.

    Returns
    -------
    prior
        Of the same kind, from 0 to 1.

    Raises
    ------
    InvalidArgument
        For a float that is not finite and positive.

    Examples
    --------
    >>> prior(9.0)
    0.1
    """
    _check_quantity("skew", skew)
    if isinstance(skew, int | float) and not (is_number(skew) and isfinite(skew) and skew > 0):
        raise InvalidArgument(
            f"skew is {shortened(skew)}, allowed is 0 < skew < ∞.",
            hint="skew is negatives per positive.",
        )
    return 1 / (1 + skew)


def skew_at(prior: Prior, positives: Quantity, negatives: Quantity, name: str) -> Quantity:
    """The skew at a prior of that name; ``"observed"`` is that of so many of both classes."""
    if isinstance(prior, str) and prior == OBSERVED:
        return negatives / positives
    check_prior(prior, name)
    return skew(float(prior))


def reweighted(probability: Quantity, skew_from: Quantity, skew_to: Quantity) -> Quantity:
    """A probability that is right where the skew is `skew_from`, where it is `skew_to`.

    Its odds are multiplied by the ratio of the skews; 0 and 1 stay what they are.

    Examples
    --------
    >>> reweighted(0.5, 1.0, 99.0)
    0.01
    """
    up = probability * skew_from
    return up / (up + (1 - probability) * skew_to)


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
    >>> prior_grid(0.1, 0.5, 3, spacing="skew")["skew"].round(9).to_list()
    [9.0, 5.0, 1.0]
    """
    check_range(lo, hi)
    check_choice("spacing", spacing, ("linear", "log", "skew"))
    check_whole("n", n, 2, MAX_NUMBER)
    steps = [i / (n - 1) for i in range(n)]
    if spacing == "linear":
        inner = [lo + (hi - lo) * step for step in steps]
    elif spacing == "log":
        inner = [lo * (hi / lo) ** step for step in steps]
    else:
        inner = [prior(skew(lo) + (skew(hi) - skew(lo)) * step) for step in steps]
    priors = pl.Series("prior", [lo, *inner[1:-1], hi], pl.Float64).to_frame()
    return priors.with_columns(skew(pl.col("prior")).alias("skew"))


def resolve_priors(priors: Priors) -> list[float | None]:
    """Distinct priors in order; None stands for "observed"."""
    if isinstance(priors, pl.LazyFrame):
        priors = priors.collect()
    if isinstance(priors, pl.DataFrame):
        if "prior" not in priors.columns:
            raise InvalidArgument(
                f"the prior grid has the columns {priors.columns}, it needs 'prior'.",
                hint="make it with prior_grid(lo, hi, n).",
            )
        values: list[object] = priors["prior"].to_list()
        if len(values) != 1 and is_estimate(priors):
            raise InvalidArgument(
                f"priors are {len(values):,} estimates, each of a key of its own, and all keys "
                "are taken at the same priors here.",
                hint="keep one row of the estimates; evaluate, operating_points and "
                "apply_thresholds take each key at its own.",
            )
    else:
        values = one_or_several(priors)
    resolved: list[float | None] = []
    for value in values:
        if isinstance(value, str) and value == OBSERVED:
            resolved.append(None)
        else:
            check_prior(value)
            resolved.append(float(value))  # type: ignore[arg-type]
    return list(dict.fromkeys(resolved))


def some_priors(priors: Priors) -> list[float | None]:
    """Like `resolve_priors`; raise where there is none."""
    resolved = resolve_priors(priors)
    if not resolved:
        raise InvalidArgument("priors has no prior.", hint=example("priors", [0.5, 0.1]))
    return resolved


def is_among(own: pl.Expr, priors: Sequence[float | None]) -> pl.Expr:
    """Whether the prior of a key is, up to rounding, one of several; False where it is null.

    There, a row at ``"observed"`` would repeat the row at that prior.
    """
    given = [round(prior / SAME) for prior in priors if prior is not None]
    return (own / SAME).round().cast(pl.Int64, strict=False).is_in(given).fill_null(False)


def check_prior_or_observed(value: object, name: str = "prior") -> None:
    """Raise unless it is "observed" or a prior."""
    if not (isinstance(value, str) and value == OBSERVED):
        check_prior(value, name)


def check_prior(value: object, name: str = "prior") -> None:
    """Raise unless 0 < prior < 1."""
    number = float(value) if is_number(value) else 0.0
    if not 0 < number < 1 or isinstance(value, bool) or not isfinite((1 - number) / number):
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed is 0 < prior < 1.",
            hint=A_SHARE,
        )


def check_range(lo: float, hi: float) -> None:
    """Raise unless 0 < lo < hi < 1."""
    check_prior(lo)
    check_prior(hi)
    if lo >= hi:
        raise InvalidArgument(
            f"the range of priors is ({lo}, {hi}), allowed is lo < hi.",
            hint=f"for a single prior leave the range out, and evaluate at it: priors=[{lo}]."
            if lo == hi
            else "give the lower end first.",
        )


def range_of(over: object) -> tuple[float, float]:
    """The ends of a range of priors, refused where they are no such pair."""
    pair = pair_of(over)
    if pair is None:
        raise InvalidArgument(
            f"over is {shortened(over)}, allowed is a pair (lo, hi) of priors.",
            hint=example("over", (0.05, 0.2)),
        )
    check_range(*pair)
    return pair


def _check_quantity(name: str, value: object) -> None:
    """Refuse what is neither a number nor an array or expression of numbers."""
    is_frame = isinstance(value, pl.DataFrame | pl.LazyFrame)
    if is_frame or not hasattr(value, "__truediv__"):
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed are numbers, arrays and expressions.",
            hint=example(name, 0.1),
        )
