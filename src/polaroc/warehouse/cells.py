"""The tie-collapsed cells of every key, computed by the engine."""

from collections.abc import Sequence
from typing import Any

from polaroc.base.private_columns import (
    LEAST_NEG,
    LEAST_POS,
    PLACE,
    PRIVATE,
    RANGE,
    ROW_ERROR,
    ROWS,
    TRUTH,
    WEIGHT,
)
from polaroc.curves.segments import snap_to_total
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import IBIS, deferred, ibis_library, literal, to_ibis
from polaroc.warehouse.predictions import Predictions
from polaroc.warehouse.score_ranges import range_number

GREATEST = PRIVATE + "greatest"
# Number of invalid rows of a key that rule out a result for it.
FATAL = PRIVATE + "fatal"
# Whether a row is not a cell but the head of its range, see `cumulate_in_ranges`.
HEAD = PRIVATE + "head"
# The cumulative counts as the engine sums them.
TP_SUM, FP_SUM = PRIVATE + "tp_sum", PRIVATE + "fp_sum"


def count_cells(predictions: Predictions) -> IbisTable:
    """One row per key, score and row error; counts are floats, which are exact up to 2⁵³."""
    return predictions.rows.group_by([*predictions.keys, SCORE, ROW_ERROR]).aggregate(
        **_sums(predictions)
    )


def _sums(predictions: Predictions) -> dict[str, Any]:
    """The aggregates of rows: their counts by class and, if weighted, extreme weights."""
    valid, truth = deferred(ROW_ERROR).isnull(), deferred(TRUTH)
    weight = deferred(WEIGHT) if predictions.weighted else literal(1)
    columns = {
        "pos": (valid & truth).ifelse(weight, literal(0)).sum(),
        "neg": (valid & ~truth).ifelse(weight, literal(0)).sum(),
        ROWS: ibis_library()._.count().cast("float64"),
    }
    if predictions.weighted:
        counts = valid & (deferred(WEIGHT) > 0)
        columns[LEAST_POS] = deferred(WEIGHT).min(where=counts & truth)
        columns[LEAST_NEG] = deferred(WEIGHT).min(where=counts & ~truth)
        columns[GREATEST] = deferred(WEIGHT).max(where=counts)
    return columns


def cells(predictions: Predictions, counts: IbisTable) -> IbisTable:
    """The rows of `count_cells` with the totals of the key and the counts at or above the score."""
    summed = cumulate(predictions, counts)
    if not predictions.weighted:
        return summed.rename({"tp": TP_SUM, "fp": FP_SUM})
    ends = {}
    for cumulative, increment, total, least, name in (
        (TP_SUM, "pos", "positives", LEAST_POS, "tp"),
        (FP_SUM, "neg", "negatives", LEAST_NEG, "fp"),
    ):
        sum_, added, key_total, lightest = map(IBIS.column, (cumulative, increment, total, least))
        start = snap_to_total(sum_ - added, key_total, lightest, IBIS)
        end = snap_to_total(sum_, key_total, lightest, IBIS)
        ends[name], ends[increment] = to_ibis(end), to_ibis(end - start)
    return summed.mutate(**ends).drop(TP_SUM, FP_SUM)


def cumulate(predictions: Predictions, counts: IbisTable) -> IbisTable:
    """The rows of `count_cells` with cumulative counts, best score first, and totals by key."""
    if predictions.edges:
        return cumulate_in_ranges(predictions, counts)
    ibis = ibis_library()
    keys = predictions.keys
    whole = ibis.window(group_by=keys)
    down = ibis.window(group_by=keys, order_by=ibis.desc(SCORE), rows=(None, 0))
    columns: dict[str, Any] = {
        TP_SUM: deferred("pos").sum().over(down),
        FP_SUM: deferred("neg").sum().over(down),
        "positives": deferred("pos").sum().over(whole),
        "negatives": deferred("neg").sum().over(whole),
        FATAL: fatal_rows(predictions).sum().over(whole),
    }
    columns |= {name: deferred(name).min().over(whole) for name in predictions.least_weights}
    columns[PLACE] = ibis.row_number().over(_falling(keys))
    return counts.mutate(**columns)


def _falling(group: Sequence[str], *before: Any) -> Any:
    """The window of all rows of a group, best score first."""
    ibis = ibis_library()
    return ibis.window(group_by=group, order_by=[*before, ibis.desc(SCORE)])


def cumulate_in_ranges(predictions: Predictions, counts: IbisTable) -> IbisTable:
    """The same with a window per key and range of the score, which limits the size of windows.

    Each window begins with a head: a row with the counts above the range and the totals of
    the key. A join would do the same, but is slow in some engines for keys that may be null.
    """
    ibis = ibis_library()
    place = range_number(predictions.edges)
    totals = _range_heads(predictions, place)
    missing = {name: literal(None) for name in totals.columns if name not in counts.columns}
    body = counts.mutate(**{**missing, RANGE: place, HEAD: ibis.literal(0, type="int64")})
    blank = {name: ibis.null(kind) for name, kind in counts.schema().items()}
    head = totals.mutate(**{name: blank[name] for name in blank if name not in totals.columns})
    rows = ibis.union(body, head.select(*body.columns))
    group = [*predictions.keys, RANGE]
    down = ibis.window(group_by=group, order_by=[ibis.desc(HEAD), ibis.desc(SCORE)], rows=(None, 0))
    columns = {
        TP_SUM: deferred("pos").sum().over(down),
        FP_SUM: deferred("neg").sum().over(down),
        **{name: deferred(name).max().over(down) for name in ("positives", "negatives", FATAL)},
        **{name: deferred(name).min().over(down) for name in predictions.least_weights},
        PLACE: ibis.row_number().over(_falling(group, ibis.desc(HEAD))),
    }
    return rows.mutate(**columns).filter(deferred(HEAD) == 0).drop(RANGE, HEAD)


def _range_heads(predictions: Predictions, place: Any) -> IbisTable:
    """One row per key and range: the counts above it, and the totals of the key."""
    ibis = ibis_library()
    # Where no error is fatal, the condition is a constant, of which there is no sum.
    fatal = deferred(ROW_ERROR).count(where=deferred(ROW_ERROR).isin(predictions.fatal))
    sums = {**_sums(predictions), FATAL: fatal.cast("float64")}
    per_range = (
        predictions.rows.mutate(**{RANGE: place})
        .group_by([*predictions.keys, RANGE])
        .aggregate(**sums)
    )
    whole = ibis.window(group_by=predictions.keys)
    above = ibis.window(group_by=predictions.keys, order_by=ibis.desc(RANGE), rows=(None, -1))
    columns = {
        "positives": deferred("pos").sum().over(whole),
        "negatives": deferred("neg").sum().over(whole),
        FATAL: deferred(FATAL).sum().over(whole),
        "pos": deferred("pos").sum().over(above).coalesce(literal(0)),
        "neg": deferred("neg").sum().over(above).coalesce(literal(0)),
        HEAD: ibis.literal(1, type="int64"),
    }
    columns |= {name: deferred(name).min().over(whole) for name in predictions.least_weights}
    return per_range.mutate(**columns)


def fatal_rows(predictions: Predictions) -> Any:
    """The number of rows of a cell that rule out a result for its key."""
    return deferred(ROW_ERROR).isin(predictions.fatal).ifelse(deferred(ROWS), literal(0))


def noted_cells() -> Any:
    """Whether a cell has rows in error, or is one of the best three of its window.

    The notes of a key follow from these and from its cells with positives: three scores are
    never labels of two classes alone.
    """
    return deferred(ROW_ERROR).notnull() | (deferred(PLACE) < literal(3))
