"""Curves with half a pseudo-case of each class at an end of the ranking.

A sample does not show false positive rates below one over the number of negatives,
nor recalls below one over the number of positives. Pseudo-cases at the worst ranks widen
the lower limit of a measure, those at the best ranks its upper limit.
"""

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import PSEUDO_PLACE
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import Array

# No pseudo-cases, ranked worst, ranked best.
NONE, WORST, BEST = PLACES = range(3)
# As much as Jeffreys' prior adds to either side of a share.
PSEUDO = 0.5


def curves_with_pseudo_cases(
    segments: pl.LazyFrame, positive: float | pl.Expr = PSEUDO, negative: float | pl.Expr = PSEUDO
) -> pl.LazyFrame:
    """The anchors and segments with positives of curves, once for each of `PLACES`.

    Totals do not change, since they give the observed prior: the other counts are scaled down
    by the pseudo-cases. The anchor becomes the cell of the pseudo-positives; thresholds only
    give the order.
    """
    positives, negatives = pl.col("positives"), pl.col("negatives")
    by_pos, by_neg = positives / (positives + positive), negatives / (negatives + negative)
    anchor = pl.col(SCORE).is_null()
    pos, neg, tp, fp = (pl.col(name).fill_null(0) for name in ("pos", "neg", "tp", "fp"))
    moved = {
        "pos": (pl.when(anchor).then(positive).otherwise(pos) * by_pos,) * 2,
        "neg": (neg * by_neg,) * 2,
        "tp": (pl.when(anchor).then(positives).otherwise(tp * by_pos), (tp + positive) * by_pos),
        "fp": (pl.when(anchor).then(negatives).otherwise((fp + negative) * by_neg), fp * by_neg),
    }
    place = pl.col(PSEUDO_PLACE)
    counts = {
        name: pl.when(place == NONE).then(pl.col(name).cast(pl.Float64))
        .when(place == WORST).then(worst).otherwise(best).cast(pl.Float64)
        for name, (worst, best) in moved.items()
    }  # fmt: skip
    order = pl.when(place == NONE).then(pl.col(SCORE)).otherwise(-pl.col("tp")).alias(SCORE)
    places = pl.LazyFrame({PSEUDO_PLACE: list(PLACES)}, schema={PSEUDO_PLACE: pl.Int8})
    return segments.join(places, how="cross").with_columns(**counts).with_columns(order)


def with_pseudo_cases(
    pos: "Array", level: "Array", neg: "Array", rest: float, place: int
) -> tuple["Array", "Array", "Array", float]:
    """The counts of segments, best first, with pseudo-cases at a place.

    Per segment its positives, the negatives on the level run before it and its negatives; `rest`
    is the number of negatives below the last segment.
    """
    if place == NONE:
        return pos, level, neg, rest
    if place == BEST:
        # As floats, since a pseudo-case is a part of a case.
        pos, level, neg = (
            np.insert(own.astype(float), 0, added)
            for own, added in ((pos, PSEUDO), (level, 0), (neg, 0))
        )
        return pos, level, neg, rest + PSEUDO
    more = ((pos, PSEUDO), (level, rest), (neg, 0))
    pos, level, neg = (np.append(own, added).astype(float) for own, added in more)
    level[0] += PSEUDO
    return pos, level, neg, 0.0
