"""Scores in bins: fewer numbers leave the data, and the areas have certain bounds."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import TypeAlias

from polaroc.base.checks import is_number
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.segments import FIRST, RATES
from polaroc.errors import InvalidArgument, quoted
from polaroc.measures.catalog import CATALOG
from polaroc.measures.spec import Measure
from polaroc.predictions.row_checks import SCORE
from polaroc.warehouse.columns import IBIS, Column, Ibis, column, deferred, ibis_library, literal
from polaroc.warehouse.predictions import Predictions

Bins: TypeAlias = int | Sequence[float]
MOST_BINS = 100_000
# What the sums may round by.
ROUNDING = 1e-10
T0, F0, T1, F1, DT, DF = RATES


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
    return replace(predictions, rows=predictions.rows.mutate(**{SCORE: lower}))


def resolve_edges(bins: Bins) -> list[float]:
    """The lower edges of bins, or of so many equal ones from 0 to 1."""
    if isinstance(bins, int) and not isinstance(bins, bool) and 1 <= bins <= MOST_BINS:
        return [i / bins for i in range(bins)]
    listed = list(bins) if isinstance(bins, Iterable) and not isinstance(bins, str) else []
    numbers = listed and all(is_number(edge) and isfinite(edge) for edge in listed)
    if not numbers or any(low >= high for low, high in pairwise(listed)):
        raise InvalidArgument(
            f"bins is {bins!r}, allowed are a number of bins up to {MOST_BINS}, or rising edges.",
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


BEST, WORST = Ibis(_best), Ibis(_worst)


def bounded(
    measures: Sequence[Measure], lowest: Sequence[Measure], highest: Sequence[Measure]
) -> tuple[list[Measure], dict[str, list[Column]]]:
    """The measures with the sums of their bounds, and these by the name of their column."""
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
    """The measures that have bounds, by default all; refuse others, and other areas."""
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
