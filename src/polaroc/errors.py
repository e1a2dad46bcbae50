"""The errors raised on purpose, each with a hint, and the warning."""

import sys
import warnings
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from traceback import walk_stack

MAX_NAMES, MAX_LETTERS = 20, 60


class PolarocError(ValueError):
    """Base of every error polaroc raises on purpose.

    Parameters
    ----------
    problem
        The value or table that was given, and what is allowed.
    hint
        A way to mend it.

    Examples
    --------
    >>> print(PolarocError("prior is 1.2, allowed is 0 < prior < 1.", hint="use a fraction."))
    prior is 1.2, allowed is 0 < prior < 1.
    Hint: use a fraction.
    """

    def __init__(self, problem: str, *, hint: str) -> None:
        self.problem = problem
        self.hint = hint
        super().__init__(f"{problem}\nHint: {hint}")

    def __reduce__(self) -> tuple[object, ...]:
        # A pickle passes positional arguments only.
        return partial(type(self), hint=self.hint), (self.problem,)


class InvalidArgument(PolarocError):
    """An argument outside what is allowed."""


class InvalidPredictions(PolarocError):
    """A prediction table with rows or columns that cannot be evaluated."""


class InvalidTable(PolarocError):
    """A frame that is not the table a function needs, such as a curve."""


class NotSupported(PolarocError):
    """A column whose role a function cannot use."""


class MissingExtra(PolarocError):
    """A library of an extra that is not installed."""


class OutputRefused(PolarocError):
    """Output that would overwrite something polaroc did not write."""


class PolarocWarning(UserWarning):
    """Predictions that may be misread, such as misspelt labels; the result is computed."""


def warn(message: str) -> None:
    """Issue a `PolarocWarning` at the line that called the package."""
    warnings.warn(message, PolarocWarning, stacklevel=len(_calls()) + 1)


def called_function() -> str:
    """The name of the function that was called from outside of the package."""
    return [name for package, name in _calls() if package == "polaroc"][-1]


def _calls() -> list[tuple[str, str]]:
    """The package and the name of each running function, up to the line that called this one."""
    frames = (frame for frame, _ in walk_stack(sys._getframe(1)))
    calls = ((at.f_globals.get("__name__", "").split(".")[0], at.f_code.co_name) for at in frames)
    # A lazy frame calls the package from within Polars.
    return [*takewhile(lambda call: call[0] in ("polaroc", "polars"), calls)]


def example(argument: str, value: object) -> str:
    """A hint that shows an argument with an example."""
    return f"for example {argument}={value!r}."


def quoted(names: Sequence[object], most: int = MAX_NAMES) -> str:
    """The first names for a message, long ones cut."""
    words = [_written(name) for name in names[:most]]
    shown = [w if len(w) <= MAX_LETTERS else f"{w[:MAX_LETTERS]}…" for w in words]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def _written(value: object) -> str:
    if getattr(value, "shape", ()):
        # The type of an array, a column or a table says more than its first values.
        kind = type(value)
        return f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__}"
    return " ".join(repr(value).splitlines())


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a `value` that is not one of the `allowed` words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InvalidArgument(
            f"{name} is {quoted([value])}, allowed are {words}.",
            hint=f"choose one of them for {name}.",
        )
