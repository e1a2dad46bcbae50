"""The tie-collapsed cells of every key, computed by the engine, of large keys in ranges."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, isfinite
from typing import Any, Literal, TypeAlias

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.columns import EFFECTIVE, MAX_SQUARED
from polaroc.base.joins import join_on
from polaroc.base.private_columns import (
    COUNT,
    LEAST_NEG,
    LEAST_POS,
    NEG_SQUARES,
    PLACE,
    PRIVATE,
    RANGE,
    ROW_ERROR,
    ROWS,
    TRUTH,
    WEIGHT,
)
from polaroc.curves.segments import snap_to_total
from polaroc.errors import InvalidArgument
from polaroc.predictions.row_checks import SCORE
from polaroc.typing import IbisTable
from polaroc.warehouse.columns import IBIS, deferred, ibis_library, literal, to_ibis
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.predictions import Predictions

Ranges: TypeAlias = int | Sequence[float] | Literal["auto"] | None
# A query has one comparison per edge.
MAX_RANGES = 256
# Rows of the largest key per range, where the number of ranges is automatic.
ROWS_EACH = 1_000_000
# Approximate number of scores in the sample that edges are taken from.
SAMPLE = 100_000


def with_ranges(predictions: Predictions, ranges: Ranges) -> Predictions:
    """The predictions, to be cumulated in ranges of the score."""
    return replace(predictions, edges=tuple(edges_of(predictions, ranges)))


def edges_of(predictions: Predictions, ranges: Ranges) -> list[float]:
    """The scores at which ranges begin, ascending; empty for a single range.

    For a number of ranges, this counts the rows and fetches a sample of their scores. Edges
    balance the work; results do not depend on them.
    """
    if ranges is None:
        return []
    if isinstance(ranges, str) and ranges == "auto":
        return automatic_edges(predictions)
    if not isinstance(ranges, int) or isinstance(ranges, bool):
        return _checked_edges(ranges)
    if not 1 <= ranges <= MAX_RANGES:
        raise InvalidArgument(
            f"ranges is {ranges!r}, allowed are 1 to {MAX_RANGES}, or the edges themselves.",
            hint="about one range for each million rows of the largest key.",
        )
    return [] if ranges == 1 else quantiles(_sample(predictions, [SCORE])[SCORE], ranges)


def automatic_edges(predictions: Predictions) -> list[float]:
    """Edges for one range per `ROWS_EACH` rows of the largest key.

    They are quantiles of the scores of keys with more rows than that: only these are split,
    and the scores of other keys may be distributed differently.
    """
    check_connected(predictions.rows)
    keys = predictions.keys
    of_key = predictions.rows.aggregate(by=keys, **{COUNT: ibis_library()._.count()})
    large = collected(of_key.view().filter(deferred(COUNT) > ROWS_EACH))
    if large.is_empty():
        return []
    sample = _sample(predictions, [*keys, SCORE])
    if keys:
        sample = join_on(sample, large, keys, "semi")
    most = int(large[COUNT].max())  # type: ignore[arg-type]
    return quantiles(sample[SCORE], min(MAX_RANGES, ceil(most / ROWS_EACH)))


def quantiles(scores: pl.Series, ranges: int) -> list[float]:
    """Edges of ranges with about equally many scores."""
    finite = scores.filter(scores.is_finite()).sort()
    places = [len(finite) * i // ranges for i in range(1, ranges)] if len(finite) else []
    return finite.gather(places).unique().sort().to_list()


def range_number(edges: Sequence[float], below: int = 0) -> Any:
    """The number of the range of a score: how many edges are at or below it."""
    if not edges:
        return ibis_library().literal(below, type="int64")
    middle = len(edges) // 2
    above = range_number(edges[middle + 1 :], below + middle + 1)
    reached = deferred(SCORE) >= literal(edges[middle])
    return reached.ifelse(above, range_number(edges[:middle], below))


def _sample(predictions: Predictions, columns: Sequence[str]) -> pl.DataFrame:
    """Columns of a random sample of about `SAMPLE` of the rows with a score, or of all."""
    ranked = predictions.rows.filter(deferred(SCORE).notnull())
    rows = collected(ranked.aggregate(**{COUNT: ibis_library()._.count()})).item()
    share = min(1.0, SAMPLE / max(rows, 1))
    chosen = ranked if share == 1 else ranked.filter(ibis_library().random() < share)
    return collected(chosen.select(*columns))


def _checked_edges(edges: object) -> list[float]:
    several = isinstance(edges, Sequence) and not isinstance(edges, str)
    listed: list[Any] = list(edges) if several else [None]  # type: ignore[call-overload]
    if not all(is_number(edge) and isfinite(edge) for edge in listed):
        raise InvalidArgument(
            f"ranges is {edges!r}, allowed are 'auto', a number of ranges and a list of finite "
            "scores.",
            hint="for example ranges=64, or ranges=[0.1, 0.5, 0.9].",
        )
    return sorted(set(map(float, listed)))


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
    """The aggregates of rows: their counts by class and, if weighted, least weights."""
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
    if predictions.sampled:
        bounded = ibis_library().least(weight, literal(MAX_SQUARED))
        squares = (valid & ~truth).ifelse(bounded * bounded, literal(0))
        columns[NEG_SQUARES] = squares.sum()
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
    columns |= {name: deferred(name).sum().over(whole) for name in predictions.squares}
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
        # No cell has more than its key.
        **{name: deferred(name).max().over(down) for name in predictions.squares},
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
    columns |= {name: deferred(name).sum().over(whole) for name in predictions.squares}
    return per_range.mutate(**columns)


def fatal_rows(predictions: Predictions) -> Any:
    """The number of rows of a cell that rule out a result for its key."""
    return deferred(ROW_ERROR).isin(predictions.fatal).ifelse(deferred(ROWS), literal(0))


def effective_number(predictions: Predictions) -> dict[str, Any]:
    """The column `EFFECTIVE` of rows with `negatives`, where weights are those of a sample."""
    if not predictions.sampled:
        return {}
    negatives = deferred("negatives")
    return {EFFECTIVE: negatives * (negatives / deferred(NEG_SQUARES).nullif(0))}


def noted_cells() -> Any:
    """Whether a cell has rows in error, or is one of the best three of its window.

    The notes of a key follow from these and from its cells with positives: three scores are
    never labels of two classes alone.
    """
    return deferred(ROW_ERROR).notnull() | (deferred(PLACE) < literal(3))
