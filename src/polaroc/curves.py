"""The primitive: the curve table of tie-collapsed cells, from which everything else follows."""

from collections.abc import Sequence

import polars as pl

from polaroc.columns import CURVE, attach, like
from polaroc.predictions import Predictions, read
from polaroc.ranking import CODE, INDEX, before, code, ends_run, index_of, score_of, truth_of
from polaroc.totals import FP_OFFSET, TP_OFFSET, totals
from polaroc.trouble import SCORE, TRUTH, WEIGHT
from polaroc.typing import By, Frame, IntoExpr, Label, Nulls


def curve(
    frame: Frame,
    *,
    truth: IntoExpr,
    score: IntoExpr,
    by: By = (),
    weight: IntoExpr | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
) -> Frame:
    """ROC curves, one per key, with ties collapsed.

    Parameters
    ----------
    frame
        Predictions, one row per case.
    truth
        Labels: Boolean, 0/1, or any when `positive` names the positive one(s).
    score
        Numeric; higher means more likely positive. ±inf is allowed.
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

    Notes
    -----
    P-ROC §3, with tied scores as one segment, so that the order of rows never
    matters.

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
    table, _ = curves_and_totals(predictions)
    return like(frame, table.drop(INDEX))


def curves_and_totals(predictions: Predictions) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The curve table with `INDEX`, sorted, each key after its anchor; and the totals."""
    cells, counts = cells_and_totals(predictions)
    schema = cells.collect_schema()
    zeros = (pl.lit(0).cast(schema[name]).alias(name) for name in ("pos", "neg", "tp", "fp"))
    anchor = before(pl.col(INDEX)).alias(CODE)
    anchors = counts.select(INDEX, anchor, *zeros, "positives", "negatives")
    counted = (pl.col("pos") > 0) | (pl.col("neg") > 0)
    table = (
        pl.concat([anchors, cells.select(anchors.collect_schema().names())])
        .join(counts.select(INDEX, *predictions.keys), on=INDEX)
        .sort(CODE)
        .with_columns(
            pl.when(counted).then(score_of(pl.col(CODE))).alias(SCORE),
            rate("tp", "positives").alias("tpr"),
            rate("fp", "negatives").alias("fpr"),
        )
        .select(INDEX, *predictions.keys, *CURVE)
    )
    return table, counts


def in_order(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Curves sorted by key, the anchor and then the best score first."""
    by_key = [False] * len(keys)
    return curves.sort(
        *keys, SCORE, descending=[*by_key, True], nulls_last=[*(True for _ in keys), False]
    )


def rate(count: str, total: str) -> pl.Expr:
    """A count as a share of its total, null where the total is zero."""
    return pl.when(pl.col(total) > 0).then(pl.col(count) / pl.col(total))


def cells_and_totals(predictions: Predictions) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The tie-collapsed cells and, per key, the totals they add up to.

    Returns
    -------
    cells
        `INDEX`, `CODE`, `pos`, `neg`, `tp`, `fp`, `positives`, `negatives`; in no
        order, without anchors.
    totals
        As `totals` gives them.
    """
    counts = totals(predictions)
    ranked = _ranked(predictions, counts)
    if predictions.weighted:
        counts = _weighed(counts, ranked)
    ends = ranked.filter(ends_run(pl.col(CODE))).select(
        index_of(pl.col(CODE)).alias(INDEX),
        CODE,
        "tp",
        "fp",
    )
    cells = (
        ends.with_columns(
            _rise("tp", predictions.weighted).alias("pos"),
            _rise("fp", predictions.weighted).alias("neg"),
        )
        .filter((pl.col("pos") > 0) | (pl.col("neg") > 0))
        .join(counts.select(INDEX, "positives", "negatives", TP_OFFSET, FP_OFFSET), on=INDEX)
        .with_columns(pl.col("tp") + pl.col(TP_OFFSET), pl.col("fp") + pl.col(FP_OFFSET))
        .drop(TP_OFFSET, FP_OFFSET)
    )
    return cells, counts


def _ranked(predictions: Predictions, counts: pl.LazyFrame) -> pl.LazyFrame:
    """The sound rows in the order of their codes, with cumulative counts.

    Counts run on from key to key; weights, whose sums round, start anew in each.
    """
    keys = predictions.keys
    rows = predictions.sound
    if keys:
        rows = attach(rows, counts.select(*keys, INDEX), keys)
    index = pl.col(INDEX) if keys else pl.lit(0, pl.UInt32)
    coded = code(index, pl.col(SCORE), pl.col(TRUTH)).alias(CODE)
    truth = truth_of(pl.col(CODE))
    if not predictions.weighted:
        ranked = rows.select(coded).sort(CODE)
        return ranked.with_columns(truth.cum_sum().alias("tp"), (1 - truth).cum_sum().alias("fp"))
    weight = pl.col(WEIGHT)
    ranked = rows.filter(weight > 0).select(coded, weight).sort(CODE)
    return ranked.with_columns(index_of(pl.col(CODE)).alias(INDEX)).with_columns(
        (truth * weight).cum_sum().over(INDEX).alias("tp"),
        ((1 - truth) * weight).cum_sum().over(INDEX).alias("fp"),
    )


def _rise(total: str, weighted: bool) -> pl.Expr:
    """What a cell adds: by what its cumulative count rose.

    Unlike a sum of its weights, the count less its rise is zero to the last digit
    where a curve starts.
    """
    earlier = pl.col(total).shift(1).fill_null(0)
    if weighted:
        earlier = pl.when(pl.col(INDEX) == pl.col(INDEX).shift(1)).then(earlier).otherwise(0.0)
    return pl.col(total) - earlier


def _weighed(counts: pl.LazyFrame, ranked: pl.LazyFrame) -> pl.LazyFrame:
    """Totals of weights: the last cumulative ones, to the last digit."""
    last = ranked.group_by(INDEX).agg(pl.col("tp").max(), pl.col("fp").max())
    nothing = pl.lit(0.0)
    return (
        counts.join(last, on=INDEX, how="left")
        .with_columns(
            *(
                pl.when(pl.col(total).is_not_null())
                .then(pl.col(weighed).fill_null(0.0))
                .alias(total)
                for total, weighed in (("positives", "tp"), ("negatives", "fp"))
            ),
            nothing.alias(TP_OFFSET),
            nothing.alias(FP_OFFSET),
        )
        .drop("tp", "fp")
    )
