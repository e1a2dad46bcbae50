"""`polaroc choose`: which model to take over a range of priors."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from polaroc.choice.by_cost import EXPECTED_COST
from polaroc.choice.certainty import name_case
from polaroc.choice.choose import check_options, choose_measured
from polaroc.choice.choose import choose as chosen
from polaroc.choice.predictions import WEIGHTED, one_prior, options_of, paired
from polaroc.choice.result import Choice, choice_parts
from polaroc.cli.keys import Keys, roles_of
from polaroc.cli.measures_or_predictions import (
    Between,
    Block,
    Files,
    HalvesFiles,
    IncompleteBlocks,
    Ratio,
    Score,
    Truth,
    columns_of,
    halves_in,
    measures_of,
    predictions_or_measures,
    refuse_grid,
    tuning_of,
)
from polaroc.cli.options import (
    Columns,
    Grid,
    NullRows,
    Positive,
    ScorePrior,
    Weight,
    grid_of,
    limits_of,
    prior_in_words,
)
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import handle_errors, print_json, print_notes, progress, show_results
from polaroc.cli.sources import Decimal, Separator, Source, TableName, opened
from polaroc.comparison.layout import ratio_of
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import at_one_prior
from polaroc.predictions.wide import CASE, MODEL
from polaroc.priors.grids import check_range


@handle_errors
def choose(
    files: Files,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Range of priors LO HI, or one prior twice; by default those of the measures, "
            "equally likely.",
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            help="What the models are judged by at each prior, such as auprec, brier or log_loss; "
            "expected_cost sets the threshold of each on --tuning, too."
        ),
    ] = "auprec",
    between: Between = None,
    block: Block = None,
    no_blocks: Annotated[
        bool, typer.Option("--no-blocks", help="Each model was measured once.")
    ] = False,
    case: Annotated[
        str | None,
        typer.Option(
            help="Column that tells the cases apart: of predictions on one test set, or on folds, "
            "for which it tells the ratio of test to training cases.",
        ),
    ] = None,
    test_train_ratio: Ratio = None,
    level: Annotated[
        float, typer.Option(help="Probability that a model's interval holds its true measure.")
    ] = 0.95,
    incomplete: IncompleteBlocks = "raise",
    truth: Truth = None,
    score: Score = None,
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    grid: Grid = None,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    halves: HalvesFiles = None,
    tuning: Annotated[
        list[str] | None,
        typer.Option(
            help="For expected_cost: predictions of the same models on other cases, to set "
            "thresholds on.",
        ),
    ] = None,
    cost_fn: Annotated[
        float, typer.Option(help="For expected_cost: cost of a missed positive.")
    ] = 1.0,
    cost_fp: Annotated[float, typer.Option(help="For expected_cost: cost of a false alarm.")] = 1.0,
    constraint: Annotated[
        list[str] | None,
        typer.Option(
            help="For expected_cost: a limit that thresholds have to keep, such as precision=0.8; "
            "repeat it for several.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Probability with which the true rates of all models keep all constraints."
        ),
    ] = None,
    score_prior: ScorePrior = None,
    as_json: AsJson = False,
) -> None:
    """Choose a model for a range of priors, and say how sure.

    Example: polaroc choose 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25

    Model and threshold together: polaroc choose test.parquet --tuning tuning.parquet
    --truth label --score p --case id --over 0.05 0.20 --measure expected_cost --cost-fn 5
    """
    if no_blocks and block:
        raise InvalidArgument(
            "both --block and --no-blocks are given.", hint="leave one of them out."
        )
    limits = limits_of(constraint)
    check_options(
        measure, test_train_ratio=test_train_ratio, halves=halves, tuning=tuning, cost_fn=cost_fn,
        cost_fp=cost_fp, constraints=limits, confidence=confidence, score_prior=score_prior,
    )  # fmt: skip
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("measuring")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        if columns is None and case is not None:
            raise InvalidArgument(
                "--case is for predictions, and the files hold measures.",
                hint="leave it out, or give --truth and --score.",
            )
        roles = roles_of(source, between, block, columns, case, no_blocks=no_blocks)
        if measure == EXPECTED_COST:
            if grid is not None:
                raise InvalidArgument(
                    f"--grid is {grid}, and a cost needs none.", hint="leave --grid out."
                )
            say("choosing")
            keys = roles.all if case is None else [*roles.all, case]
            if columns is not None:
                print_notes(source.notes(columns))
            result = chosen(
                predictions_or_measures(source, columns, keys), measure=measure, over=over,
                tuning=tuning_of(tuning, columns, keys, table, separator, decimal), case=case,
                level=level, cost_fn=cost_fn, cost_fp=cost_fp, constraints=limits,
                confidence=confidence,
                **({} if columns is None else columns.arguments(roles.all)),
            )  # fmt: skip
        else:
            measure = at_one_prior(measure)
            options = choice_options(over, columns, grid, measure)
            options["score_prior"] = prior_in_words(score_prior, "score-prior")
            result = choice_by_measure(
                source, columns, roles, options, measure, over, case, test_train_ratio,
                alpha=1 - level, incomplete=incomplete, level=level, halves=halves_in(halves),
            )  # fmt: skip
        source.check_unchanged()
    print_notes(roles.notes)
    if as_json:
        together = (
            {"threshold": result.threshold, "promise": result.promise}
            if measure == EXPECTED_COST
            else {}
        )
        print_json({
            "answer": result.answer, "bayes": result.bayes, "minimax": result.minimax,
            "steadiest": result.steadiest, **together, "measure": result.measure,
            "models": result.models, "priors": result.priors,
        }, result.warnings)  # fmt: skip
        return
    show_results(choice_parts(result))


def choice_by_measure(
    source: Source,
    columns: Columns | None,
    roles: Keys,
    options: dict[str, Any],
    measure: str,
    over: tuple[float, float] | None,
    case: str | None,
    test_train_ratio: float | None,
    **judging: Any,
) -> Choice:
    """The choice by a measure, of measures or of predictions."""
    once = columns is not None and not (roles.blocks or columns.weight)
    if once:
        options["intervals"] = "wald"
    measures = measures_of(source, columns, roles.all, **options).collect()
    certainty = None
    if columns is not None and over is not None:
        certainty = WEIGHTED if columns.weight and not roles.blocks else None
        named = case or (CASE if columns.is_wide and once else None)
        keys = [key for key in roles.all if not (columns.is_wide and key == MODEL)]
        rows = () if named is None else (*keys, *([case] if case else []))
        predictions = source.predictions(columns, rows)
        if named is not None and once and columns.nulls == "raise":
            certainty = paired(
                predictions.collect(), over, roles.models[0], named, columns.truth,
                columns.score, columns.positive, measure, options["score_prior"],
            )  # fmt: skip
        elif case is not None and roles.blocks and test_train_ratio is None:
            test_train_ratio = ratio_of(predictions.select(*keys, case).collect(), keys, case)
    choice = choose_measured(
        measures, *roles.between_and_block, measure, over=over, certainty=certainty,
        test_train_ratio=test_train_ratio, **judging,
    )  # fmt: skip
    return replace(choice, warnings=name_case(choice.warnings, list(source.schema())))


def choice_options(
    over: tuple[float, float] | None,
    columns: Columns | None,
    grid: int | None = None,
    measure: str = "auprec",
) -> dict[str, Any]:
    """The options of the evaluation of predictions that a choice needs."""
    if columns is None:
        refuse_grid(grid)
        return {}
    if over is None:
        raise InvalidArgument(
            "predictions are given without a range of priors.", hint="give --over 0.05 0.20."
        )
    if one_prior(over) is None:
        check_range(*over)
        return options_of(over, measure, grid_of(over, grid))
    if grid is not None:
        raise InvalidArgument(
            f"--grid is {grid}, and --over is a single prior.", hint="leave --grid out."
        )
    return options_of(over, measure)
