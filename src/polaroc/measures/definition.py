"""What there is to know of a measure, in one place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from polaroc.base.backend import POLARS, Backend
from polaroc.measures.spec import Measure
from polaroc.typing import Interpolation, Priors, Start


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
