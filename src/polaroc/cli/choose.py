"""`polaroc choose`: which model to take over a range of priors."""

from typing import Annotated, Any, TypeGuard

import polars as pl
import typer

from polaroc.choice.choose import choose as choice
from polaroc.choice.result import choice_parts
from polaroc.cli.inputs import Columns, Grid, NullRows, Positive, Weight, grid_of
from polaroc.cli.keys import roles_of, tell
from polaroc.cli.measured import (
    Alpha,
    Between,
    Block,
    Files,
    IncompleteBlocks,
    Ratio,
    Score,
    Truth,
    columns_of,
    measures_of,
    refuse_grid,
    show_results,
)
from polaroc.cli.pipes import AsJson, print_json
from polaroc.cli.screen import handle_errors, progress
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.errors import InvalidArgument
from polaroc.priors.grids import check_range


@handle_errors
def choose(
    files: Files,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Range of priors LO HI, or one prior twice; by default those of the measures, "
            "equally likely.",
            show_default=False,
        ),
    ] = None,
    between: Between = None,
    block: Block = None,
    no_blocks: Annotated[
        bool, typer.Option("--no-blocks", help="Each model was measured once.")
    ] = False,
    test_train_ratio: Ratio = None,
    alpha: Alpha = 0.005,
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
    as_json: AsJson = False,
) -> None:
    """Choose a model for a range of priors, and say how sure.

    Example: polaroc choose 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --test-train-ratio 0.25
    """
    if no_blocks and block:
        raise InvalidArgument(
            "both --block and --no-blocks are given.", hint="leave one of them out."
        )
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("measuring")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        options = choice_options(over, columns, grid)
        roles = roles_of(source, between, block, columns, no_blocks=no_blocks)
        measures = measures_of(source, columns, roles.all, **options)
        say("choosing")
        if _is_one_prior(over):
            at_prior = pl.col("prior").is_null() | (pl.col("prior") == over[0])
            # Without the area over a range the choice is made at the prior that is left.
            measures, over = measures.filter(at_prior, pl.col("measure") != "iauprec"), None
        result = choice(
            measures, *roles.between_and_block, over=over, test_train_ratio=test_train_ratio,
            alpha=alpha, incomplete=incomplete,
        )  # fmt: skip
        source.check_unchanged()
    tell(roles.notes)
    if as_json:
        print_json({
            "answer": result.answer, "bayes": result.bayes, "minimax": result.minimax,
            "steadiest": result.steadiest, "measure": result.measure, "models": result.models,
            "priors": result.priors, "warnings": result.warnings,
        })  # fmt: skip
        return
    show_results(choice_parts(result))


def choice_options(
    over: tuple[float, float] | None, columns: Columns | None, grid: int | None = None
) -> dict[str, Any]:
    """What a choice needs to be evaluated of predictions."""
    if columns is None:
        refuse_grid(grid)
        return {}
    if over is None:
        raise InvalidArgument(
            "predictions are given without a range of priors.", hint="give --over 0.05 0.20."
        )
    if _is_one_prior(over):
        if grid is not None:
            raise InvalidArgument(
                f"--grid is {grid}, and --over is a single prior.", hint="leave --grid out."
            )
        return {"priors": [over[0]], "measures": ["auprec", "auc"]}
    check_range(*over)
    return {
        "over": over,
        "priors": grid_of(over, grid),
        "measures": ["auprec", "iauprec", "sens", "auc"],
    }


def _is_one_prior(over: tuple[float, float] | None) -> TypeGuard[tuple[float, float]]:
    """Whether both ends of the range are the same prior."""
    return over is not None and over[0] == over[1]
