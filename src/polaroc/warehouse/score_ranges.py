"""Ranges of scores, to cumulate large keys in pieces."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, isfinite
from typing import Any, Literal, TypeAlias

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.joins import join_on
from polaroc.base.private_columns import COUNT
from polaroc.errors import Hint, InvalidArgument
from polaroc.predictions.row_checks import SCORE
from polaroc.warehouse.columns import deferred, ibis_library, literal
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
            hint=Hint(
                "for example {ranges}, or ranges=[0.1, 0.5, 0.9].",
                command_line="for example {ranges}.",
                ranges=64,
            ),
        )
    return sorted(set(map(float, listed)))
