"""The command line, called in this process."""

import re
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from polaroc.cli.app import app

COMMANDS = get_command(app).commands
OPTIONS = {name for command in COMMANDS.values() for one in command.params for name in one.opts}


def polaroc(*words: object, stdin: bytes | None = None, columns: int | None = None) -> Any:
    """The output of a command; the options that its hints name exist."""
    environment = {} if columns is None else {"COLUMNS": str(columns)}
    result = CliRunner(env=environment).invoke(
        app, [str(word) for word in words], input=stdin, prog_name="polaroc"
    )
    for hint in result.stderr.split("Hint: ")[1:]:
        named = {*re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", hint)}
        assert named <= OPTIONS, hint
    return result
