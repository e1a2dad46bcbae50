"""Keys of a table: totals, numbers, and how their rows are packed."""

from dataclasses import dataclass

import polars as pl

from polaroc.base.columns import attach
from polaroc.base.private_columns import (
    COUNT,
    FP_OFFSET,
    HAS_ONES,
    KEY_INDEX,
    LEAST_NEG,
    LEAST_POS,
    ROW_ERROR,
    TP_OFFSET,
    TRUTH,
    WEIGHT,
)
from polaroc.curves.packing import PACK_128, STEPS, Packing, packing
from polaroc.predictions.row_checks import (
    ROW_ERRORS,
    SCORE,
    label_extremes,
    label_note,
)
from polaroc.predictions.table import Predictions

# Keys of these types are whole numbers, or stand for some, in the same order.
COUNTABLE = (
    pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Enum,
)  # fmt: skip
# Numbers have 32 bits. With more distinct words a join is faster.
MOST_NUMBERS, MOST_WORDS = 2**31, 10_000
LEAST = LEAST_POS, LEAST_NEG
# Sums of weights keep about sixteen digits.
GREATEST_SPREAD = 1e12
SPREAD = "weights differ more than a trillionfold: the smallest are lost in rounding"


@dataclass(frozen=True)
class Keys:
    """The `totals` of each key, its columns, and how its rows are packed.

    `KEY_INDEX` may skip numbers; it is computed from the key columns by `number`, or looked
    up where there is none.
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
    """The keys of rows that are counted now, or of a plan.

    Counting first takes a reading, but allows shorter sort codes.
    """
    names = predictions.keys
    if not now:
        number = None if names else pl.lit(0, pl.UInt32)
        return Keys(totals(predictions), names, number=number)
    scores = extremes(predictions).collect()
    # Labels have ones: without any, no key need be looked at.
    ones = scores[HAS_ONES].item()
    return numbered_by(predictions, totals(predictions, labels=ones).collect(), scores)


def extremes(predictions: Predictions) -> pl.LazyFrame:
    """The scores that `numbered_by` needs, and whether there `HAS_ONES`."""
    score = pl.col(SCORE)
    scores = (score.min(), score.max(), pl.when(score != 0).then(score.abs()).min())
    named = (one.alias(str(place)) for place, one in enumerate(scores))
    return predictions.rows.select(*named, (score == 1).any().alias(HAS_ONES))


def numbered_by(predictions: Predictions, counts: pl.DataFrame, scores: pl.DataFrame) -> Keys:
    """The keys of rows that were counted: from their `totals` and the extremes of their scores.

    The extremes are the lowest, the highest, and the least magnitude but zero.
    """
    names, step = predictions.keys, STEPS.get(predictions.kind, 1)
    reach = pl.Series(scores.drop(HAS_ONES).row(0), dtype=pl.Float64)
    number, numbers = _number(counts, names)
    packed, dense = packing(numbers, reach, step), packing(counts.height, reach, step)
    if number is None or (packed == PACK_128 and dense != PACK_128):
        # Consecutive numbers may need fewer bits.
        return Keys(counts.lazy(), names, dense)
    return Keys(counts.with_columns(number.alias(KEY_INDEX)).lazy(), names, packed, number)


def attach_key_index(predictions: Predictions, keys: Keys) -> pl.LazyFrame:
    """The rows that can be ranked, with the `KEY_INDEX` of their key in place of its columns."""
    rows = predictions.valid_rows
    if keys.number is None:
        return attach(rows, keys.named, keys.names).drop(keys.names)
    return rows.with_columns(keys.number.alias(KEY_INDEX)).drop(keys.names)


def _number(counts: pl.DataFrame, names: list[str]) -> tuple[pl.Expr | None, int]:
    """The number of each key among all possible ones, in their order, and how many these are.

    None where the values of a key cannot be counted or are too many: keys are then
    numbered consecutively.
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
    """A key column as whole numbers in the order of its values, None where it has no such form."""
    column = pl.col(key.name)
    if key.dtype in (pl.String, pl.Categorical):
        words = key.drop_nulls().unique().sort().cast(pl.String)
        if words.len() > MOST_WORDS:
            return None
        column = column.cast(pl.Enum(words))
    elif key.dtype not in COUNTABLE:
        return None
    return column.to_physical().cast(pl.Int64)


def totals(predictions: Predictions, *, labels: bool = True) -> pl.LazyFrame:
    """One row per key, in key order.

    `KEY_INDEX` UInt32 is its place from 0; `positives` and `negatives` are null where rows
    of the key cannot be ranked; `COUNT` is of all rows; `cells` needs `TP_OFFSET`,
    `FP_OFFSET` and, for weights, `LEAST_POS` and `LEAST_NEG`; `note` says what is wrong with
    rows of the key, or was dropped of them; with `labels`, also that its scores are labels.
    """
    is_valid = pl.col(ROW_ERROR).is_null()
    truth = pl.col(TRUTH)
    case: pl.Expr = pl.lit(1, pl.Int64)
    counts = is_valid if predictions.possible else None
    if predictions.weighted:
        case = pl.when(is_valid).then(pl.col(WEIGHT)).otherwise(0.0)
        counts = case > 0
    counted = predictions.rows.group_by(predictions.keys).agg(
        pl.len().alias(COUNT),
        ((truth & is_valid) * case).sum().alias("positives"),
        ((~truth & is_valid) * case).sum().alias("negatives"),
        *((pl.col(ROW_ERROR) == kind).sum().alias(_column(kind)) for kind in predictions.possible),
        *_least(predictions),
        *(label_extremes(counts) if labels else []),
        _spread_note(predictions).alias("note"),
    )
    kept = counted.filter(pl.col(COUNT) > 0)
    ordered = kept.sort(predictions.keys, nulls_last=True) if predictions.keys else kept
    fatal = pl.any_horizontal(False, *(pl.col(_column(kind)) > 0 for kind in predictions.fatal))
    positives, negatives = pl.col("positives"), pl.col("negatives")
    return ordered.with_row_index(KEY_INDEX).select(
        *predictions.keys,
        pl.col(KEY_INDEX).cast(pl.UInt32),
        pl.when(~fatal).then(positives).alias("positives"),
        pl.when(~fatal).then(negatives).alias("negatives"),
        _offset(positives, predictions.weighted).alias(TP_OFFSET),
        _offset(negatives, predictions.weighted).alias(FP_OFFSET),
        *(name for name in LEAST if predictions.weighted),
        COUNT,
        pl.concat_str(
            _row_errors(predictions, fatal),
            "note",
            *([label_note()] if labels else []),
            separator="; ",
            ignore_nulls=True,
        )
        .replace("", None)
        .alias("note"),
    )


def _least(predictions: Predictions) -> list[pl.Expr]:
    if not predictions.weighted:
        return []
    counts = pl.col(ROW_ERROR).is_null() & (pl.col(WEIGHT) > 0)
    own = (pl.col(TRUTH), ~pl.col(TRUTH))
    return [
        pl.col(WEIGHT).filter(counts & of_class).min().alias(name)
        for of_class, name in zip(own, LEAST, strict=True)
    ]


def _offset(total: pl.Expr, weighted: bool) -> pl.Expr:
    """What turns running counts of all keys into those of one key; weights start anew in each."""
    return pl.lit(0.0) if weighted else total - total.cum_sum()


def _column(kind: int) -> str:
    return f"{ROW_ERROR}_{kind}"


def _row_errors(predictions: Predictions, fatal: pl.Expr) -> pl.Expr:
    """Counts of invalid rows by kind, marked as dropped where they were."""
    # Null where no error is possible.
    notes = [pl.lit(None, pl.String)]
    for kind in predictions.possible:
        count = pl.col(_column(kind))
        one, more = (pl.format("{} " + ROW_ERRORS[kind] + end, count) for end in ("", "s"))
        notes.append(pl.when(count == 1).then(one).when(count > 1).then(more))
    listed = pl.concat_str(*notes, separator=", ", ignore_nulls=True).replace("", None)
    return pl.when(fatal).then(listed).otherwise(pl.format("dropped {}", listed))


def _spread_note(predictions: Predictions) -> pl.Expr:
    """Note on weights so different that their sums lose the smaller ones."""
    if not predictions.weighted:
        return pl.lit(None, pl.String)
    weight = pl.col(WEIGHT).filter(pl.col(ROW_ERROR).is_null() & (pl.col(WEIGHT) > 0))
    return pl.when(weight.max() / weight.min() > GREATEST_SPREAD).then(pl.lit(SPREAD))
