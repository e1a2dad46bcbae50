"""The totals of each key of a table, with notes on its rows."""

from collections.abc import Mapping

import polars as pl

from polaroc.base.columns import COUNT, EFFECTIVE, NEG_SQUARES, ROW_ERROR, TRUTH
from polaroc.base.text import joined_notes
from polaroc.predictions.row_checks import (
    error_count_column,
    error_counts,
    errors_in_words,
    label_extremes,
    label_note,
)
from polaroc.predictions.table import Predictions


def totals(predictions: Predictions, also: Mapping[str, pl.Expr] | None = None) -> pl.LazyFrame:
    """One row per key, in key order.

    `positives` and `negatives` are null where rows of the key cannot be ranked; `EFFECTIVE` is
    there for sampling weights; `note` counts the invalid or dropped rows and reports scores that
    are labels; `also` are other aggregates.
    """
    is_valid, truth = pl.col(ROW_ERROR).is_null(), pl.col(TRUTH)
    size = pl.when(is_valid).then(predictions.weight).otherwise(0)
    pos, neg = truth * size, ~truth * size
    squares = [(neg**2).sum().alias(NEG_SQUARES)]
    counted = predictions.rows.group_by(predictions.keys).agg(
        pl.len().alias(COUNT),
        *error_counts(predictions.possible_errors),
        *(squares if predictions.sampled else []),
        *label_extremes(size > 0),
        positives=pos.sum(),
        negatives=neg.sum(),
        **(also or {}),
    )
    ordered = counted.filter(pl.col(COUNT) > 0).sort(predictions.keys, nulls_last=True)
    fatal = pl.any_horizontal(
        False, *(pl.col(error_count_column(code)) > 0 for code in predictions.fatal)
    )
    count_type = pl.Float64 if predictions.sampled else pl.Int64
    positives, negatives = (
        pl.when(~fatal).then(pl.col(name).cast(count_type)).alias(name)
        for name in ("positives", "negatives")
    )
    effective = [effective_number(negatives, pl.col(NEG_SQUARES))] if predictions.sampled else []
    # Without a fatal error the invalid rows of a key are dropped.
    errors = errors_in_words(predictions.possible_errors)
    noted = pl.when(fatal).then(errors).otherwise(pl.format("dropped {}", errors))
    return ordered.select(
        *predictions.keys, positives, negatives, *effective, *(also or ()),
        joined_notes(noted, label_note()),
    )  # fmt: skip


def effective_number(negatives: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """The column `EFFECTIVE`, from the sums of the weights of negatives and of their squares."""
    number = negatives * (negatives / squares)
    return pl.when(squares > 0).then(number).alias(EFFECTIVE)
