"""A measure: what it is computed from, and what else there is to know of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from polaroc.base.backend import POLARS, Backend
from polaroc.base.private_columns import PRIVATE
from polaroc.measures.gradients import Gradient
from polaroc.priors.chebyshev import ManyPriors
from polaroc.typing import Array, Interpolation, Priors, Quantity, Start


@dataclass(frozen=True)
class GradientTerm:
    """A number of the curve that a measure is a smooth function of, by a name of its own.

    `gradient` makes its gradient, given the keys, as that is costly to write out; `slope` is the
    derivative of the measure by it, from the columns of `per_key`.
    """

    name: str
    gradient: Callable[[Sequence[str]], Gradient]
    slope: Quantity = field(default_factory=lambda: pl.lit(1.0))


@dataclass(frozen=True)
class Measure:
    """One number per key, from sums and least values over the segments of its curve.

    All quantities are columns of the backend that computes it.

    Attributes
    ----------
    name
        Its name in the column `measure`.
    estimate
        The number, from the columns of `sums` and `least` and the totals.
    columns
        By column name: what `sums` and `least` use more than once.
    sums, least
        By column name: what is summed, or of which the least is taken, over the
        segments (the rows of the curve with positives).
    prior
        The prior it is taken at, None where it has none.
    over
        The range of priors it is taken over, as `over_label` says it, None where it
        has none.
    bias_skew
        Skew by which its λ/N is judged, None where it does not depend on one.
    warning
        What else is to be said of it: when, and in which words.
    parts
        What its standard error is made from; none where it has no gradient.
    perfect_lower_limit
        Its lower limit where the test set is ranked perfectly, given how likely
        that may be where the truth is lower.
    mergeable_segments
        Whether segments in one straight line may be taken as one.
    many
        The priors that it is a node of, which are asked for in its place. All
        nodes follow each other; `perfect_lower_limit` is then written with `SKEW`.
    """

    name: str
    estimate: Quantity
    columns: dict[str, Quantity] = field(default_factory=dict)
    sums: dict[str, Quantity] = field(default_factory=dict)
    least: dict[str, Quantity] = field(default_factory=dict)
    prior: Quantity | None = None
    over: str | None = None
    bias_skew: Quantity | None = None
    warning: tuple[Quantity, str] | None = None
    parts: tuple[GradientTerm, ...] = ()
    perfect_lower_limit: Callable[[float], pl.Expr] | None = None
    mergeable_segments: bool = True
    many: ManyPriors | None = None


@dataclass(frozen=True)
class MeasureArguments:
    """What measures are built from: the arguments of `evaluate`, and the engine."""

    priors: Priors
    # A range or a belief, as the definition of the measure says.
    over: Any = None
    interpolation: Interpolation = "exact"
    start: Start = "limit"
    backend: Backend = POLARS


@dataclass(frozen=True)
class MeasureDefinition:
    """A measure: its names, its formula, and what else depends on which measure it is.

    Attributes
    ----------
    name, label
        Its name in the column `measure`, and in texts.
    description
        A line for the reference page, with the source.
    build
        Makes it, at each prior where it is taken `at_priors`.
    higher_is_better
        Whether more of it is better.
    at_priors
        Whether it is taken at each prior.
    over
        What it is taken over: a range of priors only, a range or a belief, or neither.
    on_hull
        Whether it is taken on the hull where that is the interpolation.
    interpolations
        Those it is known for, None for all.
    by_default
        Whether `evaluate` takes it where none is named.
    in_summary, in_report
        Whether the terminal and the report show it.
    rises_within_ties
        Whether a better order of cases that are tied can only raise its one sum, so
        that it has bounds from bins.
    """

    name: str
    label: str
    description: str
    build: Callable[[MeasureArguments], Sequence[Measure]]
    higher_is_better: bool = True
    at_priors: bool = False
    over: Literal["range", "belief"] | None = None
    on_hull: bool = False
    interpolations: tuple[Interpolation, ...] | None = None
    by_default: bool = True
    in_summary: bool = False
    in_report: bool = False
    rises_within_ties: bool = False


def total(
    name: str,
    segment: Quantity,
    backend: Backend,
    *,
    label: str = "",
    prior: Quantity | None = None,
    bias_skew: Quantity | None = None,
    gradient: Callable[[], Gradient] | None = None,
) -> Measure:
    """A measure that is the sum of what each segment adds; a `label` tells equal names apart."""
    summed = PRIVATE + (label or name)
    return Measure(
        name,
        backend.column(summed),
        sums={summed: segment},
        prior=prior,
        bias_skew=bias_skew,
        parts=() if gradient is None else (GradientTerm(summed, lambda _: gradient()),),
    )


def ingredients(measures: Sequence[Measure]) -> tuple[dict[str, Quantity], ...]:
    """The `columns`, `sums` and `least` of all measures: shared names are taken once."""
    return tuple(
        {name: part for measure in measures for name, part in getattr(measure, kind).items()}
        for kind in ("columns", "sums", "least")
    )


def of_rows(measures: Sequence[Measure], values: "Array") -> Iterator["Array"]:
    """By row of a key in order: its value, of those of all measures on the last axis."""
    nodes = [i for i, measure in enumerate(measures) if measure.many is not None]
    for i, measure in enumerate(measures):
        if measure.many is None:
            yield values[..., i]
        elif i == nodes[0]:
            own = values[..., i : nodes[-1] + 1]
            for place in range(len(measure.many.priors)):
                yield measure.many.at(place, own)
