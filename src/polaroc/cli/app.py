"""The commands, and what all of them do with errors and signals."""

import os
import signal
import sys
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from polaroc.cli.evaluate import check, evaluate
from polaroc.cli.models import choose, compare, gate
from polaroc.cli.pages import chart, demo, report
from polaroc.cli.screen import RENAME_FILE, errors_as_messages, refuse
from polaroc.cli.sql import sql
from polaroc.cli.thresholds import monitor, threshold


class Commands(TyperGroup):
    """The commands; errors of all of them become one message and an exit code."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of the command line, which have to be UTF-8."""
        for word in args:
            if any("\ud800" <= letter <= "\udfff" for letter in word):
                shown = os.fsencode(word).decode(errors="backslashreplace")
                refuse(f"'{shown}' is not UTF-8, which is needed.", RENAME_FILE)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with errors_as_messages():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (demo, check, evaluate, choose, compare, threshold, gate, monitor, report, chart, sql)
for command in COMMANDS:
    app.command()(command)


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Which classifier, and which threshold, when the share of positives is uncertain."""
    if version:
        typer.echo(metadata.version("polaroc"))
        raise typer.Exit


def main() -> None:
    """Run the command line; a request to end removes temporary files as Ctrl-C does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app()
