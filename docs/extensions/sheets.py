"""polaroc on two printed sheets: the sections of the page of the API, each on one side of A4.

On the page itself, names of functions lead to their pages.
"""

from pathlib import Path

from docutils import nodes
from markdown_it import MarkdownIt
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = Path(__file__).parents[1] / "reference" / "one_page.md"
DOCUMENT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>polaroc on two sheets</title>
<style>
@page {{ size: A4 landscape; margin: 7mm; }}
body {{ font: 6.9pt/1.2 "DejaVu Sans Condensed", "Arial Narrow", Arial, sans-serif; margin: 0; }}
section {{ break-after: page; width: 283mm; }}
section:last-of-type {{ break-after: auto; }}
h1 {{ font-size: 10pt; margin: 0 0 1mm; }}
p {{ margin: 1.5mm 0 0.5mm; }}
table {{ border-collapse: collapse; width: 100%; }}
th {{ text-align: left; }}
th, td {{ padding: 0.25mm 1.5mm 0.25mm 0; border-bottom: 0.1mm solid #bbb; vertical-align: top; }}
td:empty {{ padding: 0; }}
code {{ font: 6.4pt "DejaVu Sans Mono", Menlo, Consolas, monospace; letter-spacing: -0.03em; }}
@media screen {{ body {{ font-size: 10pt; margin: 7mm; }} code {{ font-size: 9.4pt; }}
  section {{ width: auto; }} }}
</style>
{sheets}
</html>
"""


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(Linked)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class Linked(SphinxTransform):
    """Literals in the first column of a table become references to functions."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        if self.env.docname != "reference/one_page":
            return
        for row in self.document.findall(nodes.row):
            # Those of commands have fewer columns.
            for name in list(row[0].findall(nodes.literal)) if len(row) == 5 else []:
                target = f"polaroc.{name.astext()}"
                link = pending_xref(
                    "", refdomain="py", reftype="obj", reftarget=target, refdoc=self.env.docname
                )
                name.replace_self(link)
                link += name


def write(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        (Path(app.outdir) / "sheets.html").write_text(sheets(PAGE.read_text()))


def sheets(page: str) -> str:
    """The document of the sections of a page that begin with a heading `## Sheet`."""
    markdown = MarkdownIt().enable("table")
    parts = [f"# polaroc, sheet {part}" for part in page.split("\n## Sheet ")[1:]]
    return DOCUMENT.format(
        sheets="\n".join(f"<section>\n{markdown.render(part)}</section>" for part in parts)
    )
