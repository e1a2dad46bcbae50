"""The errors raised on purpose, each with a hint, and the warning."""

import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

MAX_NAMES, MAX_LETTERS = 20, 60
PLACEHOLDER = re.compile(r"\{(\w+)\}")
# What was given, where it would fill a screen.
# An apostrophe within or after a word is no quotation mark.
LONG = re.compile(r"(?<!\w)'[^'\n]{1000,}'(?!\w)|(?<![^\s'])\S{1000,}")


class Hint(str):
    """A sentence that names arguments: as text the one for Python.

    That a role is not there, as in ``fold=None``, is an empty name for the command line.

    Parameters
    ----------
    template
        The sentence, with ``{name}`` where an argument is named.
    command_line
        The sentence for the command line, where it is another.
    arguments
        An example value of each argument that is named: ``...`` where it depends on the
        data, None where the argument is only named.

    Examples
    --------
    >>> hint = Hint("give {over}, or say fold=None.", over=(0.05, 0.2))
    >>> print(hint)
    give over=(0.05, 0.20), or say fold=None.
    >>> hint.for_command_line(lambda name, value: f"--{name}")
    "give --over, or say --fold ''."
    """

    template: str
    command_line: str
    arguments: dict[str, Any]

    def __new__(cls, template: str, *, command_line: str | None = None, **arguments: Any) -> "Hint":
        """The sentence, with arguments as Python spells them."""
        text = super().__new__(cls, _fill(template, arguments, _python))
        text.template = template
        absent = re.sub(r"\b(\w+)=None\b", r"--\1 ''", template)
        text.command_line = absent if command_line is None else command_line
        text.arguments = arguments
        return text

    @classmethod
    def example(cls, argument: str, value: object) -> "Hint":
        """The hint at an argument by an example."""
        named: dict[str, Any] = {argument: value}
        return cls(f"for example {{{argument}}}.", **named)

    def for_command_line(self, option: Callable[[str, Any], str]) -> str:
        """The sentence for the command line, with arguments as `option` spells them."""
        return _fill(self.command_line, self.arguments, option)

    def __add__(self, other: str) -> "Hint":
        return _concatenate(self, other)

    def __radd__(self, other: str) -> "Hint":
        return _concatenate(other, self)

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), {"command_line": self.command_line, **self.arguments}


class PolarocError(ValueError):
    """Base of every error polaroc raises on purpose.

    Parameters
    ----------
    found
        What was found and what is allowed.
    hint
        What to do about it.

    Examples
    --------
    >>> print(PolarocError("prior is 1.2, allowed is 0 < prior < 1.", hint="use a fraction."))
    prior is 1.2, allowed is 0 < prior < 1.
    Hint: use a fraction.
    """

    def __init__(self, found: str, *, hint: str) -> None:
        self.found = found
        self.hint = hint
        found, hint = without_long_words(found), without_long_words(hint)
        super().__init__(f"{found}\nHint: {hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.found, self.hint)


class InvalidArgument(PolarocError):
    """An argument outside what is allowed."""


class InvalidPredictions(PolarocError):
    """A prediction table with rows or columns that cannot be evaluated."""


class InvalidTable(PolarocError):
    """A frame that is not the table a function needs, such as a curve."""


class NotSupported(PolarocError):
    """A role of a column that a function cannot use."""


class MissingExtra(PolarocError):
    """A library of an extra that is not installed."""


class OutputRefused(PolarocError):
    """Output that would overwrite something polaroc did not write."""


class PolarocWarning(UserWarning):
    """Predictions that may not mean what they are taken for; the result is computed."""


def warn(message: str) -> None:
    """Issue a `PolarocWarning` at the line that called the package."""
    frame, level = sys._getframe().f_back, 2
    # A lazy frame calls the package from within Polars.
    while frame and frame.f_globals.get("__name__", "").split(".")[0] in ("polaroc", "polars"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, PolarocWarning, stacklevel=level)


def _rebuild(kind: type[PolarocError], found: str, hint: str) -> PolarocError:
    return kind(found, hint=hint)


def _fill(template: str, arguments: Mapping[str, Any], spell: Callable[[str, Any], str]) -> str:
    # Braces of anything else, such as a mapping in an example, stay.
    return PLACEHOLDER.sub(
        lambda place: spell(place[1], arguments[place[1]]) if place[1] in arguments else place[0],
        template,
    )


def _python(name: str, value: object) -> str:
    if value is None or value is ...:
        return f"{name}={'' if value is None else '...'}"
    if isinstance(value, tuple) and all(isinstance(one, int | float) for one in value):
        return f"{name}=({', '.join(numbers(value))})"
    return f"{name}={value:.12g}" if isinstance(value, float) else f"{name}={value!r}"


def _concatenate(first: str, second: str) -> Hint:
    parts = [part if isinstance(part, Hint) else Hint(part) for part in (first, second)]
    return Hint(
        "".join(part.template for part in parts),
        command_line="".join(part.command_line for part in parts),
        **parts[0].arguments | parts[1].arguments,
    )


def numbers(values: Sequence[float]) -> list[str]:
    """Numbers for an example, with equally many decimals.

    Examples
    --------
    >>> numbers((0.05, 0.2))
    ['0.05', '0.20']
    """
    places = max(len(repr(value).partition(".")[2]) for value in values)
    return [f"{value:.{places}f}" for value in values]


def without_long_words(message: str) -> str:
    """A message, of what is very long in it the beginning.

    Examples
    --------
    >>> len(without_long_words(f"no file matches {'x' * 100_000!r}."))
    78
    """
    return LONG.sub(lambda long: f"{long[0][:MAX_LETTERS]}…", message)


def quoted(names: Sequence[object], most: int = MAX_NAMES) -> str:
    """Names for a message: the first of them, and of long ones the beginning.

    Examples
    --------
    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    words = [_written(name) for name in names[:most]]
    shown = [w if len(w) <= MAX_LETTERS else f"{w[:MAX_LETTERS]}…" for w in words]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def _written(value: object) -> str:
    if getattr(value, "shape", ()):
        # Of an array, a column or a table the kind says more than its first values.
        kind = type(value)
        return f"a {kind.__module__.partition('.')[0]}.{kind.__qualname__}"
    # Python refuses to write integers of more than some thousand digits.
    try:
        return " ".join(repr(value).splitlines())
    except ValueError:
        return f"a {type(value).__name__} of too many digits"


def check_choice(
    name: str, value: object, allowed: tuple[str, ...], otherwise: str | None = None
) -> None:
    """Refuse a `value` that is not one of the `allowed` words.

    The hint is `otherwise`, or to choose one of the words.

    Examples
    --------
    >>> check_choice("start", "limit", ("limit", "one"))
    """
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InvalidArgument(
            f"{name} is {quoted([value])}, allowed are {words}.",
            hint=otherwise or f"choose one of them for {name}.",
        )
