"""Wide tables: one score column per model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import free_name, single_column, type_name
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
        if isinstance(score, Mapping) and isinstance(model, str):
            _refuse_values(column, model, [name for name, _ in named])
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


def _refuse_values(column: object, model: str, models: Sequence[object]) -> None:
    """Refuse an array in the place of the name of a column."""
    if isinstance(column, str | pl.Expr) or not hasattr(column, "__len__"):
        return
    names = [str(name) for name in models]
    values = ", ".join(f"{name!r}: …" for name in names[:2])
    raise InvalidArgument(
        f"score is of type {type_name(column)} for the model {model!r}, allowed are column names "
        "and Polars expressions.",
        hint=Hint(
            "put the arrays in the table and name its columns: "
            f"pr.evaluate({{'truth': y, {values}}}, {{truth}}, {{score}}).",
            truth="truth",
            score=names[:2],
        ),
    )


def refuse_turned(scores: Mapping[str, IntoExpr], present: Collection[str]) -> None:
    """Refuse a mapping from column to model, which is the wrong way round."""
    values = [value for value in scores.values() if isinstance(value, str)]
    if scores and set(scores) <= set(present) and not set(values) & set(present):
        column, model = next(iter(scores.items()))
        raise InvalidArgument(
            f"score has the columns {quoted(values)}, and the table has {quoted([*scores])}.",
            hint=Hint(
                "it maps from model to column: {score}.",
                command_line="the model comes first: {score}.",
                score={str(model): column},
            ),
        )


def rows_by_model(
    table: pl.LazyFrame | pl.DataFrame,
    scores: Mapping[str, IntoExpr],
    shared: Sequence[pl.Expr],
) -> tuple[pl.LazyFrame, list[tuple[int, pl.Expr]]]:
    """One row per case and model, and the errors that only the wide table shows.

    Parameters
    ----------
    table
        One row per case.
    scores
        The score column of each model.
    shared
        Columns that the models share; they are computed once per case.

    Returns
    -------
    tuple of LazyFrame and list
        `MODEL`, the shared columns and `SCORE`, of one type that holds all scores;
        error codes with the expressions of rows that have them.
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
