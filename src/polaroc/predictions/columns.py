"""The columns of a table by their roles, and its rows in canonical columns."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, TypedDict

import polars as pl

from polaroc.base.columns import (
    LABEL,
    OF_THRESHOLDS,
    PRIVATE,
    RESERVED,
    ROW,
    TEXTUAL,
    VALUE,
    column_name,
    column_names,
    private,
)
from polaroc.base.text import is_missing_text
from polaroc.errors import InvalidArgument, InvalidPredictions, called_function, quoted
from polaroc.predictions.row_checks import (
    INEXACT,
    check_numeric,
    score_column,
    truth_column,
    weight_column,
)
from polaroc.typing import Label, Nulls, PolarsFrame

# Roles without which there is nothing to compute.
NEEDED = ("truth", "score")
# Roles that a column has by its name, where no other is named.
BY_DEFAULT = (*NEEDED, "model", "fold", "case")
# Roles that name columns, in the order of the canonical table.
ROLES = ("model", "fold", "case", "cluster", "truth", "score", "weight", "count")
# Names of the canonical columns, which no column of `by` may have.
CANONICAL = frozenset((*ROLES, "error"))
# Column: whether a score of a wide table lost digits when it was cast to Float64.
IS_INEXACT = private("inexact")
# Roles whose values identify rows.
IDENTIFYING = ("model", "fold", "case", "cluster", "by")
# Roles that may have several columns.
SEVERAL = ("fold", "by", "score")
# Roles whose column can have no other role.
EXCLUSIVE = {"truth", "score", "weight", "count"}
# Pairs of other roles that one column cannot have.
DISTINCT_ROLES = ({"model", "fold"}, {"model", "case"}, {"by", "model"}, {"by", "fold"})


class Columns(TypedDict, total=False):
    """The keywords, which the docstring of `cases` explains."""

    truth: str | None
    score: str | Sequence[str] | None
    model: str | None
    fold: str | Sequence[str] | None
    case: str | None
    cluster: str | None
    weight: str | None
    count: str | None
    by: str | Sequence[str] | None
    positive: Label | Sequence[Label] | None
    nulls: Nulls


def named_columns(
    columns: Mapping[str, Any], schema: Mapping[str, pl.DataType], keep: Sequence[str] = ()
) -> dict[str, list[str]]:
    """The columns of each role; raise for columns that are missing or cannot have their role."""
    unknown = [name for name in columns if name not in Columns.__annotations__]
    if unknown:
        function = called_function()
        raise TypeError(f"{function} has no keyword argument {quoted(unknown)}; see its help")
    names = {}
    for role in (*ROLES, "by"):
        value = columns.get(role)
        if role not in SEVERAL and value is not None:
            column_name(value, role)
        if of_role := column_names(value, role):
            names[role] = of_role
    taken = set(chain(*names.values()))
    for role in BY_DEFAULT:
        if role not in columns and role not in taken and role in schema:
            names[role] = [role]
    check_columns(schema, [*keep, *chain(*names.values())])
    _check_roles_together(names, columns)
    times = [name for name in keep if not name.startswith(PRIVATE)]
    for role, of_role in (("by", names.get("by", [])), ("time", times)):
        for name in of_role:
            if name in CANONICAL | RESERVED | OF_THRESHOLDS or name.startswith(PRIVATE):
                raise InvalidArgument(
                    f"{role} has the column {name!r}, reserved for polaroc's own columns.",
                    hint="rename it first; model, fold and case are no columns of by.",
                )
    for name in {name for role in IDENTIFYING for name in names.get(role, ())}:
        if schema[name] == pl.Object:
            raise InvalidPredictions(
                f"the column {name!r} has values of different types.",
                hint="make them one type first, for example with .astype(str) in pandas.",
            )
    return names


def _check_roles_together(names: Mapping[str, list[str]], columns: Mapping[str, Any]) -> None:
    """Raise for roles that exclude each other, and for columns that have two such roles."""
    if "weight" in names and "count" in names:
        raise InvalidArgument(
            "count and weight are both given: a row either stands for equal cases or has a weight.",
            hint="repeat the rows as often as their count says, and keep weight.",
        )
    if is_wide(columns) and "model" in names:
        raise InvalidArgument(
            f"score has one column per model, and model is {names['model'][0]!r}, too.",
            hint="model=None, or give one column of scores.",
        )
    for one, other in combinations(names, 2):
        are_exclusive = {one, other} & EXCLUSIVE or {one, other} in DISTINCT_ROLES
        shared = [name for name in names[one] if name in names[other]]
        if are_exclusive and shared:
            raise InvalidArgument(
                f"the column {shared[0]!r} is {one} and {other}, which are different things.",
                hint=f"name another column, or none: {other}=None.",
            )


def is_wide(columns: Mapping[str, Any]) -> bool:
    """Whether the scores are a list of columns, each of a model."""
    return bool(columns.get("score")) and not isinstance(columns["score"], str)


def check_columns(present: Collection[str], wanted: Sequence[str]) -> None:
    """Refuse names that are no columns of the table."""
    unknown = list(dict.fromkeys(name for name in wanted if name not in present))
    if unknown:
        raise InvalidArgument(
            f"there is no column {quoted(unknown)}; the table has "
            f"{quoted([*present]) or 'no columns'}.",
            hint="check the spelling of the columns.",
        )


def canonical_rows(
    table: Any, columns: Mapping[str, Any], names: Mapping[str, Sequence[str]], keep: Sequence[str]
) -> tuple[Any, tuple[int, ...]]:
    """The rows in canonical columns, and codes of errors that may occur.

    `error` is the code of the reason why a row cannot be ranked, and null for a valid row.
    """
    schema, scores = table.collect_schema(), names.get("score", [])

    def key(name: str) -> pl.Expr:
        """A key; NaN is a missing value, as in pandas."""
        return pl.col(name).fill_nan(None) if schema[name].is_float() else pl.col(name)

    if isinstance(table, pl.DataFrame):
        _refuse_nan(table, {*chain(*(names.get(role, ()) for role in ("by", "model", "fold")))})
    chosen = [*map(key, names.get("by", ())), *map(pl.col, keep)]
    if "fold" in names:
        folds = names["fold"]
        chosen.append((key(folds[0]) if len(folds) == 1 else _joined(folds)).alias("fold"))
    for role in ("model", "case", "cluster"):
        if role in names:
            chosen.append(key(names[role][0]).alias(role))
    values, row_errors = _truth_and_weight(table, names, columns.get("positive"))
    # Before a wide table becomes long, since each row has one truth and many scores.
    chosen += [*values, _first_code(row_errors).alias("error")]
    if is_wide(columns):
        if "case" not in names:
            table = table.with_row_index(ROW)
            chosen.append(pl.col(ROW).alias("case"))
        rows = one_row_per_score(table, chosen, scores, "model")
    else:
        inexact = [IS_INEXACT] if IS_INEXACT in schema else []
        rows = table.select(*chosen, *(pl.col(name).alias("score") for name in scores), *inexact)
    if not scores:
        return rows, (*row_errors,)
    types = rows.collect_schema()
    if types["score"] == pl.String:
        check_numeric("score", pl.String(), scores, _first_word(rows.lazy()))
    score, score_errors = score_column(pl.col("score"), types["score"], scores)
    if IS_INEXACT in types:
        score_errors[INEXACT] = pl.col(IS_INEXACT)
    rows = rows.with_columns(score=score, error=pl.coalesce(_first_code(score_errors), "error"))
    return rows.drop(IS_INEXACT, strict=False), (*score_errors, *row_errors)


def _refuse_nan(table: pl.DataFrame, keys: Collection[str]) -> None:
    """Raise for keys that are NaN."""
    for name in keys:
        if table.schema[name].is_float() and (count := table[name].is_nan().sum()):
            raise InvalidPredictions(
                f"the key {name!r} is NaN in {count:,} row(s).",
                hint=f"make it null first: pl.col({name!r}).fill_nan(None).",
            )


def _truth_and_weight(
    table: PolarsFrame, names: Mapping[str, Sequence[str]], positive: Any
) -> tuple[list[pl.Expr], dict[int, pl.Expr]]:
    """The columns `truth`, and `weight` or `count`, and the errors of a row by code."""
    schema, chosen = table.collect_schema(), list[pl.Expr]()
    errors: dict[int, pl.Expr] = {}
    if "truth" in names:
        (name,) = names["truth"]
        labels = None
        if isinstance(table, pl.LazyFrame):
            # Labels are checked on the rows that were read: a plan is not read again.
            chosen += [] if positive is None else [pl.col(name).alias(LABEL)]
        elif schema[name] in TEXTUAL:
            labels = table[name].unique()
        truth, errors = truth_column(pl.col(name), schema[name], name, positive, labels)
        chosen.append(truth.alias("truth"))
    for role in ("weight", "count"):
        if role in names:
            (name,) = names[role]
            weight, of_weight = weight_column(pl.col(name), schema[name], name, role)
            chosen.append(weight.alias(role))
            errors |= of_weight
    return chosen, errors


def _first_code(errors: Mapping[int, pl.Expr]) -> pl.Expr:
    """The code of the first error that a row has, else null."""
    return pl.coalesce(
        pl.lit(None, pl.UInt8),
        *(pl.when(is_wrong).then(pl.lit(code, pl.UInt8)) for code, is_wrong in errors.items()),
    )


def _joined(folds: Sequence[str]) -> pl.Expr:
    """Several columns of folds, joined by dots."""
    parts = []
    for name in folds:
        part = pl.col(name).cast(pl.String)
        for mark in ("\\", "."):
            # Dots within values are escaped, so that different folds stay different.
            part = part.str.replace_all(mark, f"\\{mark}", literal=True)
        parts.append(part.fill_null("\\null"))
    return pl.concat_str(*parts, separator=".")


def one_row_per_score(
    table: Any, chosen: Sequence[pl.Expr], scores: Sequence[str], key: str
) -> Any:
    """The rows of a wide table, one for each column of scores, whose name is the `key`.

    Besides the columns `chosen` they have the `score`, and `IS_INEXACT`.
    """
    schema = table.collect_schema()
    # Private names, since a score column may have the name of a chosen column.
    models = {private(f"score_{i}"): name for i, name in enumerate(scores)}
    pairs = {}
    for private_name, name in models.items():
        value, errors = score_column(pl.col(name), schema[name], name)
        inexact = errors.get(INEXACT, pl.lit(False))
        pairs[private_name] = pl.struct(value.alias("score"), inexact.alias(IS_INEXACT))
    index = pl.selectors.exclude([*models])
    wide = table.select(*chosen, **pairs)
    long = wide.unpivot([*models], index=index, variable_name=key, value_name=VALUE)
    names = pl.col(key).replace_strict([*models], [*scores], return_dtype=pl.String)
    return long.with_columns(names).unnest(VALUE)


def _first_word(rows: pl.LazyFrame) -> str:
    """The first score that is text and no number, as the end of a message."""
    text = pl.col("score")
    is_no_number = text.cast(pl.Float64, strict=False).is_null() & ~is_missing_text(text)
    numbered = rows.with_row_index(ROW, offset=1).filter(is_no_number)
    first = numbered.select("score", ROW).head(1).collect()
    return "; {!r} in row {:,} is none".format(*first.row(0)) if first.height else ""
