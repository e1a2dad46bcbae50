"""Cases that passed in an earlier run and that the next one need not repeat."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

SETTINGS = re.compile("POLAROC_|from sizes import|words_only")
# Of statements that bind no name; and the marks of all tests of a file.
ALL = {"", "pytestmark"}


def repeated(items: Iterable[Any], passed: set[str]) -> Iterator[Any]:
    """The cases that passed, but for those that may try more where the surroundings say so."""
    for item in items:
        if item.nodeid in passed and not _may_try_more(item):
            yield item


def _may_try_more(item: Any) -> bool:
    if hasattr(getattr(item, "obj", None), "hypothesis"):
        return True
    names, by_settings = _by_settings(item.path)
    own = re.split(r"::|\[", item.nodeid)[1]
    # A doctest has no name of its own in the file.
    return bool(by_settings & ALL) or own in by_settings or (own not in names and bool(by_settings))


@cache
def _by_settings(file: Path) -> tuple[set[str], set[str]]:
    """The names of a file, and those whose statements read settings or use a name that does."""
    text = file.read_text(encoding="utf-8")
    lines, statements = text.splitlines(), []
    for statement in ast.parse(text).body:
        decorators = getattr(statement, "decorator_list", [])
        first = min(part.lineno for part in (statement, *decorators))
        own = "\n".join(lines[first - 1 : statement.end_lineno])
        statements.append((_bound(statement), own, {*re.findall(r"\w+", own)}))
    found: set[str] = set()
    for _ in statements:
        more = {
            name
            for names, own, words in statements
            if SETTINGS.search(own) or words & found
            for name in names
        }
        if more <= found:
            break
        found |= more
    return {name for names, _, _ in statements for name in names}, found


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    written = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    # What is said of a file as a whole, and loops that fill tables.
    return written if isinstance(statement, ast.Assign | ast.AnnAssign) else written | {""}
