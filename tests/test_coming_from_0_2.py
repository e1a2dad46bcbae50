"""The page on what is called what since 0.2, held to the names of both versions.

`polaroc_0_2.json` has the public functions with their parameters, the attributes of results, and
the commands with their options, as Python told them of the last commit of 0.2.0.
"""

import json
import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from typer.main import get_command

import polaroc as pr
from polaroc.cli import app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "coming_from_0_2.md").read_text()
BEFORE = json.loads((ROOT / "tests" / "support" / "polaroc_0_2.json").read_text())
RESULTS = {
    "Belief": "priors.beliefs", "Choice": "comparison.choice", "Comparison": "comparison.result",
    "GateResult": "comparison.verdict", "Monitor": "deployment.monitor_result",
}  # fmt: skip
COMMANDS = get_command(app).commands
# In a cell of the new names; a call or a command may be among other words.
CALL = re.compile(r"^([\w.]+)\(([\w=, \"().]*)\)$")


def rows(heading):
    """The rows of the table under a heading, as lists of cells."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        re.split(r"\s*\|\s*", line.strip("| ")) for line in section.splitlines() if "|" in line
    ]
    return [row for row in cells if len(row) == 3]


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def named(cell):
    """What a cell of names has, or None where it stands for all."""
    return None if cell == "all" else set(code(cell))


def on_page(heading, function, what):
    """Whether a row of the table has the function and, among the old names, what is asked for."""
    return any(
        (named(functions) is None or function in named(functions))
        and any(re.search(rf"(?<![\w-]){re.escape(what)}(?!-)", old) for old in code(before))
        for functions, before, _ in rows(heading)
    )


def function(name):
    """A public function, such as "evaluate" or "sklearn.scorer"; None where there is none."""
    found = pr
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def options(command):
    return {one for option in COMMANDS[command].params for one in option.opts}


GONE = [
    (name, parameter)
    for name, parameters in BEFORE["functions"].items()
    if callable(function(name))
    for parameter in parameters
    if parameter not in signature(function(name)).parameters
]


@pytest.mark.parametrize(("name", "parameter"), GONE)
def test_a_parameter_that_is_gone_is_on_the_page(name, parameter):
    assert on_page("Functions", name, parameter + "=")


def test_a_function_that_is_gone_is_on_the_page():
    gone = [name for name in BEFORE["functions"] if function(name) is None]
    assert gone
    assert [
        name for name in gone if not any(name in code(row[0]) for row in rows("Functions"))
    ] == []


def test_what_a_result_has_no_longer_is_on_the_page():
    gone = [
        (result, name)
        for result, names in BEFORE["results"].items()
        for name in names
        if not hasattr(found := getattr(import_module(f"polaroc.{RESULTS[result]}"), result), name)
        and name not in getattr(found, "__annotations__", {})
    ]
    assert gone
    assert [(one, name) for one, name in gone if not on_page("Results", one, name)] == []


def test_a_command_or_an_option_that_is_gone_is_on_the_page():
    gone = [
        (command, option)
        for command, before in BEFORE["commands"].items()
        for option in (before if command in COMMANDS else [f"polaroc {command}"])
        if command not in COMMANDS or option not in options(command)
    ]
    assert gone
    assert [(one, option) for one, option in gone if not on_page("Commands", one, option)] == []


NOW = [
    text
    for heading in ("Functions", "Results", "Commands")
    for row in rows(heading)
    for text in code(row[2])
]


@pytest.mark.parametrize("text", [text for text in NOW if CALL.match(text)])
def test_a_function_that_the_page_names_has_these_parameters(text):
    name, arguments = CALL.match(text).groups()
    assert set(re.findall(r"(\w+)=", arguments)) <= set(signature(function(name)).parameters)


@pytest.mark.parametrize("text", [text for text in NOW if text.startswith("polaroc ")])
def test_a_command_that_the_page_names_has_these_options(text):
    _, command, *words = text.split()
    assert set(words) <= options(command)


@pytest.mark.parametrize("text", [text for text in NOW if re.match(r"[\w.]+\.\w+$", text)])
def test_a_result_that_the_page_names_has_these_attributes(text):
    module, _, name = text.rpartition(".")
    if module in RESULTS:
        found = getattr(import_module(f"polaroc.{RESULTS[module]}"), module)
        assert hasattr(found, name) or name in found.__annotations__
    else:
        assert function(text) or hasattr(import_module(module), name)


def test_the_columns_that_the_page_names_are_there():
    asked = {"test_train_ratio": 0.25}
    table = pr.datasets.satellite_predictions()
    measures = pr.evaluate(table, truth="truth", score="score", over=(0.05, 0.2))
    pairs = pr.compare(measures, **asked).pairs
    models = pr.choose(measures, over=(0.05, 0.2), **asked).models
    for result, found in (("compare().pairs", pairs), ("choose().models", models)):
        (cell,) = [row[2] for row in rows("Results") if result in code(row[0])]
        assert set(code(cell)) <= set(found.columns)
        assert "level" in found.columns
