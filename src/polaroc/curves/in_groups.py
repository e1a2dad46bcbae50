"""The curve of a group inside an expression, a struct per row: what `expr` sums over.

What is a field of a struct is computed once, and not anew wherever a formula has it.
"""

from dataclasses import dataclass

import polars as pl

from polaroc.base.backend import Polars
from polaroc.base.columns import single_column
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.segments import cells_in, segment_columns
from polaroc.predictions.row_checks import GREATEST_WEIGHT
from polaroc.typing import IntoExpr

SCORE, LAST, VALUE = (PRIVATE + name for name in ("score", "last", "value"))
FIELDS = Polars(pl.field)
COUNTS = cells_in(FIELDS)


@dataclass(frozen=True)
class GroupCases:
    """The cases of a group, one row each, with what each counts for in either class.

    The score is as it came, so that no rounding ties what is not equal; `valid` says, once per
    group, whether all of its cases can be ranked.
    """

    score: pl.Expr
    pos: pl.Expr
    neg: pl.Expr
    valid: pl.Expr


def cases(truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None) -> GroupCases:
    """The cases of each group; columns of types that cannot be ranked do not pass Polars' plan."""
    raw, label = single_column(score, "score"), single_column(truth, "truth")
    is_pos, is_neg = label == 1, label == 0
    known = _is_number(raw) & _is_number_or_boolean(label)
    clear = known & raw.cast(pl.Float64).is_not_nan() & (is_pos | is_neg)
    count = pl.lit(1, pl.Int64)
    if weight is not None:
        given = single_column(weight, "weight")
        count = given.cast(pl.Float64)
        clear = clear & _is_number(given) & count.is_between(0, GREATEST_WEIGHT)
    pos, neg = (own.cast(pl.Int64) * count for own in (is_pos, is_neg))
    return GroupCases(raw, pos, neg, clear.fill_null(False).all())


def group_curve(
    truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None
) -> tuple[pl.Expr, pl.Expr]:
    """The rows of each group as a struct with counts and segments; whether measures are defined.

    Only the last row of a tie has positives: those of the tie.
    """
    group = cases(truth, score, weight)
    rows = pl.struct(group.score.alias(SCORE), group.pos.alias("pos"), group.neg.alias("neg"))
    ranked = with_fields(
        rows.sort_by(group.score, descending=True),
        pl.field("pos").cum_sum().alias("tp"),
        pl.field("neg").cum_sum().alias("fp"),
        (pl.field(SCORE) != pl.field(SCORE).shift(-1)).fill_null(True).alias(LAST),
    )
    tied = with_fields(
        ranked,
        _risen("tp").alias("pos"),
        _risen("fp").alias("neg"),
        pl.field("tp").last().alias("positives"),
        pl.field("fp").last().alias("negatives"),
    )
    segments = with_fields(
        tied, *(end.alias(name) for name, end in segment_columns(COUNTS).items())
    )
    return segments, group.valid & (group.pos.sum() > 0) & (group.neg.sum() > 0)


def summed(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    """The sum over the rows of a group, one value per group."""
    return _values(rows, value).list.sum()


def of_group(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    """What is the same in all rows of a group, one value per group."""
    return _values(rows, value).list.first()


def _values(rows: pl.Expr, value: pl.Expr) -> pl.Expr:
    # The streaming engine cannot aggregate fields itself.
    return with_fields(rows, value.alias(VALUE)).struct.field(VALUE).implode()


def with_fields(rows: pl.Expr, *fields: pl.Expr) -> pl.Expr:
    """The rows with further fields, which may use those that are there."""
    return rows.struct.with_fields(*fields)


def _risen(total: str) -> pl.Expr:
    """What a total rose by since the last row of the tie before."""
    so_far = pl.field(total)
    before = pl.when(pl.field(LAST)).then(so_far).shift(1).forward_fill().fill_null(0)
    return pl.when(pl.field(LAST)).then(so_far - before).otherwise(0)


def _is_number(raw: pl.Expr) -> pl.Expr:
    """True, in a plan that Polars refuses where `raw` is neither a number nor untyped null."""
    # Of these types alone there is a supertype with decimals that has a sign.
    return _is_typed(pl.coalesce(raw, pl.lit(None, pl.Decimal(38, 0))).sign())


def _is_number_or_boolean(raw: pl.Expr) -> pl.Expr:
    """The same where `raw` may also be Boolean."""
    return _is_typed(pl.coalesce(raw, pl.lit(None, pl.Int8)).sign())


def _is_typed(of_type: pl.Expr) -> pl.Expr:
    # An expression cannot ask for its type: this branch is resolved but never computed.
    return pl.when(pl.lit(False)).then(of_type.is_null()).otherwise(pl.lit(True))
