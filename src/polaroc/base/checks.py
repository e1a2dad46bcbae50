"""Checks of single arguments, each with a message that names the argument."""

from math import isfinite
from typing import TypeGuard

from polaroc.errors import Hint, InvalidArgument


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a float holds; text that looks like one is not."""
    if isinstance(value, str | bytes | bytearray) or hasattr(value, "__len__"):
        return False
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def check_share(name: str, value: object) -> None:
    """Refuse what is not a number strictly between 0 and 1."""
    if not is_number(value) or isinstance(value, bool) or not 0 < float(value) < 1:
        raise InvalidArgument(
            f"{name} is {value!r}, allowed is 0 < {name} < 1.", hint=Hint.example(name, 0.05)
        )


def check_ratio(ratio: object) -> None:
    """Refuse what is not a number of test cases per training case."""
    sound = is_number(ratio) and isfinite(ratio) and ratio >= 0
    if not sound or isinstance(ratio, bool):
        raise InvalidArgument(
            f"test_train_ratio is {ratio!r}, needed is a number ≥ 0: test over training cases of "
            "a block, which the table does not tell.",
            hint=Hint(
                "{test_train_ratio} for 80/20 hold-outs, 1/(k-1) for k folds; "
                "compare({target}) needs none.",
                command_line="{test_train_ratio} for 80/20 hold-outs, 1/(k-1) for k folds; "
                "{target} of `polaroc compare` needs none.",
                test_train_ratio=0.25,
                target="dataset",
            ),
        )


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidArgument(
            f"{name} is {value!r}, allowed are whole numbers ≥ {least}.",
            hint=Hint.example(name, max(least, 1)),
        )
