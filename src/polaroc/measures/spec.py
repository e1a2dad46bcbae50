"""Measures: sums over the rows of a curve, and an estimate made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import polars as pl

from polaroc.curves.segments import Segment, segment
from polaroc.priors.grids import OBSERVED, resolve_priors, skew
from polaroc.typing import Interpolation, Priors, Start

# A skew and its weight in a mean over priors; None is the skew of each key's own prior.
Node: TypeAlias = tuple[float | None, float]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One number per key: `sums` and `least` over the rows of its curve, and the `estimate`.

    Sums and minima over parts of a curve add up to those of the whole curve.

    Examples
    --------
    The Gini coefficient, a measure of one's own:

    >>> from polaroc.curves.segments import segment
    >>> from polaroc.measures.areas import auc_area
    >>> gini = Measure(name="gini", sums={"area": auc_area(segment())},
    ...                estimate=2 * pl.col("area") - 1)
    """

    name: str  # in the column `measure`
    estimate: pl.Expr  # from the columns that `sums` and `least` make, and the totals of the key
    # By column name: what a segment adds, and of what the minimum over the segments is taken.
    sums: dict[str, pl.Expr] = field(default_factory=dict)
    least: dict[str, pl.Expr] = field(default_factory=dict)
    # What each score of a curve adds: from its `threshold`, `pos`, `neg` and the totals.
    score_sums: dict[str, pl.Expr] = field(default_factory=dict)
    hull_sums: dict[str, pl.Expr] = field(default_factory=dict)  # what a segment of the hull adds
    # The prior at which it is taken; `OBSERVED` is each key's own, a column that of a surface.
    prior: float | str | pl.Expr | None = None
    over: str | None = None  # the range of priors over which it is taken, by its name
    bias_skew: pl.Expr | float | None = None  # the skew λ of the bias ratio λ/N, where it has one
    # Conditions, each with the note for keys that meet it; the first that is met is shown.
    warnings: tuple[tuple[pl.Expr, str], ...] = ()
    # The least and the greatest value it can have, None for no bound.
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    # What it is made from: the priors of an area with their weights, and the arguments.
    nodes: tuple[Node, ...] = ()
    arguments: MeasureArguments | None = None

    @property
    def is_area(self) -> bool:
        """Whether it follows from the segments of the curve alone."""
        return not (self.score_sums or self.hull_sums)


@dataclass(frozen=True)
class MeasureArguments:
    """The arguments of `evaluate` that measures are built from."""

    priors: Priors = "observed"
    over: Any = None  # a range or a belief, as the definition of the measure says
    interpolation: Interpolation = "exact"
    start: Start = "limit"
    score_prior: float | str = OBSERVED  # the prior at which scores are right as probabilities
    column: Callable[[str], pl.Expr] = pl.col  # `pl.field` where curves are structs

    @property
    def segment(self) -> Segment:
        """The segment that ends at a row."""
        return segment(self.column)

    @property
    def skews(self) -> list[tuple[float | str, float | pl.Expr]]:
        """Each prior with its skew; that of ``"observed"`` is an expression of the totals."""
        observed = self.column("negatives") / self.column("positives")
        return [
            (OBSERVED, observed) if prior is None else (prior, skew(prior))
            for prior in resolve_priors(self.priors)
        ]


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
    by_default: bool = True  # whether `evaluate` computes it when no measures are named
    default_needs_range: bool = False  # whether it does so only if `over` is a range
    in_summary: bool = False  # whether the terminal shows it
