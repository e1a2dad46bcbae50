"""The pipeline from predictions to measures and curves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.private_columns import CLUSTER, FRACTIONAL
from polaroc.curves.curve import curve_tables
from polaroc.curves.keys import build_key_index
from polaroc.evaluation.out_of_core import OutOfCore
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import CurveSums, CurveTotals
from polaroc.measures.table import tidy, tidy_in_memory
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.table import read
from polaroc.uncertainty.beside import merged
from polaroc.uncertainty.bootstrap import resampled
from polaroc.uncertainty.intervals import (
    check_counts,
    limits_of_ranked,
    with_fractional_flag,
    with_limits,
)


class Result(NamedTuple):
    """The result of an evaluation.

    `measures` are tidy, with intervals if requested; `extra` has AUPREC at the extra priors and
    `curves` the thinned curves, None if not requested.
    """

    measures: pl.LazyFrame
    extra: pl.LazyFrame | None
    curves: pl.LazyFrame | None


def run(cases: Cases[Any], request: Request) -> Result:
    """The result as lazy frames; computed already where `memory` is given."""
    clustered = request.intervals is not None and cases.cluster is not None
    eager = isinstance(cases.table, pl.DataFrame)
    predictions = read(cases, clustered=clustered)
    if request.memory is not None:
        return _result(OutOfCore(predictions, request).totals(), predictions.keys, request)
    sums = CurveSums(predictions, request)
    if request.intervals is not None and eager:
        check_counts(predictions)
    doubt = None if request.intervals is None else dependence(cases)
    if eager and request.bootstrap is None and (totals := sums.in_memory()) is not None:
        return _noted(_computed(totals, predictions.keys, request), doubt)
    keys = build_key_index(predictions, eager=eager)
    result = _result(sums.lazy(keys), predictions.keys, request)
    if request.intervals is None:
        return result
    if clustered:
        source = predictions.valid_rows
    else:
        flags = with_fractional_flag(keys.key_notes, predictions)
        source = curve_tables(predictions, keys, flags)
    limits = with_intervals(source, result.measures, predictions.keys, request)
    return _noted(result._replace(measures=limits), doubt)


def with_intervals(
    source: pl.LazyFrame, measured: pl.LazyFrame, keys: Sequence[str], request: Request
) -> pl.LazyFrame:
    """Tidy measures with intervals, from curves with `FRACTIONAL` or from rows with `CLUSTER`."""
    spec = request.bootstrap
    if spec is None:
        method = request.intervals or "logit"
        measures = request.select(ARRAYS).measures
        return with_limits(measured, source, keys, measures, method, request.level)
    if CLUSTER not in source.collect_schema():
        counts = pl.when(~pl.col(FRACTIONAL)).then("pos").alias("pos")
        source = source.with_columns(counts).drop("note", FRACTIONAL)
    return resampled(measured, source, keys, spec)


def _noted(result: Result, doubt: str | None) -> Result:
    """The result with a note on rows that have limits."""
    if doubt is None:
        return result
    noted = with_note(result.measures, doubt, pl.col("lower").is_not_null())
    return result._replace(measures=noted)


def _result(totals: CurveTotals, keys: Sequence[str], request: Request) -> Result:
    measures = tidy(totals.wide, keys, request.selected.measures)
    extra = tidy(totals.wide, keys, request.extra) if request.extra else None
    return Result(measures, extra, totals.curves)


def _computed(totals: CurveTotals, keys: Sequence[str], request: Request) -> Result:
    """The result from sums in memory, computed now."""
    wide = totals.wide.collect()
    measures = tidy_in_memory(wide, keys, request.selected.measures).lazy()
    extra = tidy_in_memory(wide, keys, request.extra).lazy() if request.extra else None
    if totals.ranked is not None and request.intervals is not None:
        in_arrays = request.select(ARRAYS).measures
        limits = limits_of_ranked(
            totals.ranked, wide, keys, in_arrays, request.intervals, request.level
        )
        measures = merged(
            pl.concat([measures, limits.lazy()], how="horizontal"), keys, request.level
        )
    return Result(measures, extra, totals.curves)
