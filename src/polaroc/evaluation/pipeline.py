"""The pipeline from predictions to measures and curves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.base.private_columns import FRACTIONAL
from polaroc.curves.curve import curve_tables
from polaroc.curves.keys import build_key_index
from polaroc.evaluation.out_of_core import OutOfCore
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import CurveSums, CurveTotals
from polaroc.measures.table import tidy, tidy_in_memory
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.table import read
from polaroc.predictions.takes_cases import refuse_cluster
from polaroc.uncertainty.bootstrap import resampled
from polaroc.uncertainty.intervals import check_counts, with_fractional_flag, with_limits


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
    if request.intervals is not None:
        refuse_cluster(cases, "evaluate(intervals=...)")
    eager = isinstance(cases.table, pl.DataFrame)
    predictions = read(cases)
    if request.memory is not None:
        return _result(OutOfCore(predictions, request).totals(), predictions.keys, request)
    sums = CurveSums(predictions, request)
    if request.intervals is not None and eager:
        check_counts(predictions)
    elif eager and (totals := sums.in_memory()) is not None:
        return _computed(totals.wide.collect(), predictions.keys, request)
    keys = build_key_index(predictions, eager=eager)
    result = _result(sums.lazy(keys), predictions.keys, request)
    if request.intervals is None:
        return result
    curves = curve_tables(predictions, keys, with_fractional_flag(keys.key_notes, predictions))
    limits = with_intervals(curves, result.measures, predictions.keys, request)
    doubt = dependence(cases)
    return result._replace(measures=with_note(limits, doubt, pl.col("lower").is_not_null()))


def with_intervals(
    curves: pl.LazyFrame, measured: pl.LazyFrame, keys: Sequence[str], request: Request
) -> pl.LazyFrame:
    """Tidy measures with the requested intervals, from curves with `note` and `FRACTIONAL`."""
    spec = request.bootstrap
    if spec is None:
        method = request.intervals or "logit"
        measures = request.select(ARRAYS).measures
        return with_limits(measured, curves, keys, measures, method, request.level)
    counts = pl.when(~pl.col(FRACTIONAL)).then("pos").alias("pos")
    return resampled(measured, curves.with_columns(counts).drop("note", FRACTIONAL), keys, spec)


def _result(totals: CurveTotals, keys: Sequence[str], request: Request) -> Result:
    measures = tidy(totals.wide, keys, request.selected.measures)
    extra = tidy(totals.wide, keys, request.extra) if request.extra else None
    return Result(measures, extra, totals.curves)


def _computed(wide: pl.DataFrame, keys: Sequence[str], request: Request) -> Result:
    """The result from sums in memory, computed now."""
    measures = tidy_in_memory(wide, keys, request.selected.measures)
    extra = tidy_in_memory(wide, keys, request.extra).lazy() if request.extra else None
    return Result(measures.lazy(), extra, None)
