"""The keys of a table: their totals, the number of each, and what their rows are packed in."""

from dataclasses import dataclass

import polars as pl

from polaroc.base.columns import attach
from polaroc.curves.packing import KEY_INDEX, PACK_128, STEPS, Packing, packing
from polaroc.curves.totals import totals
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions

# Keys of these types are whole numbers, or stand for some, in the same order.
COUNTABLE = (
    pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Enum,
)  # fmt: skip
# Numbers have 32 bits. With more words it is quicker to look them up in a join.
MOST_NUMBERS, MOST_WORDS = 2**31, 10_000


@dataclass(frozen=True)
class Keys:
    """What ranking the rows of each key takes.

    Attributes
    ----------
    totals
        The result of `totals`; `KEY_INDEX` may skip numbers.
    names
        The key columns.
    packing
        What the rows of all keys fit in.
    number
        A row's `KEY_INDEX`, from its key columns; without it, it is looked up.
    """

    totals: pl.LazyFrame
    names: list[str]
    packing: Packing = PACK_128
    number: pl.Expr | None = None

    @property
    def named(self) -> pl.LazyFrame:
        """The `KEY_INDEX` of each key, and its columns."""
        return self.totals.select(KEY_INDEX, *self.names)

    @property
    def noted(self) -> pl.LazyFrame:
        """The same with the `note` of each key."""
        return self.totals.select(KEY_INDEX, *self.names, "note")


def build_key_index(predictions: Predictions, *, now: bool) -> Keys:
    """The keys: of rows that are counted now, or those of a plan.

    Of a plan nothing is known yet. To rank rows that were counted is faster.
    """
    names = predictions.keys
    if not now:
        number = None if names else pl.lit(0, pl.UInt32)
        return Keys(totals(predictions), names, number=number)
    return numbered_by(predictions, *(plan.collect() for plan in counting(predictions)))


def counting(predictions: Predictions) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Plans of what `numbered_by` needs of the rows: the totals, and how far the scores go."""
    score = pl.col(SCORE)
    far = (score.min(), score.max(), pl.when(score != 0).then(score.abs()).min())
    named = (one.alias(str(place)) for place, one in enumerate(far))
    return totals(predictions), predictions.rows.select(*named)


def numbered_by(predictions: Predictions, counts: pl.DataFrame, scores: pl.DataFrame) -> Keys:
    """The keys of rows that were counted.

    Parameters
    ----------
    predictions
        The rows.
    counts
        Their `totals`.
    scores
        The lowest and the highest score, and the least magnitude of one that is not
        zero.
    """
    names = predictions.keys
    reach, step = pl.Series(scores.row(0), dtype=pl.Float64), STEPS.get(predictions.kind, 1)
    number, numbers = _number(counts, names)
    packed, dense = packing(numbers, reach, step), packing(counts.height, reach, step)
    if number is None or (packed == PACK_128 and dense != PACK_128):
        # Numbers that leave none out may need fewer bits.
        return Keys(counts.lazy(), names, dense)
    return Keys(counts.with_columns(number.alias(KEY_INDEX)).lazy(), names, packed, number)


def attach_key_index(predictions: Predictions, keys: Keys) -> pl.LazyFrame:
    """The rows that can be ranked, with the `KEY_INDEX` of their key in place of its columns."""
    rows = predictions.sound
    if keys.number is None:
        return attach(rows, keys.named, keys.names).drop(keys.names)
    return rows.with_columns(keys.number.alias(KEY_INDEX)).drop(keys.names)


def _number(counts: pl.DataFrame, names: list[str]) -> tuple[pl.Expr | None, int]:
    """Each key's place among all there could be, in their order, and how many these are.

    No place where a key cannot be counted, or where too many could be; there are
    then as many numbers as keys.
    """
    number, numbers = pl.lit(0, pl.Int64), 1
    for name in names:
        whole = _whole(counts[name])
        if whole is None:
            return None, counts.height
        ends = counts.select(whole.min().alias("lowest"), whole.max().alias("highest")).row(0)
        lowest, highest = (0, -1) if None in ends else ends
        place, size = whole - lowest, highest - lowest + 1
        if counts[name].has_nulls():
            # Nulls come last.
            place, size = place.fill_null(size), size + 1
        number, numbers = number * size + place, numbers * size
        if numbers > MOST_NUMBERS:
            return None, counts.height
    return number.cast(pl.UInt32), numbers


def _whole(key: pl.Series) -> pl.Expr | None:
    """A key column as whole numbers in the order of its values, if it can be."""
    column = pl.col(key.name)
    if key.dtype in (pl.String, pl.Categorical):
        words = key.drop_nulls().unique().sort().cast(pl.String)
        if words.len() > MOST_WORDS:
            return None
        column = column.cast(pl.Enum(words))
    elif key.dtype not in COUNTABLE:
        return None
    return column.to_physical().cast(pl.Int64)
