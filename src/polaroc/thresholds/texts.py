"""Thresholds as text, in as few digits as select the same cases of given curves."""

from collections.abc import Sequence
from math import inf

import polars as pl

from polaroc.base.joins import as_key
from polaroc.base.rounding import threshold_text


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
        below = [one.filter(one < threshold).max() for one in own]
        known_below = max((one for one in below if one is not None), default=-inf) if own else None
        texts.append(threshold_text(threshold, known_below))
    return texts


def _by_key(curve: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[object, ...], pl.Series]:
    if not keys:
        return {(): curve["threshold"]}
    parts = curve.select(*keys, "threshold").partition_by(keys, as_dict=True)
    return {as_key(key): part["threshold"] for key, part in parts.items()}
