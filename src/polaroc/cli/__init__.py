"""The command line, `polaroc`: one file per command."""

import signal
import sys
from importlib import metadata
from typing import Annotated

import typer

from polaroc.cli.chart import chart
from polaroc.cli.check import check
from polaroc.cli.choose import choose
from polaroc.cli.compare import compare
from polaroc.cli.demo import demo
from polaroc.cli.evaluate import evaluate
from polaroc.cli.experiment import experiment
from polaroc.cli.limits import limited, watched
from polaroc.cli.report import report
from polaroc.cli.sql import sql

app = typer.Typer(
    help="Which classifier, and which threshold, when the share of positives is uncertain.",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(evaluate)
app.command()(compare)
app.command()(choose)
app.command()(chart)
app.command()(report)
app.command()(check)
app.command()(experiment)
app.command()(sql)


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Which classifier, and which threshold, when the share of positives is uncertain."""
    if version:
        typer.echo(metadata.version("polaroc"))
        raise typer.Exit


def main() -> None:
    """Run the command line; a polite request to end cleans up as Ctrl-C does."""
    limit = limited()
    if limit is not None:
        sys.exit(watched(limit))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app()
