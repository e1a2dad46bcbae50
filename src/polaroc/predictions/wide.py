"""Wide tables: one score column per model."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import free_name
from polaroc.base.private_columns import private
from polaroc.predictions.row_checks import INEXACT, SCORE, score_column

MODEL = "model"
CASE = "id"


def rows_by_model(
    table: pl.LazyFrame | pl.DataFrame,
    scores: Sequence[str],
    shared: Sequence[pl.Expr],
) -> tuple[pl.LazyFrame, list[tuple[int, pl.Expr]]]:
    """One row per case and model, and the errors that only the wide table shows, by their codes.

    The columns are `MODEL`, those that the models share, computed once per case, and `SCORE`, of
    one type that holds all scores.
    """
    columns = {private(f"score_{i}"): column for i, column in enumerate(scores)}
    cases = table.select(
        *shared, *(pl.col(column).alias(name) for name, column in columns.items())
    ).lazy()
    schema = cases.collect_schema()
    names = [name for name in schema if name not in columns]
    values: list[pl.Expr] = []
    inexact: dict[str, pl.Expr] = {}
    wrong: list[pl.Expr] = []
    if len({schema[name] for name in columns}) > 1:
        for name, model in columns.items():
            value, errors = score_column(schema[name], model, name)
            values.append(value)
            # A whole number may not fit the type of all.
            for flag in (is_so for code, is_so in errors if code == INEXACT):
                inexact[f"{name}_inexact"] = flag
                wrong.append((pl.col(MODEL) == model) & pl.col(f"{name}_inexact"))
    rows = (
        cases.with_columns(*values, **inexact)
        .unpivot([*columns], index=[*names, *inexact], variable_name=MODEL, value_name=SCORE)
        .with_columns(
            pl.col(MODEL).replace_strict([*columns], [*columns.values()], return_dtype=pl.String)
        )
    )
    return rows, [(INEXACT, pl.any_horizontal(wrong))] if wrong else []


def with_row_cases(
    frame: pl.LazyFrame | pl.DataFrame,
) -> tuple[pl.LazyFrame | pl.DataFrame, str]:
    """A wide table with a column that numbers its rows, each being a case, and its name.

    Examples
    --------
    >>> with_row_cases(pl.DataFrame({"id": [7, 7], "p": [0.1, 0.2]}))[1]
    'id_1'
    """
    name = free_name(CASE, frame.collect_schema())
    return frame.with_row_index(name), name
