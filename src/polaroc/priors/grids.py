"""Class priors: prior and skew, grids of priors, and the check of priors."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Final, Literal, TypeGuard

import numpy as np
import polars as pl

from polaroc.base.checks import MAX_NUMBER, check_whole, is_number, one_or_several
from polaroc.errors import InvalidArgument, check_choice, example, quoted
from polaroc.typing import PolarsFrame, Prior, Priors, Quantity

OBSERVED: Final = "observed"
# Columns of an estimated prior, or of a belief about it.
PRIOR_AND_LIMITS = ("prior", "lower", "upper")
# Priors that differ by less are equal, such as 0.15 and 0.15000000000000002 of a grid.
TOLERANCE = 1e-9


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
    if isinstance(skew, int | float) and not 0 < skew < float("inf"):
        raise InvalidArgument(
            f"skew is {quoted([skew])}, allowed is 0 < skew < ∞.",
            hint="skew is negatives per positive.",
        )
    return 1 / (1 + skew)


def skew_at(prior: Prior, positives: Quantity, negatives: Quantity, name: str) -> Quantity:
    """The skew at a prior, or, if it is "observed", that of the positives and negatives."""
    check_prior(prior, name, allow_observed=True)
    return negatives / positives if prior == OBSERVED else skew(float(prior))


def reweighted(probability: Quantity, skew_from: Quantity, skew_to: Quantity) -> Quantity:
    """The probability at a skew of a case whose probability at another skew is given.

    Its odds are multiplied by the ratio of the skews; 0 and 1 stay the same.

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
    range_of((lo, hi))
    check_choice("spacing", spacing, ("linear", "log", "skew"))
    check_whole("n", n, 2, MAX_NUMBER)
    if spacing == "linear":
        priors = np.linspace(lo, hi, n)
    elif spacing == "log":
        priors = np.geomspace(lo, hi, n)
    else:
        priors = prior(np.linspace(skew(lo), skew(hi), n))
    priors[[0, -1]] = lo, hi
    return pl.DataFrame({"prior": priors, "skew": skew(priors)})


def is_estimate(priors: object) -> TypeGuard[PolarsFrame]:
    """Whether this is a table of estimated priors with their intervals."""
    if not isinstance(priors, PolarsFrame):
        return False
    return set(PRIOR_AND_LIMITS) <= set(priors.collect_schema())


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
        values = priors["prior"].to_list()
        if len(values) != 1 and is_estimate(priors):
            raise InvalidArgument(
                f"priors are {len(values):,} estimates, each of a key of its own, and all keys "
                "are taken at the same priors here.",
                hint="keep one row of the estimates; evaluate, operating_points and "
                "apply_thresholds take each key at its own.",
            )
    else:
        values = one_or_several(priors)
    for value in values:
        check_prior(value, allow_observed=True)
    return list(dict.fromkeys(None if value == OBSERVED else float(value) for value in values))


def some_priors(priors: Priors) -> list[float | None]:
    """Distinct priors in order, as those of `resolve_priors`; raise if there is none."""
    resolved = resolve_priors(priors)
    if not resolved:
        raise InvalidArgument("priors has no prior.", hint=example("priors", [0.5, 0.1]))
    return resolved


def is_among(observed: pl.Expr, priors: Sequence[float | None]) -> pl.Expr:
    """Whether the observed prior of a key is, up to rounding, one of several; False if null.

    Then a row at ``"observed"`` would repeat the row at that prior.
    """
    numbers = [round(prior / TOLERANCE) for prior in priors if prior is not None]
    number = (observed / TOLERANCE).round().cast(pl.Int64, strict=False)
    return number.is_in(numbers).fill_null(False)


def check_prior(value: object, name: str = "prior", *, allow_observed: bool = False) -> None:
    """Raise unless 0 < prior < 1, or, if that is allowed, it is "observed"."""
    if allow_observed and isinstance(value, str) and value == OBSERVED:
        return
    number = float(value) if is_number(value) else 0.0
    # The skew of the smallest floats is infinite.
    if not 0 < number < 1 or not isfinite((1 - number) / number):
        raise InvalidArgument(
            f"{name} is {quoted([value])}, allowed is 0 < prior < 1.",
            hint="a prior is a share: 5 % positives is 0.05.",
        )


def range_of(over: object) -> tuple[float, float]:
    """The ends of a range of priors; raise unless it is a pair with 0 < lo < hi < 1."""
    ends = one_or_several(over)
    if len(ends) != 2 or isinstance(over, pl.DataFrame):
        raise InvalidArgument(
            f"over is {quoted([over])}, allowed is a pair (lo, hi) of priors.",
            hint=example("over", (0.05, 0.2)),
        )
    lo, hi = ends
    check_prior(lo)
    check_prior(hi)
    if lo >= hi:
        raise InvalidArgument(
            f"the range of priors is ({lo}, {hi}), allowed is lo < hi.",
            hint=f"give the lower end first; a single prior goes into priors=[{lo}].",
        )
    return lo, hi
