"""The command line, `polaroc`: one file per command."""

import signal
import sys
from collections import Counter
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from polaroc.cli.chart import chart
from polaroc.cli.check import check
from polaroc.cli.choose import choose
from polaroc.cli.compare import compare
from polaroc.cli.demo import demo
from polaroc.cli.evaluate import evaluate
from polaroc.cli.experiment import experiment
from polaroc.cli.gate import gate
from polaroc.cli.report import report
from polaroc.cli.screen import refuse
from polaroc.cli.sql import sql


def _takes_one_value(parameter: Any) -> bool:
    # Arguments have neither attribute.
    several, flag = (getattr(parameter, name, True) for name in ("multiple", "is_flag"))
    return not (several or flag)


class Command(TyperCommand):
    """A command that refuses an option with one value where it is given twice."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the name of the command."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            single = [one for one in given if _takes_one_value(one)]
            for option, count in Counter(single).items():
                if count > 1:
                    refuse(
                        f"{option.opts[0]} is given {count} times, allowed is once.\n"
                        "Hint: give it once."
                    )
        return super().parse_args(ctx, args)


app = typer.Typer(
    help="Which classifier, and which threshold, when the share of positives is uncertain.",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command(cls=Command)(demo)
app.command(cls=Command)(evaluate)
app.command(cls=Command)(compare)
app.command(cls=Command)(choose)
app.command(cls=Command)(gate)
app.command(cls=Command)(chart)
app.command(cls=Command)(report)
app.command(cls=Command)(check)
app.command(cls=Command)(experiment)
app.command(cls=Command)(sql)


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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    app()
