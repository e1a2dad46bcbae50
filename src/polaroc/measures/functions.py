"""Areas under the ROC and precision-recall curves, at a prior and over a range of priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import polars as pl

from polaroc.base.columns import EFFECTIVE, curve_keys
from polaroc.base.joins import attach
from polaroc.curves.curve import in_order
from polaroc.curves.hull import hulls, hulls_of
from polaroc.curves.whole import takes_curve
from polaroc.measures.areas import auc_measure, auprec_measures, iauprec_measure
from polaroc.measures.spec import Measure, hull_part
from polaroc.measures.table import OR_ANCHOR, per_key, tidy, without_repeats
from polaroc.predictions.row_checks import UNRANKED
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import some_priors
from polaroc.typing import Interpolation, Priors, Start


@takes_curve
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
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(curves.pipe(pr.auc)["estimate"].item(), 12)
    0.68
    """
    return measures_of_curves(curve, [auc_measure(fpr, tpr, standardise)])


@takes_curve
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
        Priors in (0, 1), or ``"observed"`` for each key's own; one, several, or a prior grid.
        Where the own prior of a key is, up to rounding, another one of them, it counts once.
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §4); ``"linear"``, straight
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
        negatives bias it (λ/N above 0.02; of a curve of weights N is `effective_negatives`).

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> area = curves.pipe(pr.auprec, "observed", interpolation="linear", start="drop")
    >>> round(area["estimate"].item(), 6)
    0.619124
    """
    some_priors(priors)
    measures = auprec_measures(priors, interpolation, start, recall)
    measured = measures_of_curves(_interpolated(curve, interpolation), measures)
    return without_repeats(measured, measures)


@takes_curve
def iauprec(
    curve: pl.LazyFrame,
    over: tuple[float, float] | Belief,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    scale: Literal["prior", "skew"] = "prior",
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
    interpolation
        Between two points of the ROC: ``"exact"``, straight in ROC space and so
        a hyperbola in precision-recall space (D&G §4); ``"linear"``, straight
        in precision-recall space (P-ROC Eq. 4); ``"step"``, average precision;
        ``"hull"``, exact on the convex hull of the ROC, the achievable curve.
    start
        Precision at recall 0: the ``"limit"`` along the first segment,
        ``"one"``, ``"zero"``; or ``"drop"``, which leaves the first segment
        out. The first three differ under linear interpolation only.
    scale
        Whether a range is flat in the ``"prior"`` or in the ``"skew"``.

    Returns
    -------
    Frame of the kind given
        Tidy measures, one row per key, as in `auprec`; `measure` is "iauprec",
        `prior` is null. The quadrature error is below 1e-9.

    Raises
    ------
    InvalidTable
        Where the columns or rows of a curve are missing.
    InvalidArgument
        For an argument outside what is allowed.

    Examples
    --------
    >>> import polaroc as pr
    >>> curves = pr.datasets.twenty_scores().pipe(pr.curve, truth="truth", score="score")
    >>> round(curves.pipe(pr.iauprec, over=(0.05, 0.20))["estimate"].item(), 4)
    0.3...
    """
    averaged = iauprec_measure(over, interpolation, start, scale)
    # Without the column `over`, so that the table can be concatenated with other areas.
    return measures_of_curves(_interpolated(curve, interpolation), [replace(averaged, over=None)])


def _interpolated(curve: pl.LazyFrame, interpolation: str) -> pl.LazyFrame:
    return hulls_of(curve) if interpolation == "hull" else curve


def measures_of_curves(curve: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    """The tidy measures of a curve table."""
    keys = curve_keys(curve)
    note = pl.when(pl.col("positives").is_null()).then(pl.lit(UNRANKED))
    return tidy(table_sums(curve, keys, measures).with_columns(note.alias("note")), keys, measures)


def table_sums(
    curve: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]
) -> pl.LazyFrame:
    """Per key of a curve table its totals and the sums over its cells, segments and hull."""
    on_curve = [measure for measure in measures if measure.sums or measure.least]
    of_cells = [measure for measure in on_curve if measure.every_cell]
    areas = [measure for measure in on_curve if not measure.every_cell]
    on_hull = [hull_part(measure) for measure in measures if measure.hull_sums]
    # Areas need few of the cells.
    segments = curve.filter(OR_ANCHOR)
    wide = [per_key(curve, keys, of_cells)] if of_cells else []
    if areas or not of_cells:
        wide.append(per_key(segments, keys, areas))
    if on_hull:
        wide.append(per_key(hulls(in_order(curve, keys)).filter(OR_ANCHOR), keys, on_hull))
    first, *others = wide
    for one in others:
        sums = one.drop("positives", "negatives", EFFECTIVE, strict=False)
        first = attach(first, sums, keys, required=False)
    return first
