"""The segments of ROC curves as arrays, key after key, and the cases that are on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from polaroc.curves.kernel import Ranked
from polaroc.typing import Array

# Segments of a block of keys: few enough for the cache of a processor, and for running sums to
# keep their digits, and enough for threads to pay.
BLOCK = 65_536
# Variants of a test set: with half a pseudo-case of each class ranked worst, or best, or without. A
# sample does not show false positive rates below one over the number of negatives, nor recalls
# below one over the number of positives: cases ranked worst lower the lower limit of a measure,
# those ranked best raise the upper one. Jeffreys' prior adds as much to each side of a proportion.
NONE, WORST, BEST = VARIANTS = range(3)
PSEUDO_CASES = 0.5


class Gradient(NamedTuple):
    """Derivatives of a quantity of a curve with respect to each of its segments.

    They are with respect to the start (t0, f0) of the segment and of the horizontal run before it,
    and to its rise dt and run df. `area` is what the segment adds to a quantity that is a sum over
    segments, if it costs nothing beside the gradient.
    """

    t0: Array
    f0: Array
    dt: Array
    df: Array
    area: Array | None = None


def key_blocks(starts: Array) -> Iterator[slice]:
    """Consecutive keys in blocks of at most `BLOCK` segments, or of one key, by their `starts`."""
    first, size = 0, len(starts) - 1
    while first < size:
        last = int(np.searchsorted(starts, starts[first] + BLOCK, "right")) - 1
        last = min(max(first + 1, last), size)
        yield slice(first, last)
        first = last


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments with positives of the curves of keys, best score first.

    A segment has `pos` positives and `neg` negatives; `tp` and `fp` are the counts at its end. The
    negatives between two segments are a horizontal run, which belongs to the segment after it.
    """

    pos: Array
    neg: Array
    tp: Array
    fp: Array
    positives: Array  # of each key
    negatives: Array
    starts: Array  # the first segment of each key, then the number of segments
    units: tuple[Array, Array]  # the independent units of each class of each key

    @classmethod
    def of(cls, ranked: Ranked, units: tuple[Array, Array]) -> Self:
        """The segments of all keys of ranked rows, in counts; a key may have none."""
        totals = [
            ranked.totals[name].fill_null(0).to_numpy() for name in ("positives", "negatives")
        ]
        return cls(
            **ranked.counts, positives=totals[0], negatives=totals[1], starts=ranked.starts,
            units=units,
        )  # fmt: skip

    def select(self, keys: Array) -> Segments:
        """The segments of consecutive keys, as floats; `keys` leaves out those without segments."""
        rows = slice(int(self.starts[keys[0]]), int(self.starts[keys[-1] + 1]))
        pos, neg, tp, fp = (
            counts[rows].astype(float) for counts in (self.pos, self.neg, self.tp, self.fp)
        )
        starts = np.append(self.starts[keys], rows.stop) - rows.start
        positives, negatives, *units = (
            counts[keys].astype(float) for counts in (self.positives, self.negatives, *self.units)
        )
        return Segments(
            pos, neg, tp, fp, positives, negatives, starts, (units[0], units[1])
        )  # fmt: skip

    def with_pseudo_cases(self, variant: int, positives: Array, negatives: Array) -> Segments:
        """The segments with these numbers of pseudo-cases per class and key, ranked by the variant.

        The totals stay, because they give the observed prior: the other counts are scaled down.
        """
        if variant == NONE:
            return self
        if variant == BEST:
            at, end_tp, end_fp = self.starts[:-1], positives, np.zeros(len(positives))
            tp, fp = self.tp + self.each(positives), self.fp
        else:
            at = self.starts[1:]
            end_tp, end_fp = self.positives + positives, self.negatives + negatives
            tp, fp = self.tp, self.fp + self.each(negatives)
        starts = self.starts + np.arange(len(self.starts))
        of_pos, of_neg = (
            np.repeat(total / (total + more), np.diff(starts))
            for total, more in ((self.positives, positives), (self.negatives, negatives))
        )
        return replace(
            self, pos=np.insert(self.pos, at, positives) * of_pos,
            neg=np.insert(self.neg, at, 0.0) * of_neg, tp=np.insert(tp, at, end_tp) * of_pos,
            fp=np.insert(fp, at, end_fp) * of_neg, starts=starts,
        )  # fmt: skip

    @cached_property
    def level(self) -> Array:
        """The number of negatives on the horizontal run before each segment."""
        begin: Array = self.fp - self.neg
        level = begin.copy()
        level[1:] -= self.fp[:-1]
        level[self.starts[:-1]] = begin[self.starts[:-1]]
        return level

    @cached_property
    def rest(self) -> Array:
        """The number of negatives below all positives of each key."""
        return self.negatives - self.fp[self.starts[1:] - 1]

    @cached_property
    def has_ties(self) -> bool:
        """Whether positives and negatives share a score, so that a segment is not vertical."""
        return bool(self.neg.any())

    @cached_property
    def dt(self) -> Array:
        """The rise of each segment."""
        return self.pos / self.each(self.positives)

    @cached_property
    def df(self) -> Array:
        """The run of each segment."""
        return self.neg / self.each(self.negatives)

    @cached_property
    def t0(self) -> Array:
        """The true positive rate at the start of each segment."""
        return (self.tp - self.pos) / self.each(self.positives)

    @cached_property
    def f0(self) -> Array:
        """The false positive rate at the start of each segment."""
        return (self.fp - self.neg) / self.each(self.negatives)

    @cached_property
    def t1(self) -> Array:
        """The true positive rate at the end of each segment, exactly 1 at the last."""
        return self.tp / self.each(self.positives)

    @cached_property
    def f1(self) -> Array:
        """The false positive rate at the end of each segment."""
        return self.fp / self.each(self.negatives)

    @cached_property
    def first(self) -> Array:
        """The segments that start at the origin."""
        start = self.starts[:-1]
        at_origin = (self.tp[start] == self.pos[start]) & (self.fp[start] == self.neg[start])
        return start[at_origin]

    def each(self, values: Array) -> Array:
        """Values of keys, repeated for each of their segments."""
        return np.repeat(values, np.diff(self.starts))

    def total(self, values: Array) -> Array:
        """Sums over the segments of each key."""
        return np.add.reduceat(values, self.starts[:-1])

    def running(self, values: Array) -> Array:
        """Running sums over the segments of each key."""
        if not values.any():
            return np.zeros(len(values))
        running: Array = np.cumsum(values)
        if not np.isfinite(running[-1:]).all():
            # A value that is undefined in one key must not make the next ones undefined.
            running = np.cumsum(np.where(np.isfinite(values), values, 0.0))
        running -= self.each(np.append(0.0, running[self.starts[1:-1] - 1]))
        return running


class CasePlaces(NamedTuple):
    """The places of the cases of some keys, best score first.

    Cases of one class and place have the same influence. Each segment has two places, the
    horizontal run before it and itself; each key has one more, for the cases below its positives.
    """

    place: Array  # of each case
    runs: Array  # the place of the run before each segment, one less than that of the segment
    rests: Array  # of each key

    @property
    def size(self) -> int:
        """The number of places."""
        return 2 * len(self.runs) + len(self.rests)

    @property
    def starts(self) -> Array:
        """The first place of each key."""
        return np.append(0, self.rests[:-1] + 1)

    @classmethod
    def of(cls, spans: tuple[Array, Array], starts: Array, row_starts: Array) -> Self:
        """The places of rows, whose segments are as in `Ranked`; all are counted from 0."""
        sizes = np.diff(starts)
        key = np.repeat(np.arange(len(sizes)), sizes)
        runs = 2 * np.arange(len(key)) + key
        rests = 2 * starts[1:] + np.arange(len(sizes))
        ends = np.empty(2 * len(key) + len(sizes), np.int64)
        ends[runs], ends[runs + 1], ends[rests] = *spans, row_starts[1:]
        return cls(np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0)), runs, rests)
