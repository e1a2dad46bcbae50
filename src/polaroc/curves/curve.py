"""Curve tables of tie-collapsed cells, the input of all curves and measures."""

from collections.abc import Callable, Sequence

import polars as pl

from polaroc.base.columns import CURVE, collect_like, takes_table
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
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read
from polaroc.typing import By, Frame, IntoExpr, Label, Nulls, Score

CELL = (KEY_INDEX, SORT_CODE, "pos", "neg", "tp", "fp", "positives", "negatives")


@takes_table
def curve(
    frame: Frame,
    *,
    truth: IntoExpr,
    score: Score,
    by: By = (),
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
) -> Frame:
    """ROC curves, one per key, with ties collapsed.

    Parameters
    ----------
    frame
        Predictions, one row per case: a Polars frame; a table of pandas, PyArrow,
        DuckDB or another library with Arrow streams; or a mapping of column names to
        arrays. Of a LazyFrame the result is one, of any other table a DataFrame.
    truth
        Labels: Boolean, 0/1, or any when `positive` names the positive one(s).
    score
        Numeric; higher means more likely positive. ±inf is allowed. Several columns,
        in a list or as ``{model: column}``, are the scores of as many models, which
        the first key, `model`, then tells apart.
    by
        Key columns such as model and fold: one curve per combination.
    weight
        Case weights, finite and ≥ 0; weight k counts as k equal rows.
    positive
        The label(s) that count as positive.
    nulls
        ``"raise"``: null or NaN scores and null truths or weights are an error;
        a lazy plan, which cannot raise, gives that key null totals and rates.
        ``"drop"``: such rows are left out; `evaluate` says how many.

    Returns
    -------
    Frame of the kind given
        One row per key and distinct score, sorted by key and best score first,
        after one anchor row per key where nothing is called positive (a score
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
        reserved names among the keys, a score that is not numeric.

    See Also
    --------
    surface : Every point of the curve at every prior.
    evaluate : All measures of predictions in one pass.
    hull : The upper convex hull of each curve.

    Notes
    -----
    P-ROC §3, with tied scores as one segment, so that the order of rows never
    matters.

    References
    ----------
    Davis, Goadrich, "The relationship between precision-recall and ROC curves", 2006.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.9, 0.8, 0.1]})
    >>> pr.curve(table, truth="truth", score="p").select("threshold", "tp", "fp", "tpr").rows()
    [(None, 0, 0, 0.0), (0.9, 1, 1, 0.5), (0.8, 2, 1, 1.0), (0.1, 2, 2, 1.0)]
    """
    predictions = read(
        frame, truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls
    )
    keys = build_key_index(predictions, now=isinstance(frame, pl.DataFrame))
    return collect_like(frame, curve_tables(predictions, keys))


def curve_tables(
    predictions: Predictions, keys: Keys, named: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """The curves after their anchors, with the columns of `named`, by default the keys."""
    return curves_of(predictions, keys, named).drop(KEY_INDEX, SORT_CODE)


def curves_of(
    predictions: Predictions, keys: Keys, named: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """Curves with anchors, with `KEY_INDEX`, `SORT_CODE` and the columns of `named`."""
    if named is None:
        named = keys.named
    ends = cells(attach_key_index(predictions, keys), keys, weighted=predictions.weighted)
    return to_curve_table(ends, keys.packing, anchors(keys), named)


def anchors(keys: Keys, tp: str | None = None, fp: str | None = None) -> pl.LazyFrame:
    """The start of each curve, in the columns of `cells`: (0, 0), or two columns."""
    kind = keys.totals.collect_schema()["positives"]
    zero = pl.lit(0).cast(kind)
    return keys.totals.select(
        KEY_INDEX,
        keys.packing.before(pl.col(KEY_INDEX)).alias(SORT_CODE),
        zero.alias("pos"),
        zero.alias("neg"),
        (zero if tp is None else pl.col(tp)).alias("tp"),
        (zero if fp is None else pl.col(fp)).alias("fp"),
        "positives",
        "negatives",
    )


def to_curve_table(
    ends: pl.LazyFrame,
    packing: Packing,
    anchors: pl.LazyFrame | None = None,
    named: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Cells as a curve table with `KEY_INDEX` and `SORT_CODE`, sorted, each key after its anchor.

    `named` has the key columns by `KEY_INDEX`.
    """
    rows = ends.select(CELL)
    if anchors is not None:
        rows = pl.concat([anchors, rows])
    if named is not None:
        rows = rows.join(named, on=KEY_INDEX)
    counted = (pl.col("pos") > 0) | (pl.col("neg") > 0)
    names = [] if named is None else named.collect_schema().names()
    return (
        rows.sort(SORT_CODE)
        .with_columns(
            pl.when(counted).then(packing.score_of(pl.col(SORT_CODE))).alias(SCORE),
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
    """The tie-collapsed cells of `attach_key_index` rows: the columns `CELL`, in no order.

    With `for_areas`, only cells with positives are kept, and vertical runs merged, which is
    enough for areas under straight segments.
    """
    ranked = (_weighed if weighted else _counted)(rows, keys.packing)
    if for_areas:
        ranked = _rises(ranked, _weight_added if weighted else _count_added)
    least = [LEAST_POS, LEAST_NEG] if weighted else []
    of_key = ranked.join(
        keys.totals.select(KEY_INDEX, "positives", "negatives", TP_OFFSET, FP_OFFSET, *least),
        on=KEY_INDEX,
    )
    result = of_key.with_columns(pl.col("tp") + pl.col(TP_OFFSET), pl.col("fp") + pl.col(FP_OFFSET))
    if weighted:
        result = result.with_columns(
            *_snap_to_total("tp", "pos", "positives", LEAST_POS),
            *_snap_to_total("fp", "neg", "negatives", LEAST_NEG),
        )
    return result.select(CELL)


def _rises(ranked: pl.LazyFrame, added: Callable[[pl.Expr], pl.Expr]) -> pl.LazyFrame:
    """Cells with positives in the order of codes; the last cell stands for a vertical run."""
    fp, index = pl.col("fp"), pl.col(KEY_INDEX)
    goes_on = (pl.col("neg") == 0) & (fp == fp.shift(-1)) & (index == index.shift(-1))
    ends = ranked.filter(pl.col("pos") > 0).filter(~goes_on.fill_null(False))
    return ends.with_columns(added(pl.col("tp")).alias("pos"))


def _counted(rows: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
    """The last row of each tie in the order of codes, with counts running over all keys."""
    ends = (
        rows.select(_code(packing))
        .sort(SORT_CODE)
        .with_row_index(PLACE, offset=1)
        .with_columns(packing.truth_of(pl.col(SORT_CODE)).cum_sum().alias("tp"))
        .filter(packing.ends_run(pl.col(SORT_CODE)))
    )
    # In two steps, so that cells without positives can be left out before the second.
    tp, place = pl.col("tp"), pl.col(PLACE)
    return ends.with_columns(
        _count_added(tp).alias("pos"), _count_added(place).cast(pl.Int64).alias(SIZE)
    ).with_columns(
        (place.cast(pl.Int64) - tp).alias("fp"),
        (pl.col(SIZE) - pl.col("pos")).alias("neg"),
        packing.index_of(pl.col(SORT_CODE)).alias(KEY_INDEX),
    )


def _weighed(rows: pl.LazyFrame, packing: Packing) -> pl.LazyFrame:
    """Like `_counted` with weights, whose rounded sums start anew in each key."""
    truth, weight = packing.truth_of(pl.col(SORT_CODE)), pl.col(WEIGHT)
    own = ((truth * weight).alias("tp"), ((1 - truth) * weight).alias("fp"))
    ends = (
        rows.filter(weight > 0)
        .select(_code(packing), weight)
        .sort(SORT_CODE)
        .select(SORT_CODE, packing.index_of(pl.col(SORT_CODE)).alias(KEY_INDEX), *own)
        .with_columns(pl.col("tp", "fp").cum_sum().over(KEY_INDEX))
        .filter(packing.ends_run(pl.col(SORT_CODE)))
    )
    rises = _weight_added(pl.col("tp")).alias("pos"), _weight_added(pl.col("fp")).alias("neg")
    # A light weight may be lost in the sum.
    return ends.with_columns(*rises).filter((pl.col("pos") > 0) | (pl.col("neg") > 0))


def _count_added(total: pl.Expr) -> pl.Expr:
    """Increment of a count that runs over all keys."""
    return total - total.shift(1, fill_value=0)


def _weight_added(total: pl.Expr) -> pl.Expr:
    """Increment of a sum of weights that starts anew in each key.

    Unlike a sum of weights, it is exactly zero at the start of a curve.
    """
    index = pl.col(KEY_INDEX)
    return total - pl.when(index == index.shift(1)).then(total.shift(1)).otherwise(0.0)


def _snap_to_total(total: str, rise: str, whole: str, least: str) -> tuple[pl.Expr, pl.Expr]:
    """A cumulative weight that ends exactly at its total, and its increments."""
    start, end = (
        snap_to_total(sum_, pl.col(whole), pl.col(least))
        for sum_ in (pl.col(total) - pl.col(rise), pl.col(total))
    )
    return end.alias(total), (end - start).alias(rise)


def _code(packing: Packing) -> pl.Expr:
    return packing.code(pl.col(KEY_INDEX), pl.col(SCORE), pl.col(TRUTH)).alias(SORT_CODE)
