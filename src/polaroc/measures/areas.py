"""AUC, AUPREC and IAUPREC: what a segment of the ROC curve adds to each area."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import polars as pl

from polaroc import rates
from polaroc.base.checks import pair_of
from polaroc.base.columns import EFFECTIVE, PRIVATE
from polaroc.base.statistics import ROUNDING
from polaroc.curves.segments import Segment, segment
from polaroc.errors import InvalidArgument, check_choice, quoted
from polaroc.measures.spec import Measure, MeasureArguments, MeasureDefinition
from polaroc.priors.beliefs import resolve_belief
from polaroc.typing import Interpolation, Start

# An AUC has a note if it is this many standard errors, those of a random score, below 0.5.
REVERSED = 4
BELOW_CHANCE = "below chance: are the scores reversed?"
INTERPOLATIONS = get_args(Interpolation)
STARTS = get_args(Start)


def auc_area(s: Segment) -> pl.Expr:
    """∫ (1 − f) dt over a segment: Δt times its mean specificity (P-ROC Eq. 2)."""
    return s.dt * (1 - s.f1 + s.df / 2)


def auprec_area(
    s: Segment,
    skew: float | pl.Expr,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    recall: tuple[float, float] | None = None,
) -> pl.Expr:
    """∫ precision dt over a segment, within a range of recall.

    Exact, the ROC is straight between two points: with q = t + λf, which grows from q₀ by Δq, the
    area is (Δt + (t₀ − q₀ Δt/Δq) ln(1 + Δq/q₀)) Δt/Δq; on the first segment q₀ = 0, and the
    logarithm has no weight (D&G §4). Linear between the precisions at both ends it is P-ROC Eq. 4.
    """
    first, last, width = s.t0, s.t1, s.dt
    if recall is not None:
        first, last = s.t0.clip(*recall), s.t1.clip(*recall)
        width = last - first
    if interpolation in ("exact", "hull"):
        called, rise = s.t0 + skew * s.f0, s.dt + skew * s.df
        share = s.dt / rise
        offset = s.t0 - called * share
        if recall is not None:
            called, rise = called + rise * ((first - s.t0) / s.dt), rise * (width / s.dt)
        growth = pl.when(s.is_first).then(0.0).otherwise(rise / called).log1p()
        area = (width + offset * growth) * share
    else:
        end = rates.precision(s.t1, s.f1, skew)
        area = width * end
        if interpolation == "linear":
            at_zero = {"one": pl.lit(1.0), "zero": pl.lit(0.0)}.get(start, end)
            before = rates.precision(s.t0, s.f0, skew)
            begin = pl.when(s.is_first).then(at_zero).otherwise(before)
            middle = 0.5 if recall is None else ((first + last) / 2 - s.t0) / s.dt
            area = width * (begin + (end - begin) * middle)
    return pl.when(s.is_first).then(0.0).otherwise(area) if start == "drop" else area


def auc_measure(column: Callable[[str], pl.Expr] = pl.col) -> Measure:
    """The AUC."""
    area, positives, negatives = map(column, (PRIVATE + "auc", "positives", "negatives"))
    # Sampling weights count as fewer cases: both classes are reduced by the same factor.
    n_neg = column(EFFECTIVE)
    n_pos = positives * n_neg / negatives
    chance = ((n_pos + n_neg + 1) / (12 * n_pos * n_neg)).sqrt()
    return Measure(
        name="auc", estimate=area, sums={PRIVATE + "auc": auc_area(segment(column))},
        warnings=((area < 0.5 - REVERSED * chance, BELOW_CHANCE),),
    )  # fmt: skip


def partial_auc_measure(
    fpr: tuple[float, float] | None, tpr: tuple[float, float] | None, standardise: bool
) -> Measure:
    """The AUC over a range of one of the two rates."""
    if fpr is not None and tpr is not None:
        raise InvalidArgument(
            f"fpr is {fpr!r} and tpr is {tpr!r}, allowed is one of them.",
            hint="leave one of them out.",
        )
    lo, hi = rate_range(fpr if fpr is not None else tpr)
    name, s = PRIVATE + "auc", segment()
    area = pl.col(name)
    below = (hi**2 - lo**2) / 2  # the diagonal, McClish's chance
    if fpr is not None:
        summed, chance = _area_below(s, lo, hi), below
        area = area + hi
    else:
        summed, chance = _area_beside(s, lo, hi), hi - lo - below
    if not standardise:
        return Measure(name="auc", estimate=area, sums={name: summed})
    above = area >= chance * (1 - ROUNDING)
    scaled = (1 + (area - chance) / (hi - lo - chance)) / 2
    return Measure(
        name="auc", estimate=pl.when(above).then(scaled), sums={name: summed},
        warnings=((~above, "below the diagonal, where McClish's scale has no meaning"),),
    )  # fmt: skip


def auprec_measure(
    prior: float | str | pl.Expr,
    skew: float | pl.Expr,
    arguments: MeasureArguments,
    recall: tuple[float, float] | None = None,
) -> Measure:
    """AUPREC at a prior, whose skew is known, within a range of recall."""
    if recall is not None:
        recall = rate_range(recall)
    name = f"{PRIVATE}auprec_{prior}"
    area = auprec_area(arguments.segment, skew, arguments.interpolation, arguments.start, recall)
    return Measure(
        name="auprec", estimate=arguments.column(name), prior=prior, bias_skew=skew,
        nodes=((skew if isinstance(skew, float) else None, 1.0),), arguments=arguments,
        **_summed(name, area, arguments),
    )  # fmt: skip


def iauprec_measure(
    arguments: MeasureArguments, scale: Literal["prior", "skew"] = "prior"
) -> Measure:
    """IAUPREC: the weighted sum of AUPREC at the nodes of a range or belief."""
    belief = resolve_belief(arguments.over, scale)
    area = pl.sum_horizontal(
        weight * auprec_area(arguments.segment, skew, arguments.interpolation, arguments.start)
        for skew, weight in belief.nodes
    )
    # The bias at a prior is at most 1: an extreme skew of small weight must not dominate.
    bias_skew = pl.sum_horizontal(
        weight * pl.min_horizontal(skew, arguments.column(EFFECTIVE))
        for skew, weight in belief.nodes
    )
    name = PRIVATE + "iauprec"
    return Measure(
        name="iauprec", estimate=arguments.column(name), bias_skew=bias_skew,
        over=belief.name, nodes=belief.nodes, arguments=arguments, **_summed(name, area, arguments),
    )  # fmt: skip


def _summed(name: str, area: pl.Expr, arguments: MeasureArguments) -> dict[str, Any]:
    """The sums of a measure that is an area: over the curve or over its hull."""
    check_choice("interpolation", arguments.interpolation, INTERPOLATIONS)
    check_choice("start", arguments.start, STARTS)
    return {"hull_sums" if arguments.interpolation == "hull" else "sums": {name: area}}


def _area_below(s: Segment, lo: float, hi: float) -> pl.Expr:
    """The part of a segment in ∫ t df over a range of f, less `hi`.

    The level runs between segments are no segments; their areas are in t₀ f₀ − t₁ f₁, which
    telescopes to −hi.
    """
    first, last = s.f0.clip(lo, hi), s.f1.clip(lo, hi)
    height = 2 * s.t0 + (first + last - 2 * s.f0) * s.dt / s.df
    inner = pl.when((last > first) & (s.df > 0)).then((last - first) * height / 2).otherwise(0.0)
    return inner + s.t0 * first - s.t1 * last


def _area_beside(s: Segment, lo: float, hi: float) -> pl.Expr:
    """The part of a segment in ∫ (1 − f) dt over a range of t."""
    first, last = s.t0.clip(lo, hi), s.t1.clip(lo, hi)
    width = 2 * s.f0 + (first + last - 2 * s.t0) * s.df / s.dt
    return (last - first) * (1 - width / 2)


def rate_range(values: object) -> tuple[float, float]:
    """Two rates lo < hi; raise for anything else."""
    pair = pair_of(values)
    if pair is None or not 0 <= pair[0] < pair[1] <= 1:
        raise InvalidArgument(
            f"the range is {quoted([values])}, allowed are two rates with 0 ≤ lo < hi ≤ 1.",
            hint="for example (0, 0.1).",
        )
    return float(pair[0]), float(pair[1])


AUC = MeasureDefinition(
    name="auc",
    label="AUC",
    description="area under the ROC curve: the chance that a positive outranks a negative "
    "(P-ROC Eq. 2)",
    build=lambda arguments: [auc_measure(arguments.column)],
    in_summary=True,
)
AUPREC = MeasureDefinition(
    name="auprec",
    label="AUPREC",
    description="area under the precision-recall curve at each prior (P-ROC Eq. 4; D&G §4)",
    build=lambda arguments: [auprec_measure(*at, arguments) for at in arguments.skews],
    at_priors=True,
    in_summary=True,
)
IAUPREC = MeasureDefinition(
    name="iauprec",
    label="IAUPREC",
    description="AUPREC averaged over a range of priors, or under a belief (P-ROC Eq. 5)",
    build=lambda arguments: [iauprec_measure(arguments)],
    over="belief",
    mean_of="auprec",
    in_summary=True,
)
