"""The pipeline from predictions to measures and curves."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.private_columns import CLUSTER, FRACTIONAL
from polaroc.curves.held import curve_of_rows
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import CurveTotals, curve_totals
from polaroc.measures.table import tidy_in_memory
from polaroc.predictions.cases import Cases, columns_of
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.table import read
from polaroc.uncertainty.beside import merged
from polaroc.uncertainty.bootstrap import resampled
from polaroc.uncertainty.intervals import check_counts, limits_of_ranked, with_limits


class Result(NamedTuple):
    """The result of an evaluation.

    `measures` are tidy, with intervals if requested; `extra` has AUPREC at the extra priors and
    `curves` the thinned curves, None if not requested.
    """

    measures: pl.LazyFrame
    extra: pl.LazyFrame | None
    curves: pl.LazyFrame | None


def run(cases: Cases[Any], request: Request) -> Result:
    """The result, computed now."""
    if request.intervals is None:
        return _result(curve_totals(cases, request), request)
    held = cases.collect()
    if held.cluster is not None:
        return _with_clusters(held, request)
    predictions = read(held)
    check_counts(predictions)
    result = _result(curve_totals(held, request), request)
    if request.bootstrap is not None:
        curves = curve_of_rows(predictions).lazy()
        limits = resampled(result.measures, curves, predictions.keys, request.bootstrap)
        result = result._replace(measures=limits)
    doubt = dependence(held)
    if doubt is None:
        return result
    noted = with_note(result.measures, doubt, pl.col("lower").is_not_null())
    return result._replace(measures=noted)


def _with_clusters(cases: Cases[pl.DataFrame], request: Request) -> Result:
    """The result with intervals that take clusters, not cases, for independent."""
    result = run(replace(cases, cluster=None), replace(request, intervals=None))
    clustered = read(cases, also=columns_of(cases.cluster))
    *keys, name = clustered.keys
    rows = clustered.valid_rows.rename({name: CLUSTER})
    check_counts(clustered)
    if request.bootstrap is not None:
        limits = resampled(result.measures, rows, keys, request.bootstrap)
    else:
        measures = request.select(ARRAYS).measures
        method = request.intervals or "logit"
        limits = with_limits(result.measures, rows, keys, measures, method, request.level)
    return result._replace(measures=limits)


def with_intervals(
    curves: pl.LazyFrame, measured: pl.LazyFrame, keys: Sequence[str], request: Request
) -> pl.LazyFrame:
    """Tidy measures with the requested intervals, from curves with `FRACTIONAL`."""
    spec = request.bootstrap
    if spec is None:
        method = request.intervals or "logit"
        measures = request.select(ARRAYS).measures
        return with_limits(measured, curves, keys, measures, method, request.level)
    counts = pl.when(~pl.col(FRACTIONAL)).then("pos").alias("pos")
    return resampled(measured, curves.with_columns(counts).drop("note", FRACTIONAL), keys, spec)


def _result(totals: CurveTotals, request: Request) -> Result:
    wide, keys = totals.wide, totals.keys
    measures = tidy_in_memory(wide, keys, request.selected.measures).lazy()
    extra = tidy_in_memory(wide, keys, request.extra).lazy() if request.extra else None
    if totals.ranked is not None and request.intervals is not None and request.bootstrap is None:
        in_arrays = request.select(ARRAYS).measures
        limits = limits_of_ranked(
            totals.ranked, wide, keys, in_arrays, request.intervals, request.level
        )
        measures = merged(
            pl.concat([measures, limits.lazy()], how="horizontal"), keys, request.level
        )
    return Result(measures, extra, totals.curves)
