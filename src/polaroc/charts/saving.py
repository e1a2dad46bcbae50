"""Charts as files of the command line; in Python, `chart.save` of Altair writes them."""

import json
import re
from typing import Any

from polaroc.base.text import escape_control
from polaroc.charts.libraries import alt

CHART_FORMATS = ("json", "html", "svg", "png", "pdf")

# Characters that XML, and so SVG, forbids, and those that turn the text after them around.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


def chart_bytes(chart: "alt.TopLevelMixin", kind: str) -> bytes:
    """The content of a file in one of `CHART_FORMATS`; a page works offline."""
    import vl_convert

    # Altair has checked the parts of a chart, and would check each number again.
    spec = json.dumps(escape_names(chart.to_dict(validate=False)))
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    match kind:
        case "json":
            return spec.encode()
        case "html":
            page = vl_convert.vegalite_to_html(spec, vl_version=version, bundle=True)
            start = page.index("const spec = ", page.index('<div id="vega-chart">'))
            end = page.index("\n", start)
            # No name in the data ends the script.
            data = page[start:end].replace("<", "\\u003c")
            return (page[:start] + data + page[end:]).encode()
        case "svg":
            return vl_convert.vegalite_to_svg(spec, vl_version=version).encode()
        case "png":
            return vl_convert.vegalite_to_png(spec, vl_version=version, scale=2)
        case _:
            return vl_convert.vegalite_to_pdf(spec, vl_version=version)


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
