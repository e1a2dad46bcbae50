"""The pipeline from predictions to measures and curves."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.private_columns import FRACTIONAL
from polaroc.curves.curve import curve_tables
from polaroc.curves.keys import build_key_index
from polaroc.evaluation.out_of_core import OutOfCore
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import CurveSums, CurveTotals
from polaroc.measures.table import tidy, tidy_in_memory
from polaroc.predictions.cases import Cases
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.table import Predictions, read
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
    """The result of one table as lazy frames; computed already where `memory` is given."""
    eager = isinstance(cases.table, pl.DataFrame)
    predictions = read(cases)
    if request.memory is not None:
        return _within_memory(predictions, request)
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


def run_all(tables: Sequence[Cases[pl.LazyFrame]], request: Request) -> Result:
    """The result of tables that share no key, audited and evaluated one after the other.

    Each table must give the same rows whenever it is read. `memory` is "auto" by default, but
    for intervals, which take the rows in memory.
    """
    if request.intervals is not None:
        in_memory = (one.collect() for one in tables)
        computed = [run(one, request).measures for one in in_memory]
        keys = read(tables[0]).keys
        return Result(_concatenated(computed, keys), None, None)
    audited = [read(one, audited=True) for one in tables]
    results = [_within_memory(replace(one, repeatable=True), request) for one in audited]
    keys = audited[0].keys
    extra = [result.extra for result in results if result.extra is not None]
    curves = [result.curves for result in results if result.curves is not None]
    return Result(
        _concatenated([result.measures for result in results], keys),
        _concatenated(extra, keys) if extra else None,
        _concatenated(curves, keys) if curves else None,
    )


def with_intervals(
    curves: pl.LazyFrame, measured: pl.LazyFrame, keys: Sequence[str], request: Request
) -> pl.LazyFrame:
    """Tidy measures with the requested intervals, from curves with `note` and `FRACTIONAL`."""
    spec = request.bootstrap
    if spec is None:
        method = request.intervals or "logit"
        return with_limits(curves, keys, request.selected.measures, method, request.level)
    counts = pl.when(~pl.col(FRACTIONAL)).then("pos").alias("pos")
    return resampled(measured, curves.with_columns(counts).drop("note", FRACTIONAL), keys, spec)


def _within_memory(predictions: Predictions, request: Request) -> Result:
    return _result(OutOfCore(predictions, request).totals(), predictions.keys, request)


def _result(totals: CurveTotals, keys: Sequence[str], request: Request) -> Result:
    measures = tidy(totals.wide, keys, request.selected.measures)
    extra = tidy(totals.wide, keys, request.extra) if request.extra else None
    return Result(measures, extra, totals.curves)


def _computed(wide: pl.DataFrame, keys: Sequence[str], request: Request) -> Result:
    """The result from sums in memory, computed now."""
    measures = tidy_in_memory(wide, keys, request.selected.measures)
    extra = tidy_in_memory(wide, keys, request.extra).lazy() if request.extra else None
    return Result(measures.lazy(), extra, None)


def _concatenated(tables: Sequence[pl.LazyFrame], keys: Sequence[str]) -> pl.LazyFrame:
    if len(tables) == 1 or not keys:
        return tables[0]
    return pl.concat(tables).sort(keys, nulls_last=True, maintain_order=True)
