"""`polaroc choose`: which model to take over a range of priors."""

from typing import Annotated

import typer

from polaroc.choice.by_cost import EXPECTED_COST
from polaroc.choice.choose import choose as chosen
from polaroc.choice.result import choice_parts
from polaroc.cli.keys import roles_of
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
    given_of,
    halves_in,
    tuning_of,
)
from polaroc.cli.options import (
    NullRows,
    Positive,
    ScorePrior,
    Weight,
    limits_of,
    prior_in_words,
)
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import handle_errors, print_json, print_notes, progress, show_results
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.comparison.checks import refuse_score_prior
from polaroc.errors import InvalidArgument
from polaroc.predictions.usual_keys import usual_case


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
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("choosing")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        if columns is None and case is not None:
            raise InvalidArgument(
                "--case is for predictions, and the files hold measures.",
                hint="leave it out, or give --truth and --score.",
            )
        scores_at = prior_in_words(score_prior, "score-prior")
        if columns is None:
            refuse_score_prior(scores_at)
        case = case or (None if columns is None else usual_case(source.schema()))
        roles = roles_of(source, between, block, columns, case, no_blocks=no_blocks)
        keys = roles.all if case is None else [*roles.all, case]
        result = chosen(
            given_of(
                source, columns, *roles.between_and_block, case, test_train_ratio=test_train_ratio,
                score_prior=scores_at,
            ),
            measure, over=over, level=level, incomplete=incomplete, halves=halves_in(halves),
            tuning=tuning_of(tuning, columns, keys, table, separator, decimal), cost_fn=cost_fn,
            cost_fp=cost_fp, constraints=limits, confidence=confidence,
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
