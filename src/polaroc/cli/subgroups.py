"""`polaroc subgroups`: what models do in each subgroup, and how far subgroups are apart."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polaroc.cli.commands import Call, command
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import print_json, progress, show_results
from polaroc.cli.threshold import number_of, saved_thresholds
from polaroc.comparison.subgroup_result import subgroup_parts
from polaroc.comparison.subgroups import subgroups as function
from polaroc.errors import InvalidArgument

SHOWN = ("answer", "parts", "gaps", "largest", "level")


# Points are what --threshold names.
@command(function, left_out=["points"])
def subgroups(
    call: Call,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Judge this threshold, or those of the JSON file that `polaroc threshold --out` "
            "wrote.",
            metavar="NUMBER",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show each subgroup, and which gaps are more than chance.

    Example: polaroc subgroups test.parquet --truth label --score p --subgroup site
    --cluster patient --threshold 0.31 --prior 0.05
    """
    points = {} if threshold is None else {"points": points_named(call, threshold)}
    cases = call.in_memory
    with progress() as say:
        say("dividing")
        result = call(cases, **points)
    if as_json:
        print_json({name: getattr(result, name) for name in SHOWN}, result.warnings)
        return
    show_results(subgroup_parts(result))


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
