"""Areas under the ROC and precision-recall curves, at a prior and over a range of priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import polars as pl

from polaroc.base.columns import EFFECTIVE, collect_like, curve_keys, effective_column, join_by_key
from polaroc.base.tables import as_polars
from polaroc.curves.curve import whole_curves
from polaroc.curves.hull import hulls_of
from polaroc.curves.segments import segments
from polaroc.curves.surface import is_surface, surface_keys
from polaroc.errors import InvalidArgument
from polaroc.measures.areas import auc_measure, auprec_measure, iauprec_measure, partial_auc_measure
from polaroc.measures.spec import Measure, MeasureArguments
from polaroc.measures.table import expressions_of, per_key, tidy
from polaroc.predictions.row_checks import UNRANKED
from polaroc.priors.beliefs import Over
from polaroc.priors.grids import some_priors
from polaroc.typing import Frame, Interpolation, Priors, Start


def auc(
    curve: Frame,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    standardise: bool = False,
) -> Frame:
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
    is_whole = fpr is None and tpr is None
    return measured(
        curve, auc_measure() if is_whole else partial_auc_measure(fpr, tpr, standardise)
    )


def auprec(
    curve: Frame,
    priors: Priors | None = None,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    recall: tuple[float, float] | None = None,
) -> Frame:
    """Area under the precision-recall curve at each prior, per key: AUPREC(π) = ∫ precision dt.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`; or of `surface`, for the area at each of its priors.
    priors
        Priors in (0, 1), or ``"observed"`` for each key's own, the default of a curve; one,
        several, or a prior grid. Where the own prior of a key is, up to rounding, another one of
        them, it counts once.
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
    # Convert the table once, since a stream cannot be read again.
    table: Any = as_polars(curve)
    known: Priors = "observed" if priors is None else priors
    arguments = MeasureArguments(known, interpolation=interpolation, start=start)
    if not is_surface(table):
        some_priors(known)
        at_priors = (auprec_measure(*at, arguments, recall) for at in arguments.skews)
        return measured(table, *at_priors)
    if priors is not None:
        raise InvalidArgument(
            "the table is a surface, which has its priors, and priors are given, too.",
            hint="leave priors out, or pass the curve.",
        )
    area = auprec_measure(pl.col("prior"), pl.col("skew"), arguments, recall)
    surface: pl.LazyFrame = table.lazy()
    keys: list[str] = [*surface_keys(surface), "prior"]
    sums = sums_of_curves(surface, [*keys, "skew"], [area])
    return collect_like(curve, _tidied(sums, keys, [area]))


def iauprec(
    curve: Frame,
    over: Over,
    interpolation: Interpolation = "exact",
    start: Start = "limit",
    scale: Literal["prior", "skew"] = "prior",
) -> Frame:
    """AUPREC averaged over a range of priors or a belief about the prior, per key.

    Over a range it is IAUPREC(lo, hi) = 1/(hi − lo) ∫ AUPREC(π) dπ, P-ROC Eq. 5
    normalised as in its experiments; under a belief, the expected AUPREC.

    Parameters
    ----------
    curve
        The result of `curve` or `hull`.
    over
        Priors (lo, hi) with 0 < lo < hi < 1, or a belief: `uniform` or `beta`.
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
    arguments = MeasureArguments(over=over, interpolation=interpolation, start=start)
    return measured(curve, iauprec_measure(arguments, scale))


def measured(curve: Frame, *measures: Measure) -> Frame:
    """The tidy measures of a curve table.

    Without the column `over`, so that the table can be concatenated with other areas.
    """
    curves, without_over = whole_curves(curve), [replace(one, over=None) for one in measures]
    keys = curve_keys(curves)
    sums = sums_of_curves(curves, keys, without_over)
    return collect_like(curve, _tidied(sums, keys, without_over))


def _tidied(wide: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]) -> pl.LazyFrame:
    """The tidy measures of sums per key."""
    note = pl.when(pl.col("positives").is_null()).then(pl.lit(UNRANKED))
    return tidy(wide.with_columns(note=note), keys, measures)


def sums_of_curves(
    curve: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]
) -> pl.LazyFrame:
    """Per key of a curve table its totals and the sums over its segments, scores and hull."""
    sums, least, of_scores, of_hull = expressions_of(
        measures, "sums", "least", "score_sums", "hull_sums"
    )
    kept = [*keys, *effective_column(curve)]
    parts = []
    if sums or least or not (of_scores or of_hull):
        parts.append(per_key(segments(curve, kept), keys, sums, least))
    if of_scores:
        parts.append(per_key(curve, keys, of_scores, {}))
    if of_hull:
        parts.append(per_key(segments(hulls_of(curve, keys), kept), keys, of_hull, {}))
    wide = parts[0]
    for part in parts[1:]:
        sums_of_part = part.drop("positives", "negatives", EFFECTIVE, strict=False)
        wide = join_by_key(wide, sums_of_part, keys)
    return wide
