"""Lengths of modules and functions, names, comments and docstrings: polaroc and other packages.

``python tests/tools/code_figures.py`` prints those of `src/polaroc` and of its tests,
``python tests/tools/code_figures.py narwhals polars`` those of installed packages beside them.
docs/architecture.md shows them.
"""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parents[2]
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DOCUMENTED = FUNCTIONS | ast.ClassDef | ast.Module
# Folders of a package that are not its own code.
FOREIGN = {"tests", "externals", "_vendor"}


def figures(folder: Path) -> dict[str, str]:
    """What is measured, in words, of all modules in a folder."""
    modules = [
        Module(file.read_text(encoding="utf-8"))
        for file in sorted(folder.rglob("*.py"))
        if not FOREIGN & set(file.relative_to(folder).parts)
    ]
    lines = [len(module.lines) for module in modules]
    functions = [length for module in modules for length in module.function_lengths()]
    names = [len(name) for module in modules for name in module.function_names()]
    public = [documented for module in modules for documented in module.public_names()]
    all_lines = sum(lines)
    return {
        "modules": f"{len(modules):,}",
        "lines": f"{all_lines:,}",
        "lines of a module, median / 90 % / longest": spread(lines),
        "lines of a function, median / 90 % / longest": spread(functions),
        "functions of more than 40 lines": percent(sum(n > 40 for n in functions), len(functions)),
        "letters of a function's name, median / 90 % / longest": spread(names),
        "lines that are comments": percent(sum(len(m.comments) for m in modules), all_lines),
        "lines of docstrings": percent(sum(len(m.documented) for m in modules), all_lines),
        "public functions and classes with a docstring": percent(sum(public), len(public)),
    }


class Module:
    """The source of a module, and the kinds of its lines."""

    def __init__(self, source: str) -> None:
        self.lines = source.splitlines()
        self.tree = ast.parse(source)
        self.documented = {
            line
            for node in ast.walk(self.tree)
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None
            for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
        }
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self.comments = {
            token.start[0]
            for token in tokens
            if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#")
        }
        self.blank = {i for i, line in enumerate(self.lines, 1) if not line.strip()}

    def function_lengths(self) -> Iterator[int]:
        """Lines of each function without docstring, comments and blank lines."""
        for node in ast.walk(self.tree):
            if isinstance(node, FUNCTIONS):
                inside = set(range(node.lineno, node.end_lineno + 1))
                yield len(inside - self.documented - self.comments - self.blank)

    def function_names(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, FUNCTIONS) and not node.name.startswith("__"):
                yield node.name.strip("_")

    def public_names(self) -> Iterator[bool]:
        """Whether there is a docstring, of functions, classes and methods without an underscore."""
        for node in self.tree.body:
            if isinstance(node, FUNCTIONS | ast.ClassDef) and not node.name.startswith("_"):
                methods = node.body if isinstance(node, ast.ClassDef) else []
                for one in (node, *methods):
                    if one is node or (isinstance(one, FUNCTIONS) and not one.name.startswith("_")):
                        yield ast.get_docstring(one) is not None


def spread(lengths: list[int]) -> str:
    highest = quantiles(lengths, n=10, method="inclusive")[-1]
    return f"{median(lengths):,.0f} / {highest:,.0f} / {max(lengths):,}"


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def installed(name: str) -> tuple[str, Path]:
    """Name with version, and the folder of an installed package."""
    spec = util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"{name} is not installed as a package.")
    (distribution, *_) = metadata.packages_distributions()[name]
    return f"{name} {metadata.version(distribution)}", Path(spec.submodule_search_locations[0])


def main() -> None:
    folders = {"polaroc": ROOT / "src" / "polaroc", "its tests": ROOT / "tests"}
    folders |= dict(installed(name) for name in sys.argv[1:])
    columns = {name: figures(folder) for name, folder in folders.items()}
    print(f"| | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}", sep="\n")
    for row in columns["polaroc"]:
        print(f"| {row} | {' | '.join(column[row] for column in columns.values())} |")


if __name__ == "__main__":
    main()
