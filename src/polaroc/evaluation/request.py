"""The arguments of an evaluation, validated."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import polars as pl

from polaroc.base.backend import POLARS, Backend
from polaroc.base.checks import check_bool, check_share, refuse_unused, unless
from polaroc.errors import InvalidArgument
from polaroc.files.memory import Memory
from polaroc.files.progress import Progress, progress_callback
from polaroc.measures.areas import auprec_measures
from polaroc.measures.catalog import DEFAULT_PRIORS, SelectedMeasures, select_measures
from polaroc.measures.spec import Measure
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import resolve_priors
from polaroc.typing import Interpolation, Prior, Priors

LEVEL = 0.95
# The most bytes per row on disk, and those of its weight.
ON_DISK, WEIGHT_ON_DISK = 12, 8
# Peak bytes per row, beside the rows themselves, and those that a weight and a positive add, each
# at least as many as were measured at 10 million rows; what the weight of a positive, all cells,
# hulls and points of curves add to them.
ROW, WEIGHT, POSITIVE, WEIGHT_OF_POSITIVE = 20, 40, 64, 64
SCORED, HULL, DRAWN = 10, 40, 100


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """The arguments of `evaluate`, and requests for further results.

    `extra_priors` are priors for AUPREC in a separate table; `curve_priors` those at which the
    curves will be drawn, None if they are not needed.
    """

    priors: Priors = DEFAULT_PRIORS
    over: tuple[float, float] | Belief | None = None
    interpolation: Interpolation = "exact"
    intervals: bool = False
    level: float = LEVEL
    measure: str | Sequence[str] | None = None
    score_prior: Prior = "observed"
    memory: Memory | None = None
    progress: Progress | bool | None = None
    extra_priors: Sequence[float] = ()
    curve_priors: Sequence[Prior] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.priors, pl.LazyFrame):
            object.__setattr__(self, "priors", self.priors.collect())
        check_bool("intervals", self.intervals)
        if self.intervals:
            self._check_intervals()
        else:
            refuse_unused("for intervals", "intervals is False", level=unless(LEVEL, self.level))
        # Making these validates the arguments.
        _ = self.selected, self.extra, self.drawn_at, self.callback

    def __getstate__(self) -> dict[str, Any]:
        """The arguments: what was made of them has functions that cannot be sent elsewhere."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def _check_intervals(self) -> None:
        check_share("level", self.level)
        if self.interpolation == "hull":
            raise InvalidArgument(
                "interpolation is 'hull': the hull is fitted to the test data, and no interval "
                "of it is valid.",
                hint="use interpolation='exact'.",
            )
        if self.memory is not None:
            raise InvalidArgument(
                f"intervals is True and memory is {self.memory!r}, allowed is one of them.",
                hint="leave memory out, or take the keys a few at a time.",
            )

    def select(self, backend: Backend = POLARS) -> SelectedMeasures:
        """The measures, written for a backend; the extra ones are among those that are summed."""
        selected = select_measures(
            self.measure, self.priors, self.over, self.interpolation, backend,
            score_prior=self.score_prior,
        )  # fmt: skip
        summed = selected.on_hull if self.interpolation == "hull" else selected.on_curve
        summed += self._extra(backend)
        return selected

    @cached_property
    def selected(self) -> SelectedMeasures:
        """The measures, in columns of Polars."""
        return self.select()

    @cached_property
    def extra(self) -> list[Measure]:
        """AUPREC at the extra priors, in columns of Polars."""
        return self._extra(POLARS)

    def _extra(self, backend: Backend) -> list[Measure]:
        return auprec_measures(
            self.extra_priors, self.interpolation, "limit", backend=backend, label="extra"
        )

    @cached_property
    def drawn_at(self) -> list[float | None] | None:
        """The priors at which the curves will be drawn; a None among them is each key's own."""
        return None if self.curve_priors is None else resolve_priors(list(self.curve_priors))

    @property
    def callback(self) -> Progress | None:
        """The progress function, called with the number of rows done and of all rows."""
        return progress_callback(self.progress)


@dataclass(frozen=True)
class Needs:
    """The columns that the measures of a request need of rows with or without weights."""

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
        limits = not self.request.intervals or not any(term.every_cell for term in terms)
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
