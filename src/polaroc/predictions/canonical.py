"""The columns of a table by their roles, and its rows in canonical columns."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.columns import AS_TEXT, OF_THRESHOLDS, RENAME, RESERVED, column_name, column_names
from polaroc.base.private_columns import LABEL, PRIVATE, private
from polaroc.base.text import is_missing_text
from polaroc.errors import InvalidArgument, InvalidPredictions, quoted
from polaroc.predictions.columns import BY_DEFAULT, CANONICAL, KEYWORDS, ROLES
from polaroc.predictions.row_checks import (
    INEXACT,
    column_in_words,
    score_column,
    truth_column,
    weight_column,
)

WRITE_NUMBERS = "write all of them as numbers; a missing one is null, in CSV an empty field or NA."
DECIMAL_COMMA = (
    "is that a decimal comma? Read it with pl.read_csv(..., decimal_comma=True), on the command "
    "line with --decimal ,."
)
# Whether a score of a wide table lost digits when it was made a float.
IS_INEXACT = private("inexact")
# Roles whose values tell rows apart.
IDENTIFYING = ("model", "fold", "case", "cluster", "by")
# Roles that may have several columns.
SEVERAL = ("fold", "by", "score")
# Roles whose column can have no other role.
EXCLUSIVE = {"truth", "score", "weight", "count"}
# Pairs of other roles that one column cannot have.
DISTINCT_ROLES = ({"model", "fold"}, {"model", "case"}, {"by", "model"}, {"by", "fold"})


class CanonicalRows(NamedTuple):
    """Rows in canonical columns, the original type of the scores, and codes of possible errors."""

    rows: Any
    score_type: pl.DataType
    errors: tuple[int, ...]


def named_columns(
    columns: Mapping[str, Any], schema: Mapping[str, pl.DataType], keep: Sequence[str] = ()
) -> dict[str, list[str]]:
    """The columns of each role; raise for columns that are missing or cannot have their role."""
    unknown = [name for name in columns if name not in KEYWORDS]
    if unknown:
        raise TypeError(f"there is no keyword argument {quoted(unknown)}; see help(pr.cases)")
    names = {}
    for role in (*ROLES, "by"):
        if role in columns:
            value = columns[role]
            if role in SEVERAL:
                of_role = column_names(value, role)
            else:
                of_role = [] if value is None else [column_name(value, role)]
            if role == "score" and value is not None and not of_role:
                raise InvalidArgument("score has no column.", hint="name one, or one per model.")
            if of_role:
                names[role] = of_role
    taken = set(chain(*names.values()))
    for role in BY_DEFAULT:
        if role not in columns and role not in taken and role in schema:
            names[role] = [role]
    check_columns(schema, [*keep, *chain(*names.values())])
    if "weight" in names and "count" in names:
        raise InvalidArgument(
            "count and weight are both given: a row either stands for equal cases or has a weight.",
            hint="repeat the rows as often as their count says, and keep weight.",
        )
    for one, other in combinations(names, 2):
        are_exclusive = {one, other} & EXCLUSIVE or {one, other} in DISTINCT_ROLES
        shared = [name for name in names[one] if name in names[other]]
        if are_exclusive and shared:
            raise InvalidArgument(
                f"the column {shared[0]!r} is {one} and {other}, which are different things.",
                hint=f"name another column, or none: {other}=None.",
            )
    if is_wide(columns) and "model" in names:
        raise InvalidArgument(
            f"score has one column per model, and model is {names['model'][0]!r}, too.",
            hint="model=None, or give one column of scores.",
        )
    for name in names.get("by", ()):
        if name in BY_DEFAULT and columns.get(name, name) in (name, [name]):
            raise InvalidArgument(
                f"by has the column {name!r}, which is the {name}.", hint="leave it out of by."
            )
        _refuse_reserved("by", name)
    for name in (name for name in keep if not name.startswith(PRIVATE)):
        _refuse_reserved("time", name)
        if any(name in names.get(role, ()) for role in ("by", "model", "fold")):
            raise InvalidArgument(
                f"the time {name!r} is among by, model and fold, too.", hint="leave it out there."
            )
    for name in {name for role in IDENTIFYING for name in names.get(role, ())}:
        if schema[name] == pl.Object:
            raise InvalidPredictions(
                f"the column {name!r} has values of different types.",
                hint="make them one type first, for example with .astype(str) in pandas.",
            )
    folds = names.get("fold", [])
    for name in folds if len(folds) > 1 else []:
        if schema[name].is_nested() or schema[name] in (pl.Binary, pl.Duration):
            raise InvalidArgument(
                f"fold has several columns, which are joined as text, and {name!r} is "
                f"{schema[name]}.",
                hint=AS_TEXT,
            )
    return names


def is_wide(columns: Mapping[str, Any]) -> bool:
    """Whether the scores are a list of columns, each of a model."""
    return columns.get("score") is not None and not isinstance(columns["score"], str)


def check_columns(present: Collection[str], wanted: Sequence[str]) -> None:
    """Refuse names that are no columns of the table."""
    unknown = list(dict.fromkeys(name for name in wanted if name not in present))
    if unknown:
        raise InvalidArgument(
            f"there is no column {quoted(unknown)}; the table has "
            f"{quoted([*present]) or 'no columns'}.",
            hint="check the spelling of the columns.",
        )


def _refuse_reserved(argument: str, name: str) -> None:
    """Refuse the name of a column of canonical tables or of results."""
    if name in CANONICAL | RESERVED | OF_THRESHOLDS or name.startswith(PRIVATE):
        raise InvalidArgument(
            f"{argument} has the column {name!r}, reserved for polaroc's own columns.", hint=RENAME
        )


def canonical_rows(
    table: pl.DataFrame | pl.LazyFrame,
    columns: Mapping[str, Any],
    names: Mapping[str, Sequence[str]],
    keep: Sequence[str],
) -> CanonicalRows:
    """The rows of a table in canonical columns.

    `error` is the code of the reason why a row cannot be ranked, and null for a valid row.
    """
    schema, scores = table.lazy().collect_schema(), names.get("score", [])
    positive = columns.get("positive")
    if isinstance(table, pl.DataFrame):
        _refuse_nan(
            table, [name for role in ("by", "model", "fold") for name in names.get(role, ())]
        )

    def key(name: str) -> pl.Expr:
        # NaN is a missing value, as in pandas.
        return pl.col(name).fill_nan(None) if schema[name].is_float() else pl.col(name)

    chosen = [*map(key, names.get("by", ())), *map(pl.col, keep)]
    if "fold" in names:
        folds = names["fold"]
        chosen.append((key(folds[0]) if len(folds) == 1 else _joined(folds)).alias("fold"))
    raw = {role: names[role][0] for role in ROLES if role in names and role not in SEVERAL}
    chosen += [
        (key(name) if role in IDENTIFYING else pl.col(name)).alias(role)
        for role, name in raw.items()
    ]
    if "truth" in raw and positive is not None and isinstance(table, pl.LazyFrame):
        # Labels are checked on the rows that were read: the plan is not read again.
        chosen.append(pl.col(raw["truth"]).alias(LABEL))
    if is_wide(columns):
        rows = _one_row_per_model(table, chosen, scores, numbered="case" not in names)
    else:
        rows = table.select(*chosen, *(pl.col(name).alias("score") for name in scores))
    types = rows.collect_schema()
    values: dict[str, pl.Expr] = {}
    problems: list[tuple[int, pl.Expr]] = []
    if scores:
        if types["score"] == pl.String:
            _refuse_words(rows.lazy(), column_in_words("score", scores))
        values["score"], errors = score_column(pl.col("score"), types["score"], scores)
        problems += [*errors, *([(INEXACT, pl.col(IS_INEXACT))] if IS_INEXACT in types else [])]
    if "truth" in raw:
        values["truth"], errors = truth_column(
            pl.col("truth"), types["truth"], raw["truth"], positive
        )
        problems += errors
    for role in ("weight", "count"):
        if role in raw:
            values[role], errors = weight_column(pl.col(role), types[role], raw[role], role)
            problems += errors
    error = pl.coalesce(
        pl.lit(None, pl.UInt8),
        *(pl.when(is_so).then(pl.lit(code, pl.UInt8)) for code, is_so in problems),
    )
    return CanonicalRows(
        rows.with_columns(**values, error=error).drop(IS_INEXACT, strict=False),
        types["score"] if scores else pl.Float64(),
        tuple(dict.fromkeys(code for code, _ in problems)),
    )


def _refuse_nan(table: pl.DataFrame, keys: Sequence[str]) -> None:
    """Refuse float keys with NaN, which equals itself in some engines and not in others."""
    for name in keys:
        if table.schema[name].is_float() and (count := table[name].is_nan().sum()):
            raise InvalidPredictions(
                f"the key {name!r} is NaN in {count:,} row(s).",
                hint=f"make it null first: pl.col({name!r}).fill_nan(None).",
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


def _one_row_per_model(
    table: Any, chosen: Sequence[pl.Expr], scores: Sequence[str], *, numbered: bool
) -> Any:
    """The rows of a wide table, one for each column of scores, whose name is the `model`.

    Where rows are `numbered`, `case` is the number of the row in the wide table. `IS_INEXACT` is
    there only if the type of some column has numbers that no float holds.
    """
    schema = table.collect_schema()
    row = private("row")
    # Under private names, since a column of scores may be called like one of those chosen.
    columns = {private(f"score_{i}"): name for i, name in enumerate(scores)}
    values: list[pl.Expr] = []
    inexact: dict[str, pl.Expr] = {}
    for new, name in columns.items():
        value, errors = score_column(pl.col(name), schema[name], name)
        values.append(value.alias(new))
        inexact |= {f"{new}_inexact": is_so for code, is_so in errors if code == INEXACT}
    wide = table.with_row_index(row).select(
        *chosen, *([pl.col(row).alias("case")] if numbered else []), *values,
        **inexact,
    )  # fmt: skip
    index = [name for name in wide.collect_schema() if name not in columns]
    long = wide.unpivot([*columns], index=index, variable_name="model", value_name="score")
    if inexact:
        of_model = (
            (pl.col("model") == flag.removesuffix("_inexact")) & pl.col(flag) for flag in inexact
        )
        long = long.with_columns(pl.any_horizontal(of_model).alias(IS_INEXACT))
    model = pl.col("model").replace_strict([*columns], [*scores], return_dtype=pl.String)
    return long.with_columns(model).drop(inexact)


def _refuse_words(rows: pl.LazyFrame, score: str) -> None:
    """Raise for scores that are text and not all numbers, naming the first that is none."""
    text = pl.col("score")
    number = text.cast(pl.Float64, strict=False)
    too_large = number.is_infinite() & ~text.str.contains("(?i)inf")
    is_no_number = text.is_not_null() & (number.is_null() | too_large)
    row = private("row")
    is_in_commas = text.str.replace(",", ".").cast(pl.Float64, strict=False).is_not_null()
    # Shown last: texts of missing values, and numbers with commas where there are other words.
    wrong = (
        rows.with_row_index(row).filter(is_no_number).sort(is_missing_text(text), is_in_commas, row)
    )
    first = wrong.select("score", row, is_in_commas.alias("is_in_commas")).head(1).collect()
    if first.is_empty():
        if rows.head(1).collect().is_empty():
            raise InvalidPredictions(
                f"there are no rows, and {score} is String.",
                hint="an empty table needs a column of numbers, too.",
            )
        return
    word, at, in_commas = first.row(0)
    raise InvalidPredictions(
        f"{score} is String, allowed are numbers up to 1.8e308; {quoted([word])} in row "
        f"{at + 1:,} is none.",
        hint=DECIMAL_COMMA if "," in word and in_commas else WRITE_NUMBERS,
    )
