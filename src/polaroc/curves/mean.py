"""Vertical means of curves over folds, with their spread."""

from __future__ import annotations

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
    as_lazy,
    column_names,
    curve_keys,
    refuse_clash,
    require,
    with_level,
)
from polaroc.base.private_columns import STEP, private
from polaroc.base.statistics import student
from polaroc.curves.segments import CELLS, share
from polaroc.curves.whole import whole_curves, with_first
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.typing import _P, FrameStep, LazyStep, Table

Spread: TypeAlias = Literal["sd", "t"]
ADDED_COLUMNS = ("sd", "curves", "interval")


def curves_or_surface(table: Table) -> pl.LazyFrame:
    """The curves of a table, which have to be whole, or its surface."""
    frame = as_lazy(table)
    is_surface = {*GRID} <= {*frame.collect_schema().names()}
    return frame if is_surface else whole_curves(table)


def takes_curve_or_surface(step: LazyStep[_P]) -> FrameStep[_P]:
    """Let a lazy step take a curve or a surface; of all but a LazyFrame it is collected."""
    return with_first(curves_or_surface, step)


@takes_curve_or_surface
def mean_curve(
    curve: pl.LazyFrame,
    fold: str | Sequence[str] | None = None,
    n: int = 201,
    *,
    spread: Spread = "sd",
    level: float = 0.95,
    test_train_ratio: float | None = None,
) -> pl.LazyFrame:
    """The mean curve over folds: recall by false positive rate, or precision by recall.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`, for the mean ROC curve; or the result of `surface` at
        priors that the folds share, for the mean precision-recall curve at each of them.
    fold
        The key or keys of the folds, over which curves are averaged; there is a mean curve for
        each value of the others. By default "fold".
    n
        How many false positive rates, or recalls, evenly spaced from 0 to 1, at least 2.
    spread
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
        One row per remaining key and rate, sorted: the keys; of curves `fpr` and the mean `tpr`,
        of a surface `prior`, `skew`, `tpr` and the mean `precision`; `sd` of the curves, `lower`
        and `upper`, within 0 and 1, null of a single curve, `level`, null of ``"sd"``: Float64;
        `curves`, how many there are; `interval` in words. Curves without positives, without
        negatives or with rows that cannot be ranked are not among them.

    Raises
    ------
    InvalidArgument, InvalidTable
        Where the columns of a curve are missing, or its rows are not whole; for `n` below 2.

    Notes
    -----
    Between ROC points a curve is straight; at a vertical segment its upper end is taken.
    Precision is interpolated exactly, on the ROC (D&G §4); at a recall with several precisions
    the highest is taken, at recall 0 the limit. The interval of ``"t"`` is mean ± t·√(s²(1/J + r))
    with J curves and the ratio r, 0 where it is not given.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "fold": [1, 1, 2, 2], "truth": [1, 0, 1, 0], "score": [0.8, 0.3, 0.5, 0.5],
    ... })
    >>> curves = pr.curve(table, truth="truth", score="score")
    >>> pr.mean_curve(curves, n=3)["tpr"].to_list()
    [0.5, 0.75, 1.0]
    >>> pr.surface(curves, 0.5).pipe(pr.mean_curve, n=3)["precision"].to_list()
    [0.75, 0.75, 0.75]
    """
    names = curve.collect_schema().names()
    if {*GRID} <= {*names}:
        keys = surface_keys(curve)
        remaining = _remaining_keys(keys, fold, n)
        points, x, y = precision_on_grid(curve, keys, n), "tpr", "precision"
        return _means(points, [*remaining, *GRID], x, y, spread, level, test_train_ratio)
    remaining = _remaining_keys(curve_keys(curve), fold, n)
    points, x, y = _recall_on_grid(curve, n), "fpr", "tpr"
    return _means(points, remaining, x, y, spread, level, test_train_ratio)


def _recall_on_grid(curve: pl.LazyFrame, n: int) -> pl.LazyFrame:
    """`tpr` of each curve at `n` false positive rates (`fpr`), with `STEP`."""
    last = n - 1
    (t0, f0), (t1, _), (dt, df) = CELLS.segment
    # Rounded up.
    start, end = (-(-total * last // CELLS.negatives) for total in (CELLS.fp - CELLS.neg, CELLS.fp))
    stop = pl.when(CELLS.fp == CELLS.negatives).then(n).otherwise(end)
    on_segment = pl.min_horizontal(t0 + (pl.col("at") - f0) * dt / df, t1)
    recall = pl.when(pl.col("at") == 1).then(1.0).otherwise(on_segment)
    return _on_grid(curve.filter(CELLS.neg > 0), start, stop, last).with_columns(
        pl.col("at").alias("fpr"), recall.alias("tpr")
    )


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
    spread: Spread,
    level: float,
    test_train_ratio: float | None,
) -> pl.LazyFrame:
    """The mean of `y` at each `x`, with the interval that is asked for."""
    check_choice("spread", spread, ("sd", "t"))
    check_share("level", level)
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    width, count, caption, shown_level = pl.col("sd"), pl.col("curves"), "± 1 SD", None
    if spread == "sd":
        refuse_unused(
            "for spread='t'", "spread is 'sd'",
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
    averaged = column_names("fold" if fold is None else fold, "fold")
    if not averaged or any(name not in keys for name in averaged):
        raise InvalidArgument(
            f"fold is {averaged}; the keys are {quoted(keys) or 'none'}.",
            hint="name the key that curves are averaged over.",
        )
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
