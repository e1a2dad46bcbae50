"""The errors raised on purpose; each message ends with a hint."""

from collections.abc import Sequence

MOST_NAMES, MOST_LETTERS = 20, 60


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
        super().__init__(f"{found}\nHint: {hint}")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.found, self.hint)


class InvalidArgument(PolarocError):
    """An argument outside what is allowed."""


class InvalidPredictions(PolarocError):
    """A prediction table with rows or columns that cannot be evaluated."""


class InvalidTable(PolarocError):
    """A frame that is not the table a function needs, such as a curve."""


class MissingExtra(PolarocError):
    """A library of an extra that is not installed."""


class OutputRefused(PolarocError):
    """Output that would overwrite something polaroc did not write."""


def _rebuild(kind: type[PolarocError], found: str, hint: str) -> PolarocError:
    return kind(found, hint=hint)


def quoted(names: Sequence[object], most: int = MOST_NAMES) -> str:
    """Names for a message: the first of them, and of long ones the beginning.

    Examples
    --------
    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    words = [repr(name) for name in names[:most]]
    shown = [w if len(w) <= MOST_LETTERS else f"{w[:MOST_LETTERS]}…" for w in words]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def spelling(unknown: Sequence[str], present: Sequence[str], otherwise: str) -> str:
    """A hint at the names that are nearest to those that were not found.

    Examples
    --------
    >>> spelling(["modle"], ["model", "fold"], "name another.")
    "did you mean 'model'?"
    """
    from difflib import get_close_matches

    close = [match for name in unknown for match in get_close_matches(name, present, n=1)]
    return f"did you mean {quoted(close)}?" if close else otherwise


def check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Refuse a `value` that is not one of the `allowed` words.

    Examples
    --------
    >>> check_choice("start", "limit", ("limit", "one"))
    """
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InvalidArgument(
            f"{name} is {value!r}, allowed are {words}.", hint=f"choose one of them for {name}."
        )
