"""The blocks of a hull as a calibration: ranges of the score with one likelihood ratio each."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import within
from polaroc.base.private_columns import private
from polaroc.curves.curve import in_order
from polaroc.curves.hull import hulls
from polaroc.predictions.row_checks import SCORE, UNRANKED
from polaroc.predictions.table import one_class_note

# The least score of a block, its likelihood ratio, and the skew of the tuning table.
LEAST, RATIO, OWN_SKEW = (private(name) for name in ("least", "ratio", "own_skew"))
# Cases of a class that a block without any is taken to hold, as Jeffreys' prior has them.
ABSENT = 0.5


def hull_blocks(curve: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Per key the blocks of its hull, best first: `LEAST`, `RATIO`, `OWN_SKEW` and `note`.

    The last block has no least score. Keys that cannot be calibrated have blocks without a
    ratio, and a note.
    """
    pos, neg, positives, negatives = map(pl.col, ("pos", "neg", "positives", "negatives"))
    # Slopes fall along a hull: only its ends can be of a single class.
    only_pos, only_neg = neg == 0, pos == 0
    in_block = [pl.when(one == 0).then(ABSENT).otherwise(one) for one in (pos, neg)]
    ratio = (in_block[0] / positives) / (in_block[1] / negatives)
    below, above = (within(pl.col(RATIO).shift(by), keys) for by in (-1, 1))
    unranked = pl.when(positives.is_null()).then(pl.lit(UNRANKED))
    defined = (positives > 0) & (negatives > 0)
    last = within(pl.col(SCORE) == pl.col(SCORE).min(), keys)
    return (
        hulls(in_order(curve, keys))
        .filter(pl.col(SCORE).is_not_null())
        .with_columns(pl.when(defined).then(ratio).alias(RATIO))
        .with_columns(
            # Half a case must not carry a block past its neighbour.
            pl.when(only_pos & defined)
            .then(pl.max_horizontal(RATIO, below))
            .when(only_neg & defined)
            .then(pl.min_horizontal(RATIO, above))
            .otherwise(RATIO)
            .alias(RATIO),
            pl.when(last).then(float("-inf")).otherwise(SCORE).alias(LEAST),
            (negatives / positives).alias(OWN_SKEW),
            pl.coalesce(unranked, one_class_note(positives, negatives)).alias("note"),
        )
        .select(*keys, LEAST, RATIO, OWN_SKEW, "note")
    )
