"""`polaroc gate`: whether a challenger may replace the champion, as an exit code."""

from dataclasses import fields
from typing import Annotated

import typer

from polaroc.cli.commands import Call, command
from polaroc.cli.inputs import models_named
from polaroc.cli.pipes import AsJson
from polaroc.cli.points import Threshold, called
from polaroc.cli.screen import exit_with, show_result
from polaroc.comparison.gate import gate as function
from polaroc.errors import InvalidArgument

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}

AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print the result as Markdown, for a pull request.")
]


# Points are what --threshold names.
@command(function, left_out=["points"])
def gate(
    call: Call,
    threshold: Threshold = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Test whether a challenger may replace the champion.

    Exit code 0: it is not worse; 1: it is worse; 3: undecided.

    Example: polaroc gate predictions.parquet --champion forest --challenger svm
    --truth label --score p --case id --over 0.05 0.20 --margin 0.01
    """
    if as_json and as_markdown:
        raise InvalidArgument(
            "both --json and --markdown are given.", hint="leave one of them out."
        )
    models_named(call.options, call.in_memory)
    result = called(call, "comparing", threshold)
    with exit_with(EXIT_CODES[result.verdict]):
        if as_markdown:
            typer.echo(result.markdown, nl=False)
        else:
            names = ["answer", *(one.name for one in fields(result))]
            show_result(result, names, result.warnings, as_json)
