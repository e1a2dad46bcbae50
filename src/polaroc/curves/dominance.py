"""Dominance of curves, and where two cross."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from polaroc.base.columns import PLACE, collect_like, curve_keys, join_by_key, refuse_clash
from polaroc.base.statistics import ROUNDING
from polaroc.curves.curve import in_order, whole_curves
from polaroc.errors import InvalidArgument, quoted
from polaroc.typing import Array, Frame

RELATION = {
    "relation": pl.String(),
    "crossings": pl.List(pl.Struct({"fpr": pl.Float64, "tpr": pl.Float64})),
}


def dominance(curve: Frame) -> Frame:
    """Dominance and crossings of the curves of each two models of a fold.

    A dominates B when it is nowhere below B in ROC space, which is so if and
    only if it is nowhere below B in precision-recall space at any prior (D&G
    Theorem 3.2).

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.

    Returns
    -------
    Frame of the kind given
        One row per pair, sorted: the other keys; the two models as `model_a`, `model_b`;
        `relation` String, what the first does to the second: "dominates", "dominated", "equal",
        "crosses", or null where a curve lacks a class; `crossings`, a list of the points (`fpr`,
        `tpr`) where the curves change places.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Notes
    -----
    The plan holds a Python function: it runs in memory.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({
    ...     "model": ["A"] * 4 + ["B"] * 4,
    ...     "truth": [1, 1, 0, 0] * 2,
    ...     "score": [4, 3, 2, 1, 4, 2, 3, 1],
    ... })
    >>> curves = pr.curve(table, truth="truth", score="score")
    >>> pr.dominance(curves).select("model_a", "model_b", "relation").row(0)
    ('A', 'B', 'dominates')
    """
    curves = whole_curves(curve)
    keys = curve_keys(curves)
    if "model" not in keys:
        raise InvalidArgument(
            f"the curves have no key 'model'; the keys are {quoted(keys) or 'none'}.",
            hint="make them of predictions of several models.",
        )
    shared: list[str] = [key for key in keys if key != "model"]
    refuse_clash(shared, ("model_a", "model_b", *RELATION))
    types = curves.collect_schema()
    schema = {key: types[key] for key in shared}
    schema |= dict.fromkeys(("model_a", "model_b"), types["model"]) | RELATION
    ordered = in_order(curves, [*shared, "model"])
    pairs = ordered.map_batches(partial(_pairs, shared=shared), schema=schema)
    return collect_like(curve, pairs)


def _pairs(curves: pl.DataFrame, shared: Sequence[str]) -> pl.DataFrame:
    points = curves.group_by([*shared, "model"], maintain_order=True).agg("fpr", "tpr")
    # f + t never falls along a curve, so t − f is a function of it even where the curve is
    # vertical; a curve that is higher at every f + t is higher everywhere.
    turned = [
        np.stack([fpr + tpr, tpr - fpr])
        for fpr, tpr in zip(points["fpr"], points["tpr"], strict=True)
    ]
    models = points.with_row_index(PLACE).select(*shared, PLACE, "model")
    pairs = join_by_key(models, models, shared, "inner", maintain_order="left_right", suffix="_b")
    pairs = pairs.filter(pl.col(PLACE) < pl.col(PLACE + "_b"))
    relations = [_relation(turned[i], turned[j]) for i, j in pairs[PLACE, PLACE + "_b"].rows()]
    return pairs.select(*shared, model_a="model", model_b="model_b").hstack(
        pl.DataFrame(relations, schema=RELATION, orient="row")
    )


def _relation(a: Array, b: Array) -> tuple[str | None, list[dict[str, float]] | None]:
    """The relation of the first curve to the second, and where they cross.

    Curves are t − f by f + t.
    """
    if np.isnan(a).any() or np.isnan(b).any():
        return None, None
    along = np.union1d(a[0], b[0])
    height = np.interp(along, *a)
    lead = height - np.interp(along, *b)
    above, below = bool((lead > ROUNDING).any()), bool((lead < -ROUNDING).any())
    if not above or not below:
        return ("dominates" if above else "dominated" if below else "equal"), []
    # Where curves touch on a stretch and then change places, they cross in its middle.
    crossings = []
    differing = np.flatnonzero(np.abs(lead) > ROUNDING)
    changes = np.flatnonzero(np.diff(np.sign(lead[differing])))
    for i, j in zip(differing[changes].tolist(), differing[changes + 1].tolist(), strict=True):
        if j == i + 1:
            at = along[i] + lead[i] / (lead[i] - lead[j]) * (along[j] - along[i])
        else:
            at = (along[i + 1] + along[j - 1]) / 2
        height_at = np.interp(at, along, height)
        crossings.append({"fpr": float(at - height_at) / 2, "tpr": float(at + height_at) / 2})
    return "crosses", crossings
