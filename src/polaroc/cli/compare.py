"""`polaroc compare`: whether models differ, over folds."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polaroc.base.text import escape_spreadsheet
from polaroc.cli.keys import roles_of
from polaroc.cli.measures_or_predictions import (
    Alpha,
    Between,
    Block,
    Files,
    Guarded,
    HalvesFiles,
    IncompleteBlocks,
    Ratio,
    Score,
    Truth,
    columns_of,
    halves_in,
    measures_of,
    paired_predictions,
    refuse_one_test_set,
)
from polaroc.cli.options import NullRows, Positive, ScorePrior, Weight, prior_in_words
from polaroc.cli.outputs import Force, Output
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import handle_errors, print_json, print_notes, progress, show_results
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.comparison.compare import compare as comparison
from polaroc.comparison.design import Adjust, Target
from polaroc.comparison.result import comparison_parts
from polaroc.measures.catalog import CATALOG
from polaroc.typing import Prior


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
        Target,
        typer.Option(
            help="Models trained anew on other samples, this dataset only, or these fitted models: "
            "predictions, paired by --case."
        ),
    ] = "algorithm",
    case: Annotated[
        str, typer.Option(help="Column that tells the cases apart, of fitted models.")
    ] = "id",
    test_train_ratio: Ratio = None,
    alpha: Alpha = 0.005,
    level: Annotated[
        float | None,
        typer.Option(
            help="Confidence of the intervals of pairs: one leaves out 0 where the adjusted p is "
            "below 1 - level. [default: 1 - alpha]",
        ),
    ] = None,
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
        of_case = case if target == "trained" else None
        roles = roles_of(source, between, block, columns, of_case)
        refuse_one_test_set(columns, roles.blocks, target)
        if target == "trained":
            compared, of_target = paired_predictions(source, columns, roles.all, case)
            of_target |= {"over": over, "score_prior": scores_at}
        else:
            options: dict[str, Any] = {
                "over": over, "priors": _priors(at, contrast), "score_prior": scores_at,
            }  # fmt: skip
            if measure in CATALOG:
                options["measures"] = sorted({measure, "auc"})
            compared = measures_of(source, columns, roles.all, **options)
            of_target = {}
        say("comparing")
        result = comparison(
            compared, measure, *roles.between_and_block, prior=at, contrast=contrast,
            target=target,
            test_train_ratio=test_train_ratio, alpha=alpha, level=level, adjust=adjust,
            incomplete=incomplete, seed=seed, halves=halves_in(halves), guarded=guarded,
            **of_target,
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
            "measure": result.measure, "between": result.between, "block": result.block,
            "blocks": result.blocks, "omnibus": result.omnibus, "pairs": result.pairs,
            "letters": result.letters,
        }, result.warnings)  # fmt: skip
        return
    show_results(comparison_parts(result), folder)


def _priors(prior: Prior | None, contrast: tuple[float, float] | None) -> list[Prior]:
    if contrast is not None:
        return list(contrast)
    at: Prior = "observed" if prior is None else prior
    return [at]
