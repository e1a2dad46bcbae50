"""What comes in: a table of predictions, read, audited and refused where it cannot be right."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from polaroc.columns import (
    PRIVATE,
    as_lazy,
    check_keys,
    key_columns,
    key_expressions,
    single_column,
)
from polaroc.errors import InvalidArgument, InvalidPredictions, check_choice, quoted, spelling
from polaroc.text_files import separator_hint, separator_in
from polaroc.trouble import (
    MENDING,
    SCORE,
    TROUBLE,
    TROUBLES,
    TRUTH,
    UNCLEAR,
    WEIGHT,
    WRONG,
    score_column,
    truth_column,
    weight_column,
)
from polaroc.typing import By, IntoExpr, Label, Nulls

COUNT = PRIVATE + "count"


@dataclass(frozen=True)
class Predictions:
    """A prediction table in our own columns: keys, score, truth, weight, trouble.

    `rows` keeps every row that came in; `trouble` is null where a row is sound
    and else says, by code, why it cannot be ranked; `possible` are the codes that
    there may be: those that columns of these types can have, less those that an
    audit has refused, so that without any all rows are sound; `kind` is the type
    the score came in.
    """

    rows: pl.LazyFrame
    keys: list[str]
    weighted: bool
    nulls: Nulls
    possible: list[int]
    kind: pl.DataType

    @property
    def fatal(self) -> list[int]:
        """What no result may be computed around."""
        return [kind for kind in self.possible if self.nulls == "raise" or kind in WRONG]

    @property
    def sound(self) -> pl.LazyFrame:
        """The rows that can be ranked."""
        rows = self.rows.filter(pl.col(TROUBLE).is_null()) if self.possible else self.rows
        return rows.drop(TROUBLE)

    @property
    def cleared(self) -> "Predictions":
        """The same once it is known that no row is in fatal trouble."""
        possible = [kind for kind in self.possible if kind not in self.fatal]
        if possible:
            return replace(self, possible=possible)
        none = self.rows.with_columns(pl.lit(None, pl.UInt8).alias(TROUBLE))
        return replace(self, rows=none, possible=possible)

    def troubled(self) -> int:
        """How many rows cannot be ranked."""
        count: int = self.rows.select(pl.col(TROUBLE).count().cast(pl.Int64)).collect().item()
        return count


def read(
    frame: pl.LazyFrame | pl.DataFrame,
    *,
    truth: IntoExpr,
    score: IntoExpr,
    by: By = (),
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    audited: bool = False,
) -> Predictions:
    """The prediction table in our own columns.

    An eager table is audited at once, a lazy one where `audited` is set: rows in
    trouble are then an error, else they are said in the result.
    """
    check_choice("nulls", nulls, ("raise", "drop"))
    lazy = as_lazy(frame)
    by = key_columns(by)
    by_keys = key_expressions(by)
    _check_columns(lazy, [truth, score, weight, *by])
    chosen = [
        single_column(score, "score", lazy).alias(SCORE),
        single_column(truth, "truth", lazy).alias(TRUTH),
    ]
    if weight is not None:
        chosen.append(single_column(weight, "weight", lazy).alias(WEIGHT))
    keys = [name for key in by_keys for name in lazy.select(key).collect_schema().names()]
    check_keys(keys)
    # Of a table what is computed is computed once: random numbers are then the same throughout.
    named = (frame if isinstance(frame, pl.DataFrame) else lazy).select(*by_keys, *chosen).lazy()
    schema = named.collect_schema()
    if schema[SCORE] == pl.String:
        _refuse_words(named, score)
    value, score_trouble = score_column(schema[SCORE], score)
    label, truth_trouble = truth_column(schema[TRUTH], truth, positive)
    columns, troubles = [value, label], [*score_trouble, *truth_trouble]
    if weight is not None:
        counted, weight_trouble = weight_column(schema[WEIGHT], weight)
        columns.append(counted)
        troubles += weight_trouble
    trouble = pl.coalesce(
        *(pl.when(is_so).then(pl.lit(code, pl.UInt8)) for code, is_so in troubles)
    ).alias(TROUBLE)
    rows = named.select(*keys, *columns, trouble)
    possible = [code for code, _ in troubles]
    predictions = Predictions(rows, keys, weight is not None, nulls, possible, schema[SCORE])
    if audited or isinstance(frame, pl.DataFrame):
        _refuse_trouble(predictions, named, truth, positive)
        return predictions.cleared
    return predictions


def one_class_note(positives: pl.Expr, negatives: pl.Expr) -> pl.Expr:
    """Which class is absent, null where both are there."""
    return (
        pl.when((positives == 0) & (negatives == 0))
        .then(pl.lit("no positives, no negatives"))
        .when(positives == 0)
        .then(pl.lit("no positives"))
        .when(negatives == 0)
        .then(pl.lit("no negatives"))
    )


def _check_columns(frame: pl.LazyFrame, wanted: Sequence[IntoExpr | None]) -> None:
    present = frame.collect_schema().names()
    unknown = [name for name in wanted if isinstance(name, str) and name not in present]
    if not unknown:
        return
    hint = spelling(unknown, present, "check the spelling of truth, score, weight and by.")
    mark = separator_in(present, unknown[0])
    if mark is not None:
        hint = separator_hint(mark)
    raise InvalidArgument(
        f"there is no column {quoted(unknown)}; the table has {quoted(present) or 'no columns'}.",
        hint=hint,
    )


def _refuse_words(named: pl.LazyFrame, score: IntoExpr) -> None:
    """Refuse scores that are text, with the first that is no number."""
    word = pl.col(SCORE)
    is_none = word.is_not_null() & word.cast(pl.Float64, strict=False).is_null()
    first, rows = named.select(word.filter(is_none).first(), rows=pl.len()).collect().row(0)
    if not rows:
        raise InvalidPredictions(
            f"there are no rows, and score {score!s} is String.",
            hint="an empty table needs a column of numbers, too.",
        )
    if first is not None:
        raise InvalidPredictions(
            f"score {score!s} is String, allowed are numbers; {first!r} is none.",
            hint="write all of them as numbers; a missing one is null, in CSV an empty field.",
        )


def _refuse_trouble(
    predictions: Predictions,
    named: pl.LazyFrame,
    truth: IntoExpr,
    positive: Label | Sequence[Label] | None,
) -> None:
    if positive is not None:
        _refuse_absent_label(named, truth, positive)
    kind = pl.col(TROUBLE)
    rows = predictions.rows.filter(kind.is_in(predictions.fatal))
    kinds = dict(rows.group_by(TROUBLE).len().sort(TROUBLE).collect().iter_rows())
    if not kinds:
        return
    found = ", ".join(
        f"{count} {TROUBLES[code]}{'' if count == 1 else 's'}" for code, count in kinds.items()
    )
    if UNCLEAR in kinds:
        found = f"{found} (truth {truth!s} has the labels {_first_labels(named)})"
    hints = [hint for code, hint in MENDING.items() if code in kinds]
    if not hints:
        hints = ["drop such rows with nulls='drop', or mend them before."]
    raise InvalidPredictions(
        found + _first_keys(rows, predictions.keys) + ".", hint=" ".join(hints)
    )


def _refuse_absent_label(
    named: pl.LazyFrame, truth: IntoExpr, positive: Label | Sequence[Label]
) -> None:
    dtype = named.collect_schema()[TRUTH]
    # Compared as the column is: 0.1 is a label of single precision and of decimals, too.
    is_positive, _ = truth_column(dtype, truth, positive)
    several, found = (
        named.select(pl.col(TRUTH).drop_nulls().n_unique() > 1, is_positive.any().alias(PRIVATE))
        .collect()
        .row(0)
    )
    if several and not found:
        raise InvalidPredictions(
            f"no row has the positive label {positive!r}; truth {truth!s} has the labels "
            f"{_first_labels(named)}.",
            hint="check the spelling of positive=...",
        )


def _first_labels(named: pl.LazyFrame, most: int = 5) -> str:
    labels = named.select(pl.col(TRUTH).drop_nulls().unique().sort()).collect()[TRUTH].to_list()
    return quoted(labels, most)


def _first_keys(rows: pl.LazyFrame, keys: Sequence[str], most: int = 3) -> str:
    if not keys:
        return ""
    found = rows.select(keys).unique().sort(keys).collect()
    first = "; ".join(
        ", ".join(f"{name}={quoted([value])}" for name, value in row.items())
        for row in found.head(most).iter_rows(named=True)
    )
    more = f" and {found.height - most} more" if found.height > most else ""
    return f" in {found.height} key(s): {first}{more}"
