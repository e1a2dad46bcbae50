"""Curve tables of tie-collapsed cells, the input of all measures: made of cases, or checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import polars as pl

from polaroc.base.columns import (
    CURVE,
    EFFECTIVE,
    ROW_ERROR,
    ROWS,
    TRUTH,
    WEIGHT,
    collect_like,
    curve_keys,
    engine_for,
    join_by_key,
    private,
    within,
)
from polaroc.base.tables import as_polars
from polaroc.base.text import joined_notes
from polaroc.curves.segments import COUNTS, rate
from polaroc.curves.totals import totals
from polaroc.errors import InvalidTable, quoted
from polaroc.predictions.cases import Cases, as_cases, first_keys, frame_of_cases
from polaroc.predictions.columns import NEEDED, Columns
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions, read
from polaroc.typing import PolarsFrame, Table

# Whether a curve has all its rows; whether a row is the last of its score; note on dropped rows.
IS_WHOLE, IS_LAST, NOTE = private("is_whole"), private("is_last"), private("note")


@frame_of_cases
def curve(table: Table | Cases[Any], **columns: Unpack[Columns]) -> PolarsFrame:
    """ROC curves, one per key, with ties collapsed.

    Parameters
    ----------
    table
        Predictions, one row per case: any table that `cases` takes, or its result.
    **columns
        What the columns mean, as in `cases`.

    Returns
    -------
    Frame of the kind given
        One row per key (`by`, model and fold) and distinct score, sorted by key and best score
        first, after one anchor row per key where nothing is called positive (a score
        whose weights are all zero has no row): the keys;
        `threshold` Float64 (a case is called positive when score ≥ threshold;
        null at the anchor); `pos`, `neg`, the positives and negatives at this
        score; `tp`, `fp`, those at or above it; `positives`, `negatives`, the
        totals of the key (counts are Int64, with a `weight` Float64); `tpr`, `fpr`
        Float64 from 0 to 1, null where the class is absent. With a `weight` also
        `effective_negatives` Float64, how many negatives of equal weight tell rates as well:
        (Σw)²/Σw² (Kish 1965).

    Raises
    ------
    InvalidPredictions, InvalidArgument
        For an eager frame with rows that cannot be ranked; for unknown columns,
        reserved names among the keys, a score that is not numeric. A lazy plan cannot raise
        for its rows: such a key has null totals and rates.

    Notes
    -----
    P-ROC §3 and D&G, with tied scores as one segment, so that the order of rows never
    matters.

    A lazy table gives a plan of expressions, which reads its source wherever it is used. Collect a
    source first that gives other rows at each reading, such as a random sample.

    Examples
    --------
    >>> import polars as pl
    >>> import polaroc as pr
    >>> table = pl.DataFrame({"truth": [1, 0, 1, 0], "p": [0.9, 0.9, 0.8, 0.1]})
    >>> pr.curve(table, truth="truth", score="p").select("threshold", "tp", "fp", "tpr").rows()
    [(None, 0, 0, 0.0), (0.9, 1, 1, 0.5), (0.8, 2, 1, 1.0), (0.1, 2, 2, 1.0)]
    """
    cases = as_cases(table, columns)
    return cases.like(curve_plan(read(cases, once=True)))


def cases_or_curve(
    table: Table | Cases[Any], columns: Mapping[str, Any]
) -> Cases[Any] | PolarsFrame:
    """The cases of a table; or a table of curves, to which no columns apply."""
    if isinstance(table, Cases):
        return as_cases(table, columns)
    frame = as_polars(table)
    present = {*frame.collect_schema()}
    is_curve = not columns and present >= {"threshold", "tp", "fp"} and not present >= {*NEEDED}
    return frame if is_curve else as_cases(frame, columns)


def result_like(source: Cases[Any] | PolarsFrame, result: pl.LazyFrame) -> PolarsFrame:
    """A result as a LazyFrame where the cases or curves are lazy, else as a DataFrame.

    Its `note` says how many rows of the cases were dropped.
    """
    if not isinstance(source, Cases):
        return collect_like(source, result)  # type: ignore[type-var]
    if source.nulls == "drop":
        dropped = pl.col("note").str.extract("(dropped [^;]+)").alias(NOTE)
        of_keys = totals(read(source)).select(*source.keys, dropped)
        result = join_by_key(result, of_keys, source.keys).with_columns(joined_notes("note", NOTE))
    return source.like(result.drop(NOTE, strict=False))


def curves_of(source: Cases[Any] | PolarsFrame) -> pl.LazyFrame:
    """The curves of cases, or those of a table of curves."""
    if not isinstance(source, Cases):
        return whole_curves(source)
    curves: PolarsFrame = curve(source)
    return curves.lazy()


def whole_curves(table: Table) -> pl.LazyFrame:
    """The curves of a table as a LazyFrame; raise if rows are missing or keys are mixed.

    A plan cannot raise: there, the totals and rates of such a key are null.
    """
    frame = as_polars(table)
    curves = frame.lazy()
    keys, schema = curve_keys(curves), curves.collect_schema()
    counts, totals = ("pos", "neg"), ("positives", "negatives")
    # Sums of weights are rounded, those of 32 bits more.
    tolerance = 1e-5 if pl.Float32 in [schema[name] for name in (*counts, *totals)] else 1e-8
    anchors = pl.col("threshold").null_count()
    sums = [pl.col(name).cast(pl.Float64).sum() for name in counts]
    ends = [pl.col(name).max() for name in totals]
    # The totals are null where rows of the key cannot be ranked.
    is_whole = pl.all_horizontal(
        anchors == 1,
        *(
            ((found - total).abs() <= tolerance * total).fill_null(True)
            for found, total in zip(sums, ends, strict=True)
        ),
    )
    if isinstance(frame, pl.LazyFrame):
        kept = pl.when(within(is_whole, keys))
        return curves.with_columns(kept.then(name).alias(name) for name in (*totals, "tpr", "fpr"))
    of_keys = curves.group_by(keys).agg(anchors, *sums, *ends, is_whole.alias(IS_WHOLE))
    broken = of_keys.filter(~pl.col(IS_WHOLE)).collect(engine=engine_for(frame))
    if frame.height and broken.height:
        broken = broken.sort(keys)
        found, pos, neg, positives, negatives = broken.select("threshold", *counts, *totals).row(0)
        raise InvalidTable(
            f"a curve is not whole{first_keys(broken, keys)}. {'The first' if keys else 'It'} has "
            f"{found} rows without a threshold, needed is one, and {pos:,.12g} of "
            f"{positives or 0:,.12g} positives, {neg:,.12g} of {negatives or 0:,.12g} negatives.",
            hint=f"was a key dropped (the keys are {quoted(keys) or 'none'}), a column added, or "
            "were rows left out, repeated or concatenated? pass the table that curve(...) or "
            "hull(...) returned as it is.",
        )
    return curves


def curve_plan(predictions: Predictions) -> pl.LazyFrame:
    """Curves as a plan: rank the rows of a key, cumulate their counts, join ties."""
    keys, weighted = predictions.keys, predictions.weighted
    is_point, score, truth = pl.col(ROW_ERROR).is_null(), pl.col(SCORE), pl.col(TRUTH)
    if weighted:
        is_point = is_point & (pl.col(WEIGHT) > 0)
    point = pl.struct(score, TRUTH, *([WEIGHT] if weighted else []))
    by_score = point.filter(is_point).sort_by(score.filter(is_point), descending=True)
    of_keys = totals(predictions, {ROWS: by_score})
    # A curve starts at (0, 0), the only point without a score.
    start = pl.lit(None, of_keys.collect_schema()[ROWS])
    running = {
        name: within((of_class * predictions.weight).fill_null(0).cum_sum(), keys)
        for name, of_class in (("tp", truth), ("fp", ~truth))
    }
    points = (
        of_keys.with_columns(pl.concat_list(start.list.first(), ROWS).alias(ROWS))
        .explode(ROWS)
        .unnest(ROWS)
        .with_columns(
            **running,
            **{IS_LAST: within(score.is_null() | score.ne_missing(score.shift(-1)), keys)},
        )
        .filter(IS_LAST)
    )
    if weighted:
        points = points.with_columns(
            pl.when(pl.col(total).is_not_null())
            .then(within(pl.col(name).last(), keys))
            .alias(total)
            for name, total in (("tp", "positives"), ("fp", "negatives"))
        )
    return _with_rates(points, predictions)


def _with_rates(points: pl.LazyFrame, predictions: Predictions) -> pl.LazyFrame:
    """Curve tables of points with totals; the first point of each key has no score."""
    starts = pl.col(SCORE).is_null()
    steps = {
        name: pl.when(starts).then(0).otherwise(within(pl.col(total).diff(), predictions.keys))
        for name, total in (("pos", "tp"), ("neg", "fp"))
    }
    curves = points.with_columns(tpr=rate("tp", "positives"), fpr=rate("fp", "negatives"), **steps)
    if predictions.weighted:
        # A weight that is lost in the rounding of the sum makes no point.
        curves = curves.filter(starts | (pl.col("pos") > 0) | (pl.col("neg") > 0))
        if not predictions.sampled:
            curves = curves.with_columns(pl.col(COUNTS).cast(pl.Int64))
    effective = [EFFECTIVE] if predictions.sampled else []
    return curves.select(*predictions.keys, *CURVE, *effective)


def in_order(curves: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Sort curves by key, from the anchor to the worst score."""
    by_key = [False] * len(keys)
    return curves.sort(
        *keys, SCORE, descending=[*by_key, True], nulls_last=[*(True for _ in keys), False]
    )
