"""Ranked predictions in memory: the segments of all curves from one sort of packed integers.

Key, score and truth of a row are packed into one integer of 64 bits, so that sorting a single
column puts rows in the order of their keys, within a key the best score first, and negatives
before positives of the same score. Counts follow from the places of the positives.
`curves.curve` has the same curves as a lazy plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import polars as pl

from polaroc.base.columns import (
    CLUSTER,
    KEY_INDEX,
    SORT_CODE,
    TEXTUAL,
    TRUTH,
    WEIGHT,
    join_by_key,
)
from polaroc.curves.totals import totals
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Types of keys that are numbered by their columns.
INTEGERS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
# Keys are numbered without a join unless a column has more words, or there are more possible keys
# than this and than rows.
MANY_WORDS, MANY_KEYS = 10_000, 1_000
# How many last bits of scores may be left out where 64 bits are not enough. If scores that differ
# then have the same code, they are numbered instead.
SPARE_BITS = 24
MAGNITUDE = 2**63 - 1


@dataclass(frozen=True)
class Coding:
    """The ranks of scores in codes: integers of the same order, counted down from `best`.

    The rank of a score is its bits as an integer, negated for a negative score, less the `gap` of
    ranks next to zero that no score has, and without the last `shift` bits; or, if `is_dense`, its
    place among the distinct scores.
    """

    best: int
    positions: int  # how many ranks there are
    shift: int = 0
    gap: int = 0
    is_dense: bool = False

    @property
    def rank(self) -> pl.Expr:
        """The rank of the score of a row."""
        if self.is_dense:
            return pl.col(SCORE).rank("dense").cast(pl.Int64)
        bits = pl.col(SCORE).reinterpret(dtype=pl.Int64)
        size = ((bits & MAGNITUDE) - self.gap).clip(lower_bound=0) // 2**self.shift
        return pl.when(bits < 0).then(-size).otherwise(size)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Rows by key, best score first, and the segments with positives of each key's curve.

    Keys without rows that count come last, without segments.
    """

    # The keys, `positives`, `negatives`, `note`, and `EFFECTIVE` of sampling weights.
    totals: pl.DataFrame
    counts: dict[str, Array]  # `pos`, `neg`, `tp` and `fp` of each segment
    starts: Array  # the first segment of each key, then the number of segments
    # The first row of each segment, that of the negatives with its score, and the row after its
    # last.
    spans: tuple[Array, Array]
    codes: Array  # of the rows: the last bit is the truth
    row_starts: Array  # the first row of each key, then the number of rows
    weights: Array | None = None  # of the rows; None where each counts once
    clusters: pl.Series | None = None

    def frame(self) -> pl.DataFrame:
        """The counts of segments, with the totals of their keys."""
        number = np.diff(self.starts)
        of_keys = {
            name: np.repeat(self.totals[name].fill_null(0).to_numpy(), number)
            for name in ("positives", "negatives")
        }
        return pl.DataFrame(self.counts | of_keys)


def ranked(predictions: Predictions, *, merged: bool = True) -> Ranked:
    """The ranked rows of predictions in memory.

    Segments that go straight up, one after another, are one where they are `merged`, which changes
    no area that is straight in ROC space.
    """
    rows = predictions.valid_rows.collect()
    if predictions.weighted:
        rows = rows.filter(pl.col(WEIGHT) > 0)
    number, size, keys_of = _numbered(rows, predictions.keys)
    coding = _coding(rows, size)
    sorted_rows = _sorted(rows, _codes(rows, number, coding))
    if not coding.is_dense and _has_false_ties(rows, sorted_rows[SORT_CODE].to_numpy(), coding):
        coding = _dense_coding(rows)
        sorted_rows = _sorted(rows, _codes(rows, number, coding))
    codes = sorted_rows[SORT_CODE].to_numpy()
    weights = sorted_rows[WEIGHT].to_numpy() if WEIGHT in sorted_rows.columns else None
    edges = np.arange(size + 1, dtype=np.uint64) * np.uint64(2 * coding.positions)
    row_starts = np.searchsorted(codes, edges)
    present = np.flatnonzero(np.diff(row_starts))
    row_starts = np.append(row_starts[present], len(codes))
    counts, of_keys, spans, starts = segments_of_codes(codes, row_starts, weights, merged=merged)
    positives, negatives = of_keys
    counted = [pl.Series("positives", positives), pl.Series("negatives", negatives)]
    # From a list, Polars would rename a column without a name.
    known = pl.DataFrame({one.name: one for one in (*keys_of(present), *counted)})
    all_keys = _totals(predictions, known)
    more = all_keys.height - known.height
    return Ranked(
        all_keys, counts, _longer(starts, more), spans, codes, _longer(row_starts, more), weights,
        sorted_rows[CLUSTER] if CLUSTER in sorted_rows.columns else None,
    )  # fmt: skip


def segments_of_codes(
    codes: Array, row_starts: Array, weights: Array | None, *, merged: bool = False
) -> tuple[dict[str, Array], tuple[Array, Array], tuple[Array, Array], Array]:
    """The counts of segments, the totals of keys, and the `spans` and `starts` of `Ranked`."""
    spans, first = _spans(codes)
    if weights is None:
        counts, of_keys = _counts(spans, first, row_starts)
    else:
        truth = (codes & np.uint64(1)).astype(bool)
        counts, of_keys = _weighted_counts(spans, row_starts, truth, weights)
    starts = np.searchsorted(spans[1], row_starts, "right")
    counts, spans, starts = _merged(counts, spans, starts, merged=merged)
    return counts, of_keys, spans, starts


def _numbered(
    rows: pl.DataFrame, keys: Sequence[str]
) -> tuple[pl.Expr | pl.Series, int, Callable[[Array], list[pl.Series]]]:
    """The number of each row's key, how many numbers there are, and a function from them to keys.

    Numbers are in the order of keys: of all combinations of values if these are not too many, else
    of the keys that are there.
    """
    columns = [_numbered_values(rows[name]) for name in keys]
    size = prod(MANY_KEYS + rows.height if one is None else len(one[0]) for one in columns)
    known = [one for one in columns if one is not None]
    if len(known) < len(columns) or size > max(rows.height, MANY_KEYS):
        distinct = rows.select(keys).unique().sort(keys, nulls_last=True)
        numbered = distinct.with_row_index(KEY_INDEX)
        number = join_by_key(rows.select(keys), numbered, keys)[KEY_INDEX]
        return number, distinct.height, lambda places: distinct[places].get_columns()
    number_of = pl.repeat(0, pl.len(), dtype=pl.Int64)
    for values, place in known:
        number_of = number_of * len(values) + place

    def keys_of(places: Array) -> list[pl.Series]:
        columns: list[pl.Series] = []
        for values, _ in reversed(known):
            columns.append(values.gather(pl.Series(places % len(values))))
            places = places // len(values)
        return columns[::-1]

    return number_of, size, keys_of


def _numbered_values(column: pl.Series) -> tuple[pl.Series, pl.Expr] | None:
    """The possible values of a key column in order, a null last, and the place of a row's value.

    None if they are too many, or of a type that is neither integers nor words.
    """
    if column.dtype in TEXTUAL:
        values = column.unique().sort(nulls_last=True)
        if len(values) > MANY_WORDS:
            return None
        words = pl.Enum(values.drop_nulls().cast(pl.String))
        place = pl.col(column.name).cast(pl.String).cast(words).to_physical().cast(pl.Int64)
    else:
        ends: Any = (column.min(), column.max()) if column.dtype in INTEGERS else (None, None)
        least, most = ends
        if least is None or most - least >= max(len(column), MANY_KEYS):
            return None
        values = least + pl.int_range(most - least + 1, eager=True).alias(column.name)
        values = values.cast(column.dtype)
        place = pl.col(column.name).cast(pl.Int64) - least
        if column.has_nulls():
            values = values.extend_constant(None, 1)
    return values, place.fill_null(len(values) - 1)


def _coding(rows: pl.DataFrame, keys: int) -> Coding:
    """The coding of scores that fits 64 bits with the truth and the number of the key."""
    score = pl.col(SCORE)
    bits = score.reinterpret(dtype=pl.Int64)
    lowest, highest, any_bit, least = rows.select(
        lowest=score.min(), highest=score.max(), any_bit=bits.bitwise_or(),
        least=pl.when(score != 0).then(bits & MAGNITUDE).min(),
    ).row(0)  # fmt: skip
    if lowest is None:
        return Coding(0, 1)
    # Last bits that are zero in every score, as of 32-bit floats, carry nothing.
    spared = 0 if not any_bit else min((any_bit & -any_bit).bit_length() - 1, 62)
    ends = pl.DataFrame({SCORE: [float(lowest), float(highest)]})
    for shift in range(spared, spared + SPARE_BITS):
        gap = max((least or 0) - 2**shift, 0)
        low, high = ends.select(Coding(0, 1, shift, gap).rank.alias("rank"))["rank"]
        low, high = min(low, 0) if lowest <= 0 else low, max(high, 0) if highest >= 0 else high
        if 2 * keys * (high - low + 1) < 2**64:
            return Coding(high, high - low + 1, shift, gap)
    return _dense_coding(rows)


def _dense_coding(rows: pl.DataFrame) -> Coding:
    """The coding by places among the distinct scores, which always fits."""
    number = rows[SCORE].n_unique()
    return Coding(number, number, is_dense=True)


def _codes(rows: pl.DataFrame, number: pl.Expr | pl.Series, coding: Coding) -> pl.Series:
    """The code of each row, from the number of its key, its rank and its truth."""
    below = (pl.lit(coding.best, pl.Int64) - coding.rank).cast(pl.UInt64)
    place = pl.col(KEY_INDEX).cast(pl.UInt64) * pl.lit(coding.positions, pl.UInt64) + below
    code = place * pl.lit(2, pl.UInt64) + pl.col(TRUTH)
    numbered = rows.lazy().with_columns(number.alias(KEY_INDEX))
    return numbered.select(code.alias(SORT_CODE)).collect(engine="streaming").to_series()


def _sorted(rows: pl.DataFrame, codes: pl.Series) -> pl.DataFrame:
    """The codes in order, with the weight and the cluster of their rows."""
    beside = [name for name in (WEIGHT, CLUSTER) if name in rows.columns]
    if not beside:
        return codes.sort().to_frame()
    return rows.select(*beside, codes).lazy().sort(SORT_CODE).collect(engine="in-memory")


def _has_false_ties(rows: pl.DataFrame, codes: Array, coding: Coding) -> bool:
    """Whether scores that differ have one rank, because their last bits were left out."""
    if not ((codes[1:] ^ codes[:-1]) < 2).any():
        return False
    return rows.select(pl.col(SCORE).n_unique() != coding.rank.n_unique()).item()


def _spans(codes: Array) -> tuple[tuple[Array, Array], Array]:
    """The rows of each score that has positives: from its negatives on, and its first positive."""
    positive = np.flatnonzero(codes & np.uint64(1))
    code = codes[positive]
    last = np.flatnonzero(np.append(code[1:] != code[:-1], True)[: len(code)])
    code, end = code[last], positive[last] + 1
    first = end - np.diff(last, prepend=-1)
    tied = first.copy()
    # Of a score with both classes the negatives come first; their code is one less.
    above = np.flatnonzero((first > 0) & (codes[first - 1] == code - np.uint64(1)))
    tied[above] = np.searchsorted(codes, code[above] - np.uint64(1))
    return (tied, end), first


def _counts(
    spans: tuple[Array, Array], first: Array, row_starts: Array
) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """The counts of the segments, and the positives and negatives of each key."""
    tied, end = spans
    key = np.searchsorted(row_starts, end - 1, "right") - 1
    of_all = np.cumsum(end - first)
    above = np.append(0, of_all)[np.searchsorted(end, row_starts, "right")]
    positives = np.diff(above)
    tp = of_all - above[key]
    counts = {"pos": end - first, "neg": first - tied, "tp": tp, "fp": end - row_starts[key] - tp}
    return counts, (positives, np.diff(row_starts) - positives)


def _weighted_counts(
    spans: tuple[Array, Array], row_starts: Array, truth: Array, weights: Array
) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """`_counts` as sums of weights; they start at zero in each key, so that small weights count."""
    tied, end = spans
    key = np.searchsorted(row_starts, tied, "right") - 1
    counts, of_keys = {}, []
    for step, total, in_class in (("pos", "tp", truth), ("neg", "fp", ~truth)):
        running = np.where(in_class, weights, 0.0)
        for start, stop in pairwise(row_starts.tolist()):
            np.cumsum(running[start:stop], out=running[start:stop])
        before = np.where(tied > row_starts[key], running[tied - 1], 0.0)
        counts[step], counts[total] = running[end - 1] - before, running[end - 1]
        of_keys.append(running[row_starts[1:] - 1])
    return counts, (of_keys[0], of_keys[1])


def _merged(
    counts: dict[str, Array], spans: tuple[Array, Array], starts: Array, *, merged: bool
) -> tuple[dict[str, Array], tuple[Array, Array], Array]:
    """The segments, where those that go straight up, one after another, may be one."""
    # A weight that is lost in the rounding of the sum makes no segment.
    kept = counts["pos"] > 0
    if merged and len(kept):
        fp, neg = counts["fp"], counts["neg"]
        kept[:-1] &= (neg[:-1] > 0) | (neg[1:] > 0) | (fp[1:] != fp[:-1])
        kept[starts[1:][np.diff(starts) > 0] - 1] = True
    if kept.all():
        return counts, spans, starts
    begins = np.append(True, kept[:-1])
    tied, end = spans
    starts = np.append(0, np.cumsum(kept))[starts]
    known = {name: values[kept] for name, values in counts.items()}
    # From sums, so that the first segment of a key starts at zero exactly.
    before = np.append(0, known["tp"][:-1]).astype(known["tp"].dtype)
    before[starts[:-1][np.diff(starts) > 0]] = 0
    known["pos"] = known["tp"] - before
    return known, (tied[begins], end[kept]), starts


def _totals(predictions: Predictions, known: pl.DataFrame) -> pl.DataFrame:
    """The totals with notes, of the `known` keys first and then of others without valid rows."""
    # Only weights, errors, and scores that are labels (one of which is 1) can have notes.
    labels = predictions.rows.select((pl.col(SCORE) == 1).any()).collect(engine=predictions.engine)
    if not (predictions.weighted or predictions.possible_errors or labels.item()):
        return known.with_columns(pl.lit(None, pl.String).alias("note"))
    of_all = totals(predictions).drop("positives", "negatives").collect()
    named = join_by_key(of_all, known.with_row_index(KEY_INDEX), predictions.keys)
    counts = [pl.col(name).fill_null(0) for name in ("positives", "negatives")]
    return named.sort(KEY_INDEX, nulls_last=True).with_columns(counts).drop(KEY_INDEX)


def _longer(starts: Array, more: int) -> Array:
    """The starts of further keys without rows or segments, too."""
    return np.append(starts, np.repeat(starts[-1:], more))
