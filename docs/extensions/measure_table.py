"""A directive that shows the catalogue of measures as a table."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from polaroc.measures.catalog import CATALOG

NEEDS = {None: "", "range": "a range", "belief": "a range or a belief"}


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("measure-table", MeasureTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class MeasureTable(SphinxDirective):
    """A row for each measure."""

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(markdown())


def markdown() -> str:
    rows = [
        {
            "measure": f"`{name}`",
            "called": one.label,
            "is": one.description,
            "better": "higher" if one.higher_is_better else "lower",
            "needs": NEEDS[one.over],
            "by default": "yes" if one.by_default else "by name only",
        }
        for name, one in CATALOG.items()
    ]
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
