"""The packages and what may be imported where, as docs/architecture.md says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    import altair as alt

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "polaroc"
PAGE = HERE / "architecture.md"
ROOMS_IN_A_LINE = 6
WIDTH = 118
HEIGHT = 24
GAP = 8


def packages() -> list[str]:
    """The packages and single modules of `src/polaroc`, from the first to the last."""
    return [name for package, _ in table("package") for name in names(package)]


def floors() -> dict[str, list[str]]:
    """The modules of each package; a single module is its own."""
    return {name: modules(name) or [name] for name in packages()}


def modules(package: str) -> list[str]:
    """The modules of a package, by name."""
    files = (SOURCE / package).rglob("*.py")
    return sorted(
        str(file.relative_to(SOURCE / package).with_suffix(""))
        for file in files
        if file.stem not in ("__init__", "__main__")
    )


def libraries() -> dict[str, list[str]]:
    """Where each library may be imported."""
    return {
        library: names(places) for group, places, _ in table("library") for library in names(group)
    }


def table(head: str) -> list[list[str]]:
    """The rows of the table whose first column is headed so."""
    (rows,) = re.findall(
        rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE.read_text(), re.MULTILINE
    )
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows.splitlines()]


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def purpose(package: str, module: str) -> str:
    """The first paragraph of a module's docstring."""
    places = f"{package}/{module}.py", f"{module}.py", f"{module}/__init__.py"
    file = next(SOURCE / place for place in places if (SOURCE / place).exists())
    text = ast.get_docstring(ast.parse(file.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


def house() -> "alt.LayerChart":
    """The packages, the first on top, with a room for each module."""
    import altair as alt

    rooms = pl.DataFrame(list(drawn()))
    x, y = alt.X("left:Q", axis=None), alt.Y("top:Q", axis=None)
    room = alt.Chart(rooms).mark_rect(stroke="#5b7a94", fill="#e8f0f6", cornerRadius=3)
    text = alt.Chart(rooms).mark_text(align="center", fontSize=11, color="#1c2b36")
    floor = alt.Chart(rooms.unique("floor")).mark_text(
        align="right", dx=-10, fontSize=12, fontWeight="bold", color="#1c2b36"
    )
    layers = alt.layer(
        room.encode(
            x, y.scale(reverse=True), x2="right:Q", y2="bottom:Q", tooltip=["module", "holds"]
        ),
        text.encode(alt.X("middle:Q", axis=None), alt.Y("line:Q"), text="module"),
        floor.encode(alt.XDatum(0), alt.Y("first:Q"), text="floor"),
    )
    height = int(rooms["bottom"].max())
    layers = layers.properties(
        width=ROOMS_IN_A_LINE * WIDTH,
        height=height,
        padding={"left": 100, "top": 5, "right": 5, "bottom": 5},
    )
    return layers.configure_view(stroke=None)


def drawn() -> Iterator[dict[str, object]]:
    """Each module with the place of its room."""
    top = 0
    for floor, rooms in floors().items():
        first = top
        for start in range(0, len(rooms), ROOMS_IN_A_LINE):
            for i, module in enumerate(rooms[start : start + ROOMS_IN_A_LINE]):
                left = i * WIDTH
                yield {
                    "floor": floor, "module": module, "holds": purpose(floor, module),
                    "left": left, "middle": left + WIDTH / 2 - 2, "right": left + WIDTH - 4,
                    "top": top, "line": top + HEIGHT / 2, "bottom": top + HEIGHT,
                    "first": first + HEIGHT / 2,
                }  # fmt: skip
            top += HEIGHT + 3
        top += GAP
