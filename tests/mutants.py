"""Small changes to the formulas, one at a time: does a test fail for each?

``python tests/mutants.py rates hulls`` prints the changes that no test noticed and how
many were; `--most` takes a random sample of them.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What is changed, and the tests that are to notice.
TESTS = {
    "rates": ["src/polaroc/rates.py", "tests/test_rates.py", "tests/test_surfaces.py"],
    "areas": ["tests/test_areas.py", "tests/test_partial_areas.py", "tests/test_crowds.py",
              "tests/test_evaluation.py", "tests/test_intervals.py", "src/polaroc/areas.py"],
    "area_measures": ["tests/test_areas.py", "tests/test_partial_areas.py", "tests/test_crowds.py",
                      "tests/test_evaluation.py", "tests/test_intervals.py"],
    "partial_areas": ["tests/test_partial_areas.py", "tests/test_areas.py"],
    "hulls": ["src/polaroc/hulls.py", "tests/test_crowds.py::test_hulls", "tests/test_hulls.py"],
    "comparison": ["tests/test_comparison.py", "tests/test_trained.py",
                   "src/polaroc/comparison.py"],
    "operating": ["tests/test_operating.py", "tests/test_crowds.py"],
    "rules": ["tests/test_operating.py", "tests/test_crowds.py"],
    "thresholds": ["tests/test_operating.py"],
    "sensitivity": ["tests/test_sensitivity.py", "tests/test_metamorphic.py"],
    "balanced_points": ["tests/test_sensitivity.py", "tests/test_metamorphic.py"],
    "error_areas": ["tests/test_sensitivity.py", "tests/test_metamorphic.py"],
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
# A mutant that loops is noticed.
LONGEST = 600


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Each change in words, and the source with it."""
    count = sum(1 for _ in places(ast.parse(source)))
    for number in range(count):
        tree = ast.parse(source)
        node, change = next(found for i, found in enumerate(places(tree)) if i == number)
        before = ast.unparse(node)
        change()
        yield f"line {node.lineno}: {before}  →  {ast.unparse(node)}", ast.unparse(tree)


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


def noticed(source: Path, text: str, tests: list[str]) -> bool:
    source.write_text(text, encoding="utf-8")
    root = source.parents[2]
    environment = os.environ | {"PYTHONPATH": str(root / "src"), "POLAROC_TABLES": "600"}
    run = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--tb=no",
           "-p", "no:cacheprovider", *tests]  # fmt: skip
    try:
        result = subprocess.run(
            run, cwd=root, env=environment, capture_output=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return True
    return result.returncode != 0


def survivors(module: str, most: int, rng: random.Random) -> tuple[int, list[str]]:
    """How many mutants of a module were tried, and those that lived."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "polaroc"
        for part in ("src", "tests", "pyproject.toml"):
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            root.mkdir(exist_ok=True)
            copy(ROOT / part, root / part)
        source = root / "src" / "polaroc" / f"{module}.py"
        text = source.read_text(encoding="utf-8")
        if noticed(source, text, TESTS[module]):
            sys.exit(f"the tests of {module} fail without any change")
        changed = list(mutants(text))
        rng.shuffle(changed)
        sample, alive = changed[:most], []
        for words, mutant in sample:
            if not noticed(source, mutant, TESTS[module]):
                alive.append(words)
                print(f"{module} {words}", flush=True)
        noted = len(sample) - len(alive)
        print(f"{module}: {len(sample)} of {len(changed)} changes, {noted} noticed.", flush=True)
        return len(sample), alive


if __name__ == "__main__":
    reader = argparse.ArgumentParser()
    reader.add_argument(
        "modules", nargs="*", default=["rates", "hulls", "areas", "area_measures", "comparison"]
    )
    reader.add_argument("--most", type=int, default=10_000, help="for each module")
    reader.add_argument("--seed", type=int, default=0)
    asked = reader.parse_args()
    for name in asked.modules:
        survivors(name, asked.most, random.Random(asked.seed))
