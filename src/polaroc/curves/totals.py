"""The totals of each key of a table, with notes on its rows."""

from collections.abc import Mapping

import polars as pl

from polaroc.base.columns import (
    COUNT,
    EFFECTIVE,
    MAX_SQUARED,
    NEG_SQUARES,
    ROW_ERROR,
    TRUTH,
    WEIGHT,
)
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
    is_valid = pl.col(ROW_ERROR).is_null()
    truth = pl.col(TRUTH)
    in_class = [truth, ~truth]
    is_counted, squares = None, []
    if predictions.possible_errors:
        in_class, is_counted = [one & is_valid for one in in_class], is_valid
    if predictions.weighted:
        weight = pl.when(is_valid).then(pl.col(WEIGHT)).otherwise(0.0)
        in_class, is_counted = [one * weight for one in in_class], weight > 0
        if predictions.sampled:
            bounded = in_class[1].clip(upper_bound=MAX_SQUARED)
            squares.append((bounded**2).sum().alias(NEG_SQUARES))
    else:
        in_class = [one.cast(pl.Int64) for one in in_class]
    positives, negatives = (one.sum() for one in in_class)
    counted = predictions.rows.group_by(predictions.keys).agg(
        pl.len().alias(COUNT),
        positives.alias("positives"),
        negatives.alias("negatives"),
        *error_counts(predictions.possible_errors),
        *squares,
        *label_extremes(is_counted),
        **(also or {}),
    )
    kept = counted.filter(pl.col(COUNT) > 0)
    ordered = kept.sort(predictions.keys, nulls_last=True) if predictions.keys else kept
    fatal = pl.any_horizontal(
        False, *(pl.col(error_count_column(kind)) > 0 for kind in predictions.fatal)
    )
    positives, negatives = pl.col("positives"), pl.col("negatives")
    if not predictions.sampled:
        positives, negatives = positives.cast(pl.Int64), negatives.cast(pl.Int64)
    return ordered.select(
        *predictions.keys,
        pl.when(~fatal).then(positives).alias("positives"),
        pl.when(~fatal).then(negatives).alias("negatives"),
        *(
            [effective_number(pl.when(~fatal).then(negatives), pl.col(NEG_SQUARES))]
            if predictions.sampled
            else []
        ),
        *(also or ()),
        joined_notes(_row_errors(predictions, fatal), label_note()),
    )


def effective_number(negatives: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """The column `EFFECTIVE`, from the sums of the weights of negatives and of their squares."""
    number = negatives * (negatives / squares)
    return pl.when(squares > 0).then(number).alias(EFFECTIVE)


def _row_errors(predictions: Predictions, fatal: pl.Expr) -> pl.Expr:
    """Counts of invalid rows by kind, prefixed with "dropped" where the key is still used."""
    listed = errors_in_words(predictions.possible_errors)
    return pl.when(fatal).then(listed).otherwise(pl.format("dropped {}", listed))
