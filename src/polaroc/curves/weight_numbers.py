"""Number few different weights, so that they are sorted within the codes of rows."""

from dataclasses import dataclass

import polars as pl

from polaroc.base.lazy import np
from polaroc.base.private_columns import SORT_CODE, WEIGHT
from polaroc.typing import Array

MAX_WEIGHTS = 1_024
# So many rows show whether weights may be few, and scores tied.
SAMPLE = 10_000
# The leading bits of a weight's bits times an odd factor are its place in the table; with most
# factors no two of so few weights share a place.
TABLE_BITS, FACTORS = 20, 50


@dataclass(frozen=True)
class WeightNumbers:
    """Few different weights, each with a number, which `table` holds at its place."""

    weights: "Array"
    factor: int
    table: "Array"

    @property
    def bits(self) -> int:
        """The bits of a number."""
        return (len(self.weights) - 1).bit_length()

    def sorted_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of `SORT_CODE` and `WEIGHT` by code: one column is sorted instead of two."""
        bits = np.uint64(self.bits)
        numbers = self.table[_places(rows[WEIGHT].to_numpy().view(np.uint64), self.factor)]
        codes = pl.Series(rows[SORT_CODE].to_numpy() << bits | numbers).sort().to_numpy()
        weights = self.weights[codes & np.uint64((1 << self.bits) - 1)]
        return pl.DataFrame({SORT_CODE: codes >> bits, WEIGHT: weights})


def few_weights(weights: pl.Series) -> WeightNumbers | None:
    """The numbers of these weights, None where more than `MAX_WEIGHTS` differ.

    Examples
    --------
    >>> few_weights(pl.Series([0.5, 2.0, 0.5, 0.5])).bits
    1
    """
    if sample(weights).n_unique() > MAX_WEIGHTS:
        return None
    # By their bits, since 0.0 and −0.0 are equal.
    different = weights.reinterpret(dtype=pl.UInt64).unique().to_numpy()
    if not 0 < len(different) <= MAX_WEIGHTS:
        return None
    for factor in np.random.default_rng(0).integers(2**62, size=FACTORS).tolist():
        place = _places(different, 2 * factor + 1)
        if len(np.unique(place)) == len(place):
            table = np.zeros(1 << TABLE_BITS, np.uint16)
            table[place] = np.arange(len(place))
            return WeightNumbers(different.view(np.float64), 2 * factor + 1, table)
    return None


def sample(values: pl.Series) -> pl.Series:
    """Some of the values, at even distances."""
    return values.gather_every(max(1, len(values) // SAMPLE))


def _places(bits: "Array", factor: int) -> "Array":
    places: Array = bits * np.uint64(factor) >> np.uint64(64 - TABLE_BITS)
    return places
