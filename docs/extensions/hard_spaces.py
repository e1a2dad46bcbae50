"""A number and its per cent sign stay on one line, and so do two numbers with a sign between."""

import re

from docutils import nodes
from sphinx.application import Sphinx

BREAKS = re.compile(r"(?<=\d) (?=%)|(?<=\d) (?=[+·×] \d)|(?<=\d [+·×]) (?=\d)")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", with_hard_spaces)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def with_hard_spaces(app: Sphinx, tree: nodes.document) -> None:
    for text in list(tree.findall(nodes.Text)):
        if isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw):
            continue
        if (said := BREAKS.sub("\N{NO-BREAK SPACE}", text)) != text:
            text.parent.replace(text, nodes.Text(said))
