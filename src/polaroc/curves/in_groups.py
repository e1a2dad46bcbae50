"""The curve of a group inside an expression: one struct per row, over which `expr` sums.

Polars computes a field of a struct once, and an expression anew in each formula that has it.
"""

from dataclasses import dataclass

import polars as pl

from polaroc.base.backend import Polars
from polaroc.base.columns import column_name
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.segments import cells_in, segment_columns
from polaroc.predictions.row_checks import MAX_WEIGHT
from polaroc.typing import IntoExpr

RAW_SCORE, LAST, VALUE = (PRIVATE + name for name in ("score", "last", "value"))
FIELDS = Polars(pl.field)
GROUP_CELLS = cells_in(FIELDS)


@dataclass(frozen=True)
class GroupCases:
    """The cases of a group, one row each, with their weight as a positive and as a negative.

    The score keeps its type, since a cast could make unequal scores tie; `valid` says, once
    per group, whether all of its cases can be ranked.
    """

    score: pl.Expr
    pos: pl.Expr
    neg: pl.Expr
    valid: pl.Expr


def column(value: IntoExpr, argument: str) -> pl.Expr:
    """A column, by its name or as an expression."""
    return value if isinstance(value, pl.Expr) else pl.col(column_name(value, argument))


def cases(truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None) -> GroupCases:
    """The cases of each group; Polars refuses a plan with columns that cannot be ranked."""
    raw, label = column(score, "score"), column(truth, "truth")
    is_pos, is_neg = label == 1, label == 0
    known = _is_number(raw) & _is_number_or_boolean(label)
    is_valid = known & raw.cast(pl.Float64).is_not_nan() & (is_pos | is_neg)
    count = pl.lit(1, pl.Int64)
    if weight is not None:
        raw_weight = column(weight, "weight")
        count = raw_weight.cast(pl.Float64)
        is_valid = is_valid & _is_number(raw_weight) & count.is_between(0, MAX_WEIGHT)
    pos, neg = (in_class.cast(pl.Int64) * count for in_class in (is_pos, is_neg))
    return GroupCases(raw, pos, neg, is_valid.fill_null(False).all())


def group_curve(
    truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None
) -> tuple[pl.Expr, pl.Expr]:
    """The curve of each group as structs with counts and segments, and whether it is defined.

    The last row of a tie has the counts of the tie, the others have zero.
    """
    group = cases(truth, score, weight)
    rows = pl.struct(group.score.alias(RAW_SCORE), group.pos.alias("pos"), group.neg.alias("neg"))
    ranked = with_fields(
        rows.sort_by(group.score, descending=True),
        pl.field("pos").cum_sum().alias("tp"),
        pl.field("neg").cum_sum().alias("fp"),
        (pl.field(RAW_SCORE) != pl.field(RAW_SCORE).shift(-1)).fill_null(True).alias(LAST),
    )
    tied = with_fields(
        ranked,
        _increment("tp").alias("pos"),
        _increment("fp").alias("neg"),
        pl.field("tp").last().alias("positives"),
        pl.field("fp").last().alias("negatives"),
    )
    segments = with_fields(
        tied, *(end.alias(name) for name, end in segment_columns(GROUP_CELLS).items())
    )
    return segments, group.valid & (group.pos.sum() > 0) & (group.neg.sum() > 0)


def group_sum(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The sum over the rows of a group, one value per group."""
    return _values(rows, value).list.sum()


def group_constant(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    """A value that is the same in all rows of a group, once per group."""
    return _values(rows, value).list.first()


def _values(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    # The streaming engine cannot aggregate fields itself.
    return with_fields(rows, value.alias(VALUE)).struct.field(VALUE).implode()


def with_fields(rows: pl.Expr, *fields: pl.Expr) -> pl.Expr:
    """The rows with further fields, computed from those they have."""
    return rows.struct.with_fields(*fields)


def _increment(total: str) -> pl.Expr:
    """Increment of a cumulative count over a tie, in its last row; 0 in its other rows."""
    cumulative = pl.field(total)
    before = pl.when(pl.field(LAST)).then(cumulative).shift(1).forward_fill().fill_null(0)
    return pl.when(pl.field(LAST)).then(cumulative - before).otherwise(0)


def _is_number(raw: pl.Expr) -> pl.Expr:
    """True, in a plan that Polars refuses where `raw` is neither a number nor untyped null."""
    # Only numbers and nulls have a common supertype with Decimal on which `sign` is defined.
    return _is_typed(pl.coalesce(raw, pl.lit(None, pl.Decimal(38, 0))).sign())


def _is_number_or_boolean(raw: pl.Expr) -> pl.Expr:
    """The same where `raw` may also be Boolean."""
    return _is_typed(pl.coalesce(raw, pl.lit(None, pl.Int8)).sign())


def _is_typed(typed: pl.Expr) -> pl.Expr:
    # An expression cannot ask for its type: this branch is type-checked but never computed.
    return pl.when(pl.lit(False)).then(typed.is_null()).otherwise(pl.lit(True))
