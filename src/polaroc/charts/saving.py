"""Charts as files of the command line; in Python, `chart.save` of Altair writes them."""

import json
import re
from html import escape
from typing import Any

from polaroc.base.text import escape_control
from polaroc.charts.libraries import alt, browser_libraries, page_functions

CHART_FORMATS = ("json", "html", "svg", "png", "pdf")

# Characters that XML, and so SVG, forbids, and those that turn the text after them around.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>
<body><div id="chart"></div>
<script>{libraries}</script>
<script>
{functions}
const chart = document.getElementById("chart");
vegaEmbed(chart, {spec}).then(({{ view }}) => sayPrior(chart, view));
</script></body></html>
"""


def chart_bytes(chart: "alt.TopLevelMixin", kind: str) -> bytes:
    """The content of a file in one of `CHART_FORMATS`; a page works offline."""
    import vl_convert

    # Altair has checked the parts of a chart, and would check each number again.
    spec = escape_names(chart.to_dict(validate=False))
    text = json.dumps(spec)
    if kind == "json":
        return text.encode()
    if kind == "html":
        # No name in the data ends the script.
        page = PAGE.format(
            title=escape(spec["title"]["text"]), libraries=browser_libraries(),
            functions=page_functions(), spec=text.replace("<", "\\u003c"),
        )  # fmt: skip
        return page.encode()
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    drawn: str | bytes = getattr(vl_convert, f"vegalite_to_{kind}")(
        text, vl_version=version, **({"scale": 2} if kind == "png" else {})
    )
    return drawn.encode() if isinstance(drawn, str) else drawn


def escape_names(part: Any) -> Any:
    """A chart with characters in its text spelled out that XML forbids, or that turn text around.

    Examples
    --------
    >>> escape_names({"title": "red \\x1b[31m"})["title"]
    'red \\\\x1b[31m'
    """
    if isinstance(part, str):
        return FORBIDDEN.sub(lambda found: escape_control(found[0]), part)
    if isinstance(part, dict):
        return {escape_names(name): escape_names(value) for name, value in part.items()}
    if isinstance(part, list) and not (part and isinstance(part[0], float)):
        return [escape_names(value) for value in part]
    return part
