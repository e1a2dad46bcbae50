import ast
import inspect
import pickle
import re
from functools import cache
from pathlib import Path

import pytest
import typer

import polaroc as pr
from polaroc import expr, warehouse
from polaroc.cli.app import app
from polaroc.cli.screen import option, with_options
from polaroc.errors import Hint, InvalidArgument

SOURCE = Path(pr.__file__).parent
NAMED = re.compile(r"\b([a-z_]+)=(?:[(\['\d]|\.\.\.)")
COMMANDS = typer.main.get_command(app).commands
OPTIONS = {name for command in COMMANDS.values() for one in command.params for name in one.opts}
# No command has these; what they hint at cannot be raised there.
ONLY_IN_PYTHON = {
    "auc", "factors", "method", "progress", "ranges", "rates", "same_table", "weights",
}  # fmt: skip


def calls(name):
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text()
        # Most files have no such word and need not be parsed.
        nodes = ast.walk(ast.parse(text)) if name in text else ()
        for node in nodes:
            if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
                yield file.relative_to(SOURCE), node


def is_literal(call):
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    names = [keyword.arg for keyword in call.keywords]
    try:
        [ast.literal_eval(value) for value in values]
    except ValueError:
        return False
    return None not in names


@cache
def hints():
    return [
        (file, eval(ast.unparse(call)))
        for name in ("Hint", "Hint.example")
        for file, call in calls(name)
        if is_literal(call)
    ]


def parameters():
    modules = [pr, warehouse, pr.charts, pr.sklearn]
    functions = [getattr(module, name) for module in modules for name in module.__all__]
    functions += [one for _, one in inspect.getmembers(expr, inspect.isfunction)]
    return {
        name for one in functions if callable(one) for name in inspect.signature(one).parameters
    }


@pytest.mark.slow
def test_hints_name_arguments_and_options_that_exist():
    assert len(hints()) > 40
    known = parameters()
    for file, hint in hints():
        places = set(re.findall(r"\{(\w+)\}", hint.template + hint.command_line))
        assert places == set(hint.arguments), (file, hint)
        assert set(hint.arguments) <= known, (file, hint)
    named = {name for _, hint in hints() for name in re.findall(r"\{(\w+)\}", hint.command_line)}
    assert {name for name in named if option(name, None) not in OPTIONS} == ONLY_IN_PYTHON


def test_options_in_sentences_of_the_command_line_exist():
    for file, hint in hints():
        spelled = set(re.findall(r"--[a-z-]+", hint.command_line))
        assert spelled <= OPTIONS, (file, hint)


@pytest.mark.slow
def test_no_text_spells_an_argument_that_is_an_option():
    found = []
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            hints = [k.value for k in getattr(node, "keywords", ()) if k.arg == "hint"]
            for text in hints:
                if isinstance(text, ast.Constant | ast.JoinedStr):
                    words = re.sub(r"\(.*?\)", "", ast.unparse(text))
                    options = [n for n in NAMED.findall(words) if option(n, None) in OPTIONS]
                    found += [(str(file), words)] if options else []
    assert found == []


@pytest.mark.parametrize(
    ("hint", "python", "command_line"),
    [
        (Hint("give {over}.", over=(0.05, 0.2)),
         "give over=(0.05, 0.20).", "give --over 0.05 0.20."),
        (Hint.example("fold", ["repeat", "a b"]),
         "for example fold=['repeat', 'a b'].", "for example --fold repeat --fold 'a b'."),
        (Hint.example("priors", 0.1), "for example priors=0.1.", "for example --prior 0.1."),
        (Hint("{positive}, {same_table}", positive=..., same_table=True),
         "positive=..., same_table=True", "--positive LABEL, --same-table"),
        (Hint("among {by}", command_line="as {by}", by=None), "among by=", "as --by"),
        ("Note: " + Hint("{test_train_ratio} {...}", test_train_ratio=2.0) + ".",
         "Note: test_train_ratio=2 {...}.", "Note: --test-train-ratio 2 {...}."),
        ("plain {over}", "plain {over}", "plain {over}"),
    ],
)  # fmt: skip
def test_hints_are_said_for_python_and_for_the_command_line(hint, python, command_line):
    assert hint == python
    assert with_options(hint) == command_line
    error = pickle.loads(pickle.dumps(InvalidArgument("found.", hint=hint)))
    assert str(error) == f"found.\nHint: {python}"
    assert with_options(error.hint) == command_line


@pytest.mark.parametrize("parted", [True, False])
def test_only_a_long_word_of_a_message_is_cut(parted):
    between = "letters " * 200
    possessive = f"the model's scores are {between if parted else ''}the folds' scores."
    assert str(InvalidArgument(possessive, hint=possessive)) == f"{possessive}\nHint: {possessive}"
    for given in (between, "x" * 2_000):
        message = str(InvalidArgument(f"the model's name is {given!r}.", hint=possessive))
        assert message.startswith(f"the model's name is '{given[:50]}")
        assert message.endswith(f"….\nHint: {possessive}")
        assert given not in message.splitlines()[0]
