"""Vertical means of curves over folds, with their spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import polars as pl

from polaroc.base.checks import (
    MAX_NUMBER,
    check_ratio,
    check_share,
    check_whole,
    none_if,
    refuse_unused,
)
from polaroc.base.columns import (
    GRID,
    as_lazy,
    collect_like,
    column_names,
    curve_keys,
    refuse_clash,
    with_level,
)
from polaroc.base.statistics import student
from polaroc.curves.curve import whole_curves
from polaroc.curves.segments import precision_on_grid, recall_on_grid
from polaroc.curves.surface import is_surface, surface_keys
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.typing import Frame, Table

Spread: TypeAlias = Literal["sd", "t"]


def mean_curve(
    curve: Frame,
    fold: str | Sequence[str] | None = None,
    n: int = 201,
    *,
    spread: Spread = "sd",
    level: float = 0.95,
    test_train_ratio: float | None = None,
) -> Frame:
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
    check_whole("n", n, 2, MAX_NUMBER)
    points, keys, x, y = _on_grid(curve, [i / (n - 1) for i in range(n)])
    averaged = column_names("fold" if fold is None else fold, "fold")
    if not averaged or not set(averaged) <= set(keys):
        raise InvalidArgument(
            f"fold is {averaged}; the keys are {quoted(keys) or 'none'}.",
            hint="name the key that curves are averaged over.",
        )
    kept = [key for key in keys if key not in averaged]
    refuse_clash(kept, ("sd", "curves", "interval"))
    kept += GRID if y == "precision" else ()
    half, words, shown_level = _interval(spread, level, test_train_ratio)
    means = (
        points.group_by(*kept, x)
        .agg(pl.col(y).mean(), sd=pl.col(y).std(), curves=pl.len().cast(pl.Int64))
        .with_columns(
            lower=(pl.col(y) - half).clip(0, 1),
            upper=(pl.col(y) + half).clip(0, 1),
            interval=pl.lit(words),
        )
        .sort(*kept, x, nulls_last=True)
        .select(*kept, x, y, "sd", "lower", "upper", "curves", "interval")
    )
    return collect_like(curve, with_level(means, shown_level))


def _on_grid(table: Table, grid: Sequence[float]) -> tuple[pl.LazyFrame, list[str], str, str]:
    """Curves, or a surface, on a grid; their keys, and the names of the grid and of the mean."""
    if is_surface(table):
        surface = as_lazy(table)
        return precision_on_grid(surface, grid), surface_keys(surface), "tpr", "precision"
    curves = whole_curves(table)
    return recall_on_grid(curves, grid), curve_keys(curves), "fpr", "tpr"


def _interval(
    spread: Spread, level: float, test_train_ratio: float | None
) -> tuple[pl.Expr, str, float | None]:
    """Half the width of the interval, its description, and its level."""
    check_choice("spread", spread, ("sd", "t"))
    check_share("level", level)
    if test_train_ratio is not None:
        check_ratio(test_train_ratio)
    if spread == "sd":
        refuse_unused(
            "for spread='t'",
            "spread is 'sd'",
            test_train_ratio=test_train_ratio,
            level=none_if(level, 0.95),
        )
        return pl.col("sd"), "± 1 SD", None
    count = pl.col("curves")
    error = pl.col("sd") * (1 / count + (test_train_ratio or 0)) ** 0.5
    corrected = "" if test_train_ratio is None else ", corrected for shared training cases"
    words = f"with its pointwise {100 * level:.4g} % t-interval{corrected}"
    return student(count - 1, level) * error, words, level
