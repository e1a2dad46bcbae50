import pickle
import re
import subprocess
import sys
from collections import Counter
from doctest import DocTestParser
from inspect import getdoc, getmembers, isfunction, signature
from operator import attrgetter
from pathlib import Path

import pytest
from command_line import COMMANDS
from programs import package

import polaroc as pr

PUBLIC = {
    "accsens", "achievable", "anova", "apply_thresholds", "auc", "auprec",
    "beta",
    "calibration", "cases", "charts", "check",
    "choose", "compare", "cost_curve", "curve", "datasets",
    "decision_curve", "dominance", "errors", "estimate_prior", "evaluate",
    "expected_cost", "expr", "gate", "hull",
    "iauprec", "mean_curve",
    "monitor", "one_vs_rest", "operating_points",
    "pr_from_roc", "prior",
    "prior_grid", "probabilities", "rates", "report",
    "roc_from_pr", "sens", "simulate", "skew",
    "surface", "uniform", "warehouse",
}  # fmt: skip
# Types stand in the signature, parameters of one meaning share an entry, many summaries need
# no more sentences, nouns that end in s are taken for verbs, and the documentation adds See Also.
IGNORED = {"ES01", "PR03", "PR04", "SA01", "SS05"}
MODULES = {"charts", "datasets", "errors", "expr", "rates", "warehouse"}
HEAVY = [
    "altair", "scipy", "sklearn", "statsmodels", "pandas", "rich", "typer", "vl_convert",
    "jinja2", "ibis", "sqlglot", "duckdb",
]  # fmt: skip


def functions():
    # Those of `rates` share theirs, which the module describes.
    names = PUBLIC - MODULES
    for module in ("charts", "datasets", "expr", "sklearn", "warehouse"):
        its = getattr(pr, module)
        names |= {f"{module}.{name}" for name in getattr(its, "__all__", public_functions(its))}
    return {name for name in names if isfunction(attrgetter(name)(pr))}


def public_functions(module):
    members = getmembers(module, isfunction)
    return [name for name, one in members if one.__module__ == module.__name__ and name[0] != "_"]


def test_public_names():
    assert set(pr.__all__) == PUBLIC
    assert all(hasattr(pr, name) for name in PUBLIC)


def test_tab_offers_public_names_only():
    # A star import would put it in the place of scikit-learn.
    assert set(dir(pr)) == PUBLIC | {"sklearn"}
    with pytest.raises(AttributeError, match="no attribute 'area'"):
        pr.area  # noqa: B018


@pytest.mark.parametrize("module", [pr.charts, pr.sklearn, pr.warehouse])
def test_tab_offers_no_files_of_a_module(module):
    assert dir(module) == sorted(module.__all__)


def test_public_names_are_imported_when_they_are_first_used():
    code = "import polaroc as pr, sys; own = lambda: {m for m in sys.modules if 'polaroc.' in m}; "
    code += "assert own() == set(); pr.skew; assert 'polaroc.priors.grids' in own(); "
    code += "assert 'polaroc.evaluation' not in own(); "
    code += "pr.charts.roc, pr.sklearn.scorer, pr.warehouse.evaluate; "
    code += "from polaroc import evaluate; assert pr.evaluate is evaluate"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(PUBLIC - MODULES))
def test_public_functions_are_documented(name):
    text = getattr(pr, name).__doc__
    assert all(part in text for part in ("Parameters\n", "Returns\n", "Examples\n")), name


@pytest.mark.engine
@pytest.mark.parametrize(
    "name", sorted(PUBLIC - MODULES) + [f"sklearn.{name}" for name in pr.sklearn.__all__]
)
def test_docstrings_have_the_form_of_numpydoc(name):
    validate = package("numpydoc.validate", "lint").validate
    errors = validate(f"polaroc.{name}")["errors"]
    assert [(code, text) for code, text in errors if code not in IGNORED] == []


@pytest.mark.parametrize("name", sorted(functions()))
def test_every_parameter_is_described_once_and_nothing_else(name):
    function = attrgetter(name)(pr)
    described = getdoc(function).partition("Parameters\n")[2].partition("\nReturns\n")[0]
    entries = Counter(
        parameter
        for line in described.splitlines()
        if line and not line.startswith((" ", "-"))
        for parameter in line.lstrip("*").split(", ")
    )
    assert entries == Counter(list(signature(function).parameters))


@pytest.mark.parametrize("name", sorted(functions()))
def test_examples_import_the_libraries_that_they_use(name):
    examples = DocTestParser().get_examples(getdoc(attrgetter(name)(pr)))
    code = "".join(example.source for example in examples)
    for library in ("pl", "np", "pr"):
        assert f" as {library}\n" in code or not re.search(rf"\b{library}\.", code)


@pytest.mark.parametrize("name", sorted(functions()))
def test_signatures_have_short_names_of_types(name):
    shown = str(signature(attrgetter(name)(pr)))
    assert len(shown) < 1000
    assert not re.search(r"Ellipsis|Union\[|\.\.\.|<", shown)


def test_names_of_types_in_signatures_are_explained():
    page = (Path(__file__).parents[1] / "docs" / "reference" / "index.md").read_text()
    table = page.partition("Names of types in the signatures:")[2].partition("##")[0]
    first_cells = " ".join(re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE))
    explained = set(re.findall(r"[A-Z]\w+", first_cells)) - {"Unpack"}
    annotations = " ".join(
        str(one.annotation)
        for name in functions()
        for one in signature(attrgetter(name)(pr)).parameters.values()
    )
    used = set(re.findall(r"(?<![.\w'\"])[A-Z]\w+", annotations))
    others = {"Any", "Callable", "Literal", "Mapping", "None", "Path", "Sequence", "Unpack"}
    # Results have pages of their own.
    assert used - others - {"Belief", "Calibration", "Comparison", "Monitor"} == explained


def test_importing_all_names_imports_nothing_heavy():
    code = "import sys, polars; before = set(sys.modules); from polaroc import *; "
    code += "print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "polaroc.evaluation.evaluate" in loaded
    assert {name.split(".")[0] for name in loaded} & set(HEAVY) == set()


@pytest.mark.parametrize(
    "kind",
    ["InvalidArgument", "InvalidPredictions", "InvalidTable", "MissingExtra", "NotSupported",
     "OutputRefused"],
)  # fmt: skip
def test_errors_are_value_errors_with_a_hint(kind):
    error = getattr(pr.errors, kind)("found this.", hint="do that.")
    assert isinstance(error, pr.errors.PolarocError)
    assert isinstance(error, ValueError)
    assert str(error) == str(pickle.loads(pickle.dumps(error))) == "found this.\nHint: do that."


@pytest.mark.parametrize("function", ["choose", "threshold", "report"])
def test_a_precision_is_asked_for_in_the_same_words_everywhere(function):
    command = COMMANDS[function]
    options = {word for one in command.params for word in one.opts}
    assert "--min-precision" in options
    assert not {"--precision", "--constraint"} & options
    called = getattr(pr, {"threshold": "operating_points"}.get(function, function))
    assert {"constraints", "confidence"} <= set(signature(called).parameters)


def test_no_two_parameters_of_the_same_meaning_have_names_that_differ_by_number():
    functions = [getattr(pr, name) for name in pr.__all__ if callable(getattr(pr, name))]
    names = {name for one in functions for name in signature(one).parameters}
    # `simulate` has a number of tables, and a skew is that of one prior.
    assert {name for name in names if f"{name}s" in names} <= {"table", "prior"}
