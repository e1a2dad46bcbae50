"""Keys of a table: their totals, their index, and how their rows are packed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import polars as pl

from polaroc.base.columns import EFFECTIVE, MAX_SQUARED
from polaroc.base.private_columns import (
    COUNT,
    GREATEST_LABEL,
    HAS_ONES,
    KEY_INDEX,
    LEAST_LABEL,
    LEAST_NEG,
    LEAST_POS,
    NEG_SQUARES,
    ROW_ERROR,
    TRUTH,
    WEIGHT,
)
from polaroc.base.text import joined_notes
from polaroc.predictions.row_checks import (
    SCORE,
    error_count_column,
    error_counts,
    errors_in_words,
    label_extremes,
    label_note,
)
from polaroc.predictions.table import Predictions

# Types whose physical values are integers in the order of the keys.
INTEGER_LIKE = (
    pl.Boolean, pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.Enum,
)  # fmt: skip
# `KEY_INDEX` has 32 bits. With more categories a join is faster.
MAX_KEY_INDEX, MAX_CATEGORIES = 2**31, 10_000
LEAST_WEIGHTS = LEAST_POS, LEAST_NEG
# The lowest and highest score, and the least magnitude but zero.
SCORE_EXTREMES = "lowest", "highest", "least_magnitude"


def score_extremes(predictions: Predictions) -> pl.LazyFrame:
    """The columns `SCORE_EXTREMES`, and whether any score is one."""
    score = pl.col(SCORE)
    return predictions.rows.select(
        score.min().alias("lowest"),
        score.max().alias("highest"),
        pl.when(score != 0).then(score.abs()).min().alias("least_magnitude"),
        (score == 1).any().alias(HAS_ONES),
    )


@dataclass(frozen=True)
class KeyColumn:
    """A key column whose values are numbered from 0 in their order, nulls last.

    `categories` are the values of a column of words, else None; `lowest` is the least value
    as an integer, `count` the number of values up to the greatest, without null.
    """

    name: str
    kind: pl.DataType
    categories: pl.Series | None
    lowest: int
    count: int
    has_nulls: bool

    @property
    def size(self) -> int:
        """The number of values, null included."""
        return self.count + self.has_nulls

    @property
    def place(self) -> pl.Expr:
        """The number of a row's value."""
        column = pl.col(self.name)
        if self.categories is not None:
            column = column.cast(pl.Enum(self.categories))
        place = column.to_physical().cast(pl.Int64)
        if self.lowest:
            place = place - self.lowest
        return place.fill_null(self.count) if self.has_nulls else place

    def values(self, places: pl.Series) -> pl.Series:
        """The values with these numbers."""
        known = pl.select(pl.when(places < self.count).then(places + self.lowest)).to_series()
        words = self.kind.categories if isinstance(self.kind, pl.Enum) else self.categories
        if words is not None:
            known = words.gather(known)
        return known.cast(self.kind).alias(self.name)


@dataclass(frozen=True)
class KeyLevels:
    """Key columns that have numbers, and the place of a key in the cross product of these."""

    columns: list[KeyColumn]

    @property
    def size(self) -> int:
        """The number of possible keys."""
        return prod(column.size for column in self.columns)

    @property
    def index(self) -> pl.Expr:
        """The place of a row's key, UInt32."""
        index = pl.lit(0, pl.Int64)
        for i, column in enumerate(self.columns):
            index = index * column.size + column.place if i else column.place
        return index.cast(pl.UInt32)

    def keys(self, index: pl.Series) -> pl.DataFrame:
        """The keys in these places."""
        places, values = index.cast(pl.Int64), []
        for column in reversed(self.columns):
            values.append(column.values(places % column.size))
            places = places // column.size
        # From a list, Polars would rename a column without a name.
        return pl.DataFrame({column.name: column for column in (index, *reversed(values))})


def key_levels(values: Sequence[pl.Series]) -> KeyLevels | None:
    """The key columns from values that include their extremes, of words from all values.

    None where a column has no integer form or there are too many possible keys.
    """
    columns = [_key_column(column) for column in values]
    known = [column for column in columns if column is not None]
    levels = KeyLevels(known)
    return levels if len(known) == len(columns) and levels.size <= MAX_KEY_INDEX else None


def has_numbers(kind: pl.DataType) -> bool:
    """Whether key columns of this type can be numbered."""
    return is_word(kind) or kind in INTEGER_LIKE


def is_word(kind: pl.DataType) -> bool:
    """Whether a key column of this type is numbered by all of its values."""
    return kind in (pl.String, pl.Categorical)


def _key_column(values: pl.Series) -> KeyColumn | None:
    kind, categories = values.dtype, None
    if is_word(kind):
        categories = values.drop_nulls().unique().sort().cast(pl.String)
        if categories.len() > MAX_CATEGORIES:
            return None
        lowest, highest = 0, categories.len() - 1
    elif kind in INTEGER_LIKE:
        places = values.to_physical().cast(pl.Int64).drop_nulls().sort()
        lowest, highest = (int(places[0]), int(places[-1])) if len(places) else (0, -1)
    else:
        return None
    count = highest - lowest + 1
    return KeyColumn(values.name, kind, categories, lowest, count, values.has_nulls())


def totals(predictions: Predictions, also: Mapping[str, pl.Expr] | None = None) -> pl.LazyFrame:
    """One row per key, in key order.

    `KEY_INDEX` UInt32 counts the keys from 0; `positives` and `negatives` are null where rows
    of the key cannot be ranked; `LEAST_WEIGHTS` are there for weights, `EFFECTIVE` for sampling
    weights; `note` counts the invalid or
    dropped rows and reports scores that are labels; `also` are other aggregates.
    """
    return totals_of_counts(predictions, key_counts(predictions, also), also or ())


def key_counts(predictions: Predictions, also: Mapping[str, pl.Expr] | None = None) -> pl.LazyFrame:
    """Counts of the rows of each key for `totals`; `merged_counts` adds those of parts of them."""
    is_valid = pl.col(ROW_ERROR).is_null()
    truth = pl.col(TRUTH)
    in_class = [truth, ~truth]
    is_counted, squares = None, []
    if predictions.possible_errors:
        in_class, is_counted = [one & is_valid for one in in_class], is_valid
    if predictions.weighted:
        weight = pl.when(is_valid).then(pl.col(WEIGHT)).otherwise(0.0)
        in_class, is_counted = [one * weight for one in in_class], weight > 0
        if predictions.sampled:
            bounded = in_class[1].clip(upper_bound=MAX_SQUARED)
            squares.append((bounded**2).sum().alias(NEG_SQUARES))
    else:
        in_class = [one.cast(pl.Int64) for one in in_class]
    positives, negatives = (one.sum() for one in in_class)
    return predictions.rows.group_by(predictions.keys).agg(
        pl.len().alias(COUNT),
        positives.alias("positives"),
        negatives.alias("negatives"),
        *error_counts(predictions.possible_errors),
        *_least_weights(predictions),
        *squares,
        *label_extremes(is_counted),
        **(also or {}),
    )


def merged_counts(predictions: Predictions, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The `key_counts` of all rows from those of parts of the rows."""
    least = [LEAST_LABEL, *(LEAST_WEIGHTS if predictions.weighted else [])]
    errors = [error_count_column(kind) for kind in predictions.possible_errors]
    return (
        pl.concat(parts, how="diagonal_relaxed")
        .group_by(predictions.keys)
        .agg(
            pl.col(COUNT, *errors).cast(pl.Int64).sum(),
            pl.col("positives", "negatives", *([NEG_SQUARES] if predictions.sampled else [])).sum(),
            pl.col(least).min(),
            pl.col(GREATEST_LABEL).max(),
        )
    )


def totals_of_counts(
    predictions: Predictions, counted: pl.LazyFrame, also: Iterable[str] = ()
) -> pl.LazyFrame:
    """The `totals` from `key_counts`."""
    kept = counted.filter(pl.col(COUNT) > 0)
    ordered = kept.sort(predictions.keys, nulls_last=True) if predictions.keys else kept
    fatal = pl.any_horizontal(
        False, *(pl.col(error_count_column(kind)) > 0 for kind in predictions.fatal)
    )
    positives, negatives = pl.col("positives"), pl.col("negatives")
    return ordered.with_row_index(KEY_INDEX).select(
        *predictions.keys,
        pl.col(KEY_INDEX).cast(pl.UInt32),
        pl.when(~fatal).then(positives).alias("positives"),
        pl.when(~fatal).then(negatives).alias("negatives"),
        *(name for name in LEAST_WEIGHTS if predictions.weighted),
        *(
            [effective_number(pl.when(~fatal).then(negatives), pl.col(NEG_SQUARES))]
            if predictions.sampled
            else []
        ),
        *also,
        joined_notes(_row_errors(predictions, fatal), label_note()),
    )


def effective_number(negatives: pl.Expr, squares: pl.Expr) -> pl.Expr:
    """The column `EFFECTIVE`, from the sums of the weights of negatives and of their squares."""
    number = negatives * (negatives / squares)
    return pl.when(squares > 0).then(number).alias(EFFECTIVE)


def _least_weights(predictions: Predictions) -> list[pl.Expr]:
    if not predictions.weighted:
        return []
    weight, is_counted = pl.col(WEIGHT), pl.col(ROW_ERROR).is_null() & (pl.col(WEIGHT) > 0)
    classes = (pl.col(TRUTH), ~pl.col(TRUTH))
    return [
        weight.filter(is_counted & in_class).min().alias(name)
        for in_class, name in zip(classes, LEAST_WEIGHTS, strict=True)
    ]


def _row_errors(predictions: Predictions, fatal: pl.Expr) -> pl.Expr:
    """Counts of invalid rows by kind, prefixed with "dropped" where the key is still used."""
    listed = errors_in_words(predictions.possible_errors)
    return pl.when(fatal).then(listed).otherwise(pl.format("dropped {}", listed))
