"""The whole flow in one query: predictions in, tidy measures out."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.columns import attach
from polaroc.base.private_columns import FRACTIONAL, ROW_ERROR, WEIGHT
from polaroc.curves.curve import in_order
from polaroc.curves.hull import hull as hull_of
from polaroc.errors import Hint, InvalidArgument
from polaroc.evaluation.pipeline import with_intervals
from polaroc.evaluation.request import Request
from polaroc.files.memory import Memory
from polaroc.files.progress import Progress
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.measures.spec import Measure
from polaroc.measures.table import per_key as here_per_key
from polaroc.measures.table import tidy as tidy_here
from polaroc.priors.beliefs import Belief
from polaroc.typing import Interpolation, Intervals, Label, Nulls, Priors
from polaroc.warehouse.cells import FATAL, cells, counted
from polaroc.warehouse.columns import IBIS, deferred, literal
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.curves import TOTALS, fetched, in_memory, to_curve_table
from polaroc.warehouse.measures import per_key, tidy
from polaroc.warehouse.notes import trouble_note, trouble_sums
from polaroc.warehouse.predictions import Predictions, read
from polaroc.warehouse.score_ranges import (
    BEST,
    WORST,
    Bins,
    Ranges,
    binned,
    bounded,
    check_bounded,
    split,
)

if TYPE_CHECKING:
    from ibis.expr.types import Table

# More cells than these are not fetched: some 2 GB.
MOST_CELLS = 20_000_000


def evaluate(
    table: "Table",
    *,
    truth: str,
    score: str | Mapping[str, str] | Sequence[str],
    by: str | Sequence[str] | None = (),
    weight: str | None = None,
    positive: Label | Sequence[Label] | None = None,
    nulls: Nulls = "raise",
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    interpolation: Interpolation = "exact",
    intervals: Intervals | None = None,
    level: float = 0.95,
    measures: str | Sequence[str] | None = None,
    memory: Memory | None = None,
    scratch: str | PathLike[str] | None = None,
    progress: Progress | None = None,
    bins: Bins | None = None,
    ranges: Ranges = None,
) -> "Table":
    """Every measure of every key, in one query over the predictions, as `polaroc.evaluate`.

    Parameters
    ----------
    table
        Predictions, one row per case.
    truth, score, by, weight, positive, nulls, ranges
        As in `warehouse.curve`.
    priors, over, interpolation, measures
        As in `polaroc.evaluate`; for the interpolation ``"hull"`` see
        `warehouse.auprec`.
    intervals, level
        As in `polaroc.evaluate`. The cells, one per key and distinct score (at
        most 20 million), are then fetched at once and finished on this machine,
        and the result is a table in memory. Weights that are not whole numbers
        are told in `note`.
    memory, scratch, progress
        Only None: they are for work on this machine, and this is the engine's,
        which has settings of its own for it.
    bins
        How many equal bins from 0 to 1, or the rising edges of bins, the scores
        are put in first, so that only their counts are ranked; by default none.
        Scores in no bin make one more below and belong to the last above. Only
        "auc", "auprec" and "iauprec" may be asked for, with exact interpolation.

    Returns
    -------
    Table
        The columns of `polaroc.evaluate`, its rows in no order. Nothing is
        computed until the table is executed. With bins, `estimate` is that of a
        bin as one tie, and `lower` and `upper` are what the worst and the best
        order within all bins would give: the measure of
        the scores themselves lies between them.

    Raises
    ------
    InvalidPredictions, InvalidArgument, InvalidTable
        As `polaroc.evaluate` does for a lazy frame.

    Examples
    --------
    >>> import ibis
    >>> import polaroc as pr
    >>> table = ibis.memtable(pr.datasets.twenty_scores())
    >>> measures = pr.warehouse.evaluate(table, truth="truth", score="score", priors=0.1)
    >>> found = measures.order_by("measure").to_polars()
    >>> [(name, round(value, 3)) for name, value in found.select("measure", "estimate").rows()]
    [('auc', 0.68), ('auprec', 0.35)]
    """
    _refuse_given(memory=memory, scratch=scratch, progress=progress)
    if bins is not None:
        measures = check_bounded(measures, interpolation, over)
    request = Request(
        truth=truth, score=score, by=by, weight=weight, positive=positive, nulls=nulls,
        priors=priors, over=over, interpolation=interpolation, intervals=intervals, level=level,
        measures=measures,
    )  # fmt: skip
    if bins is not None and intervals is not None:
        raise InvalidArgument(
            f"intervals is {intervals!r} and bins are given, allowed is one of them.",
            hint="bounds from bins are certain; leave bins out for intervals.",
        )
    predictions = read(table, **request.columns)
    if bins is not None:
        predictions = binned(predictions, bins)
        lowest, highest = (request.select(of).measures for of in (WORST, BEST))
        with_bounds, limits = bounded(request.select(IBIS).measures, lowest, highest)
        return measured(predictions, _cells(predictions), with_bounds, **limits)
    predictions = split(predictions, ranges)
    counts = _cells(predictions)
    on_curve, on_hull = request.select(IBIS).parted
    if not on_hull and intervals is None:
        return measured(predictions, counts, on_curve)
    check_connected(table)
    kind = pl.Float64 if predictions.weighted else pl.Int64
    noted = collected(of_keys(predictions, counts, [])).with_columns(pl.col(TOTALS).cast(kind))
    points = to_curve_table(predictions, counts)
    if intervals is not None:
        return in_memory(limits_here(predictions, points, noted, request))
    here = request.selected.parted[1]
    return in_memory(_with_hulls(predictions, counts, points, noted, here, on_curve))


def _refuse_given(**local: object) -> None:
    """Refuse what is only for work on this machine."""
    given = [name for name, value in local.items() if value is not None]
    if given:
        raise InvalidArgument(
            f"{' and '.join(given)} is given, which is for work on this machine, not the engine's.",
            hint=Hint(
                "leave it out; for keys too large for one worker give {ranges}.", ranges="auto"
            ),
        )


def _with_hulls(
    predictions: Predictions,
    counts: "Table",
    points: "Table",
    noted: pl.DataFrame,
    here: Sequence[Measure],
    on_curve: Sequence[Measure],
) -> pl.DataFrame:
    """The measures, some of them of the hulls, which are finished here."""
    hulls = hull_of(fetched(points)).lazy()
    sums = here_per_key(hulls.filter(pl.col("pos") > 0), predictions.keys, here)
    wide = attach(
        noted.lazy(), sums.drop("positives", "negatives"), predictions.keys, required=False
    )
    parts = [tidy_here(wide, predictions.keys, here).collect()]
    if on_curve:
        parts.append(collected(measured(predictions, counts, on_curve)))
    return pl.concat(parts, how="diagonal")


def _cells(predictions: Predictions) -> "Table":
    return cells(predictions, counted(predictions))


def measured(
    predictions: Predictions, rows: "Table", measures: Sequence[Measure], **limits: Any
) -> "Table":
    """The tidy measures of cells."""
    noted = of_keys(predictions, rows, measures)
    return tidy(noted, predictions.keys, measures, weighted=predictions.weighted, limits=limits)


def of_keys(predictions: Predictions, rows: "Table", measures: Sequence[Measure]) -> "Table":
    """One row per key: its totals, what is to be said of it, and the sums of the measures."""
    wide = per_key(rows, predictions.keys, measures, trouble_sums(predictions))
    sound = deferred(FATAL) == 0
    totals = {name: sound.ifelse(deferred(name), literal(None)) for name in TOTALS}
    noted = wide.mutate(note=trouble_note(predictions)).mutate(**totals)
    return noted.drop(*trouble_sums(predictions))


def limits_here(
    predictions: Predictions, curve: "Table", noted: pl.DataFrame, request: Request
) -> pl.DataFrame:
    """The tidy measures of a curve with intervals, finished on this machine."""
    keys, measures = predictions.keys, request.selected.measures
    flags = _with_fractional(noted.lazy().drop(TOTALS), predictions)
    curves = in_order(attach(_fetched_cells(curve).lazy(), flags, keys), keys)
    sums = here_per_key(curves.filter(pl.col("pos") > 0), keys, measures).drop(TOTALS)
    measured = tidy_here(attach(noted.lazy(), sums, keys, required=False), keys, measures)
    return with_intervals(curves, measured, keys, request).collect()


def _fetched_cells(curve: "Table") -> pl.DataFrame:
    cells = collected(curve.limit(MOST_CELLS + 1))
    if cells.height > MOST_CELLS:
        raise InvalidArgument(
            f"there are more than {MOST_CELLS:,} different scores per key in all, and intervals "
            "are finished on this machine.",
            hint="round the scores first, evaluate some of the keys, or leave intervals out.",
        )
    return cells


def _with_fractional(noted: pl.LazyFrame, predictions: Predictions) -> pl.LazyFrame:
    """Keys with `FRACTIONAL`: whether a weight of a sound row is not a whole number."""
    if not predictions.weighted:
        return noted.with_columns(pl.lit(False).alias(FRACTIONAL))
    weight = deferred(WEIGHT)
    broken = {FRACTIONAL: (weight != weight.floor()).ifelse(1, 0).max()}
    sound = predictions.rows.filter(deferred(ROW_ERROR).isnull())
    flags = sound.aggregate(by=predictions.keys, **broken)
    known = collected(flags).lazy().with_columns(pl.col(FRACTIONAL) == 1)
    flagged = attach(noted, known, predictions.keys, required=False)
    return flagged.with_columns(pl.col(FRACTIONAL).fill_null(False))
