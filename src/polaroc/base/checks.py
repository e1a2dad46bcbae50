"""Checks of single arguments, each with a message that names the argument."""

from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import Any, TypeGuard, cast

import polars as pl

from polaroc.errors import InvalidArgument, example, quoted, spelled

# The most priors, recalls or points of a line; more would fill the memory.
MAX_NUMBER = 1_000_000


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that fits a float, and no text, Decimal or Fraction."""
    if not isinstance(value, Real) or isinstance(value, Fraction):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def check_share(name: str, value: object, *, closed: bool = False) -> None:
    """Refuse what is not a number between 0 and 1, where `closed` also these two."""
    is_share = is_number(value) and not isinstance(value, bool) and 0 <= float(value) <= 1
    if not is_share or (not closed and value in (0, 1)):
        sign = "≤" if closed else "<"
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed is 0 {sign} {name} {sign} 1.",
            hint=share_hint(name, value, 0.95 if name in ("level", "confidence") else 0.5),
        )


def share_hint(name: str, value: object, usual: float) -> str:
    """The hint for a share between 0 and 1: a value in per cent as a share, else a usual one.

    Examples
    --------
    >>> print(share_hint("recall", 90, 0.5), share_hint("recall", -1, 0.5))
    90 % is recall=0.9. for example recall=0.5.
    """
    if is_number(value) and 1 < value <= 100:
        return f"{value:g} % is {spelled(name, value / 100)}."
    return example(name, usual)


def check_factors(**factors: object) -> None:
    """Refuse costs and weights that are not finite and positive, by their names."""
    for name, value in factors.items():
        if is_number(value) and 0 < value < float("inf"):
            continue
        per_case = name.startswith("cost") and not is_number(value)
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed are finite numbers > 0.",
            hint="if each case has its own cost, give that as `weight`, and here the mean cost."
            if per_case
            else "1 is the default.",
        )


def check_ratio(ratio: object) -> None:
    """Refuse what is not a number of test cases per training case."""
    if not is_number(ratio) or isinstance(ratio, bool) or not isfinite(ratio) or ratio < 0:
        raise InvalidArgument(
            f"test_train_ratio is {shortened(ratio)}, needed is a number ≥ 0: test over training "
            "cases of a fold, which the table does not tell.",
            hint="test_train_ratio=0.25 for 80/20 hold-outs, 1/(k-1) for k folds, or case='id' "
            "where its values are the cases of one cross-validation; predictions of fitted models "
            "on one test set, target='trained', need none.",
        )


def check_whole(name: str, value: object, least: int, most: int | None = None) -> None:
    """Refuse what is not a whole number from `least` to `most`."""
    fits = isinstance(value, int) and not isinstance(value, bool) and value >= least
    if not fits or (most is not None and cast(int, value) > most):
        end = f"≥ {least}" if most is None else f"from {least} to {most:,}"
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed are whole numbers {end}.",
            hint=example(name, max(least, 1)),
        )


def check_bool(name: str, value: object) -> None:
    """Refuse what is not True or False: a level such as 0.9, or "no", would count as True."""
    if not isinstance(value, bool):
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed are True and False.",
            hint=f"say {name}=True or leave it out; a confidence is level=0.95.",
        )


def check_text(name: str, value: object, usual: str) -> None:
    """Refuse what is not a text."""
    if not isinstance(value, str):
        raise InvalidArgument(
            f"{name} is {shortened(value)}, allowed is a name.", hint=example(name, usual)
        )


def refuse_unused(
    purpose: str, why: str, *, hint: str = "leave it out.", **options: object
) -> None:
    """Refuse options that are for another purpose; those that are None were not given.

    Examples
    --------
    >>> refuse_unused("for intervals", "there are none", level=None)
    >>> refuse_unused("for intervals", "there are none", level=0.9)
    Traceback (most recent call last):
    polaroc.errors.InvalidArgument: level is for intervals, and there are none.
    Hint: leave it out.
    """
    given = [name for name, value in options.items() if value is not None]
    if given:
        verb = "is" if len(given) == 1 else "are"
        raise InvalidArgument(f"{' and '.join(given)} {verb} {purpose}, and {why}.", hint=hint)


def unless(default: object, value: object) -> object:
    """The value, or None if it is the default, for `refuse_unused`."""
    is_scalar = isinstance(value, str | int | float)
    return None if is_scalar and value == default else value


def one_or_several(values: object) -> list[Any]:
    """A list of the values of an iterable, or of the one value; a text or table is one value."""
    if isinstance(values, str | bytes | Mapping | pl.DataFrame | pl.LazyFrame):
        return [values]
    try:
        return list(values)  # type: ignore[call-overload, no-any-return]
    except TypeError:
        return [values]


def pair_of(values: object) -> tuple[float, float] | None:
    """Two numbers, as given; None of anything else."""
    pair = one_or_several(values)
    is_pair = len(pair) == 2 and all(map(is_number, pair))
    return (pair[0], pair[1]) if is_pair else None


def shares(name: str, given: object, *, closed: bool = True) -> list[float]:
    """The sorted shares from 0 to 1, or `given` of them at equal steps; without 1 if not closed."""
    if isinstance(given, int) and not isinstance(given, bool) and 2 <= given <= MAX_NUMBER:
        return [i / (given - 1 if closed else given) for i in range(given)]
    values = [] if is_number(given) else one_or_several(given)
    inside = all(is_number(one) and (0 <= one < 1 or (closed and one == 1)) for one in values)
    if not values or not inside:
        end = "≤ 1" if closed else "< 1"
        raise InvalidArgument(
            f"{name} is {shortened(given)}, allowed are values ≥ 0 and {end}, or their number "
            f"from 2 to {MAX_NUMBER:,}.",
            hint=example(name, [0.1, 0.2]),
        )
    return sorted({float(value) for value in values})


def shortened(value: object) -> str:
    """A value for a message, cut if it is long."""
    return quoted([value])
