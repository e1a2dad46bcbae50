"""Influence of single cases on measures, from which standard errors follow.

The influence of a case is how much the measure would change, per unit of weight
and times the number of its class, if the case weighed a little more (the
infinitesimal jackknife). Cases of one class with one score have it in common,
so the segments of a curve are enough.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from polaroc.base.statistics import equal_units
from polaroc.curves.segments import RATES
from polaroc.inference.moved_segments import Gradient, Segments
from polaroc.inference.terms import gradient_terms, sums_of_cells, values
from polaroc.measures.scoring import CaseLoss, case_loss
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE
from polaroc.thresholds.named_rates import OfRates, with_slopes
from polaroc.typing import Array


class CaseInfluence(NamedTuple):
    """Estimates of measures, and the influence of each case on them.

    Its mean is zero in each class, but for what the observed prior moves: with more positives
    scores are taken to be right at a higher one.
    """

    estimates: "Array"  # one per measure
    # By measure and case, the cases of each class in the order given.
    positives: "Array"
    negatives: "Array"


class SegmentInfluence(NamedTuple):
    """The influence of cases on a measure, whose mean is zero in each class of a key."""

    # Positives and negatives of each segment, and negatives on the level run before it.
    pos: "Array"
    neg: "Array"
    level: "Array"
    rest: "Array"  # of the negatives below all positives, of each key

    def mean_squares(self, segments: Segments) -> "tuple[Array, Array]":
        """The mean square of the influence of positives and of negatives, of each key."""
        among = segments.level * self.level**2
        if segments.tied:
            among += segments.neg * self.neg**2
        of_neg = segments.total(among) + segments.rest * self.rest**2
        of_pos = segments.total(segments.pos * self.pos**2)
        return of_pos / segments.positives, of_neg / segments.negatives


def influence_of_cases(
    score: "Array",
    truth: "Array",
    measures: Sequence[Measure],
    weight: "Array | None" = None,
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
    negatives = truth.size - positives
    estimates = np.full(len(measures), np.nan)
    moved = tuple(np.full((len(measures), size), np.nan) for size in (positives, negatives))
    if not (positives and negatives):
        return CaseInfluence(estimates, *moved)
    areas = [i for i, measure in enumerate(measures) if measure.is_area]
    if areas:
        order = np.argsort(score)[::-1]
        ranked = truth[order]
        segments, tied, counts = _segments(
            score[order], ranked, None if weight is None else weight[order]
        )
        # The places of cases within their class.
        within = np.where(truth, np.cumsum(truth), np.cumsum(~truth)) - 1
        of_pos, of_neg = (within[order[np.flatnonzero(own)]] for own in (ranked, ~ranked))
        on_areas = influence_on_segments(segments, [measures[i] for i in areas])
        for i, (estimate, own) in zip(areas, on_areas, strict=True):
            estimates[i] = estimate[0]
            moved[0][i, of_pos] = own.pos if tied is None else np.repeat(own.pos, tied)
            moved[1][i, of_neg] = np.repeat(_interleaved(own.level, own.neg, own.rest), counts)
    # What is taken on the hull is known of no single case.
    losses = [(i, loss) for i, one in enumerate(measures) if (loss := case_loss(one)) is not None]
    if losses:
        cells = _single_cases(score, truth, weight)
        sums = sums_of_cells(cells, np.zeros(1, np.int64), [measures[i] for i, _ in losses])
        sums |= {name: cells[name][:1] for name in ("positives", "negatives")}
        for i, loss in losses:
            estimates[i] = values(measures[i].estimate, sums)[0]
            with np.errstate(all="ignore"):
                slope = _by_score_prior(loss, cells)
                for class_counts, among, loss_of_class, by_prior in zip(
                    moved, (truth, ~truth), case_losses(loss, cells), (slope, -slope), strict=True
                ):
                    mean = np.average(
                        loss_of_class[among], weights=None if weight is None else weight[among]
                    )
                    # No case moves an infinite mean by a number.
                    about = mean if np.isfinite(mean) else np.nan
                    class_counts[i] = loss_of_class[among] - about + by_prior
    return CaseInfluence(estimates, *moved)


def called(score: "Array", threshold: float | None) -> "Array":
    """1 for cases that are called positive, else 0; without a threshold none is."""
    if threshold is None:
        return np.zeros(len(score))
    return np.asarray(score >= threshold, float)


def influence_on_rate(
    called: "Array", truth: "Array", rate: OfRates, weight: "Array | None" = None
) -> CaseInfluence:
    """The influence of the cases on a rate of what is called positive.

    Examples
    --------
    >>> import numpy as np
    >>> from polaroc.thresholds.named_rates import rate_at
    >>> calls, truth = np.array([1.0, 1.0, 0.0, 0.0]), np.array([True, False, True, False])
    >>> influence_on_rate(calls, truth, rate_at("expected_cost", 1, cost_fn=4)).positives.tolist()
    [[-1.0, 1.0]]
    """
    means, about = [], []
    for own in (truth, ~truth):
        weights = None if weight is None else weight[own]
        means.append(float(np.average(called[own], weights=weights)) if own.any() else np.nan)
        about.append(called[own] - means[-1])
    value, slopes = with_slopes(rate, *means)
    # A slope is NaN where the rate is not known, as at a prior that is not.
    with np.errstate(invalid="ignore"):
        moved = [slope * own[None] for slope, own in zip(slopes, about, strict=True)]
    return CaseInfluence(np.array([value]), *moved)


def influence_on_segments(
    segments: Segments,
    measures: Sequence[Measure],
    sums: "dict[str, Array] | None" = None,
) -> "Iterator[tuple[Array, SegmentInfluence]]":
    """The estimates of some areas and points of curves, and how cases of segments move them.

    `sums` are the columns that estimates and slopes are written with, where they are known.
    """
    of_measures = [gradient_terms(measure) for measure in measures]
    terms = {term.name: term for own in of_measures for term in own}
    moved: dict[str, SegmentInfluence] = {}
    areas: dict[str, Array] = {}
    with np.errstate(all="ignore"):
        for name, term in terms.items():
            gradient = term.gradient(segments)
            moved[name] = _centred(segments, gradient)
            if gradient.area is not None:
                areas[name] = segments.total(gradient.area)
        if sums is None:
            sums = _sums(segments, measures, areas)
        for measure, own in zip(measures, of_measures, strict=True):
            slopes = [values(term.slope, sums) for term in own]
            influences = [moved[term.name] for term in own]
            yield values(measure.estimate, sums), _combined(segments, influences, slopes)


def _sums(
    segments: Segments, measures: Sequence[Measure], areas: "dict[str, Array]"
) -> "dict[str, Array]":
    """The columns that estimates and slopes are written with: areas are known from gradients."""
    totals = {"positives": segments.positives, "negatives": segments.negatives}
    others = [one for one in measures if one.least or one.sums.keys() - areas.keys()]
    if not others:
        return totals | areas
    cells = {name: getattr(segments, name) for name in ("pos", "neg", "tp", "fp")}
    cells |= {name: segments.each(total) for name, total in totals.items()}
    rates = (segments.t0, segments.f0, segments.t1, segments.f1, segments.dt, segments.df)
    cells |= zip(RATES, rates, strict=True)
    return sums_of_cells(cells, segments.starts, others) | totals | areas


def _combined(
    segments: Segments, moved: Sequence[SegmentInfluence], slopes: "Sequence[Array]"
) -> SegmentInfluence:
    """The influence on a function of quantities, from that on each and its slope by it."""
    if len(slopes) == 1 and (slopes[0] == 1).all():
        return moved[0]
    factors = [segments.each(slope) for slope in slopes]
    pos, level, neg = (np.zeros(len(segments.pos)) for _ in range(3))
    rest = np.zeros(len(segments.starts))
    for one, slope, factor in zip(moved, slopes, factors, strict=True):
        pos += factor * one.pos
        level += factor * one.level
        rest += slope * one.rest
        if segments.tied:
            neg += factor * one.neg
    return SegmentInfluence(pos, neg if segments.tied else level, level, rest)


def _centred(segments: Segments, gradient: Gradient) -> SegmentInfluence:
    """The influence of the cases of segments, from the gradient, less its mean in each class."""
    # Cases of a segment move the start of all segments below it: all of its key less those above.
    above = segments.running(gradient.f0, gradient.at)
    on_pos = gradient.less(gradient.dt, segments.running(gradient.t0, gradient.at))
    on_neg = on_level = gradient.less(gradient.f0, above)
    on_rest = -above[segments.ends]
    mean_pos = segments.total(segments.pos * on_pos) / segments.positives
    among = segments.level * on_level
    if segments.tied:
        on_neg = gradient.less(gradient.df, above)
        among += segments.neg * on_neg
    mean_neg = (segments.total(among) + segments.rest * on_rest) / segments.negatives
    on_pos -= segments.each(mean_pos)
    centre = segments.each(mean_neg)
    on_level -= centre
    if segments.tied:
        on_neg -= centre
    return SegmentInfluence(on_pos, on_neg, on_level, on_rest - mean_neg)


def _segments(
    score: "Array", truth: "Array", weight: "Array | None"
) -> "tuple[Segments, Array | None, Array]":
    """The segments of sorted cases, and how many cases they have.

    Those are the positives of each, None where each has one, and, as `_interleaved`, the negatives.
    """
    size, place = truth.size, np.flatnonzero(truth)
    new = np.append(True, score[1:] != score[:-1])
    if new.all():
        start, end, tied = place, place + 1, None
        tp = np.arange(1, place.size + 1)
    else:
        starts = np.flatnonzero(new)
        cell = np.cumsum(new)[place] - 1
        last = np.flatnonzero(np.append(cell[1:] != cell[:-1], True))
        tp = last + 1
        start, end = (edges[cell[last]] for edges in (starts, np.append(starts[1:], size)))
        tied = np.diff(last, prepend=-1)
    pos = np.diff(tp, prepend=0)
    neg, fp = (end - start) - pos, end - tp
    level, rest = np.diff(fp, prepend=0) - neg, size - place.size - fp[-1]
    counts = _interleaved(level, neg, rest)
    units = None
    if weight is None:
        totals = place.size, size - place.size
        columns = {"pos": pos, "neg": neg, "tp": tp, "fp": fp}
    else:
        # Each class is summed on its own, so that counts of neither are below zero.
        of_pos, of_neg = (
            np.append(0.0, np.cumsum(np.where(own, weight, 0.0))) for own in (truth, ~truth)
        )
        totals = of_pos[-1], of_neg[-1]
        units = (
            np.array([equal_units(weight[truth])]), np.array([equal_units(weight[~truth])])
        )  # fmt: skip
        columns = {"pos": of_pos[end] - of_pos[start], "neg": of_neg[end] - of_neg[start],
                   "tp": of_pos[end], "fp": of_neg[end]}  # fmt: skip
    segments = Segments(
        **{name: own.astype(float) for name, own in columns.items()},
        positives=np.array([totals[0]]), negatives=np.array([totals[1]]),
        starts=np.zeros(1, np.int64), units=units,
    )  # fmt: skip
    return segments, tied, counts


def _interleaved(level: "Array", neg: "Array", rest: "Array | int") -> "Array":
    """The values of negatives of one key, best score first."""
    values: Array = np.append(np.stack([level, neg], axis=1).ravel(), rest)
    return values


def _single_cases(score: "Array", truth: "Array", weight: "Array | None") -> "dict[str, Array]":
    """Cells of one case each, in the columns that losses are written with."""
    counted = np.ones(truth.size) if weight is None else weight
    pos, neg = (np.where(own, counted, 0.0) for own in (truth, ~truth))
    totals = {"positives": pos.sum(), "negatives": neg.sum()}
    return {SCORE: score.astype(float), "pos": pos, "neg": neg} | {
        name: np.full(truth.size, total) for name, total in totals.items()
    }


def case_losses(loss: CaseLoss, cells: "dict[str, Array]") -> "tuple[Array, Array]":
    """How much a positive and a negative of each cell move a mean of losses, about no centre."""
    scale = values(loss.scale, cells)
    return scale * values(loss.positive, cells), scale * values(loss.negative, cells)


def _by_score_prior(loss: CaseLoss, cells: "dict[str, Array]") -> float:
    """The slope of a mean of losses by the log-odds of the observed prior of the scores."""
    if loss.by_score_prior is None:
        return 0.0
    slopes = np.nan_to_num(values(loss.scale, cells) * values(loss.by_score_prior, cells))
    return float(slopes.sum())
