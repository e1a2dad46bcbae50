"""`polaroc compare`: whether models differ, over folds."""

from pathlib import Path
from typing import Annotated

import typer

from polaroc.base.text import escape_spreadsheet
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
from polaroc.cli.outputs import Force, Output
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import handle_errors, print_json, print_notes, progress, show_results
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.comparison.compare import compare as comparison
from polaroc.comparison.design import Adjust, Target
from polaroc.comparison.result import comparison_parts
from polaroc.predictions.usual_keys import usual_case


@handle_errors
def compare(
    files: Files,
    measure: Annotated[str, typer.Option(help="What is compared.")] = "iauprec",
    between: Between = None,
    block: Block = None,
    prior: Annotated[
        str | None,
        typer.Option(help="Prior at which AUPREC is compared, or 'observed'."),
    ] = None,
    contrast: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Two priors: compare AUPREC at the first minus at the second."),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(
            help="Models trained anew on other samples, this dataset only, or these fitted models: "
            "predictions, paired by --case. [default: of several folds the first, else the last]"
        ),
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="Column that tells the cases apart, of fitted models.")
    ] = None,
    test_train_ratio: Ratio = None,
    level: Level = 0.95,
    adjust: Annotated[Adjust, typer.Option(help="How p-values of pairs are adjusted.")] = "holm",
    incomplete: IncompleteBlocks = "raise",
    seed: Annotated[int, typer.Option(help="Seed of the permutation test.", min=0)] = 0,
    truth: Truth = None,
    score: Score = None,
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Of predictions: range of priors LO HI for IAUPREC."),
    ] = None,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    halves: HalvesFiles = None,
    guarded: Guarded = False,
    score_prior: ScorePrior = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for omnibus, pairs, letters and the summary."),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Test whether models differ, and which. The tests hold for overlapping folds.

    Example: polaroc compare results --measure iauprec
    --test-train-ratio 0.25
    """
    output = None if folder is None else Output(folder, force, one_table=False)
    if output is not None:
        output.check()
    at = None if prior is None else prior_in_words(prior)
    scores_at = prior_in_words(score_prior, "score-prior")
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("measuring")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        case = case or (None if columns is None else usual_case(source.schema()))
        roles = roles_of(source, between, block, columns, case)
        say("comparing")
        result = comparison(
            given_of(
                source, columns, *roles.between_and_block, case, test_train_ratio=test_train_ratio,
                score_prior=scores_at,
            ),
            measure, prior=at, over=over, contrast=contrast, target=target, level=level,
            adjust=adjust, incomplete=incomplete, seed=seed, halves=halves_in(halves),
            guarded=guarded,
        )  # fmt: skip
        source.check_unchanged()
        if output is not None:
            with output.staging() as staging:
                escape_spreadsheet(result.omnibus).write_csv(staging / "omnibus.csv")
                escape_spreadsheet(result.pairs).write_csv(staging / "pairs.csv")
                escape_spreadsheet(result.letters).write_csv(staging / "letters.csv")
                (staging / "summary.txt").write_text(result.summary() + "\n", encoding="utf-8")
    print_notes(roles.notes)
    if as_json:
        print_json({
            "measure": result.measure, "model": result.model, "fold": result.fold,
            "size": result.size, "omnibus": result.omnibus, "pairs": result.pairs,
            "letters": result.letters,
        }, result.warnings)  # fmt: skip
        return
    show_results(comparison_parts(result), folder)
