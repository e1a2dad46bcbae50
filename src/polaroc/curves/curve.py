"""Curve tables of tie-collapsed cells, the input of all curves and measures."""

from collections.abc import Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import CURVE
from polaroc.base.joins import attach
from polaroc.base.private_columns import (
    FP_OFFSET,
    KEY_INDEX,
    LEAST_NEG,
    LEAST_POS,
    PLACE,
    SIZE,
    SORT_CODE,
    TP_OFFSET,
    TRUTH,
    WEIGHT,
)
from polaroc.curves.held import curve_of_rows
from polaroc.curves.keys import totals
from polaroc.curves.packing import PACK_128, anchor_code, ends_run, index_of, score_of, truth_of
from polaroc.curves.segments import rate, snap_to_total
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import BESIDE, COUNTED_BY, Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read
from polaroc.predictions.takes_cases import frame_of_cases

CELL = (KEY_INDEX, SORT_CODE, "pos", "neg", "tp", "fp", "positives", "negatives")


@frame_of_cases(COUNTED_BY, no_bearing=BESIDE)
def curve(cases: Cases[Any], **columns: Unpack[Columns]) -> pl.LazyFrame:
    """ROC curves, one per key, with ties collapsed.

    Parameters
    ----------
    cases
        Predictions, one row per case: a Polars frame; a table of pandas, PyArrow,
        DuckDB or another library with Arrow streams; or a mapping of column names to
        arrays; or the result of `cases`. Of a LazyFrame the result is one, of any other
        table a DataFrame.
    **columns

    Returns
    -------
    Frame of the kind given
        One row per key (`by`, model and fold) and distinct score, sorted by key and best score
        first, after one anchor row per key where nothing is called positive (a score
        whose weights are all zero has no row): the keys;
        `threshold` Float64 (a case is called positive when score ≥ threshold;
        null at the anchor); `pos`, `neg`, the positives and negatives at this
        score; `tp`, `fp`, those at or above it; `positives`, `negatives`, the
        totals of the key (counts are Int64, Float64 if weighted); `tpr`, `fpr`
        Float64 from 0 to 1, null where the class is absent.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        For an eager frame with rows that cannot be ranked; for unknown columns,
        reserved names among the keys, a score that is not numeric. A lazy plan cannot raise
        for its rows: such a key has null totals and rates.

    Notes
    -----
    P-ROC §3 and D&G, with tied scores as one segment, so that the order of rows never
    matters.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.9, 0.8, 0.1]})
    >>> pr.curve(table, truth="truth", score="p").select("threshold", "tp", "fp", "tpr").rows()
    [(None, 0, 0, 0.0), (0.9, 1, 1, 0.5), (0.8, 2, 1, 1.0), (0.1, 2, 2, 1.0)]
    """
    predictions = read(cases)
    if isinstance(cases.table, pl.DataFrame):
        return curve_of_rows(predictions).lazy()
    return curve_tables(predictions)


def curve_tables(predictions: Predictions) -> pl.LazyFrame:
    """Curve tables as a plan."""
    names, of_keys = predictions.keys, totals(predictions)
    is_cell = (pl.col("pos") > 0) | (pl.col("neg") > 0)
    return (
        pl.concat([_anchors(of_keys), cells(predictions, of_keys)])
        .join(of_keys.select(KEY_INDEX, *names), on=KEY_INDEX)
        .sort(SORT_CODE)
        .with_columns(
            pl.when(is_cell).then(score_of(pl.col(SORT_CODE))).alias(SCORE),
            rate("tp", "positives").alias("tpr"),
            rate("fp", "negatives").alias("fpr"),
        )
        .select(*names, *CURVE)
    )


def _anchors(of_keys: pl.LazyFrame) -> pl.LazyFrame:
    """The start of each curve, (0, 0), in the columns of `cells`."""
    zero = pl.lit(0).cast(of_keys.collect_schema()["positives"])
    return of_keys.select(
        KEY_INDEX,
        anchor_code(pl.col(KEY_INDEX)).alias(SORT_CODE),
        *(zero.alias(name) for name in ("pos", "neg", "tp", "fp")),
        "positives",
        "negatives",
    )


def in_order(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Sort curves by key, from the anchor to the worst score."""
    by_key = [False] * len(keys)
    return curves.sort(
        *keys, SCORE, descending=[*by_key, True], nulls_last=[*(True for _ in keys), False]
    )


def cells(predictions: Predictions, of_keys: pl.LazyFrame) -> pl.LazyFrame:
    """The tie-collapsed cells, as a plan: the columns `CELL`, unsorted.

    `of_keys` are the `totals`.
    """
    weighted, names = predictions.weighted, predictions.keys
    rows = attach(predictions.valid_rows, of_keys.select(KEY_INDEX, *names), names).drop(names)
    ranked = (_weighted_cells if weighted else _counted_cells)(rows)
    least = [LEAST_POS, LEAST_NEG] if weighted else []
    with_totals = ranked.join(
        of_keys.select(KEY_INDEX, "positives", "negatives", TP_OFFSET, FP_OFFSET, *least),
        on=KEY_INDEX,
    )
    result = with_totals.with_columns(
        pl.col("tp") + pl.col(TP_OFFSET), pl.col("fp") + pl.col(FP_OFFSET)
    )
    if weighted:
        result = result.with_columns(
            *_snap_to_total("tp", "pos", "positives", LEAST_POS),
            *_snap_to_total("fp", "neg", "negatives", LEAST_NEG),
        )
    return result.select(CELL)


def _counted_cells(rows: pl.LazyFrame) -> pl.LazyFrame:
    """One row per tie, sorted by code, with counts cumulated over all keys."""
    ends = (
        rows.select(_code())
        .sort(SORT_CODE)
        .with_row_index(PLACE, offset=1)
        .with_columns(truth_of(pl.col(SORT_CODE)).cum_sum().alias("tp"))
        .filter(ends_run(pl.col(SORT_CODE)))
    )
    # Two steps, so that Polars can drop cells without positives before the second.
    tp, place = pl.col("tp"), pl.col(PLACE)
    return ends.with_columns(
        _count_increment(tp).alias("pos"), _count_increment(place).cast(pl.Int64).alias(SIZE)
    ).with_columns(
        (place.cast(pl.Int64) - tp).alias("fp"),
        (pl.col(SIZE) - pl.col("pos")).alias("neg"),
        index_of(pl.col(SORT_CODE)).alias(KEY_INDEX),
    )


def _weighted_cells(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Like `_counted_cells`, with sums of weights that start anew in each key."""
    truth, weight = truth_of(pl.col(SORT_CODE)), pl.col(WEIGHT)
    by_class = ((truth * weight).alias("tp"), ((1 - truth) * weight).alias("fp"))
    ends = (
        rows.filter(weight > 0)
        .select(_code(), weight)
        .sort(SORT_CODE)
        .select(SORT_CODE, index_of(pl.col(SORT_CODE)).alias(KEY_INDEX), *by_class)
        .with_columns(pl.col("tp", "fp").cum_sum().over(KEY_INDEX))
        .filter(ends_run(pl.col(SORT_CODE)))
    )
    increments = (
        _weight_increment(pl.col("tp")).alias("pos"),
        _weight_increment(pl.col("fp")).alias("neg"),
    )
    # A small weight may be lost in the sum.
    return ends.with_columns(*increments).filter((pl.col("pos") > 0) | (pl.col("neg") > 0))


def _count_increment(total: pl.Expr) -> pl.Expr:
    """Increment of a count cumulated over all keys."""
    return total - total.shift(1, fill_value=0)


def _weight_increment(total: pl.Expr) -> pl.Expr:
    """Increment of a sum of weights that starts anew in each key.

    A difference of cumulative sums is exactly zero where nothing is added; a separate sum of
    the weights of a tie need not be.
    """
    index = pl.col(KEY_INDEX)
    return total - pl.when(index == index.shift(1)).then(total.shift(1)).otherwise(0.0)


def _snap_to_total(
    cumulative: str, increment: str, total: str, least: str
) -> tuple[pl.Expr, pl.Expr]:
    """A cumulative weight that ends exactly at its total, and its increments."""
    start, end = (
        snap_to_total(sum_, pl.col(total), pl.col(least))
        for sum_ in (pl.col(cumulative) - pl.col(increment), pl.col(cumulative))
    )
    return end.alias(cumulative), (end - start).alias(increment)


def _code() -> pl.Expr:
    return PACK_128.code(pl.col(KEY_INDEX), pl.col(SCORE), pl.col(TRUTH)).alias(SORT_CODE)
