"""Change the code in one place at a time: does a test fail?

``python tests/tools/mutants.py`` changes a seeded sample of operators and constants of the
packages that compute, and prints each change that no test notices. A change is tried with the
tests that run its line, the fastest first. Which tests those are is measured once with coverage
and kept in the folder `--lines`; delete the folder when tests have changed.
"""

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path

import coverage

ROOT = Path(__file__).parents[2]
PACKAGES = [
    "priors", "curves", "measures", "thresholds", "probability", "uncertainty", "comparison",
    "deployment",
]  # fmt: skip
TESTS = ["tests", "--ignore=tests/benchmarks", "--ignore=tests/simulations", "-m", "not engine"]
# Seconds of tests for one change.
LONGEST = 30
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.USub: ast.UAdd,
}  # fmt: skip


def places(tree: ast.Module) -> Iterator[tuple[ast.expr, Callable[[], None]]]:
    """Expressions that can be changed, each with the function that changes it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp) and type(node.op) in OPERATORS:
            yield node, lambda n=node: setattr(n, "op", OPERATORS[type(n.op)]())
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
            yield node, lambda n=node: n.ops.__setitem__(0, OPERATORS[type(n.ops[0])]())
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            value = not node.value if isinstance(node.value, bool) else node.value + 1
            yield node, lambda n=node, v=value: setattr(n, "value", v)


def sample(size: int, seed: int) -> list[tuple[Path, int]]:
    """Files with the number of the place to change in each."""
    folders = [ROOT / "src" / "polaroc" / name for name in PACKAGES]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    everything = [
        (file.relative_to(ROOT), number)
        for file in files
        for number, _ in enumerate(places(ast.parse(file.read_text("utf-8"))))
    ]
    return random.Random(seed).sample(everything, min(size, len(everything)))


def mutated(file: Path, number: int) -> tuple[int, str, str]:
    """Line, description and source of one change."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    node, change = next(place for i, place in enumerate(places(tree)) if i == number)
    before = ast.unparse(node)
    change()
    return node.lineno, f"{file}:{node.lineno} {before} → {ast.unparse(node)}", ast.unparse(tree)


def measure(folder: Path) -> None:
    """Run all tests once; keep which lines each one runs, and how long it takes."""
    folder.mkdir(parents=True)
    cover = ["--cov=polaroc", "--cov-context=test", "--cov-report=", "--durations=0", "-vv"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *TESTS, *cover], cwd=ROOT, text=True, check=False,
        env={**os.environ, "COVERAGE_FILE": str(folder / "lines")}, stdout=subprocess.PIPE,
    )  # fmt: skip
    if run.returncode:
        shutil.rmtree(folder)
        sys.exit(f"{run.stdout[-2000:]}\nTests fail without any change.")
    (folder / "times").write_text(run.stdout, "utf-8")


def tests_by_line(folder: Path) -> Callable[[Path, int], list[str]]:
    """A function of file and line: the fastest tests that run it, `LONGEST` in all."""
    lines = coverage.CoverageData(folder / "lines")
    lines.read()
    found = re.findall(r"([\d.]+)s call +(\S.*)", (folder / "times").read_text("utf-8"))
    seconds = {test.strip(): float(time) for time, test in found}

    def fastest(file: Path, line: int) -> list[str]:
        contexts = lines.contexts_by_lineno(str(ROOT / file)).get(line, [])
        tests = {context.rpartition("|")[0] for context in contexts} & seconds.keys()
        in_order = sorted(tests, key=lambda test: (seconds[test], test))
        total = list(accumulate(seconds[test] for test in in_order))
        return in_order[: max(1, sum(time <= LONGEST for time in total))]

    return fastest


def is_noticed(file: Path, source: str, tests: list[str]) -> bool:
    """Whether one of the tests fails, or runs far too long, in a copy with the change."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "src", copy / "src")
        for name in ("tests", "docs", "queries", "pyproject.toml", "README.md"):
            (copy / name).symlink_to(ROOT / name)
        (copy / file).write_text(source, "utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CI": "true"}
        try:
            run = subprocess.run(
                [*command, *tests], cwd=copy, env=environment, capture_output=True, check=False,
                timeout=60 + 10 * LONGEST,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True
        return run.returncode != 0


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--most", type=int, default=150, help="number of changes")
    reader.add_argument("--seed", type=int, default=48)
    reader.add_argument("--lines", type=Path, default=ROOT / "build" / "mutants")
    options = reader.parse_args()
    if not options.lines.exists():
        measure(options.lines)
    fastest = tests_by_line(options.lines)

    def judge(place: tuple[Path, int]) -> str:
        line, description, source = mutated(*place)
        tests = fastest(place[0], line)
        if tests and is_noticed(place[0], source, tests):
            return "noticed"
        outcome = "not noticed" if tests else "not run"
        print(f"{outcome}: {description}", flush=True)
        return outcome

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        print(dict(Counter(pool.map(judge, sample(options.most, options.seed)))))


if __name__ == "__main__":
    main()
