"""The curve of a group inside an expression, a struct per row: what `expr` sums over.

What is a field of a struct is computed once, and not anew wherever a formula has it.
"""

import polars as pl

from polaroc.cells import counted, held, segment_columns
from polaroc.columns import PRIVATE, expression
from polaroc.trouble import GREATEST_WEIGHT
from polaroc.typing import IntoExpr

SCORE, LAST, VALUE = (PRIVATE + name for name in ("score", "last", "value"))
COUNTS, SEGMENTS = counted(pl.field), held(pl.field)


def cases(
    truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None
) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """Score, positives and negatives of each case, and whether all cases of the group are sound."""
    value = expression(score).cast(pl.Float64)
    label = expression(truth).cast(pl.Int64)
    count = pl.lit(1, pl.Int64) if weight is None else expression(weight).cast(pl.Float64)
    clear = value.is_not_nan() & ((label == 0) | (label == 1))
    if weight is not None:
        clear = clear & count.is_between(0, GREATEST_WEIGHT)
    return value, label * count, (1 - label) * count, clear.fill_null(False).all()


def group_curve(
    truth: IntoExpr, score: IntoExpr, weight: IntoExpr | None
) -> tuple[pl.Expr, pl.Expr]:
    """The rows of each group as a struct with `COUNTS`, `SEGMENTS`; whether measures are defined.

    Only the last row of a tie has positives: those of the tie.
    """
    value, pos, neg, sound = cases(truth, score, weight)
    rows = pl.struct(value.alias(SCORE), pos.alias("pos"), neg.alias("neg"))
    ranked = with_fields(
        rows.sort_by(value, descending=True),
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
    return segments, sound & (pos.sum() > 0) & (neg.sum() > 0)


def summed(rows: pl.Expr, area: pl.Expr) -> pl.Expr:
    """The sum of an area over the segments that have positives."""
    return values(with_fields(rows, area.alias(VALUE))).list.sum()


def values(rows: pl.Expr) -> pl.Expr:
    """The field `VALUE` of all rows of a group, as a list."""
    # The streaming engine cannot aggregate fields itself.
    return rows.struct.field(VALUE).implode()


def with_fields(rows: pl.Expr, *fields: pl.Expr) -> pl.Expr:
    """The rows with further fields, which may use those that are there."""
    return rows.struct.with_fields(*fields)


def _risen(total: str) -> pl.Expr:
    """What a total rose by since the last row of the tie before."""
    so_far = pl.field(total)
    before = pl.when(pl.field(LAST)).then(so_far).shift(1).forward_fill().fill_null(0)
    return pl.when(pl.field(LAST)).then(so_far - before).otherwise(0)
