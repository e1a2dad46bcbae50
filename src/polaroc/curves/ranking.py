"""Rank the rows of a table in memory: totals and cells from one sorted array."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import polars as pl

from polaroc.base.columns import EFFECTIVE
from polaroc.base.joins import attach
from polaroc.base.private_columns import (
    CLUSTER,
    HAS_ONES,
    KEY_INDEX,
    KEY_NUMBER,
    PLACE,
    SORT_CODE,
    TRUTH,
    WEIGHT,
)
from polaroc.curves.cell_arrays import RankedCells, ScoredCells, SortedCodes
from polaroc.curves.keys import (
    SCORE_EXTREMES,
    KeyLevels,
    has_numbers,
    is_word,
    key_levels,
    score_extremes,
)
from polaroc.curves.packing import STEPS, Packing, packing
from polaroc.predictions.row_checks import SCORE, label_extremes, label_note
from polaroc.predictions.table import Predictions
from polaroc.typing import Array

# Bits of a score that codes may lack, if no scores are then tied.
SPARE_BITS = 24
# Possible keys are counted one by one: in small tables this many, else as many as rows.
MAX_POSSIBLE = 1_000


@dataclass(frozen=True)
class _Runs:
    """Runs of positives with equal scores, as places among the sorted rows."""

    tied: "Array"  # the first negative with the score of a run
    first: "Array"  # its first positive
    end: "Array"  # the row after its last
    starts: "Array"  # the first run of each possible key, then the number of runs
    rows: "Array"  # the first row of each possible key, then the number of rows


@dataclass(frozen=True)
class _Counts:
    """Counts of rows, or sums of weights, of runs."""

    tied: "Array"  # as of `_Runs`
    end: "Array"
    tp: "Array"  # those of its key at its score or above
    fp: "Array"
    neg: "Array"  # the negatives with its score
    starts: "Array"  # the first run of each possible key, then the number of runs
    positives: "Array"  # of each possible key
    negatives: "Array"


def ranked_cells(
    predictions: Predictions, *, scored: bool = False, merged: bool = True
) -> RankedCells:
    """The cells of rows in memory that have no errors; `scored`: with all cells.

    Vertical runs are one cell each where they are `merged`.
    """
    found = _ranked(predictions, scored=scored, merged=merged)
    if found is not None:
        return found
    # Keys of any type have numbers in their order, and then scores have places in theirs.
    if predictions.keys not in ([], [KEY_NUMBER]):
        return _of_numbered_keys(predictions, scored=scored, merged=merged)
    return _of_placed_scores(predictions, scored=scored, merged=merged)


def _of_numbered_keys(predictions: Predictions, *, scored: bool, merged: bool) -> RankedCells:
    """The cells where each key is looked up among all of them."""
    names = predictions.keys
    keys = predictions.rows.select(names).unique().sort(names, nulls_last=True)
    by_number = keys.with_row_index(KEY_NUMBER).collect()
    rows = attach(predictions.rows, by_number.lazy(), names).drop(names).collect().lazy()
    numbered = replace(predictions, rows=rows, keys=[KEY_NUMBER])
    ranked = ranked_cells(numbered, scored=scored, merged=merged)
    named = by_number.drop(KEY_NUMBER)[ranked.totals[KEY_NUMBER].to_list()]
    totals = pl.concat([named, ranked.totals.drop(KEY_NUMBER)], how="horizontal")
    return replace(ranked, totals=totals)


@dataclass(frozen=True)
class _Placed(Packing):
    """The packing of places in a list of scores."""

    values: "Array | None" = None

    def scores_of(self, codes: "Array") -> "Array":
        """The scores in an array of codes."""
        place = super().scores_of(codes).astype(np.int64)
        found: Array = self.values[place - 1]  # type: ignore[index]
        return found


def _of_placed_scores(predictions: Predictions, *, scored: bool, merged: bool) -> RankedCells:
    """The cells where each score is its place among all of them, which needs few bits."""
    rows = predictions.rows.collect()
    values, place = np.unique(rows[SCORE].to_numpy(), return_inverse=True)
    placed = rows.with_columns(pl.Series(SCORE, place + 1.0)).lazy()
    by_place = replace(predictions, rows=placed, score_type=pl.UInt32())
    found = _ranked(by_place, scored=scored, merged=merged, noted=predictions)
    ranked = cast(RankedCells, found)
    shared = _Placed(**vars(ranked.rows.shared), values=values)
    return replace(
        ranked, rows=replace(ranked.rows, shared=shared),
        scored=None if ranked.scored is None else replace(ranked.scored, shared=shared),
    )  # fmt: skip


def _ranked(
    predictions: Predictions, *, scored: bool, merged: bool, noted: Predictions | None = None
) -> RankedCells | None:
    """The cells where the keys have numbers, and these and the scores fit 64 bits; else None.

    Scores that are labels are told from those of the predictions `noted`, by default the same.
    """
    extremes = score_extremes(predictions).collect(engine=predictions.engine)
    levels = _levels(predictions)
    spare = 0 if scored else SPARE_BITS
    ranked = None if levels is None else _sorted_rows(predictions, levels, extremes, spare)
    if levels is None or ranked is None:
        return None
    rows, shared = ranked
    runs = _runs(rows[SORT_CODE], shared, levels.size)
    weights = rows[WEIGHT].to_numpy() if predictions.weighted else None
    counts = _counts(runs) if weights is None else _sums(runs, weights)
    present = np.flatnonzero(np.diff(runs.rows))
    of_keys = {"positives": counts.positives[present], "negatives": counts.negatives[present]}
    columns = dict(of_keys)
    if weights is not None and predictions.sampled:
        # The number does not depend on the scale of the weights, whose squares might overflow.
        scale = weights.max(initial=0.0) or 1.0
        squares = _squares(rows[SORT_CODE].to_numpy(), weights / scale, runs.rows)[present]
        negatives = of_keys["negatives"] / scale
        with np.errstate(divide="ignore", invalid="ignore"):
            columns[EFFECTIVE] = negatives * (negatives / squares)
    totals = levels.keys(pl.Series(KEY_INDEX, present, pl.UInt32)).with_columns(
        # There is no number of a class that is absent.
        *(pl.Series(name, values, nan_to_null=True) for name, values in columns.items()),
        _notes(noted or predictions, levels, labels=noted is not None or extremes[HAS_ONES].item()),
    )
    of_areas, spans, starts = _cells(counts, merged=merged)
    first_row = np.append(runs.rows[present], runs.rows[-1])
    clusters = rows[CLUSTER] if CLUSTER in rows.columns else None
    ranks = SortedCodes(rows[SORT_CODE].to_numpy(), first_row, shared, clusters, weights)
    all_cells = _scored_cells(ranks, of_keys) if scored else None
    starts = np.append(starts[present], starts[-1])
    return RankedCells(of_areas, starts, totals, ranks, spans, all_cells)


def _levels(predictions: Predictions) -> KeyLevels | None:
    """The numbers of the keys, None where there are too many to look each one up."""
    rows, schema = predictions.rows, predictions.rows.collect_schema()
    values = []
    if not all(has_numbers(schema[name]) for name in predictions.keys):
        return None
    for name in predictions.keys:
        column = pl.col(name)
        if not is_word(schema[name]):
            column = pl.concat(
                [column.min(), column.max(), column.filter(column.is_null()).head(1)]
            )
        values.append(rows.select(column.unique()))
    *columns, size = pl.collect_all([*values, rows.select(pl.len())])
    levels = key_levels([column.to_series() for column in columns])
    most = max(size.item(), MAX_POSSIBLE)
    return None if levels is None or levels.size > most else levels


def _sorted_rows(
    predictions: Predictions, levels: KeyLevels, extremes: pl.DataFrame, spare: int
) -> tuple[pl.DataFrame, Packing] | None:
    """The codes, weights and clusters of all rows, by code: 64 bits in which only equal scores tie.

    They may lack up to `spare` bits of the scores.
    """
    step = STEPS.get(predictions.score_type, 1)
    scores = pl.Series(extremes.select(SCORE_EXTREMES).row(0), dtype=pl.Float64)
    if scores[0] is None:
        # Without rows any packing does.
        scores = pl.Series([1.0])
    for spared in range(spare + 1):
        shared = packing(levels.size, scores, step << spared)
        if shared is not None:
            break
    else:
        return None
    code = shared.code(levels.index, pl.col(SCORE), pl.col(TRUTH)).alias(SORT_CODE)
    present = predictions.rows.collect_schema()
    beside = [name for name in (WEIGHT, CLUSTER) if name in present]
    rows = predictions.rows.select(code, *beside).collect(engine="streaming")
    if beside:
        rows = rows.lazy().sort(SORT_CODE).collect(engine="in-memory")
    else:
        rows = rows.to_series().sort().to_frame()
    if spared:
        ranked = rows[SORT_CODE].to_numpy()
        if ((ranked[1:] ^ ranked[:-1]) < 2).any():
            return None
    return rows, shared


def _notes(predictions: Predictions, levels: KeyLevels, *, labels: bool) -> pl.Series | pl.Expr:
    """The `note` of each key; `labels`: whether scores may be labels."""
    if not labels:
        return pl.lit(None, pl.String).alias("note")
    counted = pl.col(WEIGHT) > 0 if predictions.weighted else None
    by_key = predictions.rows.group_by(levels.index.alias(KEY_INDEX))
    extremes = by_key.agg(*label_extremes(counted)).collect(engine=predictions.engine)
    return extremes.sort(KEY_INDEX).select(label_note().alias("note")).to_series()


def _runs(codes: pl.Series, shared: Packing, keys: int) -> _Runs:
    """The runs of positives in sorted codes; where scores are tied negatives come first."""
    ranked = codes.to_numpy()
    is_positive = pl.col(SORT_CODE) % 2 == 1
    positive = codes.to_frame().lazy().with_row_index(PLACE).filter(is_positive).collect()
    place, code = positive[PLACE].to_numpy().astype(np.int64), positive[SORT_CODE].to_numpy()
    last = np.flatnonzero(np.append(code[1:] != code[:-1], True)[: len(code)])
    code, end = code[last], place[last] + 1
    first = end - np.diff(last, prepend=-1)
    above = np.flatnonzero((first > 0) & (ranked[first - 1] == code - 1))
    tied = first.copy()
    tied[above] = np.searchsorted(ranked, code[above] - 1)
    anchors = np.arange(keys + 1, dtype=np.uint64) * np.uint64(2 * shared.scores)
    starts, rows = np.searchsorted(code, anchors), np.searchsorted(ranked, anchors)
    return _Runs(tied, first, end, starts, rows)


def _counts(runs: _Runs) -> _Counts:
    """Counts of rows."""
    tp = np.cumsum(runs.end - runs.first)
    above = np.append(0, tp)[runs.starts]
    positives, size, number = np.diff(above), np.diff(runs.rows), np.diff(runs.starts)
    return _Counts(
        runs.tied, runs.end, tp - np.repeat(above[:-1], number),
        runs.end - tp - np.repeat((runs.rows - above)[:-1], number),
        runs.first - runs.tied, runs.starts, positives, size - positives,
    )  # fmt: skip


def _sums(runs: _Runs, weights: "Array") -> _Counts:
    """Sums of weights, from zero in each key: a small one must not drown in another key's."""
    number = np.diff(runs.starts)
    key = np.repeat(np.arange(len(number)), number)
    # Where a sum begins: of each key its first row, then of each of its runs all three places.
    of_key = 3 * runs.starts + np.arange(len(runs.starts))
    of_run = 3 * np.arange(len(key)) + key
    edges = np.empty(of_key[-1], np.int64)
    edges[of_key[:-1]] = runs.rows[:-1]
    edges[of_run + 1], edges[of_run + 2], edges[of_run + 3] = runs.tied, runs.first, runs.end
    sums = np.zeros(len(edges))
    inside = int(np.searchsorted(edges, len(weights)))
    sums[:inside] = np.add.reduceat(weights, edges[:inside])
    sums[np.diff(edges, append=len(weights)) == 0] = 0
    between, neg, pos = sums[of_run], sums[of_run + 1], sums[of_run + 2]
    added = pl.DataFrame({KEY_INDEX: key, "tp": pos, "fp": between + neg}).lazy()
    running = added.select(pl.col("tp", "fp").cum_sum().over(KEY_INDEX)).collect()
    tp, fp = running["tp"].to_numpy(), running["fp"].to_numpy()
    last = np.where(number > 0, runs.starts[1:], 0)
    positives, negatives = (np.append(0.0, of_runs)[last] for of_runs in (tp, fp))
    # What is after the last run of a key is before the first row of the next.
    negatives = negatives + sums[of_key[1:] - 1]
    kept = _increments(tp, runs.starts) > 0
    starts = np.append(0, np.cumsum(kept))[runs.starts]
    tied, end, tp, fp, neg = (own[kept] for own in (runs.tied, runs.end, tp, fp, neg))
    return _Counts(tied, end, tp, fp, neg, starts, positives, negatives)


def _squares(codes: "Array", weights: "Array", rows: "Array") -> "Array":
    """The sum of the squared weights of the negatives of each possible key."""
    negative = np.flatnonzero(codes % 2 == 0)
    key = np.searchsorted(rows, negative, side="right") - 1
    return np.bincount(key, weights[negative] ** 2, len(rows) - 1)


def _increments(values: "Array", starts: "Array") -> "Array":
    """Differences of each cumulated value to the one before, within a key."""
    before = np.append(0, values)[:-1]
    before[starts[:-1][np.diff(starts) > 0]] = 0
    added: Array = values - before
    return added


def _cells(
    counts: _Counts, *, merged: bool
) -> "tuple[dict[str, Array], tuple[Array, Array], Array]":
    """The cells that areas need by column name, their spans, and the first of each possible key."""
    tp, fp, neg, starts = counts.tp, counts.fp, counts.neg, counts.starts
    # A run from which the next rises straight up is left out.
    next_runs = (neg[:-1] > 0) | (fp[1:] != fp[:-1])
    kept = np.append(next_runs if merged else np.ones_like(next_runs), True)[: len(tp)]
    kept[starts[1:][np.diff(starts) > 0] - 1] = True
    begins = np.append(True, kept[:-1])[: len(kept)]
    spans = counts.tied[begins], counts.end[kept]
    starts = np.append(0, np.cumsum(kept))[starts]
    number, tp = np.diff(starts), tp[kept]
    of_areas = {
        "pos": _increments(tp, starts), "neg": neg[kept], "tp": tp, "fp": fp[kept],
        "positives": np.repeat(counts.positives, number),
        "negatives": np.repeat(counts.negatives, number),
    }  # fmt: skip
    return of_areas, spans, starts


def _scored_cells(rows: SortedCodes, of_keys: "dict[str, Array]") -> ScoredCells:
    """All cells, from sorted codes."""
    ranked, first_row, shared = rows.codes, rows.starts, rows.shared
    # Codes of one key and score differ in the truth alone, their last bit.
    new = np.empty(len(ranked), bool)
    new[:1] = True
    np.greater(ranked[1:] ^ ranked[:-1], 1, out=new[1:])
    if new.all():
        return ScoredCells(ranked, None, first_row, of_keys, shared, rows.weights)
    firsts = np.flatnonzero(new)
    starts = np.searchsorted(firsts, first_row)
    return ScoredCells(ranked, firsts, starts, of_keys, shared, rows.weights)
