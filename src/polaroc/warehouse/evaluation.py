"""The measures of a prediction table from sums that its engine computes in one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import COUNT, EFFECTIVE, NEG_SQUARES, private
from polaroc.base.text import joined_notes
from polaroc.curves.totals import effective_number
from polaroc.errors import NotSupported
from polaroc.evaluation.at_estimates import at_estimates, priors_and_ends
from polaroc.evaluation.evaluate import check_intervals
from polaroc.evaluation.evaluate import evaluate as evaluate_locally
from polaroc.evaluation.sums import sums_of_rows
from polaroc.measures.catalog import DEFAULT_PRIORS, select_measures
from polaroc.measures.spec import Measure
from polaroc.measures.table import tidy
from polaroc.predictions.cases import Cases, check_labels_of, refuse_errors, warn_of_parts
from polaroc.predictions.columns import Columns
from polaroc.predictions.row_checks import (
    SCORE,
    error_count_column,
    errors_in_words,
    label_note,
)
from polaroc.predictions.table import read as read_locally
from polaroc.priors.beliefs import Belief
from polaroc.priors.grids import is_estimate
from polaroc.typing import IbisTable, Interpolation, Prior, Priors
from polaroc.warehouse.cells import count_cells, per_key
from polaroc.warehouse.connections import collected, fetched
from polaroc.warehouse.predictions import Predictions, read
from polaroc.warehouse.segments import SUMMED, safe_name

# The note on dropped rows of a key.
DROPPED = private("dropped")


def evaluate(
    table: IbisTable,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    intervals: bool = False,
    level: float = 0.95,
    measure: str | Sequence[str] | None = None,
    score_prior: Prior = "observed",
    **columns: Unpack[Columns],
) -> pl.DataFrame:
    """Every measure of every key, from sums that the engine computes, as `polaroc.evaluate`.

    Parameters
    ----------
    table
        Predictions, one row per case: an ibis table.
    priors, over, interpolation, intervals, level, measure, score_prior
        As in `polaroc.evaluate`. Areas, "sens", "auc_range", "accsens" and "equal_error" are sums
        over curves, of which one query returns a row per key. For the interpolation ``"hull"``, for
        scores as probabilities ("brier" and the like) and for `intervals`, a second query returns
        the counts of each key and distinct score, at most 20 million of them. As these have no
        `case`, there is no note on rows of a key that share one.
    **columns
        What the columns mean, as in `polaroc.cases`.

    Returns
    -------
    DataFrame
        The result of `polaroc.evaluate`.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As `polaroc.evaluate` does for a frame; for more distinct scores than can be fetched.
    NotSupported
        For `intervals` with a `cluster` or a `weight`.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> measures = pr.warehouse.evaluate(table, truth="truth", score="score", priors=0.1)
    >>> [(name, round(value, 3)) for name, value in measures.select("measure", "estimate").rows()]
    [('auc', 0.68), ('auprec', 0.35)]
    """
    for role in ("cluster", "weight"):
        if intervals and columns.get(role) is not None:
            raise NotSupported(
                f"warehouse.evaluate(intervals=True) does not support {role}.",
                hint="fetch the rows, and give them to polaroc.evaluate.",
            )
    check_intervals(intervals, level, interpolation)
    estimates = priors.lazy().collect() if is_estimate(priors) else None
    measures = select_measures(
        measure, priors if estimates is None else priors_and_ends(estimates), over, interpolation,
        score_prior=score_prior,
    )  # fmt: skip
    predictions = read(table, columns)
    if columns.get("positive") is not None:
        check_labels_of(predictions.cases, _labels(table, predictions).to_series())
    summed = [one for one in measures if one.is_area and one.name in SUMMED]
    others = [one for one in measures if not (one.is_area and one.name in SUMMED)]
    wide = _totals(table, predictions, [] if intervals else summed)
    warn_of_parts(predictions.cases, wide)
    keys = predictions.cases.keys
    beside: Any = {"on": keys or pl.lit(0), "how": "left", "nulls_equal": True}
    if intervals:
        measured = evaluate_locally(
            _fetched(predictions), priors=priors, over=over, interpolation=interpolation,
            intervals=True, level=level, measure=measure, score_prior=score_prior,
        )  # fmt: skip
        totals = wide.select(*keys, "positives", "negatives", DROPPED)
        return (
            measured.drop("positives", "negatives")
            .join(totals, **beside, maintain_order="left")
            .with_columns(joined_notes(DROPPED, "note"))
            .select(measured.columns)
        )
    if others:
        sums = sums_of_rows(read_locally(_fetched(predictions)), others)
        known = ("positives", "negatives", "note", EFFECTIVE)
        wide = wide.join(sums.drop(known, strict=False), **beside)
    noted = wide.lazy().with_columns(joined_notes(DROPPED, label_note()))
    tidied = tidy(noted, keys, measures)
    return (tidied if estimates is None else at_estimates(tidied, estimates)).collect()


def _labels(table: IbisTable, predictions: Predictions) -> pl.DataFrame:
    """The distinct labels of the truth."""
    (truth,) = predictions.cases.names["truth"]
    return collected(table.select(truth).distinct())


def _totals(
    table: IbisTable, predictions: Predictions, measures: Sequence[Measure]
) -> pl.DataFrame:
    """Per key its totals, a note on rows that were `DROPPED`, and the sums of measures.

    Raise for rows that cannot be ranked.
    """
    names = {safe_name(name): name for one in measures for name in (*one.sums, *one.least)}
    cases, codes = predictions.cases, predictions.errors
    counts = [error_count_column(code) for code in codes]
    # Without keys an engine returns a row of nulls even for an empty table.
    wide = collected(per_key(predictions, measures)).rename(names).drop_nulls("positives")
    refused = (
        wide.select(*cases.keys, *counts)
        .unpivot(counts, index=cases.keys, variable_name="error", value_name=COUNT)
        .filter(pl.col(COUNT) > 0)
        .with_columns(pl.col("error").replace_strict(counts, codes, return_dtype=pl.UInt8))
    )
    if refused.height:
        refuse_errors(
            replace(cases, errors=tuple(codes), source=_labels(table, predictions)), refused
        )
    if cases.weight:
        wide = wide.with_columns(effective_number(pl.col("negatives"), pl.col(NEG_SQUARES)))
    return wide.with_columns(
        pl.col("positives", "negatives").cast(pl.Float64 if cases.weight else pl.Int64),
        pl.format("dropped {}", errors_in_words(codes)).alias(DROPPED),
    )


def _fetched(predictions: Predictions) -> Cases[pl.DataFrame]:
    """The counts of all scores as cases with a count, or a weight."""
    keys, count = predictions.cases.keys, predictions.cases.counted_by or "count"
    cells = fetched(count_cells(predictions).select(*keys, SCORE, "pos", "neg"))
    rows = pl.concat(
        cells.select(*keys, pl.lit(is_positive).alias("truth"), pl.col(SCORE).alias("score"),
                     pl.col(name).alias(count))
        for name, is_positive in (("pos", True), ("neg", False))
    )  # fmt: skip
    return replace(
        predictions.cases, rows=rows, source=rows, columns={}, case=None, errors=(), is_valid=True,
        count=None if predictions.cases.weight else count,
    )  # fmt: skip
