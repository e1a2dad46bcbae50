"""Commands on models: which to take, and whether they differ."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

import polaroc as pr
from polaroc.cli.commands import Call, command
from polaroc.cli.inputs import models_named
from polaroc.cli.outputs import Force, Output, out_option, write_tables
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import exit_with, progress, show_result
from polaroc.errors import InvalidArgument
from polaroc.thresholds.named_rates import EXPECTED_COST

TABLES = ("omnibus", "pairs", "letters")
OF_COMPARISON = ("measure", "model", "fold", "case", "size", *TABLES)


@command(pr.compare)
def compare(
    call: Call,
    folder: Annotated[
        Path | None,
        out_option("Folder for omnibus, pairs, letters and the summary."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Test whether models differ, and which. The tests hold for overlapping folds.

    Example: polaroc compare results --measure iauprec
    --test-train-ratio 0.25
    """
    output = Output.checked(folder, force, one_table=False)
    result = result_of(call, "comparing")
    if output is not None:
        with output.staging() as staging:
            write_tables(result, TABLES, staging)
            (staging / "summary.txt").write_text(result.summary() + "\n", encoding="utf-8")
    show_result(result, OF_COMPARISON, result.warnings, as_json, folder)


OF_CHOICE = ("answer", "bayes", "minimax", "steadiest", "measure", "models", "priors")
TOGETHER = ("threshold", "promise")


@command(pr.choose)
def choose(call: Call, as_json: AsJson = False) -> None:
    """Choose a model for a range of priors, and say how sure.

    Example: polaroc choose 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25

    Model and threshold together: polaroc choose test.parquet --tuning tuning.parquet
    --truth label --score p --case id --over 0.05 0.20 --cost-fn 5
    """
    result = result_of(call, "choosing")
    names = (*OF_CHOICE, *TOGETHER) if result.measure == EXPECTED_COST else OF_CHOICE
    show_result(result, names, result.warnings, as_json)


def result_of(call: Call, doing: str) -> Any:
    """The result of the function of a command."""
    cases = call.in_memory
    with progress() as say:
        say(doing)
        return call(cases)


EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}

AsMarkdown = Annotated[
    bool, typer.Option("--markdown", help="Print the result as Markdown, for a pull request.")
]


@command(pr.gate)
def gate(
    call: Call,
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
    result = result_of(call, "comparing")
    with exit_with(EXIT_CODES[result.verdict]):
        if as_markdown:
            typer.echo(result.markdown, nl=False)
        else:
            names = ["answer", *(one.name for one in fields(result))]
            show_result(result, names, result.warnings, as_json)
