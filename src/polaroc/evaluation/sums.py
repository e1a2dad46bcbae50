"""The sums per key that measures need, from rows in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from polaroc.base.private_columns import KEY_INDEX, TRUTH, WEIGHT
from polaroc.curves.hull import hulls
from polaroc.curves.kernel import Ranked, ranked
from polaroc.curves.segments import COUNTS, segment_columns
from polaroc.curves.totals import totals
from polaroc.measures.spec import Measure
from polaroc.measures.table import merged, per_key
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array


def sums_of_rows(predictions: Predictions, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per key its totals with a `note`, and the sums and minima of the measures."""
    if not any(one.sums or one.least or one.hull_sums for one in measures):
        of_keys = totals(predictions).collect(engine=predictions.engine)
        return _with_score_sums(of_keys, predictions, measures)
    return sums_of_ranked(ranked(predictions), predictions, measures)


def sums_of_ranked(
    found: Ranked, predictions: Predictions, measures: Sequence[Measure]
) -> pl.DataFrame:
    """The same of rows that were ranked."""
    sums, least, of_hull = (
        merged(getattr(one, kind) for one in measures) for kind in ("sums", "least", "hull_sums")
    )
    wide = found.totals
    if sums or least:
        wide = wide.hstack(sums_of_segments(found.frame(), found.starts, sums, least))
    if of_hull:
        segments, starts = _hull_segments(found)
        wide = wide.hstack(sums_of_segments(segments, starts, of_hull, {}))
    return _with_score_sums(wide, predictions, measures)


def sums_of_segments(
    counts: pl.DataFrame,
    starts: Array,
    sums: Mapping[str, pl.Expr],
    least: Mapping[str, pl.Expr],
) -> pl.DataFrame:
    """Per key the sums and minima over its segments, null for a key without any."""
    values = (
        counts.lazy()
        .with_columns(**segment_columns())
        .select(**sums, **least)
        .collect(engine="streaming")
    )
    some = np.flatnonzero(np.diff(starts))
    columns = []
    for name in values.columns:
        result = np.full(len(starts) - 1, np.nan)
        if len(some):
            reduce = np.fmin.reduceat if name in least else np.add.reduceat
            own = values[name].fill_null(np.nan).to_numpy()
            result[some] = reduce(own, starts[some])
        columns.append(pl.Series(name, result, nan_to_null=True))
    return pl.DataFrame(columns)


def _hull_segments(found: Ranked) -> tuple[pl.DataFrame, Array]:
    """The counts of the segments with positives of each key's hull, and where a key starts."""
    number = np.arange(found.totals.height)
    of_keys = found.totals.select("positives", "negatives").with_columns(pl.Series(KEY_INDEX, number))
    ends = of_keys.fill_null(0).with_columns(tp=pl.col("positives"), fp=pl.col("negatives"))
    anchors = ends.with_columns(pl.col("tp", "fp") * 0, pl.lit(None, pl.Float64).alias(SCORE))
    cells = found.frame().with_columns(
        pl.Series(KEY_INDEX, np.repeat(number, np.diff(found.starts))), pl.lit(0.0).alias(SCORE)
    )
    columns = [KEY_INDEX, SCORE, *COUNTS]
    zero = pl.lit(0, cells.schema["pos"])
    points = pl.concat(
        part.with_columns(zero.alias("pos"), zero.alias("neg"), pl.col(SCORE)).select(columns)
        for part in (anchors, cells, ends.with_columns(pl.lit(0.0).alias(SCORE)))
    ).sort(KEY_INDEX, maintain_order=True)
    rising = hulls(points.lazy()).filter((pl.col("pos") > 0) & (pl.col("negatives") > 0)).collect()
    starts = np.searchsorted(rising[KEY_INDEX].to_numpy(), np.append(number, len(number)))
    return rising.select(COUNTS), starts


def _with_score_sums(
    wide: pl.DataFrame, predictions: Predictions, measures: Sequence[Measure]
) -> pl.DataFrame:
    """With the sums over the scores of curves, which rows make as well."""
    of_scores = merged(one.score_sums for one in measures)
    if not of_scores:
        return wide
    keys = predictions.keys
    count = pl.col(WEIGHT) if predictions.weighted else pl.lit(1, pl.Int64)
    rows = predictions.valid_rows.select(
        *keys, SCORE, pos=pl.col(TRUTH) * count, neg=~pl.col(TRUTH) * count
    )
    of_keys = wide.lazy().select(*keys, "positives", "negatives")
    if keys:
        joined = rows.join(of_keys, on=keys, how="left", nulls_equal=True)
    else:
        joined = rows.join(of_keys, how="cross")
    sums = per_key(joined, keys, of_scores, {}).drop("positives", "negatives")
    summed = sums.collect(engine="streaming")
    if not keys:
        return wide.hstack(summed) if summed.height else wide.with_columns(
            pl.lit(None, pl.Float64).alias(name) for name in of_scores
        )
    return wide.join(summed, on=keys, how="left", nulls_equal=True, maintain_order="left")
