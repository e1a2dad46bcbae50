"""ROC convex hull: the operating points that are optimal at some prior or cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from polaroc.base.checks import shares
from polaroc.base.columns import HAS_BOTH, collect_like, curve_keys
from polaroc.curves.curve import in_order, whole_curves
from polaroc.curves.segments import precision_on_grid
from polaroc.curves.surface import at_priors
from polaroc.typing import Array, Frame, Priors


def hull(curve: Frame) -> Frame:
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
    curves = whole_curves(curve)
    return collect_like(curve, hulls_of(curves, curve_keys(curves)))


def hulls_of(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Hulls of whole curves, in any order."""
    return in_order(curves, keys).map_batches(hulls_of_sorted, schema=curves.collect_schema())


def achievable(curve: Frame, priors: Priors, recall: int | Sequence[float] = 101) -> Frame:
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
    curves = whole_curves(curve)
    keys = curve_keys(curves)
    surface = at_priors(hulls_of(curves, keys), priors)
    points = precision_on_grid(surface, shares("recall", recall))
    ordered = points.sort(*keys, "prior", "tpr", nulls_last=True)
    return collect_like(curve, ordered.select(*keys, "prior", "skew", "tpr", "fpr", "precision"))


def hulls_of_sorted(curves: pl.DataFrame) -> pl.DataFrame:
    """Hulls of curves in memory, each from its anchor on; those that lack a class are unchanged.

    `pos` and `neg` are computed from `tp` and `fp`.
    """
    has_both = curves.select(HAS_BOTH.fill_null(False)).to_series()
    of_both = curves.filter(has_both)
    tp, fp = of_both["tp"].to_numpy(), of_both["fp"].to_numpy()
    starts = of_both["threshold"].is_null().arg_true().to_list()
    is_vertex = np.zeros(of_both.height, bool)
    for start, end in pairwise([*starts, of_both.height]):
        is_vertex[start + hull_vertices(fp[start:end], tp[start:end])] = True
    kept = ~has_both.to_numpy()
    kept[has_both.to_numpy()] = is_vertex
    is_segment = HAS_BOTH & pl.col("threshold").is_not_null()
    return curves.filter(kept).with_columns(
        pl.when(is_segment)
        .then(pl.col(total).diff())
        .otherwise(step)
        .cast(curves.schema[step])
        .alias(step)
        for step, total in (("pos", "tp"), ("neg", "fp"))
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

    # A weight that is lost in the rounding of the sum makes no point.
    distinct = np.flatnonzero((np.diff(tp) > 0) | (np.diff(fp) > 0)) + 1
    points: Array = np.concatenate(([0], distinct))
    if distinct.size == 0:
        return points
    # Slopes of rates keep their digits where one class is rare.
    t, f = (counts / (counts[-1] or 1) for counts in (tp, fp))
    rise, run = np.diff(t[points]), np.diff(f[points])
    blocks = isotonic_regression(rise / (rise + run), weights=rise + run, increasing=False).blocks
    kept: Array = points[blocks]
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
