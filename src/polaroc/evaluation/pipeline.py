"""The pipeline from predictions to measures and curves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.arrays import ARRAYS
from polaroc.curves.held import HeldRows
from polaroc.evaluation.hull_limits import with_hull_limits
from polaroc.evaluation.request import Needs, Request
from polaroc.evaluation.sums import CurveTotals, curve_totals, ranked_totals
from polaroc.measures.spec import Measure
from polaroc.measures.table import tidy, without_repeats
from polaroc.predictions.cases import Cases, warn_of_parts
from polaroc.predictions.dependence import dependence, with_note
from polaroc.predictions.table import read
from polaroc.uncertainty.intervals import limits_of_ranked
from polaroc.uncertainty.limits import merged


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
    result = _run(cases, request)
    return result._replace(measures=without_repeats(result.measures, request.selected.measures))


def _run(cases: Cases[Any], request: Request) -> Result:
    """The result, with rows at observed priors that are also among the given ones."""
    if not request.intervals:
        totals = curve_totals(cases, request)
        if not isinstance(cases.rows, pl.DataFrame):
            warn_of_parts(cases, totals.wide)
        return _result(totals, request)
    held = cases.collect()
    predictions = read(held, clustered=held.in_clusters)
    needs = Needs(request, predictions.weighted)
    totals, ranked = ranked_totals(HeldRows.of(predictions), needs)
    result = _result(totals, request)
    found = limits_of_ranked(
        ranked, totals.wide, predictions.keys, request.select(ARRAYS).measures,
        request.level, sampled=predictions.sampled,
    )  # fmt: skip
    measured = pl.concat([result.measures, found.lazy()], how="horizontal")
    limits = merged(measured, predictions.keys, request.level)
    limits = with_hull_limits(limits, held, predictions.keys, request)
    noted = with_note(limits, dependence(held), pl.col("lower").is_not_null())
    return result._replace(measures=noted)


def _result(totals: CurveTotals, request: Request) -> Result:
    def shown(measures: Sequence[Measure]) -> pl.LazyFrame:
        return tidy(totals.wide.lazy(), totals.keys, measures).collect(engine="in-memory").lazy()

    extra = shown(request.extra) if request.extra else None
    return Result(shown(request.selected.measures), extra, totals.curves)
