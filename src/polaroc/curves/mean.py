"""Vertical means of curves over folds, with their spread."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from polaroc import rates
from polaroc.base.checks import (
    MAX_NUMBER,
    check_ratio,
    check_share,
    check_whole,
    refuse_unused,
    unless,
)
from polaroc.base.columns import (
    CURVE,
    GRID,
    HAS_BOTH,
    curve_keys,
    lazily,
    refuse_clash,
    require,
    with_level,
)
from polaroc.base.docstrings import described_as
from polaroc.base.private_columns import STEP, private
from polaroc.base.statistics import student
from polaroc.curves.segments import CELLS, share
from polaroc.curves.whole import takes_curve
from polaroc.errors import check_choice
from polaroc.predictions.usual_keys import keys_named

Spread: TypeAlias = Literal["sd", "t"]
ADDED_COLUMNS = ("sd", "curves", "interval")


@takes_curve
def mean_roc(
    curve: pl.LazyFrame,
    fold: str | Sequence[str] | None = None,
    n: int = 201,
    *,
    interval: Spread = "sd",
    level: float = 0.95,
    test_train_ratio: float | None = None,
) -> pl.LazyFrame:
    """The mean ROC curve over folds: the mean recall at each false positive rate.

    Parameters
    ----------
    fold
        The key or keys of the folds, over which curves are averaged; there is a mean curve for
        each value of the others. By default those with a usual name, such as "fold".
    n
        How many false positive rates, evenly spaced from 0 to 1, at least 2.
    interval
        What `lower` and `upper` are: ``"sd"``, one standard deviation of the curves
        to either side of the mean; ``"t"``, the pointwise t-interval of the mean.
    level
        Confidence in (0, 1) of ``"t"``, at each rate by itself.
    test_train_ratio
        Test over training cases of a fold, as in `compare`: folds that share training
        cases are no independent sample, and ``"t"`` without it is too narrow.

    Returns
    -------
    Frame of the kind given
        One row per remaining key and rate, sorted: the keys; `fpr`; `tpr`, the mean;
        `sd` of the curves, `lower` and `upper`, within 0 and 1, null of a single
        curve, `level`, null of ``"sd"``: Float64; `curves`, how many there are; `interval` in
        words. Curves without positives, without negatives or with rows that cannot be ranked are
        not among them.

    Notes
    -----
    Between ROC points a curve is straight; at a vertical segment its upper end is
    taken. The interval of ``"t"`` is mean ± t·√(s²(1/J + r)) with J curves and
    the ratio r, 0 where it is not given.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "fold": [1, 1, 2, 2], "truth": [1, 0, 1, 0], "score": [0.8, 0.3, 0.5, 0.5],
    ... })
    >>> curves = pr.curve(table, truth="truth", score="score")
    >>> pr.mean_roc(curves, n=3)["tpr"].to_list()
    [0.5, 0.75, 1.0]
    """
    remaining = _remaining_keys(curve_keys(curve), fold, n)
    last = n - 1
    (t0, f0), (t1, _), (dt, df) = CELLS.segment
    # Rounded up.
    start, end = (-(-total * last // CELLS.negatives) for total in (CELLS.fp - CELLS.neg, CELLS.fp))
    stop = pl.when(CELLS.fp == CELLS.negatives).then(n).otherwise(end)
    on_segment = pl.min_horizontal(t0 + (pl.col("at") - f0) * dt / df, t1)
    recall = pl.when(pl.col("at") == 1).then(1.0).otherwise(on_segment)
    points = _on_grid(curve.filter(CELLS.neg > 0), start, stop, last).with_columns(
        pl.col("at").alias("fpr"), recall.alias("tpr")
    )
    return _means(points, remaining, "fpr", "tpr", interval, level, test_train_ratio)


@described_as(mean_roc)
@lazily
def mean_pr(
    surface: pl.LazyFrame,
    fold: str | Sequence[str] | None = None,
    n: int = 201,
    *,
    interval: Spread = "sd",
    level: float = 0.95,
    test_train_ratio: float | None = None,
) -> pl.LazyFrame:
    """The mean precision-recall curve over folds: the mean precision at each recall.

    Parameters
    ----------
    surface
        The result of `surface`, at priors that the folds share.
    n
        How many recalls, evenly spaced from 0 to 1, at least 2.

    Returns
    -------
    Frame of the kind given
        As from `mean_roc`, with a row per remaining key, `prior` and recall (`tpr`):
        the keys; `prior`, `skew`; `tpr`; `precision`, the mean; `sd`, `lower`,
        `upper`, `level`, `curves`, `interval`.

    Raises
    ------
    InvalidArgument, InvalidTable
        As `mean_roc`; where the columns of a surface are missing.

    Notes
    -----
    Each curve is interpolated exactly, on its ROC (D&G §4). At a recall with several
    precisions the highest is taken, at recall 0 the limit.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "fold": [1, 1, 2, 2], "truth": [1, 0, 1, 0], "score": [0.8, 0.3, 0.5, 0.5],
    ... })
    >>> curves = pr.curve(table, truth="truth", score="score")
    >>> pr.surface(curves, 0.5).pipe(pr.mean_pr, n=3)["precision"].to_list()
    [0.75, 0.75, 0.75]
    """
    keys = surface_keys(surface)
    remaining = _remaining_keys(keys, fold, n)
    points = precision_on_grid(surface, keys, n)
    named = [*remaining, *GRID]
    return _means(points, named, "tpr", "precision", interval, level, test_train_ratio)


def surface_keys(surface: pl.LazyFrame) -> list[str]:
    """Keys of a surface, the columns before its priors."""
    others = require(surface, (*CURVE, *GRID), source="surface(...)")
    names = surface.collect_schema().names()
    return [name for name in others if names.index(name) < names.index("prior")]


def precision_on_grid(surface: pl.LazyFrame, keys: Sequence[str], n: int) -> pl.LazyFrame:
    """`fpr` and `precision` of each curve of a surface at `n` recalls (`tpr`), with `STEP`."""
    last = n - 1
    (t0, f0), _, (dt, df) = CELLS.segment
    before = (CELLS.tp - CELLS.pos) * last // CELLS.positives
    start = pl.when(CELLS.tp == CELLS.pos).then(0).otherwise(before + 1)
    end = CELLS.tp * last // CELLS.positives + 1
    recall, skew = pl.col("at"), pl.col("skew")
    # Precision is constant along the segment from the origin.
    limit = rates.precision(dt, df, skew)
    f = f0 + (recall - t0) * df / dt
    precision = pl.when(CELLS.is_first).then(limit).otherwise(rates.precision(recall, f, skew))
    return _on_grid(surface.filter(CELLS.pos > 0), start, end, last).select(
        *keys, *GRID, STEP, recall.alias("tpr"), f.alias("fpr"), precision.alias("precision")
    )


def _means(
    points: pl.LazyFrame,
    keys: Sequence[str],
    x: str,
    y: str,
    interval: Spread,
    level: float,
    test_train_ratio: float | None,
) -> pl.LazyFrame:
    """The mean of `y` at each `x`, with the interval that is asked for."""
    check_choice("interval", interval, ("sd", "t"))
    check_share("level", level)
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    width, count, caption, shown_level = pl.col("sd"), pl.col("curves"), "± 1 SD", None
    if interval == "sd":
        refuse_unused(
            "for interval='t'", "interval is 'sd'",
            test_train_ratio=test_train_ratio, level=unless(0.95, level),
        )  # fmt: skip
    else:
        shown_level = level
        error = width * (1 / count + (test_train_ratio or 0)) ** 0.5
        width = student(count - 1, level) * error
        corrected = "" if test_train_ratio is None else ", corrected for shared training cases"
        caption = f"with its pointwise {100 * level:.4g} % t-interval{corrected}"
    return (
        points.group_by(*keys, STEP)
        .agg(
            pl.col(x).first(),
            pl.col(y).mean(),
            pl.col(y).std().alias("sd"),
            pl.len().cast(pl.Int64).alias("curves"),
        )
        .with_columns(
            (pl.col(y) - width).clip(0, 1).alias("lower"),
            (pl.col(y) + width).clip(0, 1).alias("upper"),
            pl.lit(caption).alias("interval"),
        )
        .sort(*keys, STEP, nulls_last=True)
        .select(*keys, x, y, "sd", "lower", "upper", "curves", "interval")
        .pipe(with_level, shown_level)
    )


def _remaining_keys(keys: Sequence[str], fold: str | Sequence[str] | None, n: int) -> list[str]:
    """Keys that are not averaged over."""
    check_whole("n", n, 2, MAX_NUMBER)
    averaged = keys_named("fold", fold, keys)
    remaining = [key for key in keys if key not in averaged]
    refuse_clash(remaining, ADDED_COLUMNS)
    return remaining


def _on_grid(cells: pl.LazyFrame, start: pl.Expr, end: pl.Expr, last: int) -> pl.LazyFrame:
    """Cells of curves at the steps `start` to `end` − 1 of the grid 0, 1/last, …, 1.

    Steps are computed from counts: a rate that is on the grid is found exactly, although its
    quotient is rounded.
    """
    placed = cells.filter(HAS_BOTH).with_columns(
        start.cast(pl.Int64).alias(STEP), end.cast(pl.Int64).alias(private("end"))
    )
    covering = placed.filter(pl.col(STEP) < pl.col(private("end")))
    return (
        covering.with_columns(pl.int_ranges(STEP, private("end")).alias(STEP))
        .explode(STEP)
        .with_columns(share(pl.col(STEP), pl.lit(last)).alias("at"))
    )
