"""The tidy measure table: what every measure returns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from polaroc.base.backend import Backend
from polaroc.base.columns import INTERVAL, MEASURE_COLUMNS, OVER, PRIVATE, WITH_INTERVAL
from polaroc.base.private_columns import KEY_INDEX
from polaroc.curves.segments import with_segments
from polaroc.measures.gradients import Gradient
from polaroc.measures.interleaving import IS_MANY, PRIOR, SKEW, Shown, interleaved, interpolated
from polaroc.predictions.table import one_class_note
from polaroc.priors.chebyshev import ManyPriors
from polaroc.typing import Quantity

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

WHICH = PRIVATE + "which"
BIAS_RATIO = PRIVATE + "doubt"
WARNING = PRIVATE + "said"
LIMITS_SAID = PRIVATE + "limits_said"
# Of a row that is interpolated: the area, and its variance.
AREA, VARIANCE = PRIVATE + "area", PRIVATE + "variance"
# λ/N above which AUPREC is biased upward for want of negatives, and how that is said.
MAX_BIAS_RATIO = 0.02
BIASED = "λ/N = {}: biased upward"


@dataclass(frozen=True)
class GradientTerm:
    """A number of the curve that a measure is a smooth function of.

    Attributes
    ----------
    name
        What tells it apart from other parts.
    gradient
        Makes its gradient, given the keys; it is costly to write out.
    slope
        The derivative of the measure by it, from the columns of `per_key`.
    """

    name: str
    gradient: Callable[[Sequence[str]], Gradient]
    slope: Quantity = field(default_factory=lambda: pl.lit(1.0))


@dataclass(frozen=True)
class Limits:
    """What is said of the uncertainty of a measure, from the columns of `per_key`."""

    lower: pl.Expr
    upper: pl.Expr
    std_error: pl.Expr
    note: pl.Expr


@dataclass(frozen=True)
class Measure:
    """One number per key, from sums and least values over the segments of its curve.

    All quantities are columns of the backend that computes it.

    Attributes
    ----------
    name
        Its name in the column `measure`.
    estimate
        The number, from the columns of `sums` and `least` and the totals.
    columns
        By column name: what `sums` and `least` use more than once.
    sums, least
        By column name: what is summed, or of which the least is taken, over the
        segments (the rows of the curve with positives).
    prior
        The prior it is taken at, None where it has none.
    over
        The range of priors it is taken over, as `over_label` says it, None where it
        has none.
    doubt
        Skew by which its λ/N is judged, None where it does not depend on one.
    warning
        What else is to be said of it: when, and in which words.
    parts
        What its standard error is made from; none where it has no gradient.
    perfect
        Its lower limit where the test set is ranked perfectly, given how likely
        that may be where the truth is lower.
    straight
        Whether segments in one straight line may be taken as one.
    many
        The priors that it is a node of, which are asked for in its place. All
        nodes follow each other; `perfect` is then written with `SKEW`.
    """

    name: str
    estimate: Quantity
    columns: dict[str, Quantity] = field(default_factory=dict)
    sums: dict[str, Quantity] = field(default_factory=dict)
    least: dict[str, Quantity] = field(default_factory=dict)
    prior: Quantity | None = None
    over: str | None = None
    doubt: Quantity | None = None
    warning: tuple[Quantity, str] | None = None
    parts: tuple[GradientTerm, ...] = ()
    perfect: Callable[[float], pl.Expr] | None = None
    straight: bool = True
    many: ManyPriors | None = None


@dataclass(frozen=True)
class ManyLimits:
    """What is said of the uncertainty of measures that are interpolated.

    Attributes
    ----------
    variance
        That of a node, from the columns of `per_key`.
    limits
        From the columns of a row: `AREA`, `VARIANCE`, `SKEW`, the totals and `kept`.
    kept
        Columns of `per_key` that `limits` needs.
    """

    variance: Callable[[Measure], pl.Expr]
    limits: Limits
    kept: tuple[str, ...] = ()


def humanize_note(note: pl.Expr) -> pl.Expr:
    """A note in words, without the number that stands for few negatives.

    Examples
    --------
    >>> pl.select(humanize_note(pl.lit("λ/N = 0.067: biased upward"))).item()
    'biased upward, the test set has too few negatives for so small a prior'
    """
    return note.str.replace_all(
        BIASED.replace("{}", r"\S+"),
        "biased upward, the test set has too few negatives for so small a prior",
    )


def total(
    name: str,
    segment: Quantity,
    backend: Backend,
    *,
    told_apart: str = "",
    prior: Quantity | None = None,
    doubt: Quantity | None = None,
    gradient: Callable[[], Gradient] | None = None,
) -> Measure:
    """A measure that is the sum of what each segment adds; equal names are `told_apart`."""
    summed = PRIVATE + (told_apart or name)
    return Measure(
        name,
        backend.column(summed),
        sums={summed: segment},
        prior=prior,
        doubt=doubt,
        parts=() if gradient is None else (GradientTerm(summed, lambda _: gradient()),),
    )


def ingredients(measures: Sequence[Measure]) -> tuple[dict[str, Quantity], ...]:
    """The `columns`, `sums` and `least` of all measures: shared names are taken once."""
    return tuple(
        {name: part for measure in measures for name, part in getattr(measure, kind).items()}
        for kind in ("columns", "sums", "least")
    )


def per_key(
    segments: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    also: Mapping[str, pl.Expr] | None = None,
) -> pl.LazyFrame:
    """Per key: its totals, the sums and least values that the measures need, and `also`.

    `segments` are rows of a curve; those without positives carry no area, but a key that has
    only such rows keeps its place.
    """
    also = also or {}
    # One column per measure, then one grouping: a row per segment and prior is
    # never made, which took twice as long.
    columns, sums, least = ingredients(measures)
    kept = [*keys, "positives", "negatives"]
    roots = {root for part in also.values() for root in part.meta.root_names()}
    needed = sorted(roots.difference(kept))
    return (
        with_segments(segments, [*kept, *needed])
        .with_columns(**columns)
        .select(*kept, *needed, **sums, **least)
        .group_by(keys)
        .agg(
            pl.len().alias(WHICH),
            pl.col("positives", "negatives").max(),
            *(pl.col(name).sum() for name in sums),
            *(pl.col(name).min() for name in least),
            **also,
        )
        .filter(pl.col(WHICH) > 0)
        .drop(WHICH)
    )


def merged(parts: Sequence[pl.DataFrame], measures: Sequence[Measure]) -> pl.DataFrame:
    """The sums and least values over all parts of the curves, from those over each."""
    _, sums, least = ingredients(measures)
    return (
        pl.concat(parts)
        .group_by(KEY_INDEX)
        .agg(
            pl.col("positives", "negatives").max(),
            *(pl.col(name).sum() for name in sums),
            *(pl.col(name).min() for name in least),
        )
    )


def tidy(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    limits: Sequence[Limits] | None = None,
    many_limits: ManyLimits | None = None,
) -> pl.LazyFrame:
    """The result of `per_key`, with `note`, as the tidy measure table, sorted by key.

    Where intervals are asked for, `limits` are those of each measure that is no node of many
    priors, and `many_limits` those of the others.
    """
    single = [measure for measure in measures if measure.many is None]
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    columns: dict[str, list[pl.Expr]] = {
        "estimate": [measure.estimate.fill_nan(None) for measure in single],
        BIAS_RATIO: [_number(measure.doubt) / pl.col("negatives") for measure in single],
        WARNING: [_said(measure) for measure in single],
    }
    if limits is not None:
        for name in INTERVAL:
            columns[name] = [getattr(of, name).fill_nan(None) for of in limits]
        columns[LIMITS_SAID] = [of.note for of in limits]
    columns = {name: [pl.when(both).then(one) for one in parts] for name, parts in columns.items()}
    columns["prior"] = [_number(measure.prior) for measure in single]
    # Null where there is nothing to say, so that no number is put into words in vain.
    doubt = pl.when(pl.col(BIAS_RATIO) > MAX_BIAS_RATIO).then(BIAS_RATIO)
    biased = pl.format(BIASED, doubt.round_sig_figs(2))
    note = pl.concat_str(
        "note",
        one_class_note(pl.col("positives"), pl.col("negatives")),
        biased,
        *(name for name in (WARNING, LIMITS_SAID) if name in columns),
        separator="; ",
        ignore_nulls=True,
    ).replace("", None)
    shown = [*keys, *(MEASURE_COLUMNS if limits is None else WITH_INTERVAL)]
    values = [pl.Series("measure", [measure.name for measure in measures], pl.String)]
    if any(measure.over for measure in measures):
        values.append(pl.Series(OVER, [measure.over for measure in measures], pl.String))
        shown.append(OVER)
    ordered = wide.sort(keys, nulls_last=True) if keys else wide
    kept = [*keys, "positives", "negatives", "note"]
    if len(single) == len(measures):
        rows = interleaved(ordered, kept, columns, values)
    else:
        rows = _interpolated(ordered, kept, columns, measures, many_limits)
    return rows.with_columns(note.alias("note")).select(shown)


def _interpolated(
    rows: pl.LazyFrame,
    kept: Sequence[str],
    columns: Mapping[str, Sequence[pl.Expr]],
    measures: Sequence[Measure],
    many_limits: ManyLimits | None,
) -> pl.LazyFrame:
    """The rows of `tidy` where some measures are nodes of many priors."""
    nodes = [measure for measure in measures if measure.many is not None]
    values = {AREA: [node.estimate for node in nodes]}
    if many_limits is not None:
        values[VARIANCE] = [many_limits.variance(node) for node in nodes]
        kept = [*kept, *many_limits.kept]
    given = {name: of for name, of in columns.items() if of}
    empty = {
        name: pl.lit(None, pl.String if name in (WARNING, LIMITS_SAID) else pl.Float64)
        for name, of in columns.items()
        if not of
    }
    long = interpolated(rows, kept, given, values, _shown(measures)).with_columns(**empty)
    positives, negatives = pl.col("positives"), pl.col("negatives")
    both = (positives > 0) & (negatives > 0)
    own_prior = pl.when(both).then(positives / (positives + negatives))

    def of_many(**new: pl.Expr) -> dict[str, pl.Expr]:
        return {name: pl.when(IS_MANY).then(one).otherwise(name) for name, one in new.items()}

    long = long.with_columns(
        pl.when(both).then(pl.col(AREA).fill_nan(None).clip(0, 1)).alias(AREA),
        pl.coalesce(SKEW, negatives / positives).alias(SKEW),
        **of_many(prior=pl.coalesce(PRIOR, own_prior)),
    )
    doubt = {BIAS_RATIO: pl.when(both).then(pl.col(SKEW) / negatives)}
    long = long.with_columns(**of_many(estimate=pl.col(AREA), **doubt))
    if many_limits is None:
        return long
    limits = {name: getattr(many_limits.limits, name).fill_nan(None) for name in INTERVAL}
    limits = {name: pl.when(both).then(one) for name, one in limits.items()}
    note = {LIMITS_SAID: pl.when(both).then(many_limits.limits.note)}
    return long.with_columns(**of_many(**limits, **note))


def output_rows(measures: Sequence[Measure]) -> Iterator[Callable[["Array"], "Array"]]:
    """By row of a key in order: what makes its value of those of all measures, on the last axis."""
    done = False
    for i, measure in enumerate(measures):
        if measure.many is None:
            yield partial(_at_measure, i)
        elif not done:
            done = True
            count = sum(one.many is not None for one in measures)
            for place in range(len(measure.many.priors)):
                yield partial(_at_prior, measure.many, place, slice(i, i + count))


def _at_measure(number: int, values: "Array") -> "Array":
    return values[..., number]


def _at_prior(many: ManyPriors, place: int, nodes: slice, values: "Array") -> "Array":
    return many.at(place, values[..., nodes])


def _shown(measures: Sequence[Measure]) -> Shown:
    names: list[str] = []
    over: list[str | None] = []
    which: list[int | None] = []
    places: list[int | None] = []
    many = next(measure.many for measure in measures if measure.many is not None)
    seen = False
    for measure in measures:
        if measure.many is None:
            which.append(len(which) - which.count(None))
            places.append(None)
            names.append(measure.name)
            over.append(measure.over)
        elif not seen:
            seen = True
            which += [None] * len(many.priors)
            places += range(len(many.priors))
            names += [measure.name] * len(many.priors)
            over += [measure.over] * len(many.priors)
    return Shown(names, over, which, many, places)


def _number(value: Quantity | None) -> pl.Expr:
    if isinstance(value, pl.Expr):
        return value
    return pl.lit(value, pl.Float64)


def _said(measure: Measure) -> pl.Expr:
    if measure.warning is None:
        return pl.lit(None, pl.String)
    condition, words = measure.warning
    return pl.when(condition).then(pl.lit(words))
