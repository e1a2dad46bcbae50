"""From predictions to measures and curves: the one way through the package."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import polars as pl

from polaroc.base.private_columns import FRACTIONAL
from polaroc.curves.curve import curve_tables
from polaroc.curves.keys import build_key_index
from polaroc.evaluation.request import Request
from polaroc.evaluation.sums import CurveSums, CurveTotals
from polaroc.measures.table import tidy
from polaroc.predictions.audit import notes_on_labels
from polaroc.predictions.table import Predictions, read
from polaroc.uncertainty.bootstrap import resampled
from polaroc.uncertainty.intervals import check_counts, flagged, with_limits


class Result(NamedTuple):
    """What an evaluation gives: the tidy measures, with intervals where they were asked for.

    Also AUPREC at the extra priors, the thinned curves, where they were asked for, and what an
    audit says of the labels.
    """

    measures: pl.LazyFrame
    extra: pl.LazyFrame | None
    curves: pl.LazyFrame | None
    notes: tuple[str, ...] = ()


def run(frame: pl.LazyFrame | pl.DataFrame, request: Request) -> Result:
    """The result of one table: plans, computed already where `memory` is given."""
    eager = isinstance(frame, pl.DataFrame)
    predictions = read(frame, **request.columns)
    if request.memory is not None:
        return _within_memory(predictions, request)
    if request.intervals is not None and eager:
        check_counts(predictions)
    keys = build_key_index(predictions, eager=eager)
    result = _result(CurveSums(predictions, request).lazy(keys), predictions.keys, request)
    if request.intervals is None:
        return result
    curves = curve_tables(predictions, keys, flagged(keys.key_notes, predictions))
    return result._replace(
        measures=with_intervals(curves, result.measures, predictions.keys, request)
    )


def run_all(frames: Sequence[pl.LazyFrame], request: Request) -> Result:
    """The result of tables that share no key, audited and taken one after the other.

    Every reading of a table gives the same rows. `memory` is "auto" where none is named.
    """
    audited = [read(frame, **request.columns, audited=True) for frame in frames]
    notes = tuple(line for predictions in audited for line in notes_on_labels(predictions))
    results = [_within_memory(replace(one, repeatable=True), request) for one in audited]
    keys = audited[0].keys
    extra = [of.extra for of in results if of.extra is not None]
    curves = [of.curves for of in results if of.curves is not None]
    return Result(
        _concatenated([of.measures for of in results], keys),
        _concatenated(extra, keys) if extra else None,
        _concatenated(curves, keys) if curves else None,
        notes,
    )


def with_intervals(
    curves: pl.LazyFrame, measured: pl.LazyFrame, keys: Sequence[str], request: Request
) -> pl.LazyFrame:
    """Tidy measures with the intervals asked for; the curves have `note` and `FRACTIONAL`."""
    spec = request.bootstrap
    if spec is None:
        method = request.intervals or "logit"
        return with_limits(curves, keys, request.selected.measures, method, request.level)
    counts = pl.when(~pl.col(FRACTIONAL)).then("pos").alias("pos")
    return resampled(measured, curves.with_columns(counts).drop("note", FRACTIONAL), keys, spec)


def _within_memory(predictions: Predictions, request: Request) -> Result:
    return _result(CurveSums(predictions, request).out_of_core(), predictions.keys, request)


def _result(totals: CurveTotals, keys: Sequence[str], request: Request) -> Result:
    measures = tidy(totals.wide, keys, request.selected.measures)
    extra = tidy(totals.wide, keys, request.extra) if request.extra else None
    return Result(measures, extra, totals.curves)


def _concatenated(tables: Sequence[pl.LazyFrame], keys: Sequence[str]) -> pl.LazyFrame:
    if len(tables) == 1 or not keys:
        return tables[0]
    return pl.concat(tables).sort(keys, nulls_last=True, maintain_order=True)
