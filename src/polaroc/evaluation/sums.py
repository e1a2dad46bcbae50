"""The sums per key that measures need, from rows in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from polaroc.base.columns import KEY_INDEX, join_by_key
from polaroc.curves.hull import hulls_of_sorted
from polaroc.curves.kernel import Ranked, ranked
from polaroc.curves.segments import COUNTS, segment_columns
from polaroc.curves.totals import totals
from polaroc.measures.spec import Measure
from polaroc.measures.table import expressions_of, per_key
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# To compute shared steps of a segment again is faster than to keep columns of them.
NO_SHARED_STEPS = pl.QueryOptFlags(comm_subexpr_elim=False)
# Sums and minima that are computed at once.
TERMS = 64


def sums_of_rows(predictions: Predictions, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per key its totals with a `note`, and the sums and minima of the measures."""
    if not any(one.sums or one.least or one.hull_sums for one in measures):
        of_keys = totals(predictions).collect(engine=predictions.engine)
        return of_keys.hstack(score_sums(predictions, of_keys, measures))
    rows = ranked(predictions, merged=may_merge(measures))
    return sums_of_ranked(rows, predictions, measures)


def may_merge(measures: Sequence[Measure]) -> bool:
    """Whether vertical segments, one after another, may be joined.

    This would change areas that are interpolated in precision-recall space, from point to point.
    """
    interpolations = {one.arguments.interpolation for one in measures if one.arguments}
    return not interpolations & {"linear", "step"}


def sums_of_ranked(
    rows: Ranked, predictions: Predictions, measures: Sequence[Measure]
) -> pl.DataFrame:
    """The sums of `sums_of_rows`, from rows that were ranked."""
    sums, least, of_hull = expressions_of(measures, "sums", "least", "hull_sums")
    wide = rows.totals
    if sums or least:
        wide = wide.hstack(sums_of_segments(rows.frame(), rows.starts, sums, least))
    if of_hull:
        segments, starts = hull_segments(rows.frame(), rows.starts, rows.totals)
        wide = wide.hstack(sums_of_segments(segments, starts, of_hull, {}))
    return wide.hstack(score_sums(predictions, rows.totals, measures))


def sums_of_segments(
    counts: pl.DataFrame, starts: Array, sums: dict[str, pl.Expr], least: dict[str, pl.Expr]
) -> pl.DataFrame:
    """Per key the sums and minima over its segments, null for a key without any."""
    segments = counts.lazy().with_columns(**segment_columns())
    nonempty, columns, terms = np.flatnonzero(np.diff(starts)), [], [*(sums | least).items()]
    # Columns for hundreds of priors would not fit in memory all at once.
    for first in range(0, len(terms), TERMS):
        values = segments.select(**dict(terms[first : first + TERMS]))
        for value in values.collect(
            engine="streaming", optimizations=NO_SHARED_STEPS
        ).iter_columns():
            result = np.full(len(starts) - 1, np.nan)
            if len(nonempty):
                reduce = np.fmin.reduceat if value.name in least else np.add.reduceat
                filled = value.fill_null(np.nan) if value.null_count() else value
                result[nonempty] = reduce(filled.to_numpy(), starts[nonempty])
            columns.append(pl.Series(value.name, result, nan_to_null=True))
    return pl.DataFrame(columns)


def hull_segments(
    segments: pl.DataFrame, starts: Array, totals: pl.DataFrame
) -> tuple[pl.DataFrame, Array]:
    """The segments of each key's hull that have positives, and the first segment of each key."""
    number = np.arange(totals.height)
    ends = totals.select(pl.col("positives", "negatives").fill_null(0)).with_columns(
        pl.Series(KEY_INDEX, number), tp=pl.col("positives"), fp=pl.col("negatives")
    )
    anchors = ends.with_columns(pl.col("tp", "fp") * 0)
    cells = segments.with_columns(pl.Series(KEY_INDEX, np.repeat(number, np.diff(starts))))
    parts = (
        part.select(
            KEY_INDEX, pl.lit(score, pl.Float64).alias(SCORE), pos=pl.col("tp"), neg=pl.col("fp"),
            tp="tp", fp="fp", positives="positives", negatives="negatives",
        )
        for part, score in ((anchors, None), (cells, 0.0), (ends, 0.0))
    )  # fmt: skip
    points = pl.concat(parts, how="vertical_relaxed").sort(KEY_INDEX, maintain_order=True)
    rising = hulls_of_sorted(points).filter((pl.col("pos") > 0) & (pl.col("negatives") > 0))
    first = np.searchsorted(rising[KEY_INDEX].to_numpy(), np.append(number, len(number)))
    return rising.select(COUNTS), first


def score_sums(
    predictions: Predictions, of_keys: pl.DataFrame, measures: Sequence[Measure]
) -> pl.DataFrame:
    """The `score_sums` of the measures per key: sums over rows are those over scores."""
    (sums,) = expressions_of(measures, "score_sums")
    if not sums:
        return pl.DataFrame()
    keys = predictions.keys
    rows = predictions.counted_rows.select(*keys, SCORE, "pos", "neg")
    known = of_keys.lazy().select(*keys, "positives", "negatives")
    counted = join_by_key(rows, known, keys, "inner", maintain_order="none")
    summed = per_key(counted, keys, sums, {})
    return join_by_key(known, summed, keys).select(*sums).collect(engine="streaming")
