"""The floors of the package and what may be imported where, as docs/architecture.md says."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "polaroc"
PAGE = HERE / "architecture.md"


def floors() -> dict[str, list[str]]:
    """The modules of each floor, from the top down."""
    return {floor: names(modules) for floor, _, modules in table("floor")}


def libraries() -> dict[str, list[str]]:
    """Where each library may be imported."""
    return {
        library: names(places)
        for group, places, _ in table("library")
        for library in names(group)
    }


def table(head: str) -> list[list[str]]:
    """The rows of the table whose first column is headed so."""
    (rows,) = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE.read_text(), re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows.splitlines()]


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def purpose(module: str) -> str:
    """The first line of a module's docstring."""
    file = SOURCE / f"{module}.py"
    text = (file if file.exists() else SOURCE / module / "__init__.py").read_text()
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
