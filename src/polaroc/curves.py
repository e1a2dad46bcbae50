"""The primitive: the curve table of tie-collapsed cells, from which everything else follows."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.columns import CURVE, attach, like, within
from polaroc.predictions import COUNT, Predictions, read
from polaroc.trouble import SCORE, TROUBLE, TRUTH, WEIGHT
from polaroc.typing import By, Frame, IntoExpr, Label, Nulls

# Sums of weights keep some sixteen digits.
GREATEST_SPREAD = 1e12


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
    keys = predictions.keys
    cells, totals = cells_and_totals(predictions)
    return like(frame, in_order(anchored(cells, totals, keys), keys))


def anchored(cells: pl.LazyFrame, totals: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """The curve table, in no order: cells, an anchor per key, totals and rates."""
    anchors = totals.select(
        *keys,
        pl.lit(None, pl.Float64).alias(SCORE),
        *(pl.lit(0).cast(kind).alias(name) for name, kind in _count_types(cells).items()),
    )
    return (
        attach(pl.concat([anchors, cells]), totals.drop("note"), keys)
        .with_columns(rate("tp", "positives").alias("tpr"), rate("fp", "negatives").alias("fpr"))
        .select(*keys, *CURVE)
    )


def in_order(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Curves sorted by key, the anchor and then the best score first."""
    by_key = [False] * len(keys)
    return curves.sort(
        *keys, SCORE, descending=[*by_key, True], nulls_last=[*(True for _ in keys), False]
    )


@dataclass(frozen=True)
class Cells:
    """The counts of a curve as expressions; `CELLS` are the columns of a curve table."""

    pos: pl.Expr
    neg: pl.Expr
    tp: pl.Expr
    fp: pl.Expr
    positives: pl.Expr
    negatives: pl.Expr

    @property
    def is_first(self) -> pl.Expr:
        """Whether the segment that ends at a cell starts at the origin."""
        return (self.tp == self.pos) & (self.fp == self.neg)

    @property
    def segment(self) -> tuple[tuple[pl.Expr, pl.Expr], ...]:
        """The segment that ends at a cell: (t₀, f₀), (t₁, f₁) and (Δt, Δf)."""
        starts = (self.tp - self.pos, self.fp - self.neg)
        pairs = (starts, (self.tp, self.fp), (self.pos, self.neg))
        return tuple((own / self.positives, other / self.negatives) for own, other in pairs)


CELLS = Cells(*map(pl.col, ("pos", "neg", "tp", "fp", "positives", "negatives")))


def rate(count: str, total: str) -> pl.Expr:
    """A count as a share of its total, null where the total is zero."""
    return pl.when(pl.col(total) > 0).then(pl.col(count) / pl.col(total))


def _count_types(cells: pl.LazyFrame) -> dict[str, pl.DataType]:
    schema = cells.collect_schema()
    return {name: schema[name] for name in ("pos", "neg", "tp", "fp")}


def cells_and_totals(predictions: Predictions) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """The tie-collapsed cells and, per key, the totals they add up to.

    Returns
    -------
    cells
        Keys, `threshold`, `pos`, `neg`, `tp`, `fp`; in no order, without anchors.
    totals
        One row per key: `positives`, `negatives` (null where rows of the key
        cannot be ranked) and `note`, which says why or what was dropped.
    """
    keys = predictions.keys
    counted = pl.col(WEIGHT) if predictions.weighted else pl.lit(1, pl.Int64)
    pos, neg = pl.col(TRUTH) * counted, ~pl.col(TRUTH) * counted
    score = pl.col(SCORE)
    # Rows tied with a neighbour, of whatever key, are few where scores are
    # continuous: only they need the costly grouping by key and score.
    tied = (score == score.shift(1)).fill_null(False) | (score == score.shift(-1)).fill_null(False)
    ranked = predictions.sound.sort(SCORE, descending=True).with_columns(
        within(pos.cum_sum(), keys).alias("tp"),
        within(neg.cum_sum(), keys).alias("fp"),
        tied.alias(TROUBLE),
    )
    singles = ranked.filter(~pl.col(TROUBLE)).select(
        *keys, SCORE, pos.alias("pos"), neg.alias("neg"), "tp", "fp"
    )
    # What a group adds is what its cumulative counts rose by: unlike a sum of its
    # weights, that is zero to the last digit where the curve starts.
    rise = [
        (total.max() - (total - own).min()).alias(name)
        for name, total, own in (("pos", pl.col("tp"), pos), ("neg", pl.col("fp"), neg))
    ]
    groups = (
        ranked.filter(pl.col(TROUBLE)).group_by(*keys, SCORE).agg(*rise, pl.col("tp", "fp").max())
    )
    cells = pl.concat([singles, groups]).filter((pl.col("pos") > 0) | (pl.col("neg") > 0))
    return cells, _totals(predictions, ranked)


def segments(predictions: Predictions) -> pl.LazyFrame:
    """The cells that carry precision-recall area, those with positives, with totals and note.

    A key without any keeps one row, whose `pos` is null.
    """
    cells, totals = cells_and_totals(predictions)
    return attach(totals, cells.filter(pl.col("pos") > 0), predictions.keys, required=False)


def _totals(predictions: Predictions, ranked: pl.LazyFrame) -> pl.LazyFrame:
    # The last cumulative count is the total to the last digit, also of weights.
    sound = ranked.group_by(predictions.keys).agg(
        pl.len().cast(pl.Int64).alias(COUNT),
        pl.col("tp").max().alias("positives"),
        pl.col("fp").max().alias("negatives"),
        _spread_note(predictions).alias("note"),
    )
    spoiled = pl.col(TROUBLE).any()
    return (
        pl.concat([sound, predictions.troubles], how="diagonal")
        .group_by(predictions.keys)
        .agg(
            pl.col(COUNT).sum(),
            *(
                pl.when(~spoiled).then(pl.col(total).max().fill_null(0)).alias(total)
                for total in ("positives", "negatives")
            ),
            pl.col("note").drop_nulls().str.join("; ").replace("", None),
        )
        .filter(pl.col(COUNT) > 0)
        .drop(COUNT)
    )


def _spread_note(predictions: Predictions) -> pl.Expr:
    """What is to be said of weights so different that their sums lose the smaller."""
    if not predictions.weighted:
        return pl.lit(None, pl.String)
    weight = pl.col(WEIGHT)
    spread = weight.max() / weight.filter(weight > 0).min()
    return pl.when(spread > GREATEST_SPREAD).then(
        pl.lit("weights differ more than a trillionfold: the smallest are lost in rounding")
    )
