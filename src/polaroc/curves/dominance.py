"""Dominance of curves, and where two cross."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import curve_keys, refuse_clash
from polaroc.base.private_columns import PLACE
from polaroc.base.statistics import ROUNDING
from polaroc.curves.curve import in_order
from polaroc.curves.whole import takes_curve
from polaroc.errors import InvalidArgument, quoted
from polaroc.typing import Array

CROSSINGS = pl.List(pl.Struct({"fpr": pl.Float64, "tpr": pl.Float64}))


@takes_curve
def dominance(curve: pl.LazyFrame) -> pl.LazyFrame:
    """For each pair of models in a fold, whether the curve of one dominates the other.

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
    keys = curve_keys(curve)
    if "model" not in keys:
        raise InvalidArgument(
            f"the curves have no key 'model'; the keys are {quoted(keys) or 'none'}.",
            hint="make them of predictions of several models.",
        )
    blocks = [key for key in keys if key != "model"]
    names = ["model_a", "model_b"]
    refuse_clash(blocks, (*names, "relation", "crossings"))
    input_schema = curve.collect_schema()
    schema = (
        {key: input_schema[key] for key in blocks}
        | dict.fromkeys(names, input_schema["model"])
        | {"relation": pl.String(), "crossings": CROSSINGS}
    )
    pairs = partial(_pairs, blocks=blocks, schema=schema)
    return in_order(curve, [*blocks, "model"]).map_batches(pairs, schema=schema)


def _pairs(
    curves: pl.DataFrame, blocks: Sequence[str], schema: dict[str, pl.DataType]
) -> pl.DataFrame:
    rows, first_rows = [], []
    placed = curves.with_row_index(PLACE)
    parts = placed.partition_by(blocks, maintain_order=True) if blocks else [placed]
    for block in parts:
        if block.is_empty():
            continue
        # Read once: there are many pairs.
        own = map(_Curve.of, block.partition_by("model", maintain_order=True))
        for a, b in combinations(own, 2):
            rows.append(_relation(a, b))
            first_rows.append((a.first_row, b.first_row))
    rows_a, rows_b = ([pair[side] for pair in first_rows] for side in (0, 1))
    # Gather keys by row: as Python objects, times would lose their nanoseconds.
    relations = {name: schema[name] for name in ("relation", "crossings")}
    return pl.concat(
        [
            curves.select(*blocks, pl.col("model").alias("model_a"))[rows_a],
            curves.select(pl.col("model").alias("model_b"))[rows_b],
            pl.DataFrame(rows, schema=relations, orient="row"),
        ],
        how="horizontal",
    )


class _Curve(NamedTuple):
    """A curve as t − f over f + t.

    f + t never falls along a curve, so t − f is a function of it even where the curve is vertical;
    a curve that is higher at every f + t is higher everywhere.
    """

    first_row: int
    is_known: bool
    along: Array
    height: Array

    @classmethod
    def of(cls, rows: pl.DataFrame) -> _Curve:
        t, f = rows["tpr"], rows["fpr"]
        is_known = not (t.null_count() or f.null_count())
        return cls(rows[PLACE][0], is_known, (f + t).to_numpy(), (t - f).to_numpy())


def _relation(a: _Curve, b: _Curve) -> tuple[str | None, list[dict[str, float]] | None]:
    if not (a.is_known and b.is_known):
        return None, None
    along = np.union1d(a.along, b.along)
    height_a, height_b = (np.interp(along, one.along, one.height) for one in (a, b))
    lead = height_a - height_b
    above, below = bool((lead > ROUNDING).any()), bool((lead < -ROUNDING).any())
    if not above or not below:
        return ("dominates" if above else "dominated" if below else "equal"), []
    return "crosses", list(_crossings(along, height_a, lead))


def _crossings(along: Array, height: Array, lead: Array) -> Iterator[dict[str, float]]:
    """Where the lead changes sign: the middle of a stretch on which the curves touch."""
    places = np.flatnonzero(np.abs(lead) > ROUNDING)
    changes = np.flatnonzero(np.diff(np.sign(lead[places])))
    for i, j in zip(places[changes].tolist(), places[changes + 1].tolist(), strict=True):
        if j == i + 1:
            share = lead[i] / (lead[i] - lead[j])
            at = along[i] + share * (along[j] - along[i])
        else:
            at = (along[i + 1] + along[j - 1]) / 2
        height_at = float(np.interp(at, along, height))
        yield {"fpr": (float(at) - height_at) / 2, "tpr": (float(at) + height_at) / 2}
