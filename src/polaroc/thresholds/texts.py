"""Thresholds as text, in as few digits as select the same cases of given curves."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from math import inf, isfinite

import polars as pl

from polaroc.typing import Array


def threshold_text(threshold: float, below: float | None = None) -> str:
    """A threshold in as few digits as select the same cases.

    Parameters
    ----------
    threshold
        Scores from it on are called positive.
    below
        The highest score below it, -inf if there is none. The text is then the threshold rounded
        down to two digits or more, and nearer to it than to that score, so that scores of single
        precision are on the same side, too. If that score is not known (None), the text has all
        digits.

    Examples
    --------
    >>> threshold_text(0.767285, 0.7661), threshold_text(-1.83818, -1.8382), threshold_text(3.0)
    ('0.767', '-1.83818', '3')
    >>> threshold_text(0.00063612, 0.00060001), threshold_text(0.00063612)
    ('0.00063', '0.00063612')
    """
    if below is not None and isfinite(threshold):
        exact, middle = Decimal(repr(float(threshold))), (below + threshold) / 2
        for digits in range(2 if isfinite(below) else 3, 18):
            rounded = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
            if middle < rounded <= threshold:
                return repr(rounded).removesuffix(".0")
    return repr(float(threshold)).removesuffix(".0")


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
        own = [known[tuple(key)] for known in scores if tuple(key) in known]
        lower = [one[one < threshold] for one in own]
        below = max((float(one.max()) for one in lower if one.size), default=-inf)
        texts.append(threshold_text(threshold, below if own else None))
    return texts


def _by_key(curve: pl.DataFrame, keys: Sequence[str]) -> "dict[tuple[object, ...], Array]":
    rows = curve.select(*keys, "threshold").drop_nulls("threshold")
    parts = rows.partition_by(keys, as_dict=True) if keys else {(): rows}
    return {key: part["threshold"].to_numpy() for key, part in parts.items()}
