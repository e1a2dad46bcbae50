"""Write charts to files."""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal, TypeAlias

from polaroc.base.checks import check_path, one_or_several, shortened
from polaroc.base.text import escape_control
from polaroc.charts.libraries import alt, browser_libraries, page_functions
from polaroc.charts.theme import DARK_BACKGROUND, dark_config, on_dark
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.files.atomic import atomic_file, check_new

# What no text of XML may hold, and so no SVG; and what turns the text after it around.
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")

PAGE = Template(
    """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title><style>$style</style></head>
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
# A slider as wide as a chart.
STYLE = """
.vega-bindings label { font: 14px sans-serif; display: flex; flex-wrap: wrap; gap: 0.5em }
.vega-bindings input[type=range] { width: min(24em, 60vw) }
@media (max-width: 36rem) { #chart { padding-right: 0 !important } }
"""
DARK_STYLE = f":root {{ color-scheme: dark; background: {DARK_BACKGROUND} }}"
# Metadata key: the subtitle in a static picture.
STATIC_SUBTITLE = "polaroc_still"
# Name of an invisible layer for the pointer, left out of pictures.
INVISIBLE_LAYER = "unseen"
Theme: TypeAlias = Literal["light", "dark"]
# A word in a picture of ours, where its format has none by itself.
SOFTWARE = b"tEXtSoftware\0polaroc"
# What an earlier chart has in each format.
MARKS = {
    "json": b"schema/vega-lite", "html": b"vegaEmbed(place, spec, options).then(({view})",
    "svg": b'class="marks"', "png": SOFTWARE, "pdf": b"/Producer (svg2pdf)",
}  # fmt: skip
FORMATS = tuple(MARKS)
# Length, name, contents and checksum of the first part of a PNG, after its eight bytes.
PNG_HEADER = 8 + 25


def export(
    chart: "alt.TopLevelMixin",
    folder: str | Path,
    name: str,
    formats: Sequence[str] = ("json", "html", "svg", "png"),
    *,
    theme: Theme = "light",
) -> list[Path]:
    """Write a chart in several formats.

    Parameters
    ----------
    chart
        An Altair chart.
    folder
        Where to write; folders that are missing are made. Earlier charts there are replaced,
        any other file of such a name is left alone.
    name
        File name without suffix.
    formats
        Any of "json" (Vega-Lite), "html" (self-contained, works offline),
        "svg", "png" (two pixels per point), "pdf".
    theme
        For a "light" or a "dark" page.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InvalidArgument
        For an unknown format or theme.
    OutputRefused
        Where a file to write is there and is no chart.

    Examples
    --------
    >>> import tempfile
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> [file.name for file in export(pr.charts.roc(curves), tempfile.mkdtemp(), "roc", ["json"])]
    ['roc.json']
    """
    check_formats(formats)
    check_path("folder", folder)
    return _written(chart, [Path(folder) / f"{name}.{kind}" for kind in formats], theme)


def save(chart: "alt.TopLevelMixin", file: str | Path, *, theme: Theme = "light") -> Path:
    """Write a chart to one file, in the format that its suffix names.

    Parameters
    ----------
    chart
        An Altair chart.
    file
        Where to write; the suffix is ".json", ".html", ".svg", ".png" or ".pdf",
        as in `export`. An earlier chart of Vega there is replaced, in ".html" and ".png" one
        of polaroc; any other file is left alone. Folders that are missing are made.
    theme
        For a "light" or a "dark" page.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    InvalidArgument
        For an unknown suffix or theme.
    OutputRefused
        Where `file` is there and is no chart.

    Examples
    --------
    >>> import tempfile
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> save(pr.charts.roc(curves), tempfile.mkdtemp() + "/roc.svg").name
    'roc.svg'
    """
    check_path("file", file)
    path = Path(file)
    if not path.suffix:
        raise InvalidArgument(
            f"file is {str(file)!r}, whose name ends in no format; there are {', '.join(FORMATS)}.",
            hint=Hint.example("file", f"{path.name or 'chart'}.svg"),
        )
    check_formats([path.suffix[1:].lower()])
    return _written(chart, [path], theme)[0]


def is_chart(file: Path) -> bool:
    """Whether a file is an earlier chart in the format that its suffix names."""
    return MARKS[file.suffix[1:].lower()] in file.read_bytes()


def _written(chart: "alt.TopLevelMixin", files: list[Path], theme: Theme) -> list[Path]:
    """Write a chart to files, each in the format that its suffix names."""
    if not hasattr(chart, "to_dict"):
        raise InvalidArgument(
            f"chart is {shortened(chart)}, allowed is an Altair chart.",
            hint="pass the result of a function of polaroc.charts.",
        )
    # Altair has checked the parts of a chart, and would check each number again.
    spec = _themed(escape_names(chart.to_dict(validate=False)), theme)
    for file in files:
        check_new(file, is_chart)
    picture = cache(lambda: _svg(spec))
    for file in files:
        with atomic_file(file, is_chart) as staging:
            staging.write_bytes(_rendered(spec, file.suffix[1:].lower(), picture))
    return files


def _themed(spec: dict[str, Any], theme: Theme) -> dict[str, Any]:
    """A chart in the colours of a light or a dark page."""
    if theme == "light":
        return spec
    if theme != "dark":
        raise InvalidArgument(
            f"theme is {theme!r}, allowed are 'light' and 'dark'.",
            hint="choose one of them.",
        )
    dark: dict[str, Any] = on_dark(spec)
    return dark | {"config": dark_config(spec.get("config", {}))}


def check_formats(formats: Sequence[str]) -> None:
    """Raise on formats that charts are not written in."""
    kinds = one_or_several(formats)
    unknown = [kind for kind in kinds if not isinstance(kind, str) or kind not in FORMATS]
    if unknown:
        raise InvalidArgument(
            f"there is no format {quoted(unknown)}; there are {', '.join(FORMATS)}.",
            hint="choose among them.",
        )


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


def _rendered(spec: dict[str, Any], kind: str, picture: Callable[[], str]) -> bytes:
    """A chart in one format; `picture` makes it as SVG."""
    import vl_convert as convert

    if kind == "json":
        return json.dumps(spec, ensure_ascii=False).encode()
    if kind == "html":
        return _page(spec, browser_libraries()).encode()
    if kind == "svg":
        return picture().encode()
    if kind == "png":
        return _signed(convert.svg_to_png(picture(), scale=2))
    return convert.svg_to_pdf(picture())


def _signed(png: bytes) -> bytes:
    """A PNG with the name of the software that made it."""
    from zlib import crc32

    length, checksum = len(SOFTWARE) - 4, crc32(SOFTWARE)
    part = length.to_bytes(4, "big") + SOFTWARE + checksum.to_bytes(4, "big")
    return png[:PNG_HEADER] + part + png[PNG_HEADER:]


def _svg(spec: dict[str, Any]) -> str:
    """A chart as a picture, without what is there for the pointer."""
    import vl_convert as convert

    subtitle = spec.get("usermeta", {}).get(STATIC_SUBTITLE)
    spec = _without_invisible(spec)
    if subtitle is not None:
        spec = {**spec, "title": {**spec["title"], "subtitle": subtitle}}
    version = "_".join(alt.SCHEMA_VERSION.split(".")[:2])
    return convert.vegalite_to_svg(spec, vl_version=version)


def _without_invisible(part: dict[str, Any]) -> dict[str, Any]:
    """Layers, or panels of layers, without invisible ones, and without tooltips where described."""
    if "spec" in part:
        return {**part, "spec": _without_invisible(part["spec"])}
    if "layer" in part:
        layers = [layer for layer in part["layer"] if layer.get("name") != INVISIBLE_LAYER]
        return {**part, "layer": [_without_invisible(layer) for layer in layers]}
    encoding = part.get("encoding", {})
    if "description" in encoding:
        # A tooltip is written for each point of a line.
        shown = {name: channel for name, channel in encoding.items() if name != "tooltip"}
        return {**part, "encoding": shown}
    return part


def _page(spec: dict[str, Any], libraries: str) -> str:
    """A self-contained page in which names of the data are escaped."""
    from html import escape

    title = spec.get("title", "chart")
    heading = title if isinstance(title, str) else str(title.get("text", "chart"))
    data = json.dumps(spec).translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"})
    dark = spec.get("config", {}).get("background") == DARK_BACKGROUND
    style = STYLE + DARK_STYLE * dark
    return PAGE.substitute(
        title=escape(heading),
        style=style,
        libraries=libraries,
        functions=page_functions(),
        spec=data,
    )
