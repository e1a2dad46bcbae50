"""AUC, AUPREC and IAUPREC as sums over the segments of a curve."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

import numpy as np

from polaroc import rates
from polaroc.base.backend import POLARS, Backend
from polaroc.base.checks import pair_of, shortened
from polaroc.base.columns import EFFECTIVE
from polaroc.base.private_columns import PRIVATE
from polaroc.base.statistics import ROUNDING
from polaroc.curves.segments import segments_in
from polaroc.errors import InvalidArgument, check_choice
from polaroc.measures.gradients import area_gradient, auc_gradient
from polaroc.measures.spec import Measure, MeasureDefinition, at_priors, total
from polaroc.priors.beliefs import Belief, over_label, resolve_belief
from polaroc.priors.chebyshev import condensed, shared_nodes
from polaroc.typing import Array, Interpolation, Priors, Quantity, Start

# Standard errors, those of a random score, below 0.5 from which an AUC has a note.
REVERSED = 4
BELOW_CHANCE = "below chance: are the scores reversed?"
INTERPOLATIONS = get_args(Interpolation)
# Straight in ROC space: collinear segments may be merged.
STRAIGHT_IN_ROC = ("exact", "hull")
STARTS = get_args(Start)


def auc_measure(
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    standardise: bool = False,
    backend: Backend = POLARS,
) -> Measure:
    """The AUC as a sum over segments: Δt times the mean specificity of the segment."""
    if fpr is not None or tpr is not None:
        return partial_auc(fpr, tpr, standardise, backend)
    positives, negatives = backend.column("positives"), backend.column("negatives")
    chance = ((positives + negatives + 1) / (12 * positives * negatives)) ** 0.5
    # What the segment that ends at a cell adds: ∫ (1 − f) dt.
    _, (_, f1), (dt, df) = segments_in(backend).segment
    area = total("auc", dt * (1 - f1 + df / 2), backend, gradient=auc_gradient)
    is_reversed = area.estimate < 0.5 - REVERSED * chance

    def perfect(tail: float, positives: "Array", negatives: "Array", _: float | None) -> "Array":
        # With this AUC, that many independent pairs are all ranked right with probability `tail`.
        least: Array = tail ** (1 / np.minimum(positives, negatives))
        return least

    return replace(area, warnings=((is_reversed, BELOW_CHANCE),), perfect_lower_limit=perfect)


def auprec_measures(
    priors: Priors,
    interpolation: Interpolation,
    start: Start,
    recall: tuple[float, float] | None = None,
    backend: Backend = POLARS,
    label: str = "auprec",
) -> list[Measure]:
    """AUPREC at each prior; a `label` of its own lets a list be summed in one pass with others."""
    _check_choices(interpolation, start)
    if recall is not None:
        recall = rate_range(recall)
    smooth = start == "limit" and interpolation != "hull" and recall is None
    straight = interpolation in STRAIGHT_IN_ROC
    measures = []
    for i, (skewed, prior, many) in enumerate(at_priors(priors, backend)):
        # That of each key's own prior is no number.
        node = skewed if isinstance(skewed, float) else None
        columns, hold = _held(f"{label}_{i}", backend)
        area = segment_area(skewed, interpolation, start, recall, backend, hold)
        gradient = (
            partial(area_gradient, nodes=[(node, 1.0)], interpolation=interpolation)
            if smooth
            else None
        )
        summed = total(
            "auprec", area, backend, label=f"{label}_{i}", prior=prior, bias_skew=skewed,
            gradient=gradient,
        )  # fmt: skip
        perfect = partial(_perfect_area, own=node if many is None else None)
        measures.append(
            replace(
                summed, columns=columns, perfect_lower_limit=perfect, mergeable_segments=straight,
                many=many,
            )
        )  # fmt: skip
    return measures


def iauprec_measure(
    over: tuple[float, float] | Belief,
    interpolation: Interpolation,
    start: Start,
    scale: Literal["prior", "skew"] = "prior",
    backend: Backend = POLARS,
) -> Measure:
    """IAUPREC as the weighted sum of AUPREC at the nodes of a belief."""
    _check_choices(interpolation, start)
    belief = resolve_belief(over, scale)
    nodes = list(zip(*condensed(belief.skews, belief.weights), strict=True))
    area = backend.total(
        weight * segment_area(skewed, interpolation, start, backend=backend)
        for skewed, weight in nodes
    )
    # The bias at a prior is at most 1: an extreme skew of small weight must not dominate.
    negatives = backend.column(EFFECTIVE)
    bias_skew = backend.total(
        weight * backend.minimum(skewed, negatives)
        for skewed, weight in zip(belief.skews, belief.weights, strict=True)
    )
    smooth = start == "limit" and interpolation != "hull"
    gradient = partial(area_gradient, nodes=nodes, interpolation=interpolation) if smooth else None

    def perfect(tail: float, positives: "Array", negatives: "Array", _: float | None) -> "Array":
        least = np.zeros(len(positives))
        for skewed, weight in nodes:
            least += weight * _perfect_area(tail, positives, negatives, skewed)
        return least

    averaged = total("iauprec", area, backend, bias_skew=bias_skew, gradient=gradient)
    return replace(
        averaged,
        perfect_lower_limit=perfect,
        mergeable_segments=interpolation in STRAIGHT_IN_ROC,
        over=over_label(over, scale),
    )


def with_shared_nodes(
    averaged: Measure,
    over: tuple[float, float] | Belief,
    beside: Sequence[Measure],
    interpolation: Interpolation,
    backend: Backend,
) -> Measure:
    """IAUPREC from the sums of AUPREC `beside` it, and of as few further nodes as it needs."""
    belief = resolve_belief(over)
    sums = {
        measure.bias_skew: name
        for measure in beside
        for name in measure.sums
        if isinstance(measure.bias_skew, float)
    }
    shared = shared_nodes(belief.skews, belief.weights, tuple(sums))
    terms = [
        (weight, backend.column(name))
        for weight, name in zip(shared.given, sums.values(), strict=True)
        if weight
    ]
    own: dict[str, Quantity] = {}
    columns: dict[str, Quantity] = {}
    for i, (skewed, weight) in enumerate(zip(shared.skews, shared.weights, strict=True)):
        held, hold = _held(f"iauprec_{i}", backend)
        name = f"{PRIVATE}iauprec_{i}"
        own[name] = segment_area(skewed, interpolation, "limit", backend=backend, hold=hold)
        columns |= held
        terms.append((weight, backend.column(name)))
    estimate = backend.total(weight * term for weight, term in terms)
    of_others = {name: value for one in beside for name, value in one.sums.items()}
    columns |= {name: value for one in beside for name, value in one.columns.items()}
    return replace(averaged, estimate=estimate, sums=of_others | own, columns=columns)


def _held(
    label: str, backend: Backend
) -> tuple[dict[str, Quantity], Callable[[str, Quantity], Quantity]]:
    """Columns of intermediate values, and the function that adds one and gives its column."""
    columns: dict[str, Quantity] = {}

    def hold(name: str, value: Quantity) -> Quantity:
        if not backend.repeats_as_columns:
            return value
        columns[f"{PRIVATE}{name}_{label}"] = value
        return backend.column(f"{PRIVATE}{name}_{label}")

    return columns, hold


def _perfect_area(
    tail: float,
    positives: "Array",
    negatives: "Array",
    skewed: float | None,
    own: float | None = None,
) -> "Array":
    """∫ t/(t + λf) dt up to t, with the least t and the greatest f that a perfect sample allows.

    All positives, or all negatives, are then on the right side with probability `tail`/2.
    λ is that given, its `own`, or that of the numbers of cases.
    """
    known = own if skewed is None else skewed
    t = (tail / 2) ** (1 / positives)
    f = 1 - (tail / 2) ** (1 / negatives)
    weighted_f = (negatives / positives if known is None else known) * f
    area: Array = t - weighted_f * np.log1p(t / weighted_f)
    return area


def segment_area(
    skewed: Quantity,
    interpolation: Interpolation,
    start: Start,
    recall: tuple[float, float] | None = None,
    backend: Backend = POLARS,
    hold: Callable[[str, Quantity], Quantity] = lambda _, value: value,
) -> Quantity:
    """∫ precision dt over the segment that ends at a row of the curve, within a range of t.

    `hold` gives the column that holds an intermediate value, or the value itself.
    """
    cells = segments_in(backend)
    (t0, f0), (t1, f1), (dt, df) = cells.segment
    first, last, width = t0, t1, dt
    if recall is not None:
        first, last = backend.clip(t0, *recall), backend.clip(t1, *recall)
        width = last - first
    end = rates.precision(t1, f1, skewed)
    if interpolation == "step":
        area = width * end
    elif interpolation == "linear":
        at_zero = {"one": 1.0, "zero": 0.0}.get(start, end)
        begin = backend.where(cells.is_first, at_zero, rates.precision(t0, f0, skewed))
        middle = 0.5 if recall is None else ((first + last) / 2 - t0) / dt
        area = width * (begin + (end - begin) * middle)
    else:
        called, rise = t0 + skewed * f0, dt + skewed * df
        share = hold("share", backend.quotient(dt, rise))
        offset = t0 - called * share
        if recall is not None:
            called, rise = called + rise * ((first - t0) / dt), rise * (width / dt)
        ratio = backend.where(cells.is_first, 0.0, backend.quotient(rise, called))
        area = (width + offset * backend.log1p(hold("ratio", ratio))) * share
    return backend.where(cells.is_first, 0.0, area) if start == "drop" else area


def _check_choices(interpolation: str, start: str) -> None:
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("start", start, STARTS)


def partial_auc(
    fpr: tuple[float, float] | None,
    tpr: tuple[float, float] | None,
    standardise: bool,
    backend: Backend,
) -> Measure:
    """The AUC over a range of one of the two rates."""
    if fpr is not None and tpr is not None:
        raise InvalidArgument(
            f"fpr is {fpr!r} and tpr is {tpr!r}, allowed is one of them.",
            hint="leave one of them out.",
        )
    lo, hi = rate_range(fpr if fpr is not None else tpr)
    area = (_below if fpr is not None else _beside)(lo, hi, backend)
    if not standardise:
        return area
    # On the diagonal the area below is (hi² − lo²)/2, that beside it the rest.
    below = (hi**2 - lo**2) / 2
    chance, perfect = (below if fpr is not None else hi - lo - below), hi - lo
    above = area.estimate >= chance * (1 - ROUNDING)
    scaled = (1 + (area.estimate - chance) / (perfect - chance)) / 2
    warning = ~above, "below the diagonal, where McClish's scale has no meaning"
    estimate = backend.where(above, scaled)
    return replace(area, estimate=estimate, warnings=(warning,))


def _below(lo: float, hi: float, backend: Backend) -> Measure:
    """∫ t df over a range of f."""
    (t0, f0), (t1, f1), (dt, df) = segments_in(backend).segment
    first, last = backend.clip(f0, lo, hi), backend.clip(f1, lo, hi)
    height = 2 * t0 + (first + last - 2 * f0) * dt / df
    # Equal rates may differ in the last digit after clipping; df is computed from counts.
    moves = (last > first) & (df > 0)
    inner = backend.where(moves, (last - first) * height / 2, 0.0)
    # Level runs of negatives lie between the segments: their area telescopes.
    summed = inner + t0 * first - t1 * last
    area = total("auc", summed, backend, label=f"auc_below_{lo}_{hi}")
    return replace(area, estimate=area.estimate + hi)


def _beside(lo: float, hi: float, backend: Backend) -> Measure:
    """∫ (1 − f) dt over a range of t."""
    (t0, f0), (t1, _), (dt, df) = segments_in(backend).segment
    first, last = backend.clip(t0, lo, hi), backend.clip(t1, lo, hi)
    width = 2 * f0 + (first + last - 2 * t0) * df / dt
    summed = (last - first) * (1 - width / 2)
    return total("auc", summed, backend, label=f"auc_beside_{lo}_{hi}")


def rate_range(given: object) -> tuple[float, float]:
    """Two rates lo < hi; raise for anything else."""
    pair = pair_of(given)
    if pair is None or not 0 <= pair[0] < pair[1] <= 1:
        raise InvalidArgument(
            f"the range is {shortened(given)}, allowed are two rates with 0 ≤ lo < hi ≤ 1.",
            hint="for example (0, 0.1).",
        )
    return float(pair[0]), float(pair[1])


AUC = MeasureDefinition(
    name="auc",
    label="AUC",
    description="area under the ROC curve: the chance that a positive outranks a negative "
    "(P-ROC Eq. 2)",
    build=lambda arguments: [auc_measure(backend=arguments.backend)],
    in_summary=True,
)
AUPREC = MeasureDefinition(
    name="auprec",
    label="AUPREC",
    description="area under the precision-recall curve at each prior (P-ROC Eq. 4; D&G §4)",
    build=lambda arguments: auprec_measures(
        arguments.priors, arguments.interpolation, arguments.start, backend=arguments.backend
    ),
    at_priors=True,
    on_hull=True,
    in_summary=True,
)
IAUPREC = MeasureDefinition(
    name="iauprec",
    label="IAUPREC",
    description="AUPREC averaged over a range of priors, or under a belief (P-ROC Eq. 5)",
    build=lambda arguments: [
        iauprec_measure(
            arguments.over, arguments.interpolation, arguments.start, backend=arguments.backend
        )
    ],
    over="belief",
    mean_of="auprec",
    on_hull=True,
    in_summary=True,
)
