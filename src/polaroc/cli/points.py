"""Thresholds in use, as a number or a file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polaroc.cli.commands import Call
from polaroc.cli.screen import progress
from polaroc.cli.threshold import number_of, saved_thresholds
from polaroc.errors import InvalidArgument

IN_USE = typer.Option(
    help="Judge this threshold, or those of the JSON file that `polaroc threshold --out` wrote.",
    metavar="NUMBER",
)
Threshold = Annotated[str | None, IN_USE]
NeededThreshold = Annotated[str, IN_USE]


def points_named(call: Call, word: str) -> Any:
    """The thresholds of a file, or one number."""
    if Path(word).is_file():
        return saved_thresholds(call, Path(word)).table(call.in_memory.table.schema)
    number = number_of(word)
    if number is None:
        raise InvalidArgument(
            f"--threshold is {word!r}, and there is no such file.",
            hint="give the file that `polaroc threshold --out` wrote, or a number.",
        )
    return number


def called(call: Call, doing: str, threshold: str | None = None) -> Any:
    """What the function of a command returns, with the thresholds that are named."""
    cases = call.in_memory
    points = {} if threshold is None else {"points": points_named(call, threshold)}
    with progress() as say:
        say(doing)
        return call(cases, **points)
