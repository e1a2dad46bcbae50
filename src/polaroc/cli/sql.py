"""`polaroc sql`: one query to paste into a warehouse, or into a model of dbt."""

from typing import Annotated, Any

import typer

from polaroc import warehouse
from polaroc.cli.commands import Call, command
from polaroc.cli.parameters import beginnings
from polaroc.cli.screen import print_notes
from polaroc.predictions.cases import columns_of
from polaroc.predictions.roles import COLUMN_ROLES
from polaroc.warehouse.queries import DIALECTS

# What a database does not do, or a query alone cannot.
LEFT_OUT = ("intervals", "level", "memory", "progress", "ranges")


@command(warehouse.evaluate, left_out=LEFT_OUT, reads=False)
def sql(
    call: Call,
    table: Annotated[
        str,
        typer.Option(
            help="Table, schema.table or catalog.schema.table, as it is stored.", metavar="TABLE"
        ),
    ],
    dialect: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(DIALECTS)}.", autocompletion=beginnings(DIALECTS)),
    ] = "duckdb",
) -> None:
    """Print the query that measures a table where it is.

    The table is not looked at: no column has a role but those that are named.

    Example: polaroc sql --dialect snowflake --table sales.predictions --truth LABEL
    --score P --model MODEL --prior 0.05 > measures.sql
    """
    columns: list[Any] = [
        column
        for role, value in call.roles.items()
        if role in COLUMN_ROLES and value is not None
        for column in columns_of(value)
    ]
    unseen = warehouse.unseen(table, list(dict.fromkeys(columns)))
    measures = call(unseen, **call.roles)
    typer.echo(warehouse.sql(measures, dialect))
    if not {"model", "fold"} & call.roles.keys():
        whose = "as those of one fold" if isinstance(call.roles.get("score"), dict) else "together"
        print_notes([f"Note: neither --model nor --fold is given, so all rows are taken {whose}."])
