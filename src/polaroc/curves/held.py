"""Predictions in memory, ranked, and their curves."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import polars as pl

from polaroc.base.columns import CURVE, effective_column
from polaroc.base.private_columns import KEY_INDEX, PLACE, ROW_ERROR
from polaroc.curves.cell_arrays import RankedCells, ScoredCells
from polaroc.curves.keys import totals
from polaroc.curves.ranking import ranked_cells
from polaroc.curves.segments import rate
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

TOTALS = ("positives", "negatives")
COUNTED = ("pos", "neg", "tp", "fp", *TOTALS)


@dataclass(frozen=True)
class HeldRows:
    """All rows without errors, in memory, and `totals` of those that were dropped, if any."""

    predictions: Predictions
    dropped: pl.DataFrame | None = None

    @classmethod
    def of(cls, predictions: Predictions) -> "HeldRows":
        """Predictions in memory that were audited."""
        if not predictions.possible_errors:
            return cls(predictions)
        is_invalid = pl.col(ROW_ERROR).is_not_null()
        invalid = replace(predictions, rows=predictions.rows.filter(is_invalid))
        dropped = totals(invalid).collect()
        if dropped.is_empty():
            return cls(predictions)
        rows = predictions.valid_rows.collect().lazy()
        return cls(replace(predictions, rows=rows), dropped)

    def ranked(self, *, scored: bool, merged: bool = True) -> RankedCells:
        """The `ranked_cells`, with notes on rows that were dropped.

        Keys that have no other rows come last.
        """
        ranked = ranked_cells(self.predictions, scored=scored, merged=merged)
        if self.dropped is None:
            return ranked
        names, known = self.predictions.keys, ranked.totals
        numbers = [*TOTALS, *effective_column(known)]
        columns = [*names, KEY_INDEX, *numbers, "note"]
        dropped = self.dropped.select(columns).cast({name: known.schema[name] for name in TOTALS})
        by_key = pl.concat([known.select(columns), dropped]).group_by(names, maintain_order=True)
        noted = pl.col("note").reverse().str.join("; ").replace("", None)
        return ranked.with_empty_keys(by_key.agg(pl.col(KEY_INDEX, *numbers).first(), noted))


def curve_of_rows(predictions: Predictions) -> pl.DataFrame:
    """The curve tables of predictions in memory that were audited."""
    held = HeldRows.of(predictions)
    ranked = held.ranked(scored=True)
    tp, fp, threshold, starts = all_points(ranked)
    key = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    points = pl.DataFrame({PLACE: key, "threshold": threshold, "tp": tp, "fp": fp})
    # Sums are rounded in another order: the total is the one at the end of the curve.
    last = starts[1:] - 1
    ends = (pl.Series(name, of[last]) for name, of in zip(TOTALS, (tp, fp), strict=True))
    kept = [*predictions.keys, *TOTALS, *effective_column(ranked.totals)]
    named = ranked.totals.select(kept).with_columns(*ends)
    table = to_curve_table(points.with_columns(pl.col("threshold").fill_nan(None)), named)
    cells = table.filter((pl.col("pos") > 0) | (pl.col("neg") > 0) | pl.col("threshold").is_null())
    cells = in_whole_numbers(cells.lazy(), predictions).collect()
    if held.dropped is None:
        return cells
    return cells.sort(predictions.keys, nulls_last=True, maintain_order=True)


def in_whole_numbers(curves: pl.LazyFrame, predictions: Predictions) -> pl.LazyFrame:
    """Curves of counts in whole numbers, by which they are told from sums of sampling weights."""
    counts = predictions.weighted and not predictions.sampled
    return curves.with_columns(pl.col(COUNTED).cast(pl.Int64)) if counts else curves


def all_points(ranked: RankedCells) -> "tuple[Array, Array, Array, Array]":
    """`tp`, `fp` and score of the points of curves; where each begins, with NaN for a score."""
    cells = cast(ScoredCells, ranked.scored)
    number = np.diff(cells.starts)
    known = cells.block(0, int(cells.starts[-1]))
    key = np.repeat(np.arange(len(number)), number)
    counted = pl.DataFrame({PLACE: key, "pos": known["pos"], "neg": known["neg"]}).lazy()
    sums = counted.select(pl.col("pos", "neg").cum_sum().over(PLACE)).collect()
    tp, fp, threshold = (
        np.insert(values, cells.starts[:-1], start)
        for values, start in (
            (sums["pos"].to_numpy(), 0),
            (sums["neg"].to_numpy(), 0),
            (known[SCORE], np.nan),
        )
    )
    first = cells.starts[:-1] + np.arange(len(number))
    return tp, fp, threshold, np.append(first, len(tp))


def to_curve_table(points: pl.DataFrame, totals: pl.DataFrame) -> pl.DataFrame:
    """The curve table of points with a `PLACE`, sorted by it, in a table of keys and totals."""
    beside = pl.concat([totals[points[PLACE].to_numpy()], points], how="horizontal")
    starts = pl.col("threshold").is_null()
    steps = {
        name: pl.when(starts).then(0).otherwise(pl.col(total).diff()).cast(points.schema[total])
        for name, total in (("pos", "tp"), ("neg", "fp"))
    }
    rates = rate("tp", "positives").alias("tpr"), rate("fp", "negatives").alias("fpr")
    effective = effective_column(totals)
    names = [name for name in totals.columns if name not in (*CURVE, *effective)]
    return beside.with_columns(*rates, **steps).select(*names, *CURVE, *effective)
