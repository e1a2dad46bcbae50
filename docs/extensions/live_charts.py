"""Pictures that `pictures.py` makes come alive on the site: the same chart, drawn by Vega.

In the Markdown they are plain images. A reader without scripts sees those, as on any other
page that shows the file. The script that draws them is that of the report: charts fill their room,
and the slider tells the share of positives in per cent.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pictures
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

from polaroc.charts.vega import browser_libraries, page_functions

LIBRARIES = "vega.js"
DRAWING = "charts.js"
MARKUP = """<div role="figure" aria-label="{label}" data-chart="chart-{name}"></div>
<script type="application/json" id="chart-{name}">{spec}</script>
<noscript><img src="{picture}" alt="{label}"></noscript>
"""


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(LiveCharts)
    app.connect("html-page-context", with_libraries)
    app.connect("build-finished", write_libraries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class LiveCharts(SphinxPostTransform):
    """A paragraph of one picture that `pictures.py` makes becomes the chart.

    Of other pictures with a dark version, each theme of the page shows its own.
    """

    default_priority = 5
    formats = ("html",)

    def run(self, **_: Any) -> None:
        for image in list(self.document.findall(nodes.image)):
            name = Path(image["uri"]).stem
            if name in pictures.CHARTS and len(image.parent) == 1:
                image.parent.replace_self(self.live(name, image))
            elif (pictures.HERE / f"{name}_dark.png").exists():
                self.add_dark(name, image)

    def add_dark(self, name: str, image: nodes.image) -> None:
        dark = image.deepcopy()
        dark["uri"] = image["uri"].replace(name, f"{name}_dark")
        self.app.builder.images[dark["uri"]] = Path(dark["uri"]).name
        image["classes"].append("only-light")
        dark["classes"].append("only-dark")
        image.parent.append(dark)

    def live(self, name: str, image: nodes.image) -> nodes.raw:
        builder = self.app.builder
        stored = builder.images.setdefault(image["uri"], Path(image["uri"]).name)
        page = builder.get_target_uri(self.env.docname)
        markup = MARKUP.format(
            name=name,
            label=nodes.unescape(image.get("alt", name)).replace('"', "&quot;"),
            spec=as_text(pictures.CHARTS[name]().to_dict()),
            picture=relative_uri(page, f"{builder.imagedir}/{stored}"),
        )
        return nodes.raw("", markup, format="html", classes=["live-chart"])


def as_text(spec: dict[str, Any]) -> str:
    """JSON in which no name can be markup."""
    return json.dumps(spec).translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"})


def with_libraries(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    if tree is not None and any("live-chart" in raw["classes"] for raw in tree.findall(nodes.raw)):
        app.add_js_file(LIBRARIES)
        app.add_js_file(DRAWING)


def write_libraries(app: Sphinx, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        (static / LIBRARIES).write_text(f"(() => {{{browser_libraries()}}})();")
        drawing = files("polaroc.reports") / "templates" / DRAWING
        (static / DRAWING).write_text(page_functions() + drawing.read_text())
