"""The command line, `polaroc`: one file per command."""

import typer

from polaroc.cli.check import check
from polaroc.cli.demo import demo
from polaroc.cli.evaluate import evaluate

app = typer.Typer(
    help="Which classifier, and which threshold, when the share of positives is uncertain.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(evaluate)
app.command()(check)


def main() -> None:
    """Run the command line."""
    app()
