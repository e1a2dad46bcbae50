"""What the measures of a request need of the rows: which engine takes them, and how much memory."""

from dataclasses import dataclass

from polaroc.curves.packing import PACK_128, Packing
from polaroc.evaluation.request import Request

# The most bytes per row on disk or held in memory, and those of its weight.
ON_DISK, WEIGHT_ON_DISK = 12, 8
# Peak bytes per row for ranking: with codes of 128 bits, what codes of 64 bits save, and what
# weights and points of curves add.
IN_MEMORY, SAVED_WITH_64_BITS, WEIGHT_IN_MEMORY, CURVE_IN_MEMORY = 40, 16, 60, 80
# Peak bytes per row where tables are ranked as arrays, and those that a weight and a positive add;
# what all cells, hulls and points of curves add to them.
IN_ARRAY, WEIGHT_IN_ARRAY, POSITIVE_IN_ARRAY = 32, 32, 160
SCORED_IN_ARRAY, HULL_IN_ARRAY, DRAWN_IN_ARRAY = 16, 160, 100


@dataclass(frozen=True)
class Needs:
    """What the measures of a request need of rows with or without weights."""

    request: Request
    weighted: bool

    @property
    def drawn(self) -> bool:
        """Whether points of the curves are asked for, to draw them."""
        return self.request.drawn_at is not None

    @property
    def scored(self) -> bool:
        """Whether measures need all cells, with their scores."""
        return any(measure.every_cell for measure in self.request.on_curve)

    @property
    def merged(self) -> bool:
        """Whether vertical runs of cells may be one cell, for limits of the measures as well."""
        terms = [term for one in self.request.on_curve for term in one.gradient_terms]
        return self.request.intervals is None or not any(term.every_cell for term in terms)

    @property
    def arrays(self) -> bool:
        """Whether rows in memory may be ranked as arrays."""
        of_arrays = all(one.mergeable_segments or one.every_cell for one in self.request.on_curve)
        # Losses, hulls and charts of weighted cases are taken by the plan, and charts of hulls.
        only_areas = not (self.scored or self.request.on_hull or self.drawn)
        drawn_hulls = self.drawn and bool(self.request.on_hull)
        return of_arrays and not drawn_hulls and (only_areas or not self.weighted)

    @property
    def arrays_by_partition(self) -> bool:
        """Whether arrays take each partition of the rows."""
        return self.arrays and not (self.request.on_hull or self.drawn or self.weighted)

    @property
    def bytes_on_disk(self) -> int:
        """The most bytes of a row in a scratch file."""
        return ON_DISK + self.weighted * WEIGHT_ON_DISK

    def bytes_per_row(self, packing: Packing) -> int:
        """The most bytes that a row needs where a plan ranks it."""
        curves = bool(self.request.on_hull) or self.drawn
        code = IN_MEMORY - (packing != PACK_128) * SAVED_WITH_64_BITS
        return self._held + code + self.weighted * WEIGHT_IN_MEMORY + curves * CURVE_IN_MEMORY

    def bytes_in_arrays(self, rows: int, positives: int) -> int:
        """The most bytes that rows need where they are ranked as arrays."""
        of_row = IN_ARRAY + self.weighted * WEIGHT_IN_ARRAY + self.scored * SCORED_IN_ARRAY
        of_positive = POSITIVE_IN_ARRAY + bool(self.request.on_hull) * HULL_IN_ARRAY
        of_positive += self.drawn * DRAWN_IN_ARRAY
        return rows * (self._held + of_row) + positives * of_positive

    def whole_fits(self, rows: int, positives: int, room: int) -> bool:
        """Whether so many rows are ranked in so many bytes of memory at once."""
        in_arrays = self.arrays and self.bytes_in_arrays(rows, positives) <= room
        return in_arrays or rows * self.bytes_per_row(PACK_128) <= room

    @property
    def _held(self) -> int:
        """Bytes of a row as it is read, twice."""
        return 2 * self.bytes_on_disk
