"""`polaroc sql`: one query to paste into a warehouse, or into a model of dbt."""

from typing import Annotated

import typer

from polaroc import warehouse
from polaroc.cli.inputs import By, Positive, Score, Truth, Weight, prior_in_words
from polaroc.cli.screen import refusing
from polaroc.typing import Interpolation, Nulls
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
    dialect: Annotated[str, typer.Option(help=f"One of {', '.join(DIALECTS)}.")] = "duckdb",
    by: By = None,
    weight: Weight = None,
    positive: Positive = None,
    nulls: Annotated[Nulls, typer.Option(help="What to do with null or NaN rows.")] = "raise",
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="Prior at which AUPREC is taken, or 'observed'; repeat it for several. "
            f"[default: {' '.join(map(str, DEFAULT_PRIORS))}]",
            show_default=False,
        ),
    ] = None,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Range of priors LO HI for IAUPREC.", show_default=False),
    ] = None,
    interpolation: Annotated[Interpolation, typer.Option(help="Between ROC points.")] = "exact",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="Measure; repeat it for several. [default: all]", show_default=False),
    ] = None,
) -> None:
    """Print the query that measures every key of a table where it is.

    Example: polaroc sql --dialect snowflake --table sales.predictions --truth LABEL
    --score P --by MODEL --prior 0.05 > measures.sql
    """
    named = [truth, score, *(by or []), *([] if weight is None else [weight])]
    measures = warehouse.evaluate(
        warehouse.unseen(table, list(dict.fromkeys(named))),
        truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls,
        priors=[prior_in_words(word) for word in prior] if prior else DEFAULT_PRIORS,
        over=over, interpolation=interpolation, measures=measure,
    )  # fmt: skip
    typer.echo(warehouse.sql(measures, dialect))
