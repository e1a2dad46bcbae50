"""The ROC convex hull: the operating points that are best at some prior or cost."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.columns import curve_keys, lazily
from polaroc.curves import in_order

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]


@lazily
def hull(curve: pl.LazyFrame) -> pl.LazyFrame:
    """The upper convex hull of each ROC curve, as a curve table of its vertices.

    Parameters
    ----------
    curve
        The result of `curve`.

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
        Where the columns of a curve are missing.

    Notes
    -----
    D&G §4. Choose thresholds on a tuning table and apply them to a test table;
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
    keys = curve_keys(curve)
    return in_order(curve, keys).map_batches(
        partial(_hulls, keys=keys), schema=curve.collect_schema()
    )


def _hulls(curves: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    import numpy as np

    if curves.is_empty():
        return curves
    starts = np.flatnonzero(curves["threshold"].is_null().to_numpy())
    ends = np.append(starts[1:], curves.height)
    tp, fp = curves["tp"].to_numpy(), curves["fp"].to_numpy()
    flat = curves.select(
        (pl.col("positives").fill_null(0) == 0) | (pl.col("negatives").fill_null(0) == 0)
    ).to_series()
    kept = []
    for start, end in zip(starts, ends, strict=True):
        whole = flat[int(start)]
        inside = np.arange(end - start) if whole else hull_vertices(fp[start:end], tp[start:end])
        kept.append(start + inside)
    vertices = curves[np.concatenate(kept)]
    anchor = pl.col("threshold").is_null()
    return vertices.with_columns(
        pl.when(anchor)
        .then(0)
        .otherwise(pl.col(total).diff())
        .cast(vertices[total].dtype)
        .alias(at)
        for at, total in (("pos", "tp"), ("neg", "fp"))
    )


def hull_vertices(fp: "Array", tp: "Array") -> "Array":
    """Indices of the strictly convex vertices of a ROC curve that starts at (0, 0).

    Parameters
    ----------
    fp, tp
        Cumulative counts, shape (n,), never decreasing.

    Returns
    -------
    Indices into the curve, ascending, the first point and one at (1, 1) included.

    Examples
    --------
    >>> import numpy as np
    >>> hull_vertices(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 2])).tolist()
    [0, 1, 3, 4]
    """
    import numpy as np
    from scipy.optimize import isotonic_regression

    # A weight too small for the total it is added to moves nothing.
    moved = np.flatnonzero((np.diff(tp) > 0) | (np.diff(fp) > 0)) + 1
    steps: Array = np.concatenate(([0], moved))
    if moved.size == 0:
        return steps
    pos, neg = np.diff(tp[steps]), np.diff(fp[steps])
    size = (pos + neg).astype(np.float64)
    blocks = isotonic_regression(pos / size, weights=size, increasing=False).blocks
    kept: Array = steps[blocks]
    # The blocks pool in floating point: what is collinear goes by exact counts.
    # Weights, and counts whose products would overflow, go by rates.
    if tp.dtype.kind == "f" or int(tp[-1]) * int(fp[-1]) >= 2**63:
        tp, fp = tp / tp[-1], fp / fp[-1]
    while True:
        rise, run = np.diff(tp[kept]), np.diff(fp[kept])
        convex = rise[:-1] * run[1:] > rise[1:] * run[:-1]
        if convex.all():
            return kept
        kept = kept[np.concatenate(([True], convex, [True]))]
