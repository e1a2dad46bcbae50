"""Files of charts for the command line; in Python `chart.save` of Altair writes them."""

import json
import re
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from polaroc.base.text import escape_control
from polaroc.charts.libraries import alt, browser_libraries, page_functions

# What no text of XML may hold, and so no SVG; and what turns the text after it around.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
FORMATS = ("json", "html", "svg", "png", "pdf")

# The page of Altair does not escape names in the data, which may end its script.
PAGE = Template(
    """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><style>
.vega-bindings label { font: 14px sans-serif; display: flex; flex-wrap: wrap; gap: 0.5em }
.vega-bindings input[type=range] { width: min(24em, 60vw) }
@media (max-width: 36rem) { #chart { padding-right: 0 !important } }
</style></head>
<body>
<div id="chart" role="img" aria-label="$title"></div>
<script>$libraries</script>
<script>
$functions
const spec = $spec, place = document.getElementById("chart"), room = place.clientWidth;
const options = {mode: "vega-lite"};
const drawn = room < NARROW
  ? drawInRoom(place, JSON.stringify(wrapTitle(spec, room)), room, options)
  : vegaEmbed(place, spec, options).then(({view}) => view);
drawn.then((view) => sayPrior(document, view));
</script>
</body>
</html>
"""
)


def save(chart: "alt.TopLevelMixin", file: Path) -> None:
    """Write a chart in the format that the suffix of the file names, one of `FORMATS`."""
    import vl_convert as convert

    # Altair has checked the parts of a chart, and would check each number again.
    spec = escape_names(chart.to_dict(validate=False))
    kind = file.suffix[1:].lower()
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    if kind == "json":
        written = json.dumps(spec, ensure_ascii=False).encode()
    elif kind == "html":
        written = _page(spec).encode()
    elif kind == "svg":
        written = convert.vegalite_to_svg(spec, vl_version=version).encode()
    elif kind == "png":
        written = convert.vegalite_to_png(spec, vl_version=version, scale=2)
    else:
        written = convert.vegalite_to_pdf(spec, vl_version=version)
    file.write_bytes(written)


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


def _page(spec: dict[str, Any]) -> str:
    """A self-contained page in which names of the data are escaped."""
    title = spec.get("title", "chart")
    heading = title if isinstance(title, str) else str(title.get("text", "chart"))
    return PAGE.substitute(
        title=escape(heading),
        libraries=browser_libraries(),
        functions=page_functions(),
        spec=json.dumps(spec).translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"}),
    )
