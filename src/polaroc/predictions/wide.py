"""Wide tables: one score column per model."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import free_name, single_column
from polaroc.base.private_columns import private
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.predictions.row_checks import INEXACT, SCORE, score_column
from polaroc.typing import IntoExpr, Score

MODEL = "model"
CASE = "id"
EXAMPLE = Hint(
    "for example {score}, or a mapping from model to column.",
    command_line="for example {score}.",
    score=["p_logreg", "p_forest"],
)


def score_columns(score: Score | None) -> dict[str, IntoExpr]:
    """The score column of each model; none where `score` is a single column.

    Examples
    --------
    >>> score_columns({"forest": "p_forest"}), score_columns(["a", "b"]), score_columns("a")
    ({'forest': 'p_forest'}, {'a': 'a', 'b': 'b'}, {})
    """
    named: list[tuple[Any, Any]]
    if isinstance(score, Mapping):
        named = list(score.items())
    elif isinstance(score, list | tuple) and (
        not score or any(isinstance(column, str | pl.Expr) for column in score)
    ):
        named = [(_name(column), column) for column in score]
    else:
        return {}
    for model, column in named:
        single_column(column, "score")
        if not isinstance(model, str):
            raise InvalidArgument(
                f"score has the model {model!r}, allowed are names as text.", hint=EXAMPLE
            )
    models = [model for model, _ in named]
    twice = [model for model in dict.fromkeys(models) if models.count(model) > 1]
    if twice or not named:
        wrong = f"has the model {quoted(twice)} twice" if twice else "has no column"
        raise InvalidArgument(f"score {wrong}, needed is one column per model.", hint=EXAMPLE)
    return dict(named)


def rows_by_model(
    table: pl.LazyFrame | pl.DataFrame,
    scores: Mapping[str, IntoExpr],
    shared: Sequence[pl.Expr],
) -> tuple[pl.LazyFrame, list[tuple[int, pl.Expr]]]:
    """One row per case and model, and the errors that only the wide table shows, by their codes.

    The columns are `MODEL`, those that the models share, computed once per case, and `SCORE`, of
    one type that holds all scores.
    """
    columns = {private(f"score_{i}"): column for i, column in enumerate(scores.values())}
    cases = table.select(
        *shared, *(single_column(column, "score").alias(name) for name, column in columns.items())
    ).lazy()
    schema = cases.collect_schema()
    names = [name for name in schema if name not in columns]
    values: list[pl.Expr] = []
    inexact: dict[str, pl.Expr] = {}
    wrong: list[pl.Expr] = []
    if len({schema[name] for name in columns}) > 1:
        for model, (name, column) in zip(scores, columns.items(), strict=True):
            value, errors = score_column(schema[name], column, name)
            values.append(value)
            # A whole number may not fit the type of all.
            for flag in (is_so for code, is_so in errors if code == INEXACT):
                inexact[f"{name}_inexact"] = flag
                wrong.append((pl.col(MODEL) == model) & pl.col(f"{name}_inexact"))
    rows = (
        cases.with_columns(*values, **inexact)
        .unpivot([*columns], index=[*names, *inexact], variable_name=MODEL, value_name=SCORE)
        .with_columns(pl.col(MODEL).replace_strict([*columns], [*scores], return_dtype=pl.String))
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


def _name(column: object) -> object:
    if isinstance(column, str | pl.Expr):
        return single_column(column, "score").meta.output_name()
    return column
