"""Measures as data: their formulas, their gradients, and how they are named and shown."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple, TypeAlias

from polaroc.base.arrays import Formula, all_of
from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.measures.moved_segments import Gradient, Segments
from polaroc.priors.chebyshev import ManyPriors, many_priors
from polaroc.priors.grids import OBSERVED, resolve_priors, skew
from polaroc.typing import Array, Interpolation, Priors, Quantity, Start


@dataclass(frozen=True)
class GradientTerm:
    """A quantity of the curve that a measure is a smooth function of, with a unique name.

    `gradient` is that of the quantity, of segments; `slope` is the derivative of the measure
    with respect to the quantity, from the columns of `per_key`. `every_cell` says whether the
    gradient changes where vertical runs of cells are merged.
    """

    name: str
    gradient: Callable[[Segments], Gradient]
    slope: Quantity = 1.0
    every_cell: bool = False


# The lower limit of a perfect sample from the tail probability, the numbers of cases of each class,
# and a skew in place of the measure's own.
PerfectLimit: TypeAlias = "Callable[[float, Array, Array, float | None], Array]"


@dataclass(frozen=True)
class CaseLoss:
    """A measure as the mean loss of positives plus the mean loss of negatives."""

    # By column name: intermediate values of a cell, from its counts and its score.
    columns: dict[str, Quantity]
    positive: Quantity  # the loss of a positive, from these columns
    negative: Quantity
    # The weights of both classes in the measure: the greatest losses, if these are `bounded`.
    weights: tuple[Quantity, Quantity]
    bounded: bool
    # What a cell adds to the derivative of the measure by the log-odds of the prior at which
    # scores are right, None where this prior is given and not estimated.
    by_score_prior: Quantity | None = None
    scale: Quantity = 1.0  # by how much the measure moves as the mean does


@dataclass(frozen=True)
class Measure:
    """One number per key, from sums and least values over the segments of its curve.

    All quantities are columns of the backend that computes it. Those of a segment are summed, or
    their minimum is taken, over the rows of the curve with positives.
    """

    name: str  # in the column `measure`
    estimate: Quantity  # from `sums`, `least` and the totals
    # By column name: intermediate values that `sums` and `least` use repeatedly.
    columns: dict[str, Quantity] = field(default_factory=dict)
    # By column name: quantities of a segment that are summed, and of which the minimum is taken.
    sums: dict[str, Quantity] = field(default_factory=dict)
    least: dict[str, Quantity] = field(default_factory=dict)
    # The same of segments of the hull that are summed.
    hull_sums: dict[str, Quantity] = field(default_factory=dict)
    prior: Quantity | None = None  # at which it is taken
    over: str | None = None  # the range of priors over which it is taken, as an `over_label`
    bias_skew: Quantity | None = None  # the skew λ of the bias ratio λ/N, where it has one
    # Conditions, each with the note for keys that meet it; the first that is met is said.
    warnings: tuple[tuple[Quantity, str], ...] = ()
    # The quantities its standard error follows from; none where it has none.
    gradient_terms: tuple[GradientTerm, ...] = ()
    # The lower limit for a test set that is ranked perfectly.
    perfect_lower_limit: "PerfectLimit | None" = None
    # The least and the greatest value it can have, None for no bound.
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    # Whether cells without positives count, and the score of a cell: `sums` are then written with
    # `threshold`, `pos`, `neg` and the totals.
    every_cell: bool = False
    # The losses of single cases that its standard error follows from, in place of gradients.
    case_loss: CaseLoss | None = None
    no_limits: str | None = None  # why it has no interval, where it never has one
    mergeable_segments: bool = True  # whether collinear segments may be merged
    # The priors that are interpolated from this measure and its neighbours in a list of measures;
    # None where it is shown itself.
    many: ManyPriors | None = None
    # By column name: values of sums and minima that `estimate` uses repeatedly, where a backend
    # holds such values.
    held: dict[str, Quantity] = field(default_factory=dict)

    @property
    def is_area(self) -> bool:
        """Whether it follows from the segments of the curve alone."""
        return not (self.every_cell or self.hull_sums)

    @cached_property
    def with_slopes(self) -> Formula:
        """The estimate and the slopes of the gradient terms, of a measure of `ARRAYS`."""
        return all_of([self.estimate, *(term.slope for term in self.gradient_terms)])


@dataclass(frozen=True)
class MeasureArguments:
    """The arguments of `evaluate` that measures are built from, and the backend."""

    priors: Priors
    # A range or a belief, as the definition of the measure says.
    over: Any = None
    interpolation: Interpolation = "exact"
    start: Start = "limit"
    backend: Backend = POLARS
    # The prior at which scores are right as they stand.
    score_prior: float | str = OBSERVED


@dataclass(frozen=True)
class MeasureDefinition:
    """An entry of the catalogue of measures."""

    name: str  # in the column `measure`
    label: str  # in text
    description: str  # a line for the reference page, with the source
    build: Callable[[MeasureArguments], Sequence[Measure]]  # once per prior if `at_priors`
    higher_is_better: bool = True
    at_priors: bool = False  # whether it is taken at each prior
    over: Literal["range", "belief"] | None = None  # what it is averaged over, if anything
    mean_of: str | None = None  # the measure at a prior that it is the mean of
    on_hull: bool = False  # whether it is taken on the hull when the interpolation is "hull"
    interpolations: tuple[Interpolation, ...] | None = None  # those it supports, None for all
    by_default: bool = True  # whether `evaluate` computes it when no measures are named
    default_needs_range: bool = False  # whether it does so only if `over` is a range
    in_summary: bool = False  # whether the terminal shows it


class AtPrior(NamedTuple):
    """A skew, the prior that is shown, and the priors that are interpolated from this node."""

    skew: Quantity
    prior: Quantity
    many: ManyPriors | None = None


def at_priors(priors: Priors, backend: Backend) -> list[AtPrior]:
    """The skew of each prior, with the prior that is shown; of many priors, of their nodes."""
    positives, negatives = backend.column("positives"), backend.column("negatives")
    both = (positives > 0) & (negatives > 0)
    own = negatives / positives, backend.where(both, positives / (positives + negatives))
    resolved = resolve_priors(priors)
    many = many_priors(resolved)
    if many is None:
        return [AtPrior(*(own if p is None else (skew(p), p))) for p in resolved]
    nodes = [own if node is None else (node, 1 / (1 + node)) for node in many.nodes]
    return [AtPrior(skewed, prior, many) for skewed, prior in nodes]


def total(
    name: str,
    segment: Quantity,
    backend: Backend,
    *,
    label: str = "",
    prior: Quantity | None = None,
    bias_skew: Quantity | None = None,
    gradient: Callable[[Segments], Gradient] | None = None,
) -> Measure:
    """A measure that is one sum over segments; `label` makes the column of the sum unique."""
    summed = PRIVATE + (label or name)
    return Measure(
        name,
        backend.column(summed),
        sums={summed: segment},
        prior=prior,
        bias_skew=bias_skew,
        gradient_terms=() if gradient is None else (GradientTerm(summed, gradient),),
    )


def hull_part(measure: Measure) -> Measure:
    """The sums of a measure over the hull, as a measure of hulls."""
    return replace(measure, columns={}, sums=measure.hull_sums, least={}, every_cell=False)


def ingredients(measures: Sequence[Measure]) -> tuple[dict[str, Quantity], ...]:
    """The `columns`, `sums` and `least` of all measures, each name once."""
    return tuple(
        {name: value for measure in measures for name, value in getattr(measure, kind).items()}
        for kind in ("columns", "sums", "least")
    )


def chunks(measures: Sequence[Measure]) -> list[list[Measure]]:
    """The measures in order, cut so that each part has the nodes of at most one measure."""
    parts: list[list[Measure]] = [[]]
    interpolated = None
    for measure in measures:
        if measure.many is not None and measure.name != interpolated:
            if interpolated is not None:
                parts.append([])
            interpolated = measure.name
        parts[-1].append(measure)
    return parts


def runs(measures: Sequence[Measure]) -> list[list[Measure]]:
    """The measures in order, each alone, but all nodes of an interpolated one together."""
    grouped = groupby(measures, lambda one: id(one) if one.many is None else one.name)
    return [list(own) for _, own in grouped]


def measures_by_row(measures: Sequence[Measure]) -> Iterator[tuple[Measure, float | None]]:
    """The measure of each row of a key, in order, and the prior that it is interpolated at."""
    for first, *_ in runs(measures):
        priors = (None,) if first.many is None else first.many.priors
        yield from ((first, prior) for prior in priors)


def values_by_row(measures: Sequence[Measure], values: "Array") -> Iterator["Array"]:
    """The values of each row of a key, in order, from those of its measures on the last axis.

    Measures that are nodes of many priors are interpolated to one row per prior.
    """
    start = 0
    for run in runs(measures):
        own, many = values[..., start : start + len(run)], run[0].many
        start += len(run)
        if many is None:
            yield own[..., 0]
        else:
            yield from (many.at(place, own) for place in range(len(many.priors)))
