"""`polaroc sql`: one query to paste into a warehouse, or into a model of dbt."""

from typing import Annotated

import typer

from polaroc import warehouse
from polaroc.cli.keys import NoBy, named_keys
from polaroc.cli.options import (
    BetweenPoints,
    Columns,
    NullRows,
    Over,
    Positive,
    PriorWords,
    Score,
    ScorePrior,
    Truth,
    Weight,
    beginnings,
    prior_in_words,
    priors_in_words,
    score_columns,
)
from polaroc.cli.screen import handle_errors, print_notes
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.warehouse.queries import DIALECTS


@handle_errors
def sql(
    truth: Truth,
    score: Score,
    table: Annotated[
        str,
        typer.Option(help="Table, schema.table or catalog.schema.table, as it is stored."),
    ],
    dialect: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(DIALECTS)}.", autocompletion=beginnings(DIALECTS)),
    ] = "duckdb",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Key column such as model or fold; repeat it for several: the table is not looked "
            "at.",
        ),
    ] = None,
    no_by: NoBy = False,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    prior: PriorWords = None,
    over: Over = None,
    interpolation: BetweenPoints = "exact",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="Measure; repeat it for several. [default: all]"),
    ] = None,
    score_prior: ScorePrior = None,
) -> None:
    """Print the query that measures a table where it is.

    Example: polaroc sql --dialect snowflake --table sales.predictions --truth LABEL
    --score P --by MODEL --prior 0.05 > measures.sql
    """
    columns = Columns(truth, score_columns(score), weight, [*positive] if positive else None, nulls)
    arguments = columns.arguments(named_keys(by, no_by, columns).all)
    measures = warehouse.evaluate(
        warehouse.unseen(table, list(dict.fromkeys([*columns.names, *arguments["by"]]))),
        **arguments, priors=priors_in_words(prior) or DEFAULT_PRIORS,
        over=over, interpolation=interpolation, measures=measure,
        score_prior=prior_in_words(score_prior, "score-prior"),
    )  # fmt: skip
    typer.echo(warehouse.sql(measures, dialect))
    if not (by or no_by):
        whose = "as those of one fold" if columns.is_wide else "as one model's"
        print_notes([f"Note: no --by is given, so all rows are taken {whose} (--no-by says so)."])
