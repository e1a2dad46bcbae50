"""Entries of docstrings that are written once for many functions."""

from collections.abc import Mapping
from inspect import cleandoc
from textwrap import fill

INDENT = " " * 4
WIDTH = 92


def entries(texts: Mapping[str, str]) -> str:
    """Parameters with their descriptions, as numpydoc has them.

    Examples
    --------
    >>> print(entries({"title": "Heading of the chart."}), end="")
    title
        Heading of the chart.
    """
    return "".join(
        f"{name}\n{fill(words, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)}\n"
        for name, words in texts.items()
    )


def put_in(text: str | None, place: str, found: str) -> str:
    """A docstring with another text in the place of one.

    Python up to 3.12 leaves its lines indented as in the source, later ones do not.
    """
    return f"{cleandoc(text or '')}\n".replace(place, found, 1)
