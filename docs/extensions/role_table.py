"""A directive that shows what each function does with each role of a column."""

from docutils import nodes
from polaroc.predictions.roles import ROLES
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import polaroc

SIGNS = {"used": "used", "no bearing": "–", "refused": "refused"}


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("role-table", RoleTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class RoleTable(SphinxDirective):
    """A row for each role, a column for each function."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(markdown())


def markdown() -> str:
    functions = {name: getattr(polaroc, name) for name in polaroc.__all__}
    bearings = {name: vars(one)["bearings"] for name, one in functions.items() if takes(one)}
    head = ["role", *(f"`{name}`" for name in bearings)]
    rows = [
        [f"`{role}`", *(SIGNS[given.get(role, "refused")] for given in bearings.values())]
        for role in ROLES
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def takes(function: object) -> bool:
    return "bearings" in getattr(function, "__dict__", {})
