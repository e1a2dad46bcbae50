"""Ranges of scores, to cumulate large keys in pieces; bins of scores, with bounds on areas."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, isfinite
from typing import Any, Literal, TypeAlias

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.segments import FIRST, RATES
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.measures.catalog import CATALOG
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE
from polaroc.warehouse.columns import IBIS, Column, Ibis, column, deferred, ibis_library, literal
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.predictions import Predictions

Ranges: TypeAlias = int | Sequence[float] | Literal["auto"] | None
RANGE = PRIVATE + "range"
COUNT = PRIVATE + "count"
# A query has one comparison per edge.
MAX_RANGES = 256
# Rows of the largest key per range, where the number of ranges is automatic.
ROWS_EACH = 1_000_000
# Approximate number of scores in the sample that edges are taken from.
SAMPLE = 100_000
Bins: TypeAlias = int | Sequence[float]
MAX_BINS = 100_000
# Bound on the rounding errors of sums.
ROUNDING = 1e-10
T0, F0, T1, F1, DT, DF = RATES


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
        sample = sample.join(large, on=keys, how="semi", nulls_equal=True)
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
            hint=Hint(
                "for example {ranges}, or ranges=[0.1, 0.5, 0.9].",
                command_line="for example {ranges}.",
                ranges=64,
            ),
        )
    return sorted(set(map(float, listed)))


def binned(predictions: Predictions, bins: Bins) -> Predictions:
    """The predictions with the lower edge of their bin as score; −∞ below the first edge."""
    edges = resolve_edges(bins)
    score, equal = deferred(SCORE), isinstance(bins, int)
    if equal:
        inner = (score * bins).floor() / bins
        lower = ibis_library().cases(
            (score < 0, literal(float("-inf"))), (score >= 1, literal(1)), else_=inner
        )
    else:
        above = [(score >= literal(edge), literal(edge)) for edge in reversed(edges)]
        lower = ibis_library().cases(
            (score.isnull(), literal(None)), *above, else_=literal(float("-inf"))
        )
    return replace(predictions, rows=predictions.rows.mutate(**{SCORE: lower}), rounded=True)


def resolve_edges(bins: Bins) -> list[float]:
    """The lower edges of bins; a number means equal bins from 0 to 1."""
    if isinstance(bins, int) and not isinstance(bins, bool) and 1 <= bins <= MAX_BINS:
        return [i / bins for i in range(bins)]
    listed = list(bins) if isinstance(bins, Iterable) and not isinstance(bins, str) else []
    numbers = listed and all(is_number(edge) and isfinite(edge) for edge in listed)
    if not numbers or any(low >= high for low, high in pairwise(listed)):
        raise InvalidArgument(
            f"bins is {bins!r}, allowed are a number of bins up to {MAX_BINS}, or rising edges.",
            hint="for example bins=1000 for scores from 0 to 1, or bins=[-2.0, 0.0, 2.0].",
        )
    return [float(edge) for edge in listed]


def _best(name: str) -> Column:
    """A column of a bin whose positives all come first: the curve rises, then runs."""
    if name in (F1, DF):
        return column(F0) if name == F1 else 0 * column(DF)
    return column(name)


def _worst(name: str) -> Column:
    """A column of a bin whose negatives all come first: the curve runs, then rises."""
    if name in (F0, DF):
        return column(F1) if name == F0 else 0 * column(DF)
    return (column(T0) == 0) & (column(F1) == 0) if name == FIRST else column(name)


# Held columns would have the same names as those of the estimate.
BEST, WORST = Ibis(_best, holds=False), Ibis(_worst, holds=False)


def bounded(
    measures: Sequence[Measure], lowest: Sequence[Measure], highest: Sequence[Measure]
) -> tuple[list[Measure], dict[str, list[Column]]]:
    """The measures with the sums of their bounds, and the bounds as "lower" and "upper"."""
    with_sums: list[Measure] = []
    limits: dict[str, list[Column]] = {"lower": [], "upper": []}
    for measure, low, high in zip(measures, lowest, highest, strict=True):
        (own,) = measure.sums
        ends = {PRIVATE + "lower" + own: low.sums[own], PRIVATE + "upper" + own: high.sums[own]}
        with_sums.append(replace(measure, sums=measure.sums | ends))
        lower, upper = map(column, ends)
        limits["lower"].append(IBIS.clip(lower - ROUNDING, 0, 1))
        limits["upper"].append(IBIS.clip(upper + ROUNDING, 0, 1))
    return with_sums, limits


def check_bounded(
    measures: str | Sequence[str] | None, interpolation: str, over: object
) -> list[str]:
    """The names of measures that have bounds, by default all; raise for others."""
    bounded = {name: one for name, one in CATALOG.items() if one.rises_within_ties}
    default = [name for name, one in bounded.items() if one.over is None or over is not None]
    names = [measures] if isinstance(measures, str) else list(measures or default)
    if any(name not in bounded for name in names) or interpolation != "exact":
        raise InvalidArgument(
            f"bins are given, measures has {quoted(names)} and interpolation is "
            f"{interpolation!r}; with bins allowed are {', '.join(bounded)} and 'exact'.",
            hint="leave bins out for the others.",
        )
    return names
