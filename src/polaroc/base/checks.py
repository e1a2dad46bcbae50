"""Checks of single arguments, each with a message that names the argument."""

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from numbers import Real
from typing import Any, TypeGuard

from polaroc.errors import InvalidArgument, example, quoted
from polaroc.typing import PolarsFrame

# Upper limit of the number of priors, points or draws: more of them would fill the memory.
MAX_NUMBER = 1_000_000


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number that fits a float; no bool, Decimal or Fraction."""
    if not isinstance(value, Real) or isinstance(value, Fraction | bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def _check(fits: bool, name: str, value: object, allowed: str, hint: str) -> None:
    if not fits:
        raise InvalidArgument(f"{name} is {quoted([value])}, allowed {allowed}.", hint=hint)


def check_share(name: str, value: object, *, closed: bool = False) -> None:
    """Raise unless a value is in (0, 1), or in [0, 1] if `closed`."""
    fits = is_number(value) and (0 <= value <= 1 if closed else 0 < value < 1)
    sign, usual = "≤" if closed else "<", 0.95 if name in ("level", "confidence") else 0.5
    _check(fits, name, value, f"is 0 {sign} {name} {sign} 1", example(name, usual))


def check_factors(*, or_zero: bool = False, **factors: float | None) -> list[float]:
    """Costs and weights, 1 for None, as floats; raise unless finite and positive, or zero."""
    values = {name: 1.0 if value is None else value for name, value in factors.items()}
    for name, value in values.items():
        fits = is_number(value) and (0 < value < inf or (or_zero and value == 0))
        hint = "1 is the default; if each case has its own cost, give that as `weight`."
        _check(fits, name, value, f"are finite numbers {'≥' if or_zero else '>'} 0", hint)
    return [float(value) for value in values.values()]


def check_ratio(ratio: object) -> None:
    """Raise unless a ratio of test to training cases is finite and not negative."""
    hint = (
        "test over training cases of a fold: test_train_ratio=0.25 for 80/20 hold-outs, 1/(k-1) "
        "for k folds; or case='id' where its values are the cases of one cross-validation."
    )
    if ratio is None:
        raise InvalidArgument("test_train_ratio is needed to compare models over folds.", hint=hint)
    fits = is_number(ratio) and 0 <= ratio < inf
    _check(fits, "test_train_ratio", ratio, "are finite numbers ≥ 0", hint)


def check_whole(name: str, value: object, least: int, most: float = inf) -> None:
    """Raise unless a value is a whole number from `least` to `most`."""
    fits = type(value) is int and least <= value <= most
    end = f"≥ {least}" if most == inf else f"from {least} to {most:,}"
    _check(fits, name, value, f"are whole numbers {end}", example(name, max(least, 1)))


def check_bool(name: str, value: object) -> None:
    """Raise unless a value is True or False: a level such as 0.9, or "no", would count as True."""
    hint = f"say {name}=True or leave it out; a confidence is level=0.95."
    _check(isinstance(value, bool), name, value, "are True and False", hint)


def check_text(name: str, value: object, usual: str) -> None:
    """Raise unless a value is a text."""
    _check(isinstance(value, str), name, value, "is a name", example(name, usual))


def refuse_unused(
    purpose: str, why: str, *, hint: str = "leave it out.", **options: object
) -> None:
    """Raise if an option that is for another purpose is not None."""
    present = [name for name, value in options.items() if value is not None]
    if present:
        verb = "is" if len(present) == 1 else "are"
        raise InvalidArgument(f"{' and '.join(present)} {verb} {purpose}, and {why}.", hint=hint)


def none_if(value: object, default: object) -> object:
    """The value, or None if it is the default, for `refuse_unused`."""
    return None if isinstance(value, str | int | float) and value == default else value


def one_or_several(values: object) -> list[Any]:
    """A list of the values of an iterable, or of the one value; a text or table is one value."""
    if isinstance(values, str | bytes | Mapping | PolarsFrame):
        return [values]
    try:
        return list(values)  # type: ignore[call-overload]
    except TypeError:
        return [values]


def pair_of(values: object) -> tuple[float, float] | None:
    """A pair of numbers as it is; None for anything else."""
    pair = one_or_several(values)
    is_pair = len(pair) == 2 and all(map(is_number, pair))
    return (pair[0], pair[1]) if is_pair else None


def shares(name: str, values: object, *, closed: bool = True) -> list[float]:
    """Sorted shares in [0, 1], or in [0, 1) if not `closed`; n stands for n evenly spaced ones."""
    if type(values) is int and 2 <= values <= MAX_NUMBER:
        return [i / (values - 1 if closed else values) for i in range(values)]
    listed = [] if is_number(values) else one_or_several(values)
    fits = [is_number(one) and (0 <= one < 1 or (closed and one == 1)) for one in listed]
    end = "≤ 1" if closed else "< 1"
    allowed = f"are values ≥ 0 and {end}, or their number from 2 to {MAX_NUMBER:,}"
    _check(bool(listed) and all(fits), name, values, allowed, example(name, [0.1, 0.2]))
    return sorted({float(value) for value in listed})
