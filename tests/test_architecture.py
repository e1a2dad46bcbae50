import ast
import importlib
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "polaroc"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
FILES = sorted(SOURCE.rglob("*.py"))
# Modules that are imported when they are first used, by the name that they are imported by.
LAZY = {"alt": "altair"}
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]


def package(file):
    """The file or folder right below `polaroc` that a file belongs to."""
    return file.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def imported(file):
    """Dotted names of what a file imports when it runs, also inside functions."""
    return list(_imported(file))


def _imported(file):
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
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (LAZY[alias.name] for alias in node.names if alias.name in LAZY)


def table(head):
    """The first two cells of each row of the page's table whose first column is headed so."""
    (rows,) = re.findall(rf"^\| {head} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    return [
        [re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:3]] for row in rows.splitlines()
    ]


LIBRARIES = [(library, places) for libraries, places in table("library") for library in libraries]


def test_the_page_and_the_contract_name_all_packages_in_one_order():
    (layers,) = [one["layers"] for one in CONTRACTS["contracts"] if one["type"] == "layers"]
    assert [name for names, _ in table("package") for name in names] == layers[::-1]
    assert {package(file) for file in FILES} - {"__init__", "__main__"} == set(layers)


def test_the_map_leads_to_places_that_exist():
    text = PAGE.split("## A map\n")[1].split("\n## ")[0]
    named = re.findall(r"`([\w./]+)`", text)
    places = [name for name in named if "/" in name or name.endswith((".md", ".pyi"))]
    assert len(places) > 20
    assert [one for one in places if not ((ROOT / one).exists() or (SOURCE / one).exists())] == []
    source = "\n".join(file.read_text() for file in FILES)
    assert [name for name in named if name.isupper() and f"\n{name}" not in source] == []


def test_no_function_hides_a_module():
    modules = [
        ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for file in FILES
        if file.stem != "__main__"
    ]
    hidden = [
        name
        for name in modules
        if (module := importlib.import_module(name))
        and "." in name
        and getattr(importlib.import_module(name.rpartition(".")[0]), name.rpartition(".")[2])
        is not module
    ]
    assert hidden == []


def test_few_files_stand_at_the_top():
    assert len([file for file in SOURCE.iterdir() if file.is_file()]) <= 10


@pytest.mark.slow
@pytest.mark.parametrize(("library", "places"), LIBRARIES)
def test_libraries_stay_in_their_place(library, places):
    users = {
        package(file) for file in FILES for name in imported(file) if name.split(".")[0] == library
    }
    # Libraries that are imported when they are first used.
    users |= {package(file) for file in FILES if f'Library("{library}"' in file.read_text()}
    assert users == set(places)


def test_imports_are_found():
    assert {"polaroc.curves.hull", "polaroc.measures.catalog"} <= set(imported(SOURCE / "expr.py"))
    assert "altair" in set(imported(SOURCE / "charts" / "curves.py"))


def test_joins_on_keys_match_null():
    # NaN is no key, but null is; a join on columns that are named outright may do without.
    calls = [
        (file.relative_to(SOURCE).as_posix(), {one.arg: one.value for one in call.keywords})
        for file in FILES
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "join"
    ]
    on_keys = [
        (file, "nulls_equal" in given)
        for file, given in calls
        if "on" in given and not isinstance(given["on"], ast.Constant)
    ]
    assert ("base/columns.py", True) in on_keys  # `join_by_key`, which most joins use
    assert [file for file, matches_null in on_keys if not matches_null] == []
