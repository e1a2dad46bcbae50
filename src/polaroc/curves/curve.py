"""Curve tables of tie-collapsed cells, the input of all curves and measures."""

from collections.abc import Callable, Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import CURVE
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
from polaroc.curves.keys import Keys, attach_key_index, build_key_index
from polaroc.curves.packing import Packing
from polaroc.curves.segments import share, snap_to_total
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
    keys = build_key_index(predictions, eager=isinstance(cases.table, pl.DataFrame))
    return curve_tables(predictions, keys)


def curve_tables(
    predictions: Predictions, keys: Keys, key_columns: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Curve tables with the columns of `key_columns`, by default those of the keys."""
    return indexed_curves(predictions, keys, key_columns).drop(KEY_INDEX, SORT_CODE)


def indexed_curves(
    predictions: Predictions, keys: Keys, key_columns: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Curve tables with `KEY_INDEX`, `SORT_CODE` and the columns of `key_columns`."""
    if key_columns is None:
        key_columns = keys.key_columns
    rows = cells(attach_key_index(predictions, keys), keys, weighted=predictions.weighted)
    return to_curve_table(rows, keys.packing, anchors(keys), key_columns)


def anchors(keys: Keys, tp: str | None = None, fp: str | None = None) -> pl.LazyFrame:
    """The start of each curve, in the columns of `cells`: (0, 0), or the columns `tp` and `fp`."""
    kind = keys.totals.collect_schema()["positives"]
    zero = pl.lit(0).cast(kind)
    return keys.totals.select(
        KEY_INDEX,
        keys.packing.anchor_code(pl.col(KEY_INDEX)).alias(SORT_CODE),
        zero.alias("pos"),
        zero.alias("neg"),
        (zero if tp is None else pl.col(tp)).alias("tp"),
        (zero if fp is None else pl.col(fp)).alias("fp"),
        "positives",
        "negatives",
    )


def to_curve_table(
    cells: pl.LazyFrame,
    packing: Packing,
    anchors: pl.LazyFrame | None = None,
    key_columns: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Cells as a curve table with `KEY_INDEX` and `SORT_CODE`, sorted, each key after its anchor.

    `key_columns` has the columns of each key beside its `KEY_INDEX`.
    """
    rows = cells.select(CELL)
    if anchors is not None:
        rows = pl.concat([anchors, rows])
    if key_columns is not None:
        rows = rows.join(key_columns, on=KEY_INDEX)
    is_cell = (pl.col("pos") > 0) | (pl.col("neg") > 0)
    names = [] if key_columns is None else key_columns.collect_schema().names()
    return (
        rows.sort(SORT_CODE)
        .with_columns(
            pl.when(is_cell).then(packing.score_of(pl.col(SORT_CODE))).alias(SCORE),
            rate("tp", "positives").alias("tpr"),
            rate("fp", "negatives").alias("fpr"),
        )
        .select(KEY_INDEX, SORT_CODE, *(name for name in names if name != KEY_INDEX), *CURVE)
    )


def in_order(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Sort curves by key, from the anchor to the worst score."""
    by_key = [False] * len(keys)
    return curves.sort(
        *keys, SCORE, descending=[*by_key, True], nulls_last=[*(True for _ in keys), False]
    )


def rate(count: str, total: str) -> pl.Expr:
    """A count as a share of its total, null where the total is zero."""
    return pl.when(pl.col(total) > 0).then(share(pl.col(count), pl.col(total)))


def cells(
    rows: pl.LazyFrame, keys: Keys, *, weighted: bool, for_areas: bool = False
) -> pl.LazyFrame:
    """The tie-collapsed cells of `attach_key_index` rows: the columns `CELL`, unsorted.

    With `for_areas`, cells without positives are left out and vertical runs are merged, which
    does not change areas under straight segments.
    """
    ranked = (_weighted_cells if weighted else _counted_cells)(rows, keys.packing)
    if for_areas:
        ranked = _merge_vertical_runs(ranked, _weight_increment if weighted else _count_increment)
    least = [LEAST_POS, LEAST_NEG] if weighted else []
    with_totals = ranked.join(
        keys.totals.select(KEY_INDEX, "positives", "negatives", TP_OFFSET, FP_OFFSET, *least),
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


def _merge_vertical_runs(
    ranked: pl.LazyFrame, increment: Callable[[pl.Expr], pl.Expr]
) -> pl.LazyFrame:
    """Cells with positives, sorted by code; a vertical run becomes its last cell."""
    fp, index = pl.col("fp"), pl.col(KEY_INDEX)
    run_continues = (pl.col("neg") == 0) & (fp == fp.shift(-1)) & (index == index.shift(-1))
    ends = ranked.filter(pl.col("pos") > 0).filter(~run_continues.fill_null(False))
    return ends.with_columns(increment(pl.col("tp")).alias("pos"))


def _counted_cells(rows: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
    """One row per tie, sorted by code, with counts cumulated over all keys."""
    ends = (
        rows.select(_code(packing))
        .sort(SORT_CODE)
        .with_row_index(PLACE, offset=1)
        .with_columns(packing.truth_of(pl.col(SORT_CODE)).cum_sum().alias("tp"))
        .filter(packing.ends_run(pl.col(SORT_CODE)))
    )
    # Two steps, so that Polars can drop cells without positives before the second.
    tp, place = pl.col("tp"), pl.col(PLACE)
    return ends.with_columns(
        _count_increment(tp).alias("pos"), _count_increment(place).cast(pl.Int64).alias(SIZE)
    ).with_columns(
        (place.cast(pl.Int64) - tp).alias("fp"),
        (pl.col(SIZE) - pl.col("pos")).alias("neg"),
        packing.index_of(pl.col(SORT_CODE)).alias(KEY_INDEX),
    )


def _weighted_cells(rows: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
    """Like `_counted_cells`, with sums of weights that start anew in each key."""
    truth, weight = packing.truth_of(pl.col(SORT_CODE)), pl.col(WEIGHT)
    by_class = ((truth * weight).alias("tp"), ((1 - truth) * weight).alias("fp"))
    ends = (
        rows.filter(weight > 0)
        .select(_code(packing), weight)
        .sort(SORT_CODE)
        .select(SORT_CODE, packing.index_of(pl.col(SORT_CODE)).alias(KEY_INDEX), *by_class)
        .with_columns(pl.col("tp", "fp").cum_sum().over(KEY_INDEX))
        .filter(packing.ends_run(pl.col(SORT_CODE)))
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


def _code(packing: Packing) -> pl.Expr:
    return packing.code(pl.col(KEY_INDEX), pl.col(SCORE), pl.col(TRUTH)).alias(SORT_CODE)
