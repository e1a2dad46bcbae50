"""The commands put together, and what all of them do with their options."""

import signal
import sys
from collections import Counter
from collections.abc import Callable
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from polaroc.cli.check import check
from polaroc.cli.comparing import choose, compare, gate
from polaroc.cli.drawings import DRAWINGS, chart
from polaroc.cli.evaluate import evaluate
from polaroc.cli.monitor import monitor
from polaroc.cli.parameters import other_names
from polaroc.cli.report import demo, report
from polaroc.cli.screen import refuse, with_options
from polaroc.cli.settings import SETTINGS, defaults
from polaroc.cli.sql import sql
from polaroc.cli.threshold import threshold
from polaroc.errors import PolarocError
from polaroc.predictions.roles import ROLES


def _takes_one_value(parameter: Any) -> bool:
    # Arguments have neither attribute.
    several, flag = (getattr(parameter, name, True) for name in ("multiple", "is_flag"))
    return not (several or flag)


class Command(TyperCommand):
    """A command that takes settings, and an option with one value once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the name of the command."""
        if not ctx.resilient_parsing:
            self._refuse_other_names(args)
            words, _, given = self.make_parser(ctx).parse_args(args=list(args))
            single = [one for one in given if _takes_one_value(one)]
            for option, count in Counter(single).items():
                if count > 1:
                    refuse(
                        f"{option.opts[0]} is given {count} times, allowed is once.\n"
                        "Hint: give it once."
                    )
            try:
                settings = defaults(str(self.name), self.params, words, _allowed(self.name, words))
            except PolarocError as error:
                refuse(f"{error.found}\nHint: {with_options(error.hint)}")
            if settings is not None:
                ctx.meta[SETTINGS] = settings
                ctx.default_map = settings.values
        return super().parse_args(ctx, args)

    def _refuse_other_names(self, args: list[str]) -> None:
        """Refuse an option under the name that another library has for it."""
        own = {name for parameter in self.params for name in parameter.opts}
        for word in args:
            name = word.partition("=")[0].lower().replace("_", "-")
            right = next((one for one in own if name in other_names(one)), None)
            if word.startswith("--") and word not in own and right is not None:
                refuse(f"there is no option {word.partition('=')[0]}.\nHint: did you mean {right}?")


def _allowed(command: str | None, words: dict[str, Any]) -> Callable[[str], bool]:
    """Which settings fit a command and its arguments."""
    if command == "chart" and words.get("name") in DRAWINGS:
        options = DRAWINGS[words["name"]].options
        return lambda name: name in options or name in ROLES
    return lambda name: True


app = typer.Typer(
    help="Which classifier, and which threshold, when the share of positives is uncertain.",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# As the help lists them.
for one in (
    demo, evaluate, compare, choose, threshold, gate,
    monitor, chart, report, check, sql,
):  # fmt: skip
    app.command(cls=Command)(one)


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
