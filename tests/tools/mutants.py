"""Small changes to the code, one at a time: does a test fail for each?

``python tests/tools/mutants.py uncertainty comparison/gate`` tries a random sample of the changes
of these packages and modules, and prints those that no test noticed and that docs/mutants.md does
not explain. `--most` says how many, `--seed` which. Each is tried by the tests that run its line,
those that take least first, up to `--longest` seconds in all. Which those are is measured once
with coverage.py, and kept in the folder `--lines`; `--measure TESTS` adds tests that are new. With
`--keep FILE` what was found is kept, and not tried again. Each change is tried in a fork of one
process that has imported the libraries, but not polaroc.
"""

import argparse
import ast
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path

import coverage
import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "polaroc"
PAGE = ROOT / "docs" / "mutants.md"
# What has formulas: packages and modules.
FORMULAS = (
    "rates", "priors", "curves", "measures", "thresholds", "calibration", "uncertainty",
    "comparison", "deployment",
)  # fmt: skip
# Tests of what is said and drawn are slow, and say little of formulas.
SPARED = {"benchmarks", "charts", "papers", "reports", "sklearn", "support", "tools", "warehouse"}
# A database, a browser or a fault is none that a change to a formula has to be noticed by.
MARKED = "not engine and not browser and not faults"
# Imported once: with them a run of a few tests takes a second, without them three.
LIBRARIES = (
    "polars", "scipy.optimize", "scipy.stats", "scipy.spatial", "scipy.integrate",
    "sklearn.metrics", "statsmodels.api", "statsmodels.formula.api",
)  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
# A mutant that takes so many times as long as no change is one that loops.
LOOPS = 10
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def mutant_of(source: str, number: int) -> tuple[str, str]:
    """The change of one of the places in words, and the source with it."""
    tree = ast.parse(source)
    node, change = next(found for i, found in enumerate(places(tree)) if i == number)
    around, before = function_of(tree, node), line_of(tree, node)
    change()
    return f"{around}: {before}  →  {line_of(tree, node)}", ast.unparse(tree)


def function_of(tree: ast.Module, node: ast.AST) -> str:
    """The innermost function that holds a node."""
    holding = [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.ClassDef)
        and any(inner is node for inner in ast.walk(function))
    ]
    return holding[-1] if holding else "module"


def line_of(tree: ast.Module, node: ast.AST) -> str:
    """The smallest expression around a node that is not a bare number."""
    around = node
    if isinstance(node, ast.Constant):
        around = next(
            parent
            for parent in ast.walk(tree)
            if any(child is node for child in ast.iter_child_nodes(parent))
        )
    if isinstance(around, ast.arguments):
        named = {id(default): name.arg for name, default in defaults(around)}
        return f"{named[id(node)]}={ast.unparse(node)}"
    return " ".join(ast.unparse(around).split())[:110]


def places(tree: ast.Module):
    """The nodes that can be changed, and how."""
    spared = {id(inner) for node in ast.walk(tree) for part in annotations(node)
              for inner in ast.walk(part)}  # fmt: skip
    for node in ast.walk(tree):
        if id(node) in spared:
            continue
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            yield node, lambda n=node: setattr(n, "op", ARITHMETIC[type(n.op)]())
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
            yield node, lambda n=node: n.ops.__setitem__(0, COMPARISONS[type(n.ops[0])]())
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield node, lambda n=node: setattr(n, "op", ast.UAdd())
        elif isinstance(node, ast.BoolOp):
            yield (
                node,
                lambda n=node: setattr(
                    n, "op", ast.And() if isinstance(n.op, ast.Or) else ast.Or()
                ),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            new = not node.value if isinstance(node.value, bool) else node.value + 1
            yield node, lambda n=node, v=new: setattr(n, "value", v)


def annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Types, which no test is to notice."""
    for name in ("annotation", "returns"):
        if getattr(node, name, None) is not None:
            yield getattr(node, name)
    if isinstance(
        node, ast.AnnAssign | ast.TypeAlias if sys.version_info >= (3, 12) else ast.AnnAssign
    ):
        yield node.annotation


def defaults(given: ast.arguments) -> list[tuple[ast.arg, ast.expr]]:
    """The arguments that have a default, and it."""
    places = [*given.posonlyargs, *given.args]
    by_place = list(zip(places[len(places) - len(given.defaults) :], given.defaults, strict=True))
    by_name = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [*by_place, *((name, value) for name, value in by_name if value is not None)]


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))


@cache
def parents(module: str) -> dict[ast.AST, ast.AST]:
    nodes = ast.walk(parsed(module))
    return {child: node for node in nodes for child in ast.iter_child_nodes(node)}


def around(module: str, node: ast.AST) -> list[ast.AST]:
    """A node and those around it, the innermost first."""
    found = [node]
    while found[-1] in parents(module):
        found.append(parents(module)[found[-1]])
    return found


class Lines:
    """Which tests run a line, and how long they take."""

    def __init__(self, folder: Path, measure: list[str], at_once: int) -> None:
        self.data, self.said = folder / "lines", folder / "times"
        if measure or not self.said.exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.measured(measure or [*all_tests(), "src/polaroc"], at_once)
        self.stored = coverage.CoverageData(self.data)
        self.stored.read()
        self.files = {
            str(Path(name).relative_to(SOURCE).with_suffix("")): name
            for name in self.stored.measured_files()
            if Path(name).is_relative_to(SOURCE)
        }
        self.known: dict[str, dict[int, list[str]]] = {}
        self.seconds: Counter[str] = Counter()
        for line in self.said.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"([\d.]+)s (?:setup|call|teardown) +(\S.*)", line):
                self.seconds[found[2].rstrip()] += float(found[1])

    def measured(self, tests: list[str], at_once: int) -> None:
        """Run tests and add what they run to what is known."""
        options = ["-q", "-n", str(at_once), "-m", MARKED, "--durations=0", "-vv"]
        cover = ["--cov=polaroc", "--cov-context=test", "--cov-append", "--cov-report="]
        run = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *cover, *tests],
            cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(self.data)},
            stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        with self.said.open("a", encoding="utf-8") as file:
            file.write(run.stdout)
        if run.returncode:
            sys.exit(run.stdout[-2000:] + "\ntests fail without any change")

    def by_line(self, module: str) -> dict[int, list[str]]:
        """The tests that run each line of a module, with the part of the test that does."""
        if module not in self.known:
            file = self.files.get(module, "")
            self.known[module] = self.stored.contexts_by_lineno(file)
        return self.known[module]

    @cached_property
    def by_file(self) -> dict[str, list[str]]:
        tests = defaultdict(list)
        for test in self.seconds:
            tests[test.partition("::")[0]].append(test)
        return tests

    def running(self, module: str, lines: range) -> set[str]:
        """The tests that run one of the lines; where a fixture does, all tests of its file."""
        tests: set[str] = set()
        for line in set(lines) & self.by_line(module).keys():
            for context in self.by_line(module)[line]:
                test, _, part = context.rpartition("|")
                tests |= {*self.by_file[test.partition("::")[0]]} if part == "setup" else {test}
        return tests & self.seconds.keys()

    @cached_property
    def mentions(self) -> dict[str, list[tuple[str, ast.AST]]]:
        """Where each name is read."""
        found = defaultdict(list)
        for module in self.files:
            for node in ast.walk(parsed(module)):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    found[node.id].append((module, node))
                elif isinstance(node, ast.Attribute):
                    found[node.attr].append((module, node))
        return found

    def of_name(self, name: str, seen: set[str]) -> set[str]:
        """The tests that run what reads a name that a module or a class gives."""
        if name in seen:
            return set()
        seen.add(name)
        return {
            test
            for module, node in self.mentions[name]
            for test in self.of_node(module, node, seen)
        }

    def of_node(self, module: str, node: ast.AST, seen: set[str]) -> set[str]:
        """The tests that run an expression, or use what it makes when the module is imported."""
        nodes = around(module, node)
        statement = next(one for one in nodes if isinstance(one, ast.stmt))
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            # A default or a decorator.
            return self.running(module, range(statement.lineno, statement.end_lineno + 1))
        if any(isinstance(one, Function) for one in nodes):
            body = getattr(statement, "body", None)
            last = body[0].lineno - 1 if body else statement.end_lineno
            return self.running(module, range(statement.lineno, max(last, statement.lineno) + 1))
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        names = {
            one.id for to in targets if to for one in ast.walk(to) if isinstance(one, ast.Name)
        }
        return {test for name in names for test in self.of_name(name, seen)}

    def tests_of(self, module: str, number: int, longest: float) -> list[str]:
        """The tests of a change, those that take least first, within so many seconds."""
        node = [found for found, _ in places(parsed(module))][number]
        tests = self.of_node(module, node, set()) or self.running(module, range(1, 10_000))
        chosen, seconds = [], 0.0
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            seconds += self.seconds[test] + 0.01
            if seconds > longest and chosen:
                break
            chosen.append(test)
        return chosen


def all_tests() -> list[str]:
    """The folders of tests that are to notice a change, and the files beside them."""
    return sorted(
        str(one.relative_to(ROOT))
        for one in (ROOT / "tests").iterdir()
        if (one.is_dir() and one.name not in SPARED) or one.match("test_*.py")
    )


class Chosen:
    """Only these tests, in this order, and the same random tables each time."""

    def __init__(self, tests: list[str], failed: Path) -> None:
        self.order = {test: place for place, test in enumerate(tests)}
        self.failed = failed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        chosen = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(chosen, key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report):
        if report.failed:
            with self.failed.open("a", encoding="utf-8") as file:
                file.write(f"{report.nodeid}\n")

    def pytest_collection(self):
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", settings(), derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")


def judge(root: Path, tests: list[str], longest: float, *options: str) -> int:
    """The process that runs the tests: it ends with 0 where none fails within so many seconds."""
    (root / "failed").write_text("")
    child = os.fork()
    if child:
        return child
    os.setsid()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    # A loop in compiled code cannot be interrupted, but ended: by processor seconds, as other
    # work makes the clock uncertain, and by the clock where it waits for ever.
    resource.setrlimit(resource.RLIMIT_CPU, (int(longest) + 1,) * 2)
    signal.alarm(10 * int(longest) + 1)
    os.chdir(root)
    sys.path[:0] = [str(root / "src"), str(root / "tests" / "support")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])
    # Tests import the package; its examples first would import a module twice.
    files = sorted({test.partition("::")[0] for test in tests}, key=lambda file: (file < "t", file))
    # Hypothesis is imported before pytest could rewrite its assertions.
    late = "ignore::pytest.PytestAssertRewriteWarning"
    quiet = ["-q", "--tb=no", "-n", "0", "-p", "no:cacheprovider", "-W", late, "-m", MARKED]
    code = pytest.main([*quiet, *options, *files], [Chosen(tests, root / "failed")])
    os._exit(0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else int(code))


class Change:
    """One change of a module."""

    def __init__(self, module: str, number: int, lines: Lines, longest: float) -> None:
        self.module = module
        self.place = Path("src") / "polaroc" / f"{module}.py"
        self.source = (ROOT / self.place).read_text(encoding="utf-8")
        self.words, self.mutant = mutant_of(self.source, number)
        self.tests = lines.tests_of(module, number, longest)
        self.mark = marked(module, str(number), self.source)
        self.tried = marked(*self.tests)


def marked(*words: str) -> str:
    return sha256("\0".join(words).encode()).hexdigest()[:16]


class Kept:
    """Which test noticed a change, by a mark of its module; that none did holds for those tried."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
        self.found = {mark: (by, tried) for mark, by, tried in map(json.loads, lines)}

    def by(self, change: Change) -> str | None:
        by, tried = self.found.get(change.mark, (None, None))
        return by if by or tried == change.tried else None

    def keep(self, change: Change, by: str) -> None:
        self.found[change.mark] = by, change.tried
        if self.file:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([change.mark, by, change.tried]) + "\n")


def try_all(changes: list[Change], kept: Kept, longest: float, at_once: int) -> None:
    """Run the tests of each change."""
    with tempfile.TemporaryDirectory() as folder:
        free = [copied(Path(folder) / str(place)) for place in range(at_once)]
        judged: dict[int, tuple[Change, Path]] = {}

        def end_of_one() -> None:
            child, status = os.wait()
            change, root = judged.pop(child)
            (root / change.place).write_text(change.source, encoding="utf-8")
            free.append(root)
            failed = (root / "failed").read_text(encoding="utf-8").splitlines()
            by = failed[0] if failed else f"it ended with {status}" if status else ""
            kept.keep(change, by)
            print(f"{change.module} {change.words}\n  {by or 'not noticed'}", flush=True)

        try:
            for change in changes:
                if not free:
                    end_of_one()
                root = free.pop()
                (root / change.place).write_text(change.mutant, encoding="utf-8")
                judged[judge(root, change.tests, 60 + LOOPS * longest, "-x")] = change, root
            while judged:
                end_of_one()
        finally:
            for child in judged:
                os.kill(child, signal.SIGKILL)


def confirm(tests: set[str]) -> None:
    """The tests that noticed a change pass without it."""
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder) / "unchanged")
        _, status = os.waitpid(judge(root, sorted(tests), 3600), 0)
        if status:
            sys.exit("fail without any change:\n" + (root / "failed").read_text(encoding="utf-8"))


def modules_of(names: list[str]) -> list[str]:
    """Modules by name, and those of packages, as far as there is something to change."""
    found = []
    for name in names:
        file = SOURCE / f"{name}.py"
        files = [file] if file.exists() else sorted((SOURCE / name).glob("[!_]*.py"))
        if not files:
            sys.exit(f"there is no module or package {name}.")
        found += [str(one.relative_to(SOURCE).with_suffix("")) for one in files]
    return found


def copied(root: Path) -> Path:
    """Where there is a copy of the package, its tests, and the pages that they read."""
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("images"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


ROW = re.compile(r"\| `([\w/]+)` \| `(.+)` \| .+ \|")


def explained() -> Counter[tuple[str, str]]:
    """The changes that docs/mutants.md says make no difference, by module."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = (ROW.fullmatch(line) for line in lines)
    return Counter((row[1], row[2].replace("\\|", "|")) for row in rows if row)


def main() -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument("modules", nargs="*", help="and packages; by default all with formulas")
    reader.add_argument("--most", type=int, default=300, help="changes in all")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--longest", type=float, default=60, help="seconds of tests for a change")
    reader.add_argument("--lines", type=Path, default=Path("build/mutants"), help="a folder")
    reader.add_argument("--measure", nargs="*", default=[], help="tests that are new")
    reader.add_argument("--keep", type=Path, help="a file for what was found")
    reader.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="changes")
    arguments = reader.parse_args()
    os.environ["POLARS_MAX_THREADS"] = "1"
    lines = Lines(arguments.lines, arguments.measure, arguments.at_once)
    everything = [
        (module, number)
        for module in modules_of(arguments.modules or list(FORMULAS))
        for number, _ in enumerate(places(parsed(module)))
    ]
    sample = list(everything)
    random.Random(arguments.seed).shuffle(sample)
    changes = [Change(*one, lines, arguments.longest) for one in sample[: arguments.most]]
    sys.dont_write_bytecode = True
    for library in LIBRARIES:
        importlib.import_module(library)
    # What is ended takes the tests that run with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    kept = Kept(arguments.keep)
    left = [change for change in changes if kept.by(change) is None]
    try_all(left, kept, arguments.longest, arguments.at_once)
    confirm({by for change in changes if "::" in (by := kept.by(change) or "")})
    known, packages = explained(), defaultdict(Counter)
    for module, _ in everything:
        packages[module.partition("/")[0]]["changes"] += 1
    for change in sorted(changes, key=lambda change: change.module):
        figures = packages[change.module.partition("/")[0]]
        outcome = "noticed"
        if not kept.by(change):
            outcome = "explained" if known[change.module, change.words] else "unexplained"
            known[change.module, change.words] -= 1
        if outcome == "unexplained":
            print(f"{change.module} {change.words}")
        figures.update({"tried": 1, outcome: 1})
    print(table(packages))
    return 1 if any(figures["unexplained"] for figures in packages.values()) else 0


def table(packages: dict[str, Counter[str]]) -> str:
    """The figures of each package, and of all of them."""
    total = sum(packages.values(), Counter())
    columns = ["changes", "tried", "noticed", "explained", "unexplained"]
    rows = [
        [name, *(str(figures[column]) for column in columns)]
        for name, figures in {**packages, "all": total}.items()
    ]
    lines = [["package", *columns], ["---"] * (len(columns) + 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
