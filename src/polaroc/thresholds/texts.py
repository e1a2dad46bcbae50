"""Thresholds as text, in as few digits as select the same cases of given curves."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from math import inf, isfinite

import polars as pl


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
    score, is_lower = pl.col("score"), pl.col("score") < pl.col("threshold")
    scores = pl.concat(one.select(*keys, score="threshold") for one in curves).drop_nulls("score")
    beside = (
        points.select(*keys, "threshold")
        .with_row_index("place")
        .join(scores, on=keys or pl.lit(0), how="left", nulls_equal=True)
        .group_by("place", maintain_order=True)
        .agg(pl.first("threshold"), score.filter(is_lower).max(), known=score.count() > 0)
    )
    return [
        None if at is None else threshold_text(at, -inf if below is None and known else below)
        for at, below, known in beside.select("threshold", "score", "known").iter_rows()
    ]
