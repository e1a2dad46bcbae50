"""*See Also* and *References* of the reference, which no docstring writes by hand.

What is related stands in `related.toml`; sources that a docstring cites, as in "P-ROC Eq. 4" or
"Nadeau and Bengio (2003)", in `sources.toml`.
"""

import pydoc
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
TABLE = tomllib.loads((HERE / "related.toml").read_text("utf-8"))
HUBS, RELATED = TABLE["hubs"], TABLE["related"]
SOURCES = tomllib.loads((HERE / "sources.toml").read_text("utf-8"))
NAME = r"[A-Z][\w-]+"
CITED = re.compile(
    rf"P-ROC|AccSens|D&G|{NAME}(?:, {NAME})*(?: and {NAME}| et al\.)?,? \(?(?:18|19|20)\d\d\b"
)
# A section comes before those that stand here, as numpydoc has them.
BEFORE = {"See Also": ("Notes", "Examples"), "References": ("Examples",)}


def setup(app: "Sphinx") -> dict[str, bool]:
    # Before napoleon reads the sections.
    app.connect("autodoc-process-docstring", with_sections, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def with_sections(
    app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Add both sections to the lines of a docstring."""
    own = name.removeprefix("polaroc.")
    sources = [SOURCES[key] for key in cited("\n".join(lines))]
    for title, content in {
        "See Also": [f"{shown(own, other)} : {summary(other)}" for other in related(own)],
        "References": [line for source in sources for line in (source, "")],
    }.items():
        if content:
            place = place_before(lines, BEFORE[title])
            lines[place:place] = ["", title, "-" * len(title), *content, ""]


def related(name: str) -> list[str]:
    """What a name is related to, by its own line and by those of others."""
    others = [] if name in HUBS else [other for other in RELATED if name in RELATED[other]]
    return list(dict.fromkeys([*RELATED.get(name, []), *others]))


def cited(text: str) -> list[str]:
    """Keys of the sources that a text cites, each once."""
    found = CITED.findall(" ".join(text.split()))
    return list(dict.fromkeys(re.sub(r",? \(?(?=\d{4}$)", " ", one) for one in found))


def shown(own: str, other: str) -> str:
    """The other name as it leads there from a page, where the page's own module has it too."""
    module, dot, _ = own.rpartition(".")
    return f"polaroc.{other}" if dot and pydoc.locate(f"polaroc.{module}.{other}") else other


def summary(name: str) -> str:
    return (pydoc.locate(f"polaroc.{name}").__doc__ or "").strip().partition("\n")[0]


def place_before(lines: list[str], titles: tuple[str, ...]) -> int:
    heads = (
        place
        for place, (line, below) in enumerate(pairwise(lines))
        if line in titles and below and set(below) == {"-"}
    )
    return next(heads, len(lines))
