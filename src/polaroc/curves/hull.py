"""ROC convex hull: the operating points that are optimal at some prior or cost."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polaroc import rates
from polaroc.base.checks import shares
from polaroc.base.columns import HAS_BOTH, curve_keys
from polaroc.base.private_columns import RECALL
from polaroc.curves.curve import in_order
from polaroc.curves.segments import CELLS
from polaroc.curves.surface import at_priors
from polaroc.curves.whole import takes_curve
from polaroc.typing import Array, Priors


@takes_curve
def hull(curve: pl.LazyFrame) -> pl.LazyFrame:
    """The upper convex hull of each ROC curve, as a curve table of its vertices.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.

    Returns
    -------
    Frame of the kind given
        A curve table (see `curve`): per key the anchor (0, 0) and the strictly
        convex vertices up to (1, 1), with their thresholds; `pos` and `neg` are
        those between a vertex and the one before. A key without positives or
        without negatives keeps its curve unchanged.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.

    Notes
    -----
    D&G Corollary 3.1. Choose thresholds on a tuning table and apply them to a test table;
    never read them off the test data. The plan holds a Python function: it runs
    in memory and cannot be sent to a remote engine.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> pr.curve(table, truth="truth", score="p").pipe(pr.hull).select("tp", "fp").rows()
    [(0, 0), (1, 0), (2, 1), (2, 2)]
    """
    return hulls_of(curve)


def hulls_of(curves: pl.LazyFrame) -> pl.LazyFrame:
    """Hulls of whole curves, in any order."""
    return hulls(in_order(curves, curve_keys(curves)))


def hulls(curves: pl.LazyFrame) -> pl.LazyFrame:
    """Hulls of sorted curves with anchors."""
    return curves.map_batches(_hulls, schema=curves.collect_schema())


@takes_curve
def achievable(
    curve: pl.LazyFrame, priors: Priors, recall: int | Sequence[float] = 101
) -> pl.LazyFrame:
    """The achievable precision-recall curve of each key, on a grid of recalls.

    It is that of the ROC hull, exact between vertices: any point of it is
    reached by a mixture of two thresholds, and no other beats it.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or a prior grid.
        Where the own prior of a key is, up to rounding, another one of them, it counts once.
    recall
        Recalls from 0 to 1, or how many of them, evenly spaced, at least 2.

    Returns
    -------
    Frame of the kind given
        The keys; `prior`, `skew`, `tpr` (the recall), `fpr` and `precision`,
        Float64; sorted by key, prior and recall. At recall 0, precision is its
        limit. Keys without positives, without negatives or with rows that cannot be
        ranked have no rows.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    D&G Corollary 3.1. Like `hull`, the plan holds a Python function.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.8, 0.7, 0.1]})
    >>> curves = pr.curve(table, truth="truth", score="p")
    >>> pr.achievable(curves, 0.5, recall=[0.25, 0.75]).select("fpr", "precision").rows()
    [(0.0, 1.0), (0.25, 0.75)]
    """
    keys = curve_keys(curve)
    grid = pl.LazyFrame({RECALL: shares("recall", recall)}, schema={RECALL: pl.Float64})
    (t0, f0), (t1, _), (dt, df) = CELLS.segment
    target = pl.col(RECALL)
    # Recall 0 belongs to the segment that starts there, others to the one that reaches them.
    in_segment = (t0 < target) & (target <= t1) | ((target == 0) & (pl.col("tp") == pl.col("pos")))
    segments = at_priors(hulls_of(curve), priors).filter((pl.col("pos") > 0) & HAS_BOTH)
    f = f0 + (target - t0) * df / dt
    # Precision is constant along the segment from the origin.
    limit = rates.precision(dt, df, pl.col("skew"))
    precision = rates.precision(target, pl.col("fpr"), pl.col("skew"))
    at_origin = (target == 0) & CELLS.is_first
    return (
        segments.join(grid, how="cross")
        .filter(in_segment)
        .with_columns(f.alias("fpr"))
        .with_columns(
            pl.when(at_origin).then(limit).otherwise(precision).alias("precision"),
            target.alias("tpr"),
        )
        .select(*keys, "prior", "skew", "tpr", "fpr", "precision")
        .sort(*keys, "prior", "tpr", nulls_last=True)
    )


def _hulls(curves: pl.DataFrame) -> pl.DataFrame:
    if curves.is_empty():
        return curves
    # Curves without totals stay as they are: they may not be whole, nor have an anchor.
    unranked = curves["positives"].is_null().to_numpy()
    bounds = np.flatnonzero(curves["threshold"].is_null().to_numpy() | unranked)
    starts, ends = (
        ends[~unranked[bounds]] for ends in (bounds, np.append(bounds[1:], curves.height))
    )
    tp, fp = curves["tp"].to_numpy(), curves["fp"].to_numpy()
    lacks_class = curves.select(
        (pl.col("positives").fill_null(0) == 0) | (pl.col("negatives").fill_null(0) == 0)
    ).to_series()
    kept = [np.flatnonzero(unranked)]
    for start, end in zip(starts, ends, strict=True):
        if lacks_class[int(start)]:
            kept.append(np.arange(start, end))
        else:
            kept.append(start + hull_vertices(fp[start:end], tp[start:end]))
    vertices = curves[np.sort(np.concatenate(kept))]
    anchor = pl.col("threshold").is_null()
    return vertices.with_columns(
        pl.when(anchor)
        .then(0)
        .when(pl.col("positives").is_null())
        .then(increment)
        .otherwise(pl.col(total).diff())
        .cast(vertices[total].dtype)
        .alias(increment)
        for increment, total in (("pos", "tp"), ("neg", "fp"))
    )


def hull_vertices(fp: Array, tp: Array) -> Array:
    """Indices of the strictly convex vertices of a ROC curve, from cumulative counts.

    The first point, (0, 0), and one at (1, 1) are included.

    Examples
    --------
    >>> import numpy as np
    >>> hull_vertices(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])).tolist()
    [0, 1, 3, 4]
    """
    from scipy.optimize import isotonic_regression

    # A weight may be too small to change the total.
    moved = np.flatnonzero((np.diff(tp) > 0) | (np.diff(fp) > 0)) + 1
    steps: Array = np.concatenate(([0], moved))
    if moved.size == 0:
        return steps
    # Use rates, so that class imbalance loses no precision.
    t, f = (counts / (counts[-1] or 1) for counts in (tp, fp))
    rise, run = np.diff(t[steps]), np.diff(f[steps])
    blocks = isotonic_regression(rise / (rise + run), weights=rise + run, increasing=False).blocks
    kept: Array = steps[blocks]
    # Pooling is in floating point; collinear points are removed by exact counts. Powers of
    # two keep products of weights and of huge counts in range without rounding.
    if tp.dtype.kind == "f" or int(tp[-1]) * int(fp[-1]) >= 2**63:
        tp, fp = (np.ldexp(counts, -np.frexp(counts[-1])[1]) for counts in (tp * 1.0, fp * 1.0))
    while True:
        rise, run = np.diff(tp[kept]), np.diff(fp[kept])
        convex = rise[:-1] * run[1:] > rise[1:] * run[:-1]
        if convex.all():
            return kept
        kept = kept[np.concatenate(([True], convex, [True]))]
