"""Certain bounds on measures of scores of which only counts in bins are known."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from polaroc.base.backend import POLARS, Backend
from polaroc.base.checks import one_or_several
from polaroc.base.columns import MEASURE_COLUMNS, OVER, collect_like, takes_table
from polaroc.base.private_columns import PRIVATE
from polaroc.curves.bins import bin_keys, curve_from_bins
from polaroc.curves.segments import FIRST, SEGMENT_RATES
from polaroc.errors import InvalidArgument, quoted
from polaroc.measures.catalog import CATALOG, DEFAULT_PRIORS, higher_is_better, select_measures
from polaroc.measures.functions import table_sums
from polaroc.measures.spec import Measure
from polaroc.measures.table import tidy
from polaroc.priors.beliefs import Belief
from polaroc.typing import Frame, Priors, Quantity

# Bound on the rounding errors of sums.
SUM_ERROR = 1e-10
BOUNDS = ("lower", "upper")
DEFAULT_MEASURES = ("auc", "auprec", "iauprec")
UNCOUNTED = "rows that cannot be ranked, or bins with different edges, among the counts"
T0, F0, T1, F1, _, DF = SEGMENT_RATES
TOTALS = ("positives", "negatives")


@takes_table
def bounds(
    frame: Frame,
    *,
    priors: Priors = DEFAULT_PRIORS,
    over: tuple[float, float] | Belief | None = None,
    measures: str | Sequence[str] | None = None,
) -> Frame:
    """Measures of counts in bins, each with a least and a greatest value that are certain.

    The measure of the scores themselves, of all tables that were added, lies between the
    bounds. They say what is lost by not knowing the order of the cases within a bin, and
    nothing about the sampling error of the cases.

    Parameters
    ----------
    frame
        The result of `binned` or `merge_bins`; several put under one another are added.
    priors, over
        As in `evaluate`.
    measures
        Any of "auc", "auprec", "equal_error", and with a range in `over` "iauprec" and
        "auc_range"; by default the first two, and "iauprec" where `over` is given.

    Returns
    -------
    Frame of the kind given
        The columns of `evaluate`, and after `estimate`, which takes the cases of a bin for
        one tie, `lower` and `upper` Float64: null where the estimate is.

    Raises
    ------
    InvalidTable, InvalidArgument
        As in `merge_bins`; for measures that have no such bounds.

    Notes
    -----
    Between the edges of a bin, from (f₀, t₀) to (f₁, t₁), the ROC curve of the scores goes up
    and to the right. So it is nowhere above the curve that goes from (f₀, t₀) straight up to t₁
    and then to the right, the best order, in which all positives of the bin come first, and
    nowhere below the curve that goes first to the right, the worst. At each recall the false
    positive rate is least on the best curve and greatest on the worst; precision at a
    prior, t/(t + λf), falls as f rises, hence AUPREC at every prior, and its mean over
    any priors, is greatest for the best and least for the worst order (D&G Theorem 3.2). So is
    the AUC, an area below the curve. A balanced point lies where the curve crosses the ray 1 −
    t = λf, which a higher curve crosses at a lower error. The bounds are these measures of the
    two orders, and therefore as close as counts allow.

    Bounds are 1e-10 wider than computed, more than sums are rounded by.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.twenty_scores()
    >>> counts = pr.binned(table, truth="truth", score="score", bins=10)
    >>> found = pr.bounds(counts, priors=0.5).select("measure", "lower", "upper")
    >>> [(name, round(lower, 2), round(upper, 2)) for name, lower, upper in found.rows()]
    [('auc', 0.56, 0.8), ('auprec', 0.64, 0.78)]
    """
    keys: list[str] = bin_keys(frame.lazy())
    names = bounded_measures(measures, over)
    bounded = with_bounds(lambda backend: select_measures(
        names, priors, over, "exact", backend
    ).measures, POLARS)  # fmt: skip
    note = pl.when(pl.col("positives").is_null()).then(pl.lit(UNCOUNTED)).alias("note")
    curve = curve_from_bins(frame).lazy()
    wide = table_sums(curve, keys, bounded.all).with_columns(note)
    wide = wide.cache() if isinstance(frame, pl.LazyFrame) else wide.collect().lazy()
    measured = tidy(wide, keys, bounded.measures)
    limits: list[pl.LazyFrame] = [
        tidy(wide, keys, of).select((pl.col("estimate") + rounding).clip(0, 1).alias(name))
        for name, of, rounding in zip(BOUNDS, bounded[1:], (-SUM_ERROR, SUM_ERROR), strict=True)
    ]
    columns = [*keys, *MEASURE_COLUMNS[:3], *BOUNDS, *MEASURE_COLUMNS[3:]]
    if any(measure.over for measure in bounded.measures):
        columns.append(OVER)
    # All three have the same rows in the same order.
    return collect_like(frame, pl.concat([measured, *limits], how="horizontal").select(columns))


class Bounded(NamedTuple):
    """Measures of bins taken for ties, and of the orders that are their bounds."""

    measures: list[Measure]
    lower: list[Measure]
    upper: list[Measure]

    @property
    def all(self) -> list[Measure]:
        """All that need sums over the curve."""
        return [*self.measures, *self.lower, *self.upper]


def with_bounds(build: Callable[[Backend], list[Measure]], backend: Backend) -> Bounded:
    """The measures that `build` makes for a backend, with those of the worst and best order."""
    measures = build(backend)
    worst, best = (
        [_prefixed(measure, prefix) for measure in build(_in_order(backend, prefix, column))]
        for prefix, column in ((PRIVATE + "worst", _worst), (PRIVATE + "best", _best))
    )
    pairs = [
        (low, high) if higher_is_better(low.name) else (high, low)
        for low, high in zip(worst, best, strict=True)
    ]
    return Bounded(measures, *(list(of) for of in zip(*pairs, strict=True)))


def _best(name: str, backend: Backend) -> Quantity:
    """A column of a bin whose positives all come first: the curve rises, then runs."""
    column = backend.column
    if name in (F1, DF):
        return column(F0) if name == F1 else 0 * column(DF)
    return column(name)


def _worst(name: str, backend: Backend) -> Quantity:
    """A column of a bin whose negatives all come first: the curve runs, then rises."""
    column = backend.column
    if name in (F0, DF):
        return column(F1) if name == F0 else 0 * column(DF)
    return (column(T0) == 0) & (column(F1) == 0) if name == FIRST else column(name)


def _in_order(backend: Backend, prefix: str, of_bin: Callable[[str, Backend], Quantity]) -> Backend:
    """A backend whose segments are those of an order; what is made of them has a prefix."""

    def column(name: str) -> Quantity:
        if name in (*SEGMENT_RATES, FIRST):
            return of_bin(name, backend)
        return backend.column(name if name in TOTALS else prefix + name)

    return replace(backend, column=column)  # type: ignore[type-var]


def _prefixed(measure: Measure, prefix: str) -> Measure:
    """A measure with a prefix before the names of all that is computed for it."""
    columns, sums, least = (
        {prefix + name: value for name, value in values.items()}
        for values in (measure.columns, measure.sums, measure.least)
    )
    return replace(measure, columns=columns, sums=sums, least=least)


def bounded_measures(
    measures: str | Sequence[str] | None, over: object, interpolation: str = "exact"
) -> list[str]:
    """The names of measures that have bounds, by default areas; raise for others."""
    monotone = [name for name, one in CATALOG.items() if one.monotone]
    default = [name for name in DEFAULT_MEASURES if CATALOG[name].over is None or over is not None]
    names: list[Any] = default if measures is None else one_or_several(measures)
    unknown = [name for name in names if not isinstance(name, str) or name not in monotone]
    if unknown or interpolation != "exact":
        raise InvalidArgument(
            f"measures has {quoted(names)} and interpolation is {interpolation!r}; with bins "
            f"allowed are {', '.join(monotone)} and 'exact'.",
            hint="evaluate the scores themselves, without bins, for the others.",
        )
    return names
