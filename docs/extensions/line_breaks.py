"""Where lines of pages break: not between a number and its sign, and in printed sentences."""

import re

from docutils import nodes
from sphinx.application import Sphinx

KEPT = re.compile(r"(?<=\d) (?=%)|(?<=\d) (?=[+·×] \d)|(?<=\d [+·×]) (?=\d)")
# Letters that a line has room for, and what only tables have.
ROOM, OF_TABLES = 95, re.compile(r"  |[│┆─═]")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", with_line_breaks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def with_line_breaks(app: Sphinx, tree: nodes.document) -> None:
    for text in list(tree.findall(nodes.Text)):
        if isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.raw):
            continue
        if (said := KEPT.sub("\N{NO-BREAK SPACE}", text)) != text:
            text.parent.replace(text, nodes.Text(said))
    for block in tree.findall(nodes.literal_block):
        long = [line for line in block.astext().splitlines() if len(line) > ROOM]
        if block.get("language") == "text" and long and not any(map(OF_TABLES.search, long)):
            block["classes"].append("sentences")
