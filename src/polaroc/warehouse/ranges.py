"""Scores in ranges that are cumulated apart, for keys too large for one worker."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, isfinite
from typing import Any, Literal, TypeAlias

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.private_columns import PRIVATE
from polaroc.errors import Hint, InvalidArgument
from polaroc.predictions.row_checks import SCORE
from polaroc.warehouse.columns import deferred, ibis_library, literal
from polaroc.warehouse.connections import check_connected, collected
from polaroc.warehouse.predictions import Predictions

Ranges: TypeAlias = int | Sequence[float] | Literal["auto"] | None
RANGE = PRIVATE + "range"
COUNT = PRIVATE + "count"
# Every row is compared with the edges, in steps that halve them: the query grows with them.
MOST = 256
# Rows of the largest key that one range is for, where the number of ranges is found.
ROWS_EACH = 1_000_000
# Scores that the edges are taken from.
SAMPLE = 100_000


def split(predictions: Predictions, ranges: Ranges) -> Predictions:
    """The predictions, to be cumulated in ranges of the score."""
    return replace(predictions, edges=tuple(edges_of(predictions, ranges)))


def edges_of(predictions: Predictions, ranges: Ranges) -> list[float]:
    """The scores at which a new range begins, ascending; none where all is one range.

    Where a number of ranges is asked for, this asks the engine at once how many
    rows there are, and for a sample of their scores. Edges balance the work;
    results do not depend on them.
    """
    if ranges is None:
        return []
    if isinstance(ranges, str) and ranges == "auto":
        return automatic(predictions)
    if not isinstance(ranges, int) or isinstance(ranges, bool):
        return _given(ranges)
    if not 1 <= ranges <= MOST:
        raise InvalidArgument(
            f"ranges is {ranges!r}, allowed are 1 to {MOST}, or the edges themselves.",
            hint="about one range for each million rows of the largest key.",
        )
    return [] if ranges == 1 else quantiles(_sample(predictions, [SCORE])[SCORE], ranges)


def automatic(predictions: Predictions) -> list[float]:
    """Edges for one range to each `ROWS_EACH` rows of the largest key.

    They are taken from the scores of the keys that have more rows than that: those
    of all others, however many, may lie elsewhere.
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
    return quantiles(sample[SCORE], min(MOST, ceil(most / ROWS_EACH)))


def quantiles(scores: pl.Series, ranges: int) -> list[float]:
    """Edges that part scores into about equally many."""
    finite = scores.filter(scores.is_finite()).sort()
    places = [len(finite) * i // ranges for i in range(1, ranges)] if len(finite) else []
    return finite.gather(places).unique().sort().to_list()


def range_of(edges: Sequence[float], below: int = 0) -> Any:
    """The number of the range that a score is in: how many edges it reaches."""
    if not edges:
        return ibis_library().literal(below, type="int64")
    middle = len(edges) // 2
    above = range_of(edges[middle + 1 :], below + middle + 1)
    reached = deferred(SCORE) >= literal(edges[middle])
    return reached.ifelse(above, range_of(edges[:middle], below))


def _sample(predictions: Predictions, columns: Sequence[str]) -> pl.DataFrame:
    """Columns of some of the rows that have a score, about `SAMPLE` of them or all."""
    ranked = predictions.rows.filter(deferred(SCORE).notnull())
    rows = collected(ranked.aggregate(**{COUNT: ibis_library()._.count()})).item()
    share = min(1.0, SAMPLE / max(rows, 1))
    chosen = ranked if share == 1 else ranked.filter(ibis_library().random() < share)
    return collected(chosen.select(*columns))


def _given(edges: object) -> list[float]:
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
