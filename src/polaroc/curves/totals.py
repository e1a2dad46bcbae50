"""What each key holds: its totals, its place among the keys, and what is to be said of its rows."""

import polars as pl

from polaroc.base.private_columns import (
    COUNT,
    FP_OFFSET,
    KEY_INDEX,
    LEAST_NEG,
    LEAST_POS,
    ROW_ERROR,
    TP_OFFSET,
    TRUTH,
    WEIGHT,
)
from polaroc.predictions.row_checks import ROW_ERRORS
from polaroc.predictions.table import Predictions

# What turns counts that run on from key to key into those of the key.
# The least weight of a positive and of a negative.
LEAST = LEAST_POS, LEAST_NEG
# Sums of weights keep some sixteen digits.
GREATEST_SPREAD = 1e12
SPREAD = "weights differ more than a trillionfold: the smallest are lost in rounding"


def totals(predictions: Predictions) -> pl.LazyFrame:
    """One row per key, in key order.

    Returns
    -------
    LazyFrame
        The keys; `KEY_INDEX` UInt32, their place from 0; `positives`, `negatives`
        (null where rows of the key cannot be ranked); `TP_OFFSET`, `FP_OFFSET`,
        and for weights `LEAST_POS`, `LEAST_NEG`, which `cells` needs; `COUNT`,
        of all rows; `note` String, what is wrong with the key's rows or was
        dropped of them.
    """
    sound = pl.col(ROW_ERROR).is_null()
    truth = pl.col(TRUTH)
    case: pl.Expr = pl.lit(1, pl.Int64)
    if predictions.weighted:
        case = pl.when(sound).then(pl.col(WEIGHT)).otherwise(0.0)
    counted = predictions.rows.group_by(predictions.keys).agg(
        pl.len().alias(COUNT),
        ((truth & sound) * case).sum().alias("positives"),
        ((~truth & sound) * case).sum().alias("negatives"),
        *((pl.col(ROW_ERROR) == kind).sum().alias(_column(kind)) for kind in predictions.possible),
        *_least(predictions),
        _spread_note(predictions).alias("note"),
    )
    kept = counted.filter(pl.col(COUNT) > 0)
    ordered = kept.sort(predictions.keys, nulls_last=True) if predictions.keys else kept
    fatal = pl.any_horizontal(False, *(pl.col(_column(kind)) > 0 for kind in predictions.fatal))
    positives, negatives = pl.col("positives"), pl.col("negatives")
    return ordered.with_row_index(KEY_INDEX).select(
        *predictions.keys,
        pl.col(KEY_INDEX).cast(pl.UInt32),
        pl.when(~fatal).then(positives).alias("positives"),
        pl.when(~fatal).then(negatives).alias("negatives"),
        _offset(positives, predictions.weighted).alias(TP_OFFSET),
        _offset(negatives, predictions.weighted).alias(FP_OFFSET),
        *(name for name in LEAST if predictions.weighted),
        COUNT,
        pl.concat_str(_troubles(predictions, fatal), "note", separator="; ", ignore_nulls=True)
        .replace("", None)
        .alias("note"),
    )


def _least(predictions: Predictions) -> list[pl.Expr]:
    if not predictions.weighted:
        return []
    counts = pl.col(ROW_ERROR).is_null() & (pl.col(WEIGHT) > 0)
    own = (pl.col(TRUTH), ~pl.col(TRUTH))
    return [
        pl.col(WEIGHT).filter(counts & of_class).min().alias(name)
        for of_class, name in zip(own, LEAST, strict=True)
    ]


def _offset(total: pl.Expr, weighted: bool) -> pl.Expr:
    """What to add: counts run on over the keys before, weights are summed anew in each key."""
    return pl.lit(0.0) if weighted else total - total.cum_sum()


def _column(kind: int) -> str:
    return f"{ROW_ERROR}_{kind}"


def _troubles(predictions: Predictions, fatal: pl.Expr) -> pl.Expr:
    """How many rows are in which trouble; that they were dropped, where that was asked for."""
    # Null where no trouble is possible.
    notes = [pl.lit(None, pl.String)]
    for kind in predictions.possible:
        count = pl.col(_column(kind))
        one, more = (pl.format("{} " + ROW_ERRORS[kind] + end, count) for end in ("", "s"))
        notes.append(pl.when(count == 1).then(one).when(count > 1).then(more))
    listed = pl.concat_str(*notes, separator=", ", ignore_nulls=True).replace("", None)
    return pl.when(fatal).then(listed).otherwise(pl.format("dropped {}", listed))


def _spread_note(predictions: Predictions) -> pl.Expr:
    """What is to be said of weights so different that their sums lose the smaller."""
    if not predictions.weighted:
        return pl.lit(None, pl.String)
    weight = pl.col(WEIGHT).filter(pl.col(ROW_ERROR).is_null() & (pl.col(WEIGHT) > 0))
    return pl.when(weight.max() / weight.min() > GREATEST_SPREAD).then(pl.lit(SPREAD))
