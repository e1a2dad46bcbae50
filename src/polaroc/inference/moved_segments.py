"""The segments of curves in arrays, and how they move a quantity."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from polaroc.typing import Array, Quantity

# Relative rise and run of a segment up to which a series replaces the closed form, which loses
# digits there.
NARROW = 0.02


class Gradient(NamedTuple):
    """The derivatives of a quantity of a curve with respect to each segment.

    They are with respect to the start (t0, f0) of the segment and of the level run of negatives
    before it, and to its rise dt and run df. `area` is what the segment adds to the quantity,
    where that is a sum over segments which costs nothing beside its gradient. Of a quantity that
    few segments move, they are those of the segments `at` these places.
    """

    t0: "Array"
    f0: "Array"
    dt: "Array"
    df: "Array"
    area: "Array | None" = None
    at: "Array | None" = None

    def less(self, side: "Array", running: "Array") -> "Array":
        """One of the derivatives, of each segment, less a running sum."""
        if self.at is None:
            return side - running
        less: Array = -running
        less[self.at] += side
        return less


@dataclass(frozen=True, eq=False)
class Segments:
    """The segments that end at cells with positives, key after key, best score first."""

    pos: "Array"
    neg: "Array"
    tp: "Array"
    fp: "Array"
    positives: "Array"  # of each key
    negatives: "Array"
    starts: "Array"  # the first segment of each key
    # The numbers of independent units of each class, where these are not cases.
    units: "tuple[Array, Array] | None" = None

    @cached_property
    def sizes(self) -> "Array":
        """The number of segments of each key."""
        return np.diff(self.starts, append=len(self.pos))

    @cached_property
    def ends(self) -> "Array":
        """The last segment of each key."""
        return self.starts + self.sizes - 1

    @cached_property
    def level(self) -> "Array":
        """The negatives on the level run before each segment."""
        level: Array = self.fp - self.neg
        level[1:] -= self.fp[:-1]
        level[self.starts] = (self.fp - self.neg)[self.starts]
        return level

    @cached_property
    def rest(self) -> "Array":
        """The negatives below all positives of each key."""
        rest: Array = self.negatives - self.fp[self.ends]
        return rest

    @cached_property
    def key(self) -> "Array":
        """The place of the key of each segment."""
        return self.each(np.arange(len(self.starts)))

    @cached_property
    def tied(self) -> bool:
        """Whether positives and negatives have a score in common, so that a segment runs."""
        return bool(self.neg.any())

    @cached_property
    def dt(self) -> "Array":
        """How much each segment rises."""
        return self.pos / self.each(self.positives)

    @cached_property
    def df(self) -> "Array":
        """How much each segment runs."""
        return self.neg / self.each(self.negatives)

    @cached_property
    def t0(self) -> "Array":
        """The true positive rate where each segment starts."""
        return (self.tp - self.pos) / self.each(self.positives)

    @cached_property
    def f0(self) -> "Array":
        """The false positive rate where each segment starts."""
        return (self.fp - self.neg) / self.each(self.negatives)

    @cached_property
    def t1(self) -> "Array":
        """The true positive rate where each segment ends, exactly 1 at the last."""
        return self.tp / self.each(self.positives)

    @cached_property
    def f1(self) -> "Array":
        """The false positive rate where each segment ends."""
        return self.fp / self.each(self.negatives)

    @cached_property
    def middle_t(self) -> "Array":
        """The true positive rate in the middle of each segment."""
        middle: Array = self.t0 + self.t1
        middle /= 2
        return middle

    @cached_property
    def middle_f(self) -> "Array":
        """The false positive rate in the middle of each segment."""
        middle: Array = self.f0 + self.f1
        middle /= 2
        return middle

    @cached_property
    def before(self) -> "Array":
        """The false positive rate where the level run before each segment starts."""
        return (self.fp - self.neg - self.level) / self.each(self.negatives)

    @cached_property
    def first(self) -> "Array":
        """The places of segments that start at the origin."""
        own = self.starts
        at_origin = (self.tp[own] == self.pos[own]) & (self.fp[own] == self.neg[own])
        first: Array = own[at_origin]
        return first

    @cached_property
    def wide(self) -> "tuple[Array, Array]":
        """The places of segments that are not `NARROW`, and those at the origin among them."""
        # What is undefined counts as wide, so that all at the origin are among them.
        narrow = (self.dt <= NARROW * self.t0) & (self.df <= NARROW * self.f0)
        wide = np.flatnonzero(~narrow)
        return wide, np.searchsorted(wide, self.first)

    @cached_property
    def own_skew(self) -> "Array":
        """The skew of the numbers of cases of its key, of each segment."""
        return self.each(self.negatives / self.positives)

    def each(self, values: "Array") -> "Array":
        """The values of keys, of each of their segments."""
        return np.repeat(values, self.sizes)

    def total(self, values: "Array") -> "Array":
        """The sums over the segments of each key."""
        return np.add.reduceat(values, self.starts)

    def count(self, holds: "Array") -> "Array":
        """How many segments of each key it holds for."""
        return self.total(holds.astype(np.int64))

    def running(self, values: "Array", at: "Array | None" = None) -> "Array":
        """The sums over the segments of its key down to each one, or over those `at` places."""
        if not values.any():
            return np.zeros(len(self.pos))
        running: Array = np.cumsum(values)
        if not np.isfinite(running[-1:]).all():
            # What is undefined in one key, and so on its segments, must not reach the next.
            running = np.cumsum(np.where(np.isfinite(values), values, 0.0))
        if at is not None:
            lengths = np.diff(at, prepend=0, append=len(self.pos))
            running = np.repeat(np.append(0.0, running), lengths)
        running -= self.each(np.append(0.0, running[self.ends[:-1]]))
        return running

    def skewed(self, node: Quantity | None) -> Quantity:
        """The skew of a node."""
        return self.own_skew if node is None else node


def ranges(begin: "Array", end: "Array") -> "Array":
    """The numbers from each beginning up to its end, without it.

    Examples
    --------
    >>> import numpy as np
    >>> ranges(np.array([0, 7]), np.array([2, 10])).tolist()
    [0, 1, 7, 8, 9]
    """
    sizes = end - begin
    before = np.cumsum(sizes) - sizes
    numbers: Array = np.arange(sizes.sum()) + np.repeat(begin - before, sizes)
    return numbers
