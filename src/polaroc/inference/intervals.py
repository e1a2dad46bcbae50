"""Confidence intervals of measures, by key.

From ranked rows to limits: the segments of the curves (`segment_arrays`), the gradient of a measure
with respect to them (`gradients`), the influence of each case (`influence`), variances from sums of
squared influences of cases or clusters (`variances`), and limits on the scale of log-odds or
logarithms here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import (
    CLUSTER,
    INTERVAL,
    KEY_INDEX,
    LIMITS_NOTE,
    OVER,
    ROW,
    WITH_INTERVAL,
    join_by_key,
    with_level,
)
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.kernel import Ranked
from polaroc.inference.evidence import FEWEST_CLUSTERS
from polaroc.inference.segment_arrays import Segments
from polaroc.inference.variances import (
    CLASSES,
    NO_VARIANCE,
    Units,
    area_variances,
    cases_as_units,
    cluster_numbers,
    clusters_as_units,
    loss_variances,
)
from polaroc.measures.scoring import ON_THE_HULL, case_loss
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

PERFECT = "perfect score: lower limit from the numbers of cases"
FEW_CLUSTERS = f"fewer than {FEWEST_CLUSTERS} clusters have {{}}: no interval"
FEW_EFFECTIVE = (
    f"because of their weights, the effective number of clusters with {{}} is below "
    f"{FEWEST_CLUSTERS}: no interval"
)


class Limits(NamedTuple):
    """Limits and standard errors of a measure by key, NaN where there are none, and notes."""

    lower: Array
    upper: Array
    std_error: Array
    note: Array


def limits_of_ranked(
    ranked: Ranked,
    wide: pl.DataFrame,
    predictions: Predictions,
    measures: Sequence[Measure],
    level: float,
) -> pl.DataFrame:
    """The limits of ranked rows, of each measure of each key, in the order of all tidy rows.

    `wide` has the totals of each key and the columns of the measures' estimates.
    """
    totals = {name: wide[name].cast(pl.Float64).to_numpy() for name in CLASSES}
    if ranked.clusters is None:
        units = cases_as_units(**totals)
    else:
        units = clusters_as_units(ranked, totals, weighted=predictions.sampled)
    segments = Segments.of(ranked, (units.positives, units.negatives))
    areas = [one for one in measures if one.is_area]
    losses = [one for one in measures if not one.is_area]
    limits = []
    if areas:
        names = [name for one in areas for name in (*one.sums, *one.least)]
        sums = totals | {name: wide[name].fill_null(np.nan).to_numpy() for name in names}
        estimates, variances = area_variances(segments, areas, units, sums)
        limits += [
            _area_limits(measure, estimates[:, i], variances[:, i], units, level)
            for i, measure in enumerate(areas)
        ]
    if losses:
        scores = pl.DataFrame()
        if any(one.score_sums for one in losses):
            scores = _scores(predictions, wide)
        estimates, variances = loss_variances(scores, losses, totals, units)
        limits += [
            _loss_limits(measure, estimates[:, i], variances[:, i], units, level)
            for i, measure in enumerate(losses)
        ]
    # The catalogue has areas before losses.
    place = wide.with_row_index(ROW)
    keys = predictions.keys
    order = place.sort(keys, nulls_last=True)[ROW].to_numpy()
    columns = [
        pl.Series(name, np.stack([getattr(limit, name) for limit in limits], axis=1)[order].ravel())
        for name in INTERVAL
    ]
    notes = np.stack([limit.note for limit in limits], axis=1)[order].ravel().tolist()
    return pl.DataFrame([*(one.fill_nan(None) for one in columns),
                         pl.Series(LIMITS_NOTE, notes, pl.String)])  # fmt: skip


def with_limits(rows: pl.LazyFrame, keys: Sequence[str], level: float) -> pl.LazyFrame:
    """Tidy measures from rows that have limits at a level and a `LIMITS_NOTE` too."""
    # Limits come from the valid rows, even of a key whose invalid rows leave it no estimate.
    has_estimate = pl.col("estimate").is_not_null()
    limits = pl.when(has_estimate).then(pl.col(*INTERVAL)).name.keep()
    note = pl.when(has_estimate).then(LIMITS_NOTE)
    ranged = [OVER] if OVER in rows.collect_schema() else []
    noted = rows.with_columns(limits, joined_notes("note", note))
    return with_level(noted.select(*keys, *WITH_INTERVAL, *ranged), level)


def _scores(predictions: Predictions, wide: pl.DataFrame) -> pl.DataFrame:
    """The rows in the columns of the losses, with the numbers of their keys and clusters."""
    keys = predictions.keys
    of_keys = wide.lazy().select(*keys, *CLASSES).with_row_index(KEY_INDEX)
    joined = join_by_key(predictions.counted_rows, of_keys, keys, "inner")
    rows = joined.filter((pl.col("pos") > 0) | (pl.col("neg") > 0)).collect()
    columns = rows.select(KEY_INDEX, SCORE, "pos", "neg", *CLASSES)
    if CLUSTER not in rows.columns:
        return columns
    return columns.with_columns(pl.Series(CLUSTER, cluster_numbers(rows[CLUSTER])))


def _area_limits(
    measure: Measure, estimates: Array, variances: Array, units: Units, level: float
) -> Limits:
    """The limits of an area, or of a point of a curve, on the scale of log-odds.

    They are the widest of those of all variants of the test set (`segment_arrays.VARIANTS`).
    """
    with np.errstate(all="ignore"):
        estimates = np.where(units.fewest > 0, estimates, np.nan)
        # A variance that is rounding is 0.
        known = np.where(variances > NO_VARIANCE, variances, 0 * variances)
        error = np.where(units.enough, np.sqrt(known), np.nan)
        has_limits = (error > 0) & (estimates > 0) & (estimates < 1)
        odds = estimates / (1 - estimates)
        factor = np.exp(units.quantile(level) * error / (estimates * (1 - estimates)))
        lower, upper = 1 / (1 + factor / odds), 1 / (1 + 1 / (odds * factor))
        lower, upper = (np.where(has_limits, end, np.nan) for end in (lower, upper))
        note = _note(units, error[0], ~has_limits[0] & ~np.isnan(estimates[0]))
        perfect_lower = _perfect_lower_limit(measure, (1 - level) / 2, units)
        if perfect_lower is not None:
            perfect = (estimates >= 1 - ROUNDING) & (error == 0)
            lower, upper = np.where(perfect, perfect_lower, lower), np.where(perfect, 1.0, upper)
            note[perfect[0]] = PERFECT
        # Limits of the sample as it is are widened to those of the other variants, or to the
        # estimate of one that has no limits.
        widened = ~np.isnan(lower[0]) & (estimates[0] < 1 - ROUNDING)
        lowers, uppers = (np.where(np.isnan(end), estimates, end) for end in (lower, upper))
        return Limits(
            np.where(widened, np.fmin.reduce(lowers), lower[0]),
            np.where(widened, np.fmax.reduce(uppers), upper[0]),
            np.where(np.isnan(estimates[0]), np.nan, error[0]),
            note,
        )


def _loss_limits(
    measure: Measure, estimates: Array, variances: Array, units: Units, level: float
) -> Limits:
    """The limits of a loss, or of 1 less a skill, on the logarithmic scale of the loss.

    They are the widest of those of all variants of the test set (`variances.ONE_MORE`).
    """
    defined = ~np.isnan(estimates[0]) & (units.fewest > 0)
    if case_loss(measure) is None:
        nothing = np.full(len(defined), np.nan)
        note = np.full(len(defined), None, dtype=object)
        note[defined] = ON_THE_HULL
        return Limits(nothing, nothing, nothing, note)
    with np.errstate(all="ignore"):
        error = np.where(units.enough & defined, np.sqrt(variances), np.nan)
        is_skill = measure.bounds[0] is None
        loss = 1 - estimates if is_skill else estimates
        factor = np.exp(units.quantile(level) * error / loss)
        ends = [loss / factor, loss * factor]
        lower, upper = (1 - end for end in reversed(ends)) if is_skill else ends
        has_limits = (error > 0) & (loss > 0)
        lowers, uppers = (
            np.where(has_limits, np.clip(end, *measure.bounds), np.nan) for end in (lower, upper)
        )
        return Limits(
            np.where(has_limits[0], np.fmin.reduce(lowers), np.nan),
            np.where(has_limits[0], np.fmax.reduce(uppers), np.nan),
            error[0],
            _note(units, error[0], ~has_limits[0] & defined),
        )


def _note(units: Units, error: Array, missing: Array) -> Array:
    """The reasons for limits that are `missing`."""
    in_clusters = units.least > 2
    too_few = FEW_EFFECTIVE if units.is_effective else FEW_CLUSTERS
    reasons = [
        (in_clusters & (units.positives < units.least), too_few.format("positives")),
        (in_clusters & (units.negatives < units.least), too_few.format("negatives")),
        (units.positives <= 1, "one positive: no standard error"),
        (units.negatives <= 1, "one negative: no standard error"),
        (np.isnan(error), "no derivative here: no interval"),
        (np.ones(len(error), bool), "no spread among the cases: no interval"),
    ]
    note = np.full(len(error), None, dtype=object)
    for holds, reason in reversed(reasons):
        note[missing & holds] = reason
    return note


def _perfect_lower_limit(measure: Measure, tail: float, units: Units) -> Array | None:
    """The lower limit of an area for a test set that is ranked perfectly.

    With the AUC of the limit, as many independent pairs as there are cases of the rarer class are
    all ranked right with probability `tail`. For a precision-recall curve it is ∫ t/(t + λf) dt up
    to t, with the least t and the greatest f that a perfect sample allows: all positives, or all
    negatives, are then on the right side with probability `tail`/2.
    """
    if measure.name == "auc":
        return tail ** (1 / units.fewest)
    if measure.name not in ("auprec", "iauprec"):
        return None
    positives, negatives = units.positives, units.negatives
    t = (tail / 2) ** (1 / positives)
    f = 1 - (tail / 2) ** (1 / negatives)
    area = np.zeros(len(positives))
    for node, weight in measure.nodes:
        called = (negatives / positives if node is None else node) * f
        area += weight * (t - called * np.log1p(t / called))
    return area
