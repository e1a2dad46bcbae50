"""Areas under the ROC and precision-recall curves, at a prior and over a range of priors."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import polars as pl

from polaroc import rates
from polaroc.arithmetic import Columns, clip, least, log1p, root, where
from polaroc.arithmetic import total as sum_of
from polaroc.beliefs import Belief, resolve_belief
from polaroc.cells import HELD, Segments, held
from polaroc.columns import curve_keys, lazily
from polaroc.errors import InvalidArgument, check_choice
from polaroc.gradients import area_gradient, auc_gradient
from polaroc.hulls import hull
from polaroc.measures import Measure, per_key, tidy, total
from polaroc.priors import is_number, resolve_priors, skew
from polaroc.typing import Interpolation, Priors, Quantity, Start

# Standard errors below one half, of a score that says nothing, that are worth a note.
REVERSED = 4
ROUNDING = 1e-12
INTERPOLATIONS = ("exact", "linear", "step", "hull")
STARTS = ("limit", "one", "zero", "drop")
UNRANKED = "null, NaN or unclear values among the predictions"


@lazily
def auc(
    curve: pl.LazyFrame,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    standardise: bool = False,
) -> pl.LazyFrame:
    """Area under the ROC curve, per key: the chance that a positive outranks a negative.

    Ties count one half: the trapezoid over tie-collapsed cells (P-ROC Eq. 2) is
    the midrank U statistic divided by the number of pairs.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    fpr, tpr
        A range (lo, hi) with 0 ≤ lo < hi ≤ 1 of one of the two rates: the area
        ∫ t df below the curve over that range of false positive rates, or
        ∫ (1 − f) dt beside it over that range of true positive rates.
    standardise
        Whether the area over a range is rescaled after McClish (1989), so that
        it is 0.5 on the chance diagonal and 1 for a perfect score.

    Returns
    -------
    Frame of the kind given
        Tidy measures, one row per key: the keys; `measure` String ("auc");
        `prior` Float64 (null); `estimate` Float64 from 0 to 1 (over a range
        that is not standardised, to hi − lo), null without positives, without
        negatives, or where a standardised area is below the diagonal;
        `positives`, `negatives`; `note` String, null, why the estimate is null,
        or that scores seem to be reversed.

    Raises
    ------
    InvalidTable, InvalidArgument
        Where the columns of a curve are missing; for a range outside what is
        allowed, or both at once.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(curves.pipe(pr.auc)["estimate"].item(), 12)
    0.68
    """
    return of_curve(curve, [auc_measure(fpr, tpr, standardise)])


@lazily
def auprec(
    curve: pl.LazyFrame,
    priors: Priors = "observed",
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    recall: tuple[float, float] | None = None,
) -> pl.LazyFrame:
    """Area under the precision-recall curve at each prior, per key: AUPREC(π) = ∫ precision dt.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or
        a prior grid.
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §3); ``"linear"``, straight
        in precision-recall space (P-ROC Eq. 4); ``"step"``, average precision;
        ``"hull"``, exact on the convex hull of the ROC, the achievable curve.
    start
        Precision at recall 0: the ``"limit"`` along the first segment,
        ``"one"``, ``"zero"``; or ``"drop"``, which leaves the first segment
        out. The first three differ under linear interpolation only.
    recall
        A range (lo, hi) of recalls with 0 ≤ lo < hi ≤ 1 to integrate over; the
        area is then at most hi − lo.

    Returns
    -------
    Frame of the kind given
        Tidy measures, one row per key and prior: the keys; `measure` String
        ("auprec"); `prior` Float64; `estimate` Float64 from 0 to 1, null
        without positives or without negatives; `positives`, `negatives`;
        `note` String, null, why the estimate is null, or by how much too few
        negatives bias it (λ/N above 0.02).

    Raises
    ------
    InvalidArgument, InvalidTable
        For a prior outside (0, 1) or an unknown choice; where the columns of a
        curve are missing.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> area = curves.pipe(pr.auprec, "observed", interpolation="linear", start="drop")
    >>> round(area["estimate"].item(), 6)
    0.619124
    """
    measures = auprec_measures(priors, interpolation, start, recall)
    if not measures:
        raise InvalidArgument("priors has no prior.", hint="for example priors=[0.5, 0.1].")
    return of_curve(_interpolated(curve, interpolation), measures)


@lazily
def iauprec(
    curve: pl.LazyFrame,
    over: tuple[float, float] | Belief,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    measure: Literal["prior", "skew"] = "prior",
) -> pl.LazyFrame:
    """AUPREC averaged over a range of priors or a belief about the prior, per key.

    Over a range it is IAUPREC(lo, hi) = 1/(hi − lo) ∫ AUPREC(π) dπ, P-ROC Eq. 5
    normalised as in its experiments; under a belief, the expected AUPREC.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    over
        Priors (lo, hi) with 0 < lo < hi < 1, or a belief: `uniform`, `beta`,
        `points`.
    interpolation, start
        As in `auprec`.
    measure
        Whether a range is flat in the ``"prior"`` or in the ``"skew"``.

    Returns
    -------
    Frame of the kind given
        Tidy measures, one row per key, as in `auprec`; `measure` is "iauprec",
        `prior` is null. The quadrature error is below 1e-9.

    Raises
    ------
    InvalidArgument, InvalidTable
        As in `auprec`.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(curves.pipe(pr.iauprec, over=(0.05, 0.20))["estimate"].item(), 4)
    0.3...
    """
    averaged = iauprec_measure(over, interpolation, start, measure)
    return of_curve(_interpolated(curve, interpolation), [averaged])


def segment_auc(cells: Segments = HELD) -> Quantity:
    """What the segment that ends at a cell adds to the AUC: ∫ (1 − f) dt."""
    _, (_, f1), (dt, df) = cells.segment
    return dt * (1 - f1 + df / 2)


def auc_measure(
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    standardise: bool = False,
    column: Columns = pl.col,
) -> Measure:
    """The AUC as a sum over segments: Δt times the mean specificity of the segment."""
    if fpr is not None or tpr is not None:
        return _partial_auc(fpr, tpr, standardise, column)
    positives, negatives = column("positives"), column("negatives")
    chance = root((positives + negatives + 1) / (12 * positives * negatives))
    area = total("auc", segment_auc(held(column)), column, gradient=auc_gradient)
    reversed_ = area.estimate < 0.5 - REVERSED * chance
    warning = reversed_, "below chance: are the scores reversed?"
    return replace(area, warning=warning, perfect=_perfect_auc)


def _perfect_auc(tail: float) -> pl.Expr:
    """The AUC at which a perfect score has the chance `tail`, had it only disjoint pairs to win."""
    return pl.lit(tail) ** (1 / pl.min_horizontal("positives", "negatives"))


def _perfect_area(tail: float, skewed: Quantity) -> pl.Expr:
    """∫ t/(t + λf) dt up to the rates that all cases keep to by a chance of half `tail` each."""
    t = pl.lit(tail / 2) ** (1 / pl.col("positives"))
    bend = skewed * (1 - pl.lit(tail / 2) ** (1 / pl.col("negatives")))
    area: pl.Expr = t - bend * log1p(t / bend)
    return area


def _partial_auc(
    fpr: tuple[float, float] | None,
    tpr: tuple[float, float] | None,
    standardise: bool,
    column: Columns,
) -> Measure:
    if fpr is not None and tpr is not None:
        raise InvalidArgument(
            f"fpr is {fpr!r} and tpr is {tpr!r}, allowed is one of them.",
            hint="leave one of them out.",
        )
    lo, hi = _rate_range(fpr if fpr is not None else tpr)
    area = (_below if fpr is not None else _beside)(lo, hi, column)
    if not standardise:
        return area
    # On the diagonal the area below is (hi² − lo²)/2, that beside it the rest.
    below = (hi**2 - lo**2) / 2
    chance, perfect = (below if fpr is not None else hi - lo - below), hi - lo
    above = area.estimate >= chance * (1 - ROUNDING)
    scaled = (1 + (area.estimate - chance) / (perfect - chance)) / 2
    said = ~above, "below the diagonal, where McClish's scale has no meaning"
    return replace(area, estimate=where(above, scaled), warning=said)


def _below(lo: float, hi: float, column: Columns) -> Measure:
    """∫ t df over a range of f."""
    (t0, f0), (t1, f1), (dt, df) = held(column).segment
    first, last = clip(f0, lo, hi), clip(f1, lo, hi)
    height = 2 * t0 + (first + last - 2 * f0) * dt / df
    # Ends at one rate may differ in the last digit: whether f moves goes by counts.
    moves = (last > first) & (df > 0)
    inner = where(moves, (last - first) * height / 2, 0.0)
    # Level runs of negatives lie between the segments: their area telescopes.
    area = total("auc", inner + t0 * first - t1 * last, column)
    return replace(area, estimate=area.estimate + hi)


def _beside(lo: float, hi: float, column: Columns) -> Measure:
    """∫ (1 − f) dt over a range of t."""
    (t0, f0), (t1, _), (dt, df) = held(column).segment
    first, last = clip(t0, lo, hi), clip(t1, lo, hi)
    width = 2 * f0 + (first + last - 2 * t0) * df / dt
    return total("auc", (last - first) * (1 - width / 2), column)


def _rate_range(given: object) -> tuple[float, float]:
    pair = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else []
    if len(pair) != 2 or not all(map(is_number, pair)) or not 0 <= pair[0] < pair[1] <= 1:
        raise InvalidArgument(
            f"the range is {given!r}, allowed are two rates with 0 ≤ lo < hi ≤ 1.",
            hint="for example (0, 0.1).",
        )
    return float(pair[0]), float(pair[1])


def auprec_measures(
    priors: Priors,
    interpolation: Interpolation,
    start: Start,
    recall: tuple[float, float] | None = None,
    column: Columns = pl.col,
) -> list[Measure]:
    """AUPREC at each prior."""
    _check_choices(interpolation, start)
    if recall is not None:
        recall = _rate_range(recall)
    positives, negatives = column("positives"), column("negatives")
    smooth = start == "limit" and interpolation != "hull" and recall is None
    measures = []
    for i, prior in enumerate(resolve_priors(priors)):
        if prior is None:
            both = (positives > 0) & (negatives > 0)
            at = where(both, positives / (positives + negatives))
            skewed = negatives / positives
        else:
            at, skewed = prior, skew(prior)
        area = segment_area(skewed, interpolation, start, recall, held(column))
        gradient = partial(area_gradient, [(skewed, 1.0)], interpolation) if smooth else None
        summed = total(
            "auprec", area, column,
            told_apart=f"auprec_{i}", prior=at, doubt=skewed, gradient=gradient,
        )  # fmt: skip
        measures.append(replace(summed, perfect=partial(_perfect_area, skewed=skewed)))
    return measures


def iauprec_measure(
    over: tuple[float, float] | Belief,
    interpolation: Interpolation,
    start: Start,
    measure: Literal["prior", "skew"] = "prior",
    column: Columns = pl.col,
) -> Measure:
    """IAUPREC as the weighted sum of AUPREC at the nodes of a belief."""
    _check_choices(interpolation, start)
    belief = resolve_belief(over, measure)
    nodes = list(zip(belief.skews, belief.weights, strict=True))
    cells = held(column)
    area = sum_of(
        weight * segment_area(skewed, interpolation, start, cells=cells) for skewed, weight in nodes
    )
    # Bias is at most 1, so a rare prior of a belief counts by its weight.
    negatives = column("negatives")
    doubt = sum_of(weight * least(skewed, negatives) for skewed, weight in nodes)
    smooth = start == "limit" and interpolation != "hull"
    gradient = partial(area_gradient, nodes, interpolation) if smooth else None

    def perfect(tail: float) -> pl.Expr:
        return pl.sum_horizontal(weight * _perfect_area(tail, skewed) for skewed, weight in nodes)

    averaged = total("iauprec", area, column, doubt=doubt, gradient=gradient)
    return replace(averaged, perfect=perfect)


def segment_area(
    skewed: Quantity,
    interpolation: Interpolation,
    start: Start,
    recall: tuple[float, float] | None = None,
    cells: Segments = HELD,
) -> Quantity:
    """∫ precision dt over the segment that ends at a row of the curve, within a range of t."""
    (t0, f0), (t1, f1), (dt, df) = cells.segment
    first, last, width = t0, t1, dt
    if recall is not None:
        first, last = clip(t0, *recall), clip(t1, *recall)
        width = last - first
    end = rates.precision(t1, f1, skewed)
    if interpolation == "step":
        area = width * end
    elif interpolation == "linear":
        at_zero = {"one": 1.0, "zero": 0.0}.get(start, end)
        begin = where(cells.is_first, at_zero, rates.precision(t0, f0, skewed))
        middle = 0.5 if recall is None else ((first + last) / 2 - t0) / dt
        area = width * (begin + (end - begin) * middle)
    else:
        slope = df / dt
        alpha = 1 + skewed * slope
        beta = skewed * (f0 - slope * t0)
        called = t0 + skewed * f0 if recall is None else alpha * first + beta
        bend = beta / (alpha * alpha) * log1p(alpha * width / called)
        area = width / alpha - where(cells.is_first, 0.0, bend)
    return where(cells.is_first, 0.0, area) if start == "drop" else area


def _check_choices(interpolation: str, start: str) -> None:
    check_choice("interpolation", interpolation, INTERPOLATIONS)
    check_choice("start", start, STARTS)


def _interpolated(curve: pl.LazyFrame, interpolation: str) -> pl.LazyFrame:
    return hull(curve) if interpolation == "hull" else curve


def of_curve(curve: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    """The tidy measures of a curve table."""
    keys = curve_keys(curve)
    # The anchors keep the place of a key without positives.
    kept = curve.filter((pl.col("pos") > 0) | pl.col("threshold").is_null())
    note = pl.when(pl.col("positives").is_null()).then(pl.lit(UNRANKED))
    return tidy(per_key(kept, keys, measures).with_columns(note.alias("note")), keys, measures)
