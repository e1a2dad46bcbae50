import ast
import runpy
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = runpy.run_path(str(ROOT / "docs" / "house.py"))
SOURCE = HOUSE["SOURCE"]
FLOORS = HOUSE["floors"]()
FLOOR = {module: i for i, modules in enumerate(FLOORS.values()) for module in modules}
FILES = sorted(SOURCE.rglob("*.py"))


def module(file):
    """The file or folder right below the package that a file belongs to."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(file):
    """Dotted names of what a file imports when it runs, also inside functions."""
    tree = ast.parse(file.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "polaroc":
            yield from (f"polaroc.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_every_module_stands_on_one_floor():
    told = list(chain(*FLOORS.values()))
    assert len(told) == len(set(told))
    assert set(told) == {module(file) for file in FILES}, "give it a floor in docs/architecture.md"


@pytest.mark.parametrize("name", sorted(FLOOR))
def test_imports_lead_to_the_same_floor_or_down(name):
    files = [file for file in FILES if module(file) == name]
    own = {told.split(".")[1] for file in files for told in imported(file) if "polaroc." in told}
    above = [other for other in own & set(FLOOR) if FLOOR[other] < FLOOR[name]]
    assert not above


@pytest.mark.parametrize(("library", "places"), HOUSE["libraries"]().items())
def test_libraries_stay_in_their_place(library, places):
    users = {
        module(file) for file in FILES for told in imported(file) if told.split(".")[0] == library
    }
    assert users == set(places)


def test_imports_are_found():
    assert {"polaroc.rates", "polaroc.areas"} <= set(imported(SOURCE / "__init__.py"))
    assert "altair" in set(imported(SOURCE / "charts" / "roc.py"))
