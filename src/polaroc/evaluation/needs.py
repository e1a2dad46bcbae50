"""What the measures of a request need of the rows, and how much memory."""

from dataclasses import dataclass

from polaroc.evaluation.request import Request

# The most bytes per row on disk, and those of its weight.
ON_DISK, WEIGHT_ON_DISK = 12, 8
# Peak bytes per row, beside the rows themselves, and those that a weight and a positive add, each
# at least as many as were measured at 10 million rows; what the weight of a positive, all cells,
# hulls and points of curves add to them.
ROW, WEIGHT, POSITIVE, WEIGHT_OF_POSITIVE = 20, 40, 64, 64
SCORED, HULL, DRAWN = 10, 40, 100


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
        """Whether measures, or the points of weighted curves, need all cells with their scores."""
        of_cells = any(measure.every_cell for measure in self.request.selected.on_curve)
        return of_cells or (self.drawn and self.weighted)

    @property
    def merged(self) -> bool:
        """Whether vertical runs of cells may be one cell, for limits of the measures as well."""
        terms = [term for one in self.request.selected.on_curve for term in one.gradient_terms]
        areas = [one for one in self.request.selected.on_curve if not one.every_cell]
        limits = self.request.intervals is None or not any(term.every_cell for term in terms)
        return limits and all(one.mergeable_segments for one in areas)

    @property
    def bytes_on_disk(self) -> int:
        """The most bytes of a row in a scratch file."""
        return ON_DISK + self.weighted * WEIGHT_ON_DISK

    def bytes_to_rank(self, rows: int, positives: int) -> int:
        """The most bytes that rows need beside their own where they are ranked at once."""
        of_row = ROW + self.weighted * WEIGHT + self.scored * SCORED
        of_positive = POSITIVE + self.weighted * WEIGHT_OF_POSITIVE
        of_positive += bool(self.request.selected.on_hull) * HULL + self.drawn * DRAWN
        return rows * of_row + positives * of_positive
