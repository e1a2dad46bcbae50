"""Small changes to the formulas, one at a time: does a test fail for each?

``python tests/tools/mutants.py rates curves`` prints the changes of a module and of all modules of a
package that no test noticed and that docs/mutants.md does not explain; without names a random
sample of each module with formulas, and the figures by package. `--most` says how many of each
module, `--write` puts the figures of whole modules into that page. With `--keep FILE` what was
found is kept, and not tried again. Each change is tried in a fork of one process that has imported
the libraries, but not polaroc; as many at once as there are processors.
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
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
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
# What has formulas: packages and modules.
FORMULAS = (
    "rates", "priors", "curves", "measures", "thresholds", "calibration", "uncertainty",
    "comparison", "deployment",
)  # fmt: skip
SAMPLE = 4
MEASURES = [
    "tests/measures/test_exact_oracle.py::test_auc",
    "tests/measures/test_exact_oracle.py::test_auprec", "tests/measures/test_functions.py",
]  # fmt: skip
INTERVALS = [
    "tests/uncertainty/test_intervals.py", "tests/uncertainty/test_influence.py",
    "tests/uncertainty/test_case_losses.py",
]  # fmt: skip
CLUSTERED = [
    f"tests/uncertainty/test_{name}.py"
    for name in ("clusters", "crossed_clusters", "few_clusters", "copies")
]
MONITOR = [
    "tests/deployment/test_monitor.py", "tests/deployment/test_limits.py",
    "tests/deployment/test_in_use.py",
]  # fmt: skip
# Tests that are to notice a change beside the examples of a module and the tests of its name.
TESTS = {
    "curves/packing": ["tests/curves/test_keys.py", "tests/curves/test_curve.py", "tests/curves/test_ranking.py"],
    "curves/ranking": ["tests/curves/test_curve.py", "tests/evaluation/test_evaluate.py"],
    "curves/in_groups": ["tests/test_expr.py", "tests/curves/test_ranking.py", "tests/evaluation/test_evaluate.py"],
    "curves/keys": [
        "tests/evaluation/test_evaluate.py::test_a_row_of_weight_zero_does_not_hide_that_scores_are_labels",
    ],
    "curves/thinning": ["tests/charts/test_curve_charts.py", "tests/uncertainty/test_bands.py"],
    "curves/bins": ["tests/measures/test_bounds.py"],
    "curves/dominance": ["tests/measures/test_exact_oracle.py::test_dominance"],
    "curves/surface": ["tests/measures/test_exact_oracle.py::test_surfaces"],
    "rates": ["tests/test_rates.py", "tests/curves/test_surface.py"],
    "curves/hull": ["tests/curves/test_ranking.py", "tests/measures/test_exact_oracle.py::test_hulls"],
    "measures/functions": [*MEASURES[:2], "tests/measures/test_partial_areas.py"],
    "measures/areas": [
        *MEASURES, "tests/measures/test_partial_areas.py", "tests/uncertainty/test_influence.py",
        "tests/evaluation/test_evaluate.py::test_scores_are_reversed_from_four_standard_errors_on",
        "tests/uncertainty/test_intervals.py::test_a_perfect_score_has_a_lower_limit_from_the_numbers"
        "_of_cases",
        "tests/uncertainty/test_intervals.py::test_so_has_its_mean_over_priors",
    ],
    "measures/array_sums": [*MEASURES, "tests/evaluation/test_evaluate.py"],
    "measures/corrected_areas": [*MEASURES, "tests/measures/test_catalog.py", "tests/evaluation/test_evaluate.py"],
    "measures/gradients": INTERVALS,
    "measures/moved_segments": INTERVALS,
    "measures/spec": [
        *MEASURES, "tests/measures/test_catalog.py", "tests/measures/test_scoring.py",
        "tests/evaluation/test_evaluate.py",
    ],
    "measures/table": [
        *MEASURES, "tests/measures/test_bounds.py", "tests/evaluation/test_evaluate.py", "tests/measures/test_scoring.py", *INTERVALS[:1],
    ],
    "measures/scoring": ["tests/evaluation/test_evaluate.py"],
    "base/backend": ["tests/measures/test_functions.py", "tests/test_rates.py", "tests/curves/test_surface.py"],
    "curves/segments": [*MEASURES, "tests/curves/test_curve.py", "tests/curves/test_hull.py"],
    "evaluation/sums": [
        "tests/curves/test_keys.py", "tests/curves/test_ranking.py", "tests/evaluation/test_evaluate.py",
        "tests/evaluation/test_partitions.py",
    ],
    "evaluation/reader": ["tests/evaluation/test_partitions.py", "tests/predictions/test_reading.py"],
    "curves/held": ["tests/curves/test_curve.py", "tests/curves/test_keys.py", "tests/predictions/test_table.py"],
    "predictions/deferred": ["tests/predictions/test_reading.py", "tests/evaluation/test_evaluate.py"],
    "curves/curve": ["tests/measures/test_exact_oracle.py::test_curves", "tests/predictions/test_dtypes.py",
               "tests/evaluation/test_evaluate.py"],
    "comparison/design": ["tests/comparison/test_compare.py"],
    "comparison/caveats": [
        "tests/comparison/test_compare.py", "tests/comparison/test_trained.py",
        "tests/comparison/test_anova.py", "tests/comparison/test_design_rates.py",
    ],
    "comparison/compare": ["tests/comparison/test_gate.py", "tests/comparison/test_trained.py", "tests/comparison/test_choose.py"],
    "comparison/omnibus": ["tests/comparison/test_compare.py"],
    "uncertainty/small_samples": ["tests/comparison/test_gate_small.py", "tests/comparison/test_trained.py"],
    "uncertainty/unseen_positive": ["tests/comparison/test_missed_positives.py"],
    "comparison/gate": [
        "tests/comparison/test_gate_small.py", "tests/comparison/test_missed_positives.py",
        "tests/comparison/test_gate_sets.py", "tests/comparison/test_fitted_calls.py",
    ],
    "comparison/measure_rows": [
        "tests/comparison/test_compare.py", "tests/comparison/test_layout.py",
        "tests/charts/test_model_charts.py", "tests/comparison/test_doubts.py",
        "tests/comparison/test_warnings.py",
    ],
    "uncertainty/test_sets": [
        "tests/comparison/test_clustered_cases.py", "tests/comparison/test_delong.py",
        "tests/comparison/test_fitted_calls.py", "tests/comparison/test_by_amounts.py",
        "tests/comparison/test_gate_sets.py", "tests/predictions/test_random_roles.py",
    ],
    "uncertainty/scored_cases": [
        "tests/comparison/test_trained.py", "tests/comparison/test_delong.py",
        "tests/comparison/test_choice_measures.py",
    ],
    "comparison/result": ["tests/comparison/test_compare.py", "tests/comparison/test_trained.py"],
    "comparison/verdict": ["tests/comparison/test_gate.py", "tests/comparison/test_gate_small.py"],
    "comparison/posterior": ["tests/comparison/test_how_sure.py", "tests/comparison/test_choose.py"],
    "comparison/choice_measures": [
        "tests/comparison/test_how_sure.py", "tests/comparison/test_choose.py", "tests/comparison/test_doubts.py",
    ],
    "uncertainty/evidence": [
        "tests/comparison/test_pairwise.py", "tests/comparison/test_omnibus.py", "tests/comparison/test_half_splits.py",
        "tests/comparison/test_choice_measures.py",
    ],
    "uncertainty/adjusted": ["tests/comparison/test_pairwise.py", "tests/comparison/test_half_splits.py"],
    "comparison/regret": ["tests/comparison/test_choose.py", "tests/comparison/test_choice_measures.py"],
    "comparison/choose": ["tests/comparison/test_choose.py"],
    "thresholds/operating_points": [*POINTS, "tests/thresholds/test_constraints.py"],
    "thresholds/rules": ["tests/thresholds/test_operating_points.py", "tests/thresholds/test_constraints.py", *POINTS],
    "thresholds/promises": ["tests/thresholds/test_clustered_promises.py"],
    "thresholds/review_bands": ["tests/thresholds/test_three_ways.py"],
    "thresholds/ways": ["tests/thresholds/test_three_ways.py"],
    "thresholds/apply_thresholds": ["tests/thresholds/test_operating_points.py", "tests/thresholds/test_rate_intervals.py"],
    "thresholds/costs": ["tests/measures/test_exact_oracle.py::test_cost_curves"],
    "thresholds/interval_columns": ["tests/thresholds/test_rate_intervals.py"],
    "thresholds/rate_intervals": ["tests/thresholds/test_rate_intervals.py"],
    "thresholds/saved": [
        "tests/cli/test_threshold.py", "tests/comparison/test_by_cost.py", "tests/reports/test_tuning.py",
    ],
    "thresholds/expected_cost": ["tests/deployment/test_carried.py"],
    "measures/sensitivity": ["tests/measures/test_exact_oracle.py::test_sens_and_equal_error"],
    "measures/balanced": ["tests/measures/test_exact_oracle.py::test_sens_and_equal_error",
                          "tests/measures/test_sensitivity.py", "tests/evaluation/test_evaluate.py"],
    "calibration/probabilities": ["tests/calibration"],
    "uncertainty/draws": ["tests/uncertainty/test_bootstrap.py"],
    "uncertainty/pseudo_cases": [*INTERVALS, "tests/uncertainty/test_bootstrap.py"],
    "uncertainty/influence": INTERVALS[:1],
    "uncertainty/intervals": INTERVALS[1:],
    "priors/grids": [
        "tests/priors", "tests/curves/test_surface.py", "tests/test_hints.py", "tests/measures/test_scoring.py",
    ],
    "priors/in_use": ["tests/deployment/test_carried.py", "tests/evaluation/test_at_estimates.py"],
    "uncertainty/cells": [*CLUSTERED, "tests/uncertainty/test_intervals.py"],
    "uncertainty/least_costs": ["tests/uncertainty/test_expected_cost.py", "tests/uncertainty/test_h_measure.py"],
    "uncertainty/limits": [*INTERVALS, "tests/uncertainty/test_levels.py"],
    "uncertainty/parts": ["tests/comparison/test_subgroups.py", "tests/evaluation/test_macro.py"],
    "uncertainty/spread": INTERVALS,
    "uncertainty/trends": ["tests/comparison/test_over_time.py", "tests/deployment/test_periods.py"],
    "uncertainty/units": CLUSTERED,
    "predictions/audit": ["tests/predictions/test_table.py", "tests/predictions/test_cases.py"],
    "predictions/calendar": ["tests/deployment/test_periods.py", "tests/deployment/test_days.py"],
    "predictions/cases": ["tests/predictions/test_sources.py", "tests/predictions/test_usual_keys.py"],
    "predictions/costs": ["tests/thresholds/test_amounts.py", "tests/uncertainty/test_savings.py"],
    "predictions/row_checks": ["tests/predictions/test_table.py"],
    "predictions/roles": ["tests/predictions/test_cases.py"],
    "predictions/table": ["tests/predictions/test_reading.py"],
    "predictions/takes_cases": ["tests/predictions/test_cases.py"],
    "predictions/wide": ["tests/predictions/test_table.py", "tests/predictions/test_cases.py"],
    "deployment/alarms": MONITOR,
    "deployment/days": ["tests/deployment/test_days.py"],
    "deployment/draws": ["tests/deployment/test_labels.py"],
    "deployment/estimators": ["tests/deployment/test_em.py", "tests/deployment/test_confusion.py", "tests/deployment/test_estimate_prior.py"],
    "deployment/history": MONITOR[:1],
    "deployment/label_budget": ["tests/deployment/test_labels.py"],
    "deployment/label_draws": ["tests/deployment/test_labels.py"],
    "deployment/labelled": ["tests/deployment/test_labels.py"],
    "deployment/monitor": MONITOR,
    "deployment/monitor_result": MONITOR[:1],
    "deployment/rivals": ["tests/deployment/test_rivals.py"],
    "deployment/tables": ["tests/deployment/test_estimate_prior.py", *MONITOR[:1]],
}  # fmt: skip
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


class Quick:
    """The same random tables each time, the tests that take least first, and how long they take."""

    def __init__(self, times: Path) -> None:
        self.times = times
        self.taken = json.loads(times.read_text()) if times.exists() else {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.taken.get(item.nodeid, 0))

    def pytest_runtest_logreport(self, report):
        self.taken[report.nodeid] = self.taken.get(report.nodeid, 0) + report.duration

    def pytest_sessionfinish(self):
        if not self.times.exists():
            self.times.write_text(json.dumps(self.taken))

    def pytest_collection(self):
        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants", settings(), derandomize=True, database=None, phases=phases
        )
        settings.load_profile("mutants")


def judge(root: Path, tests: list[str], longest: float) -> int:
    """The process that runs the tests: it ends with 0 where none fails within so many seconds."""
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
    sys.path.insert(0, str(root / "src"))
    # Hypothesis is imported before pytest could rewrite its assertions.
    late = "ignore::pytest.PytestAssertRewriteWarning"
    options = ["-q", "-x", "--tb=no", "-n", "0", "-p", "no:cacheprovider", "-W", late, "-m", MARKED]
    code = pytest.main([*options, *tests], [Quick(root.parent.parent / "times.json")])
    os._exit(int(code))


def tried(
    module: str, most: int, seed: int, at_once: int, kept: dict[str, bool]
) -> tuple[int, dict[str, bool]]:
    """How many changes of a module there are, and of those tried whether no test noticed them."""
    place = Path("src") / "polaroc" / f"{module}.py"
    source = (ROOT / place).read_text(encoding="utf-8")
    numbers = list(range(sum(1 for _ in places(ast.parse(source)))))
    if most < len(numbers):
        random.Random(f"{seed} {module}").shuffle(numbers)
    # The same words may stand for several changes: each is one of its own.
    seen: Counter[str] = Counter()
    sample = []
    for words, mutant in (mutant_of(source, number) for number in numbers[:most]):
        seen[words] += 1
        sample.append((words + seen[words] * "\0", mutant))
    found = {words: kept[words] for words, _ in sample if words in kept}
    sample = [change for change in sample if change[0] not in found]
    if not sample:
        return len(numbers), found
    with tempfile.TemporaryDirectory() as folder:
        free = [copied(Path(folder) / str(place) / "polaroc") for place in range(at_once)]
        # Tests import the package; its examples first would import a module twice.
        tests = [*tests_of(module), str(place)]
        _, status, used = os.wait4(judge(free[0], tests, 3600), 0)
        if status:
            sys.exit(f"the tests of {module} fail without any change")
        longest = 30 + LOOPS * (used.ru_utime + used.ru_stime)
        judged: dict[int, tuple[str, Path]] = {}

        def end_of_one() -> None:
            child, status = os.wait()
            words, root = judged.pop(child)
            free.append(root)
            found[words] = status == 0
            kept[words] = status == 0
            if status == 0:
                print(f"{module} {words.rstrip(chr(0))}", flush=True)

        try:
            for words, mutant in sample:
                if not free:
                    end_of_one()
                root = free.pop()
                (root / place).write_text(mutant, encoding="utf-8")
                judged[judge(root, tests, longest)] = words, root
            while judged:
                end_of_one()
        finally:
            for child in judged:
                os.kill(child, signal.SIGKILL)
        return len(numbers), found


def tests_of(module: str) -> list[str]:
    """The tests of its name, and those listed; of a module with neither those of its package."""
    package, _, name = module.rpartition("/")
    own = f"tests/{package}/test_{name}.py"
    tests = [own] * (ROOT / own).exists() + TESTS.get(module, [])
    return list(dict.fromkeys(tests)) or [f"tests/{package}"]


def modules_of(names: list[str]) -> list[str]:
    """Modules by name, and those of packages, as far as there is something to change."""
    source = ROOT / "src" / "polaroc"
    found = []
    for name in names:
        file = source / f"{name}.py"
        files = [file] if file.exists() else sorted((source / name).glob("[!_]*.py"))
        if not files:
            sys.exit(f"there is no module or package {name}.")
        found += [
            str(one.relative_to(source).with_suffix(""))
            for one in files
            if next(places(ast.parse(one.read_text(encoding="utf-8"))), None)
        ]
    return found


def copied(root: Path) -> Path:
    """Where there is a copy of the package, its tests, and the pages that they read."""
    spared = shutil.ignore_patterns("*.pyc", "images")
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, root / part, ignore=spared)
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


class Kept:
    """What was found, by a mark of the module and its tests: a change to either begins anew."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
        self.found = {(mark, words): alive for mark, words, alive in map(json.loads, lines)}

    def of(self, module: str) -> "Results":
        texts = [ROOT / "src" / "polaroc" / f"{module}.py"]
        for test in tests_of(module):
            place = ROOT / test.partition("::")[0]
            texts += sorted(place.glob("test_*.py")) if place.is_dir() else [place]
        return Results(self, sha256(b"".join(text.read_bytes() for text in texts)).hexdigest()[:16])


class Results(dict[str, bool]):
    """Of one module: from a change to whether no test noticed it."""

    def __init__(self, kept: Kept, mark: str) -> None:
        self.kept, self.mark = kept, mark
        super().__init__({words: alive for (of, words), alive in kept.found.items() if of == mark})

    def __setitem__(self, words: str, alive: bool) -> None:
        super().__setitem__(words, alive)
        if self.kept.file:
            with self.kept.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([self.mark, words, alive]) + "\n")


def main() -> int:
    reader = argparse.ArgumentParser()
    reader.add_argument("modules", nargs="*", help="and packages; by default all with formulas")
    reader.add_argument("--most", type=int, help=f"for each module; without names {SAMPLE}")
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--keep", type=Path, help="a file for what was found")
    reader.add_argument("--write", action="store_true", help="the figures into docs/mutants.md")
    reader.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="changes")
    arguments = reader.parse_args()
    most = arguments.most or (10_000 if arguments.modules else SAMPLE)
    sys.dont_write_bytecode = True
    os.environ |= {
        "POLAROC_TABLES": "600", "POLARS_MAX_THREADS": "1", "HYPOTHESIS_PROFILE": "thorough",
        "POLAROC_ALL_CASES": "1",
    }  # fmt: skip
    for library in LIBRARIES:
        importlib.import_module(library)
    # What is ended takes the tests that run with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    kept, packages = Kept(arguments.keep), {}
    for module in modules_of(arguments.modules or list(FORMULAS)):
        count, found = tried(module, most, arguments.seed, arguments.at_once, kept.of(module))
        alive = Counter(words.rstrip("\0") for words, lived in found.items() if lived)
        known = Counter({words: n for (of, words), n in explained().items() if of == module})
        new = alive - known
        figures = Counter(
            modules=1, changes=count, tried=len(found), noticed=len(found) - alive.total(),
            explained=alive.total() - new.total(), unexplained=new.total(),
        )  # fmt: skip
        packages.setdefault(module.partition("/")[0], Counter()).update(figures)
        print(
            f"{module}: {len(found)} of {count} changes, {figures['noticed']} noticed, "
            f"{figures['explained']} explained, {new.total()} not.", *new, sep="\n  ", flush=True,
        )  # fmt: skip
        if arguments.write and len(found) == count:
            write(module, count, alive.total())
    print(table(packages))
    return 1 if any(figures["unexplained"] for figures in packages.values()) else 0


def table(packages: dict[str, Counter[str]]) -> str:
    """The figures of each package, and of all of them."""
    total = sum(packages.values(), Counter())
    columns = list(dict.fromkeys(name for figures in packages.values() for name in figures))
    rows = [
        [name, *(str(figures[column]) for column in columns)]
        for name, figures in {**packages, "all": total}.items()
    ]
    lines = [["package", *columns], ["---"] * (len(columns) + 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
