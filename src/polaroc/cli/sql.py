"""`polaroc sql`: one query to paste into a warehouse, or into a model of dbt."""

from typing import Annotated

import typer

from polaroc import warehouse
from polaroc.cli.inputs import (
    BetweenPoints,
    By,
    NullRows,
    Over,
    Positive,
    PriorWords,
    Score,
    Truth,
    Weight,
    beginnings,
    priors_in_words,
)
from polaroc.cli.screen import refusing
from polaroc.wanted import DEFAULT_PRIORS
from polaroc.warehouse.queries import DIALECTS


@refusing
def sql(
    truth: Truth,
    score: Score,
    table: Annotated[
        str,
        typer.Option(
            help="Table, schema.table or catalog.schema.table, as it is stored.",
            show_default=False,
        ),
    ],
    dialect: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(DIALECTS)}.", autocompletion=beginnings(DIALECTS)),
    ] = "duckdb",
    by: By = None,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    prior: PriorWords = None,
    over: Over = None,
    interpolation: BetweenPoints = "exact",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="Measure; repeat it for several. [default: all]", show_default=False),
    ] = None,
) -> None:
    """Print the query that measures a table where it is.

    Example: polaroc sql --dialect snowflake --table sales.predictions --truth LABEL
    --score P --by MODEL --prior 0.05 > measures.sql
    """
    named = [truth, score, *(by or []), *([] if weight is None else [weight])]
    measures = warehouse.evaluate(
        warehouse.unseen(table, list(dict.fromkeys(named))),
        truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls,
        priors=priors_in_words(prior) or DEFAULT_PRIORS,
        over=over, interpolation=interpolation, measures=measure,
    )  # fmt: skip
    typer.echo(warehouse.sql(measures, dialect))
