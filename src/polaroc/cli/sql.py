"""`polaroc sql`: one query to paste into a warehouse, or into a model of dbt."""

from typing import Annotated, Literal

import typer

from polaroc import warehouse
from polaroc.cli import options as opt
from polaroc.cli.screen import print_notes

Dialect = Literal["spark", "duckdb", "postgres", "bigquery", "snowflake", "trino", "clickhouse"]


def sql(
    table: Annotated[str, opt.option("TABLE", "As it is stored, such as catalog.schema.table.")],
    truth: Annotated[
        str, opt.option("COLUMN", "Labels: true and false, 1 and 0, or by --positive.")
    ],
    score: Annotated[list[str], opt.option("COLUMN", "Scores; repeated, one per model.")],
    dialect: Annotated[Dialect, typer.Option(help="SQL of which warehouse.")] = "duckdb",
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: Annotated[opt.Text, opt.option("COLUMN", "Models.")] = None,
    fold: Annotated[opt.Texts, opt.option("COLUMN", "Folds; may be repeated.")] = None,
    count: opt.Count = None,
    weight: opt.Weight = None,
    by: opt.By = None,
    prior: opt.Priors = None,
    over: opt.Over = None,
    measure: opt.Measures = None,
    interpolation: Annotated[
        Literal["exact", "linear", "step"],
        typer.Option(help="How precision runs between two points of the ROC."),
    ] = "exact",
    quiet: opt.Quiet = False,
) -> None:
    """Print a query of the areas of a table: auc, auprec, iauprec.

    It reads no table and no file, so name all columns. It needs the extra `warehouse`: in a clone
    of the repository, pip install ".[warehouse]".

    Example: polaroc sql --dialect snowflake --table sales.predictions --truth LABEL
    --score P --model MODEL --prior 0.05 > measures.sql
    """
    roles = opt.roles({}, locals())
    options = opt.given(priors=prior, over=over, measure=measure)
    typer.echo(warehouse.sql(table, dialect, interpolation=interpolation, **roles, **options))
    if not (model or fold):
        how = "as those of one fold" if len(score) > 1 else "together"
        print_notes([f"Note: neither --model nor --fold is given, so all rows are taken {how}."])
