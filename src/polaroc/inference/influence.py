"""Influence of single cases on measures, from which standard errors follow.

The influence of a case is how much the measure would change, per unit of weight and times the
number of its class, if the case weighed a little more (the infinitesimal jackknife). Cases of one
class with one score have it in common, so the segments of a curve are enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.statistics import equal_units
from polaroc.curves.kernel import segments_of_codes
from polaroc.curves.segments import SEGMENT_RATES
from polaroc.inference.gradients import (
    area_gradient,
    auc_gradient,
    auc_range_gradient,
    point_gradient,
)
from polaroc.inference.segment_arrays import CasePlaces, Gradient, Segments
from polaroc.measures.scoring import CaseLoss, case_loss
from polaroc.measures.sensitivity import balanced_point
from polaroc.measures.spec import Measure
from polaroc.measures.table import expressions_of
from polaroc.predictions.row_checks import SCORE
from polaroc.priors.grids import skew
from polaroc.typing import Array


@dataclass(frozen=True)
class GradientTerm:
    """A quantity of the curve that a measure is a smooth function of, with a unique name.

    `gradient` is that of the quantity; `slope` is the derivative of the measure with respect to
    it, from the columns of the measure's estimate.
    """

    name: str
    gradient: Callable[[Segments], Gradient]
    slope: pl.Expr | float = 1.0


class CaseInfluence(NamedTuple):
    """Estimates of measures, and the influence of each case on them.

    Its mean is zero in each class, except for what the observed prior changes: with more positives
    scores are taken to be right at a higher one.
    """

    estimates: Array  # one per measure
    # By measure and case, the cases of each class in the order given.
    positives: Array
    negatives: Array


class SegmentInfluence(NamedTuple):
    """The influence of cases on a measure, whose mean is zero in each class of a key."""

    pos: Array  # of the positives of each segment
    neg: Array  # of its negatives
    level: Array  # of the negatives on the run before it
    rest: Array  # of the negatives below all positives of each key

    def mean_squares(self, segments: Segments) -> tuple[Array, Array]:
        """The mean square of the influence of positives and of negatives, per key."""
        squares = segments.level * self.level**2
        if segments.has_ties:
            squares += segments.neg * self.neg**2
        of_neg = segments.total(squares) + segments.rest * self.rest**2
        of_pos = segments.total(segments.pos * self.pos**2)
        return of_pos / segments.positives, of_neg / segments.negatives

    def by_place(self, places: CasePlaces, keys: Array | None = None) -> tuple[Array, Array]:
        """The influence of positives and negatives by place; `keys` are those with segments."""
        of_pos, of_neg = np.zeros((2, places.size))
        of_pos[places.runs + 1], of_neg[places.runs + 1] = self.pos, self.neg
        of_neg[places.runs] = self.level
        of_neg[places.rests if keys is None else places.rests[keys]] = self.rest
        return of_pos, of_neg


def influence_of_cases(
    score: Array, truth: Array, measures: Sequence[Measure], weight: Array | None = None
) -> CaseInfluence:
    """The influence of the cases of one test set on each measure.

    Estimates and influences are NaN where a class has no case. Weights are above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.measures.areas import auc_measure
    >>> score, truth = np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False])
    >>> influence_of_cases(score, truth, [auc_measure()])
    CaseInfluence(estimates=array([0.75]), positives=array([[ 0.25, -0.25]]), ...
    """
    truth = truth.astype(bool)
    positives = int(np.count_nonzero(truth))
    sizes = (positives, truth.size - positives)
    estimates = np.full(len(measures), np.nan)
    influence = CaseInfluence(
        estimates, *(np.full((len(measures), size), np.nan) for size in sizes)
    )
    if not all(sizes):
        return influence
    areas = [i for i, measure in enumerate(measures) if measure.is_area]
    if areas:
        segments, places = _segments_of_cases(score, truth, weight)
        of_pos, of_neg = places.place[truth], places.place[~truth]
        on_areas = influence_on_segments(segments, [measures[i] for i in areas])
        for i, (estimate, on_segments) in zip(areas, on_areas, strict=True):
            estimates[i] = estimate[0]
            on_pos, on_neg = on_segments.by_place(places)
            influence.positives[i], influence.negatives[i] = on_pos[of_pos], on_neg[of_neg]
    # Losses on the hull are no means of losses of single cases.
    losses = [(i, loss) for i, one in enumerate(measures) if (loss := case_loss(one)) is not None]
    if losses:
        counted = np.ones(truth.size) if weight is None else weight
        pos, neg = (np.where(in_class, counted, 0.0) for in_class in (truth, ~truth))
        cases = {SCORE: score.astype(float), "pos": pos, "neg": neg}
        cases |= {
            name: np.full(truth.size, count.sum())
            for name, count in (("positives", pos), ("negatives", neg))
        }
        sums = sums_by_key(cases, np.zeros(1, np.int64), [measures[i] for i, _ in losses])
        sums |= {name: cases[name][:1] for name in ("positives", "negatives")}
        for i, loss in losses:
            estimates[i] = values(measures[i].estimate, sums)[0]
            influence.positives[i], influence.negatives[i] = _influence_on_loss(
                loss, cases, truth, counted
            )
    return influence


def _influence_on_loss(
    loss: CaseLoss, cases: Mapping[str, Array], truth: Array, weight: Array
) -> list[Array]:
    """The influence of the positives and of the negatives on a mean of losses."""
    influences = []
    with np.errstate(all="ignore"):
        scale, slope = values(loss.scale, cases), 0.0
        if loss.by_score_prior is not None:
            slope = float(np.nan_to_num(scale * values(loss.by_score_prior, cases)).sum())
        for among, of_case, by_prior in (
            (truth, loss.positive, slope), (~truth, loss.negative, -slope)
        ):  # fmt: skip
            case_losses = (scale * values(of_case, cases))[among]
            mean = np.average(case_losses, weights=weight[among])
            # The influence on an infinite mean is undefined.
            influences.append(case_losses - (mean if np.isfinite(mean) else np.nan) + by_prior)
    return influences


def influence_on_cost(
    score: Array,
    truth: Array,
    threshold: float | None,
    missed: float,
    alarm: float,
    weight: Array | None = None,
) -> CaseInfluence:
    """The influence of the cases on a cost at a threshold, None to call no case positive.

    The cost is `missed` × (1 − t) + `alarm` × f, of the true and false positive rates t and f.

    Examples
    --------
    >>> import numpy as np
    >>> score, truth = np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False])
    >>> influence_on_cost(score, truth, 0.5, 2, 0.5).positives.tolist()
    [[-1.0, 1.0]]
    """
    called = np.zeros(len(score)) if threshold is None else np.asarray(score >= threshold, float)
    cost, influences = missed, []
    for in_class, slope in ((truth, -missed), (~truth, alarm)):
        weights = None if weight is None else weight[in_class]
        mean = float(np.average(called[in_class], weights=weights)) if in_class.any() else np.nan
        cost += slope * mean
        influences.append(slope * (called[in_class] - mean)[None])
    return CaseInfluence(np.array([cost]), *influences)


def influence_on_segments(
    segments: Segments, measures: Sequence[Measure], sums: Mapping[str, Array] | None = None
) -> Iterator[tuple[Array, SegmentInfluence]]:
    """The estimates of areas and points of curves, and the influence of the cases of segments.

    `sums` are the columns of estimates and slopes, where they are known.
    """
    terms_by_measure = [gradient_terms(measure) for measure in measures]
    distinct = {term.name: term for terms in terms_by_measure for term in terms}
    influences: dict[str, SegmentInfluence] = {}
    areas: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for name, term in distinct.items():
            gradient = term.gradient(segments)
            influences[name] = _centred(segments, gradient)
            if gradient.area is not None:
                areas[name] = segments.total(gradient.area)
        if sums is None:
            sums = _sums(segments, measures, areas)
        for measure, terms in zip(measures, terms_by_measure, strict=True):
            slopes = [values(term.slope, sums) for term in terms]
            combined = _combined(segments, [influences[term.name] for term in terms], slopes)
            yield values(measure.estimate, sums), combined


def gradient_terms(measure: Measure) -> tuple[GradientTerm, ...]:
    """The quantities that the standard error of a measure follows from; none where it has none."""
    arguments = measure.arguments
    if measure.name == "auc":
        (name,) = measure.sums
        return (GradientTerm(name, auc_gradient),)
    if measure.name == "equal_error":
        return (_point(0.5, 1.0),)
    if arguments is None or not measure.is_area:
        return ()
    if measure.name in ("auprec", "iauprec"):
        if arguments.start != "limit":
            return ()
        (name,) = measure.sums
        gradient = partial(
            area_gradient, nodes=measure.nodes, interpolation=arguments.interpolation
        )
        return (GradientTerm(name, gradient),)
    lo, hi = arguments.over
    gradient = partial(auc_range_gradient, over=arguments.over)
    if measure.name == "auc_range":
        return (GradientTerm("auc_range", gradient),)
    # Sens is √((fall² + run²)/2) between the balanced points at both ends, where t = 1 − λf: its
    # derivative by the f of an end is ±(run + λ fall)/(2 Sens).
    scale, terms = 1 / measure.estimate, []
    if measure.name != "sens":
        # AccSens is √(((1 − area)² + Sens²)/2).
        scale = scale / 2
        (missed,) = map(pl.col, measure.sums)
        terms.append(GradientTerm("auc_range", gradient, -scale * missed / (hi - lo)))
    low, high = map(balanced_point, arguments.over)
    fall, run = low.t - high.t, high.f - low.f
    for prior, sign in ((lo, -1), (hi, 1)):
        terms.append(_point(prior, scale * sign * (run + skew(prior) * fall) / 2))
    return tuple(terms)


def _point(prior: float, slope: pl.Expr | float) -> GradientTerm:
    return GradientTerm(f"point_{prior!r}", partial(point_gradient, prior=prior), slope)


def _centred(segments: Segments, gradient: Gradient) -> SegmentInfluence:
    """The influence of the cases of segments, from the gradient, less its mean in each class."""
    # Cases of a segment move the start of all segments below it, whose gradients add up to minus
    # those of the segments down to this one, but for a constant of the key.
    above = segments.running(gradient.f0)
    on_pos = gradient.dt - segments.running(gradient.t0)
    on_neg = on_level = gradient.f0 - above
    on_rest = -above[segments.starts[1:] - 1]
    mean_pos = segments.total(segments.pos * on_pos) / segments.positives
    sums = segments.level * on_level
    if segments.has_ties:
        on_neg = gradient.df - above
        sums += segments.neg * on_neg
    mean_neg = (segments.total(sums) + segments.rest * on_rest) / segments.negatives
    on_pos -= segments.each(mean_pos)
    centre = segments.each(mean_neg)
    on_level -= centre
    if segments.has_ties:
        on_neg -= centre
    return SegmentInfluence(on_pos, on_neg, on_level, on_rest - mean_neg)


def _combined(
    segments: Segments, influences: Sequence[SegmentInfluence], slopes: Sequence[Array]
) -> SegmentInfluence:
    """The influence on a function of quantities, from that on each and its slope by it."""
    if len(slopes) == 1 and (slopes[0] == 1).all():
        return influences[0]
    pos, neg, level = np.zeros((3, len(segments.pos)))
    rest = np.zeros(len(segments.positives))
    for influence, slope in zip(influences, slopes, strict=True):
        factor = segments.each(slope)
        for total, part in zip((pos, neg, level), influence[:3], strict=True):
            total += factor * part
        rest += slope * influence.rest
    return SegmentInfluence(pos, neg, level, rest)


def _sums(
    segments: Segments, measures: Sequence[Measure], areas: dict[str, Array]
) -> dict[str, Array]:
    """The columns of estimates and slopes: areas are known from gradients."""
    totals = {"positives": segments.positives, "negatives": segments.negatives}
    summed = [one for one in measures if one.least or one.sums.keys() - areas.keys()]
    if not summed:
        return totals | areas
    rows = {name: getattr(segments, name) for name in ("pos", "neg", "tp", "fp")}
    rows |= {name: segments.each(total) for name, total in totals.items()}
    rates = (segments.t0, segments.f0, segments.t1, segments.f1, segments.dt, segments.df)
    rows |= zip(SEGMENT_RATES, rates, strict=True)
    return sums_by_key(rows, segments.starts[:-1], summed) | totals | areas


def _segments_of_cases(
    score: Array, truth: Array, weight: Array | None
) -> tuple[Segments, CasePlaces]:
    """The segments of the cases of one key, and the places of the cases in their order."""
    order = np.argsort(score)[::-1]
    ranked = score[order]
    rank = np.cumsum(np.append(False, ranked[1:] != ranked[:-1]))
    # Negatives come before positives of the same score.
    codes = (2 * rank + truth[order]).astype(np.uint64)
    within = np.argsort(codes, kind="stable")
    order, codes = order[within], codes[within]
    edges = np.array([0, len(codes)])
    weights = None if weight is None else weight[order]
    counts, totals, spans, starts = segments_of_codes(codes, edges, weights, merged=True)
    units = totals
    if weight is not None:
        units = (
            np.array([equal_units(weight[truth])]), np.array([equal_units(weight[~truth])])
        )  # fmt: skip
    segments = Segments(
        **counts, positives=totals[0], negatives=totals[1], starts=starts, units=units
    )
    places = CasePlaces.of(spans, starts, edges)
    place = np.empty_like(places.place)
    place[order] = places.place
    return segments.select(np.zeros(1, int)), places._replace(place=place)


def values(expression: pl.Expr | float, columns: Mapping[str, Array]) -> Array:
    """The values of an expression of these columns."""
    if not isinstance(expression, pl.Expr):
        return np.full(len(next(iter(columns.values()))), float(expression))
    series = pl.DataFrame(columns).select(expression.cast(pl.Float64)).to_series()
    return series.fill_null(np.nan).to_numpy()


def sums_by_key(
    columns: Mapping[str, Array], firsts: Array, measures: Sequence[Measure]
) -> dict[str, Array]:
    """The sums and minima of measures by key, each of which has a row, the first at `firsts`."""
    sums, scores, least = expressions_of(measures, "sums", "score_sums", "least")
    rows = pl.DataFrame(columns).select(**sums, **scores, **least)
    return {
        name: (np.fmin if name in least else np.add).reduceat(
            rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy(), firsts
        )
        for name in rows.columns
    }
