"""Small changes to the formulas, one at a time: does a test fail for each?

``python tests/tools/mutants.py rates curves/hull`` prints the changes that no test noticed and that
docs/mutants.md does not explain; `--most` takes a random sample, `--write` puts the figures
of whole modules into that page. Each change is tried in a fork of one process that has
imported the libraries, but not polaroc; as many at once as there are processors.
"""

import argparse
import ast
import importlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "mutants.md"
# Tests of operating points on random tables.
POINTS = [
    f"tests/measures/test_exact_oracle.py::test_{name}"
    for name in (
        "balanced_points", "cheapest_points", "points_of_a_recall_and_of_a_false_positive_rate",
        "points_of_a_precision",
    )
]  # fmt: skip
# What is changed, and the tests that are to notice: the quick ones first.
TESTS = {
    "curves/packing": ["tests/curves/test_packing.py", "tests/curves/test_keys.py", "tests/curves/test_curve.py"],
    "curves/keys": ["tests/curves/test_keys.py"],
    "rates": ["tests/test_rates.py", "tests/curves/test_surface.py"],
    "curves/hull": ["tests/measures/test_exact_oracle.py::test_hulls", "tests/curves/test_hull.py"],
    "measures/functions": ["tests/measures/test_exact_oracle.py::test_auc", "tests/measures/test_exact_oracle.py::test_auprec",
              "tests/measures/test_partial_areas.py", "tests/measures/test_functions.py"],
    "measures/areas": [
        "tests/evaluation/test_evaluate.py::test_scores_are_reversed_from_four_standard_errors_on",
        "tests/uncertainty/test_intervals.py::test_a_perfect_score_has_a_lower_limit_from_the_numbers"
        "_of_cases",
        "tests/uncertainty/test_intervals.py::test_so_has_its_mean_over_priors",
        "tests/measures/test_exact_oracle.py::test_auc", "tests/measures/test_exact_oracle.py::test_auprec",
        "tests/measures/test_partial_areas.py", "tests/measures/test_functions.py", "tests/uncertainty/test_influence.py",
    ],
    "measures/partial_areas": ["tests/measures/test_partial_areas.py", "tests/measures/test_functions.py"],
    "base/backend": ["tests/measures/test_functions.py", "tests/test_rates.py", "tests/curves/test_surface.py"],
    "curves/segments": ["tests/measures/test_exact_oracle.py::test_auc", "tests/measures/test_exact_oracle.py::test_auprec",
              "tests/measures/test_functions.py", "tests/curves/test_curve.py", "tests/curves/test_hull.py"],
    "evaluation/sums": ["tests/curves/test_keys.py", "tests/evaluation/test_evaluate.py", "tests/evaluation/test_partitions.py"],
    "curves/curve": ["tests/measures/test_exact_oracle.py::test_curves", "tests/curves/test_curve.py", "tests/predictions/test_dtypes.py",
               "tests/evaluation/test_evaluate.py"],
    "comparison/caveats": ["tests/comparison/test_compare.py", "tests/comparison/test_trained.py", "tests/comparison/test_anova.py"],
    "comparison/compare": ["tests/comparison/test_compare.py", "tests/comparison/test_trained.py", "tests/choice/test_choose.py"],
    "comparison/delong": ["tests/comparison/test_delong.py"],
    "comparison/pairwise": ["tests/comparison/test_pairwise.py", "tests/comparison/test_compare.py"],
    "comparison/omnibus": ["tests/comparison/test_omnibus.py", "tests/comparison/test_compare.py"],
    "choice/choose": ["tests/choice/test_choose.py"],
    "thresholds/operating_points": ["tests/thresholds/test_operating_points.py", *POINTS],
    "thresholds/rules": ["tests/thresholds/test_operating_points.py", *POINTS],
    "thresholds/apply_thresholds": ["tests/thresholds/test_operating_points.py"],
    "measures/sensitivity": ["tests/measures/test_exact_oracle.py::test_sens_and_equal_error", "tests/measures/test_sensitivity.py"],
    "measures/balanced": ["tests/measures/test_exact_oracle.py::test_sens_and_equal_error",
                          "tests/measures/test_sensitivity.py", "tests/evaluation/test_evaluate.py"],
}  # fmt: skip
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


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Each change in words, and the source with it."""
    count = sum(1 for _ in places(ast.parse(source)))
    for number in range(count):
        tree = ast.parse(source)
        node, change = next(found for i, found in enumerate(places(tree)) if i == number)
        around, before = function_of(tree, node), line_of(tree, node)
        change()
        yield f"{around}: {before}  →  {line_of(tree, node)}", ast.unparse(tree)


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


class Quick:
    """The same random tables each time, however long they take, and failures as they come."""

    def pytest_collection(self):
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", settings(), derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")


def judge(root: Path, tests: list[str], longest: float) -> int:
    """The process that runs the tests: it ends with 0 where none fails within `longest`."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    # A loop in compiled code cannot be interrupted, but ended.
    signal.alarm(int(longest) + 1)
    os.chdir(root)
    sys.path.insert(0, str(root / "src"))
    # Hypothesis is imported before pytest could rewrite its assertions.
    late = "ignore::pytest.PytestAssertRewriteWarning"
    options = ["-q", "-x", "--tb=no", "-n", "0", "-p", "no:cacheprovider", "-W", late]
    code = pytest.main([*options, *tests], [Quick()])
    os._exit(int(code))


def survivors(
    module: str, most: int, rng: random.Random, at_once: int
) -> tuple[int, int, list[str]]:
    """How many mutants of a module there are, how many were tried, and those that lived."""
    with tempfile.TemporaryDirectory() as folder:
        free = [copied(Path(folder) / str(place) / "polaroc") for place in range(at_once)]
        place = Path("src") / "polaroc" / f"{module}.py"
        tests = [str(place), *TESTS[module]]
        started = time.monotonic()
        if os.waitpid(judge(free[0], tests, 3600), 0)[1]:
            sys.exit(f"the tests of {module} fail without any change")
        longest = 30 + LOOPS * (time.monotonic() - started)
        changed = list(mutants((ROOT / place).read_text(encoding="utf-8")))
        sample = changed if most >= len(changed) else rng.sample(changed, most)
        judged: dict[int, tuple[str, Path]] = {}
        alive = []

        def end_of_one() -> None:
            child, status = os.wait()
            words, root = judged.pop(child)
            free.append(root)
            if status == 0:
                alive.append(words)
                print(f"{module} {words}", flush=True)

        for words, mutant in sample:
            if not free:
                end_of_one()
            root = free.pop()
            (root / place).write_text(mutant, encoding="utf-8")
            judged[judge(root, tests, longest)] = words, root
        while judged:
            end_of_one()
        return len(changed), len(sample), alive


def copied(root: Path) -> Path:
    """Where there is a copy of the package and its tests."""
    for part in ("src", "tests"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


ROW = re.compile(r"\| `([\w/]+)` \| `(.+)` \| .+ \|")


def explained() -> Counter[tuple[str, str]]:
    """The changes that docs/mutants.md says make no difference, by module."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = (ROW.fullmatch(line) for line in lines)
    return Counter((row[1], row[2].replace("\\|", "|")) for row in rows if row)


def write(module: str, count: int, alive: int) -> None:
    """The figures of a module in their row of docs/mutants.md."""
    text = PAGE.read_text(encoding="utf-8")
    today = datetime.now(UTC).date().isoformat()
    row = f"| `just mutants {module}` | {count} | {count - alive} | {alive} | {today} |"
    place = re.compile(rf"\| `just mutants {module}` \|.*")
    if not place.search(text):
        # After the last that has one.
        rows = re.compile(r"(?:\| `just mutants [\w/]+` \|.*\n)+")
        text = rows.sub(lambda found: f"{found[0]}{row}\n", text, count=1)
    PAGE.write_text(place.sub(lambda _: row, text), encoding="utf-8")


def main() -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument(
        "modules",
        nargs="*",
        default=[
            "rates",
            "curves/hull",
            "measures/functions",
            "measures/areas",
            "comparison/compare",
        ],
    )
    reader.add_argument("--most", type=int, default=10_000, help="for each module")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--write", action="store_true", help="the figures into docs/mutants.md")
    reader.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="changes")
    arguments = reader.parse_args()
    sys.dont_write_bytecode = True
    os.environ |= {
        "POLAROC_TABLES": "600", "POLARS_MAX_THREADS": "1", "HYPOTHESIS_PROFILE": "thorough",
    }  # fmt: skip
    for library in LIBRARIES:
        importlib.import_module(library)
    unexplained = 0
    for module in arguments.modules:
        rng = random.Random(arguments.seed)
        count, tried, alive = survivors(module, arguments.most, rng, arguments.at_once)
        known = Counter({words: n for (of, words), n in explained().items() if of == module})
        new = Counter(alive) - known
        unexplained += new.total()
        print(
            f"{module}: {tried} of {count} changes, {tried - len(alive)} noticed, "
            f"{len(alive) - new.total()} explained, {new.total()} not.", *new, sep="\n  ",
        )  # fmt: skip
        if arguments.write and tried == count:
            write(module, count, len(alive))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
