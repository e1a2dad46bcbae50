"""`polaroc gate`: whether a challenger may replace the champion, as an exit code."""

from dataclasses import asdict, replace
from typing import Annotated

import polars as pl
import typer

from polaroc.cli.keys import roles_of
from polaroc.cli.measures_or_predictions import (
    Between,
    Block,
    Files,
    Guarded,
    HalvesFiles,
    IncompleteBlocks,
    Level,
    Ratio,
    Score,
    Truth,
    columns_of,
    given_of,
    halves_in,
)
from polaroc.cli.options import NullRows, Positive, ScorePrior, Weight, prior_in_words
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import (
    exit_with,
    handle_errors,
    print_json,
    print_notes,
    progress,
    show_results,
)
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.comparison.gate import gate as gated

EXIT_CODES = {"pass": 0, "fail": 1, "undecided": 3}


@handle_errors
def gate(
    files: Files,
    champion: Annotated[str, typer.Option(help="The model in use.")],
    challenger: Annotated[str, typer.Option(help="The model that may replace it.")],
    measure: Annotated[str, typer.Option(help="What is compared.")] = "iauprec",
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Range of priors LO HI that the measure is over."),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(help="A single prior, or 'observed', instead of a range."),
    ] = None,
    margin: Annotated[float, typer.Option(help="By how much the challenger may be worse.")] = 0.0,
    level: Level = 0.95,
    between: Between = None,
    block: Block = None,
    case: Annotated[
        str | None,
        typer.Option(help="Column that tells the cases apart, of fitted models on one test set."),
    ] = None,
    test_train_ratio: Ratio = None,
    incomplete: IncompleteBlocks = "raise",
    truth: Truth = None,
    score: Score = None,
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    halves: HalvesFiles = None,
    guarded: Guarded = False,
    score_prior: ScorePrior = None,
    as_json: AsJson = False,
) -> None:
    """Test whether a challenger may replace the champion.

    Exit code 0: it is not worse; 1: it is worse; 3: undecided.

    Example: polaroc gate predictions.parquet --champion forest --challenger svm
    --truth label --score p --case id --over 0.05 0.20 --margin 0.01
    """
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("reading")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        roles = roles_of(source, between, block, columns, case)
        given = given_of(
            source, columns, *roles.between_and_block, case, test_train_ratio=test_train_ratio,
            score_prior=prior_in_words(score_prior, "score-prior"),
        )  # fmt: skip
        say("comparing")
        in_halves = halves_in(halves)
        if given.model is not None:
            # Names of models are words here.
            words = pl.col(roles.models[0]).cast(pl.String)
            given = replace(given, table=given.table.lazy().with_columns(words))
            if in_halves is not None and roles.models[0] in in_halves.columns:
                in_halves = in_halves.with_columns(words)
        result = gated(
            given, champion=champion, challenger=challenger, measure=measure, over=over,
            prior=None if prior is None else prior_in_words(prior), margin=margin, level=level,
            incomplete=incomplete, halves=in_halves, guarded=guarded,
        )  # fmt: skip
        source.check_unchanged()
    print_notes(roles.notes)
    with exit_with(EXIT_CODES[result.verdict]):
        if as_json:
            print_json({"answer": result.answer, **asdict(result)}, result.warnings)
        else:
            show_results(
                [result.answer, result.numbers, *(f"Note: {line}" for line in result.warnings)]
            )
