"""Parts of docstrings that are written once for many functions."""

import re
from collections.abc import Callable, Mapping
from inspect import cleandoc, signature
from textwrap import fill
from typing import Any, TypeVar

_C = TypeVar("_C", bound=Callable[..., Any])

INDENT = " " * 4
WIDTH = 92
HEADING = re.compile(r"^(\w[^\n]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\S.*)\n((?: +.*\n?|\n(?= ))*)", re.MULTILINE)
# They come before all other sections.
FIRST = ("", "Parameters", "Attributes", "Returns", "Raises")
# Taken from elsewhere as a whole.
SHARED = ("Returns", "Raises")


def described_as(*others: Callable[..., Any] | str) -> Callable[[_C], _C]:
    """Say of a function what other docstrings say: parameters, results and errors.

    What its own docstring says stays. Of several others the first that has it counts.
    """
    texts = [one if isinstance(one, str) else one.__doc__ for one in others]

    def decorate(function: _C) -> _C:
        function.__doc__ = filled(function, *texts)
        return function

    return decorate


def filled(function: Callable[..., Any], *others: str | None) -> str:
    """The docstring of a function with what it lacks, from others."""
    own, *found = (_sections(text) for text in (function.__doc__, *others))
    said = _entries(own)
    all_texts: dict[str, str] = {}
    for sections in (*reversed(found), own):
        all_texts |= _entries(sections)
    names: dict[str, list[str]] = {}
    for name in dict.fromkeys([*signature(function).parameters, *said]):
        if name in all_texts:
            names.setdefault(all_texts[name], []).append(name)
    shared = {
        heading: sections[heading]
        for sections in reversed(found)
        for heading in SHARED
        if heading in sections
    }
    parameters = "".join(f"{', '.join(of)}\n{text}\n" for text, of in names.items())
    parts = shared | own | {"Parameters": parameters}
    order = dict.fromkeys([*(heading for heading in FIRST if heading in parts), *own])
    return "\n\n".join(_section(heading, parts[heading]) for heading in order) + "\n"


def _sections(text: str | None) -> dict[str, str]:
    """The sections of a docstring by their headings; what comes first has none."""
    first, *others = HEADING.split(cleandoc(text or ""))
    return {"": first} | dict(zip(others[::2], others[1::2], strict=True))


def _entries(sections: Mapping[str, str]) -> dict[str, str]:
    return {
        name: words.rstrip()
        for names, words in ENTRY.findall(sections.get("Parameters", ""))
        for name in re.split(r",\s*", names)
    }


def _section(heading: str, text: str) -> str:
    text = text.strip("\n")
    return f"{heading}\n{'-' * len(heading)}\n{text}" if heading else text


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
