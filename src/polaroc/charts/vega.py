"""Altair and Vega: imported when first used, as scripts of a page, and as what draws files."""

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from html import escape
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from polaroc.base.libraries import Library
from polaroc.base.text import escape_control

__all__ = ["alt", "browser_libraries", "page_functions", "unchecked"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


if TYPE_CHECKING:
    import altair as alt
else:
    alt = Library("altair")


def unchecked(chart: Callable[_P, _R]) -> Callable[_P, _R]:
    """A chart whose parts Altair does not check, which would take it all their points each time."""

    @wraps(chart)
    def drawn(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        from altair.utils.schemapi import debug_mode

        with debug_mode(False):
            return chart(*args, **kwargs)

    return drawn


FUNCTIONS = ("fit.js", "say_prior.js")
# A kept script that ends otherwise was not written to its end.
END = "\n/* end of the libraries */\n"


def page_functions() -> str:
    """A script with functions of pages: to fit charts into their room, and to label a slider."""
    here = Path(__file__).parent
    return "\n".join((here / name).read_text(encoding="utf-8") for name in FUNCTIONS)


@cache
def browser_libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; made once per user, as that takes a second."""
    import vl_convert as convert

    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "polaroc"
    kept = folder / f"vega-{metadata.version('vl-convert-python')}-{version}.js"
    with suppress(OSError, UnicodeDecodeError):
        script = kept.read_text(encoding="utf-8")
        if script.endswith(END):
            return script
    bundle = convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", version)
    script = str(bundle).replace("\r", "") + END
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_text(script, encoding="utf-8")
    return script


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
