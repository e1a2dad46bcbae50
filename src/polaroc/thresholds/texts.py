"""Thresholds as text, in as few digits as select the same cases of given curves."""

from collections.abc import Sequence
from math import inf

import polars as pl

from polaroc.base.joins import as_key
from polaroc.base.rounding import threshold_text
from polaroc.typing import Array


def threshold_texts(
    points: pl.DataFrame, keys: Sequence[str], *curves: pl.DataFrame
) -> list[str | None]:
    """The text of each threshold, None of None.

    It selects the same cases as the threshold from the scores of its key in all curves. A key that
    no curve has gets all digits.
    """
    scores = [_by_key(curve, keys) for curve in curves]
    texts: list[str | None] = []
    for *key, threshold in points.select(*keys, "threshold").iter_rows():
        if threshold is None:
            texts.append(None)
            continue
        own = [known[as_key(key)] for known in scores if as_key(key) in known]
        lower = [one[one < threshold] for one in own]
        below = max((float(one.max()) for one in lower if one.size), default=-inf)
        texts.append(threshold_text(threshold, below if own else None))
    return texts


def _by_key(curve: pl.DataFrame, keys: Sequence[str]) -> "dict[tuple[object, ...], Array]":
    rows = curve.select(*keys, "threshold").drop_nulls("threshold")
    parts = rows.partition_by(keys, as_dict=True) if keys else {(): rows}
    return {as_key(key): part["threshold"].to_numpy() for key, part in parts.items()}
