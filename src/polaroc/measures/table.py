"""The tidy measure table: what every measure returns."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl

from polaroc.base.columns import (
    COVERAGE,
    EFFECTIVE,
    MEASURE_COLUMNS,
    OVER,
    WITH_INTERVAL,
    effective_column,
)
from polaroc.base.private_columns import COUNT, PLACE, PRIVATE, ROW, SHARE, VALUE
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.curves.segments import with_segments
from polaroc.measures.spec import Measure, ingredients, measures_by_row, runs
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import one_class_note
from polaroc.priors.chebyshev import ManyPriors
from polaroc.priors.grids import OBSERVED, is_among, skew

BIAS_RATIO = PRIVATE + "bias_ratio"
WARNING = PRIVATE + "warning"
# λ/N above which too few negatives bias AUPREC upward, and the note on it.
MAX_BIAS_RATIO = 0.02
BIASED = "λ/N = {}: biased upward"
# Cells that have area; an anchor beside them keeps a key without positives.
OR_ANCHOR = (pl.col("pos") > 0) | pl.col(SCORE).is_null()


def humanize_note(note: pl.Expr) -> pl.Expr:
    """A note for readers who do not know λ/N: its number is replaced by words.

    Examples
    --------
    >>> pl.select(humanize_note(pl.lit("λ/N = 0.067: biased upward"))).item()
    'AUPREC is biased upward, the test set has too few negatives for so small a prior'
    """
    return note.str.replace_all(
        BIASED.replace("{}", r"\S+"),
        "AUPREC is biased upward, the test set has too few negatives for so small a prior",
    )


def per_key(
    segments: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]
) -> pl.LazyFrame:
    """Per key: its totals, and the sums and minima that the measures need.

    `segments` are rows of a curve; those without positives have no area, but keep a key in the
    result that has no others.
    """
    # One column per measure, then one grouping: a row per segment and prior took
    # twice as long.
    columns, sums, least = ingredients(measures)
    totals = ["positives", "negatives", *effective_column(segments)]
    kept = [*keys, *totals]
    if any(measure.every_cell for measure in measures):
        kept += [SCORE, "pos", "neg"]
    return (
        with_segments(segments, kept)
        .with_columns(**columns)
        .select(*kept, **sums, **least)
        .group_by(keys)
        .agg(
            pl.len().alias(COUNT),
            pl.col(totals).max(),
            *(pl.col(name).sum() for name in sums),
            *(pl.col(name).min() for name in least),
        )
        .filter(pl.col(COUNT) > 0)
        .drop(COUNT)
    )


def tidy(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
) -> pl.LazyFrame:
    """The result of `per_key`, with `note`, as the tidy measure table, sorted by key."""
    # Rows of sampling weights tell as little as fewer of equal weight.
    effective = pl.col(EFFECTIVE if effective_column(wide) else "negatives").alias(EFFECTIVE)
    ordered = wide.sort(keys, nulls_last=True) if keys else wide
    rows = ordered.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64), effective).cache()
    shown = [*keys, *MEASURE_COLUMNS]
    if any(measure.over for measure in measures):
        shown.append(OVER)
    parts, place = [], 0
    for run in runs(measures):
        first, many = run[0], run[0].many
        if many is None:
            parts.append(rows.select(_shown(first, keys, place)))
            place += 1
            continue
        parts += _interpolated(rows, keys, run, many, place)
        place += len(many.priors)
    order = pl.col(ROW) * place + pl.col(PLACE)
    return (
        pl.concat(part.select(*shown, order.alias(PLACE)) for part in parts).sort(PLACE).drop(PLACE)
    )


def without_repeats(measured: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    """The result of `tidy` without rows at observed priors that are also among the given ones."""
    of_key = list(measures_by_row(measures))
    at = [_prior_of_row(measure, prior) for measure, prior in of_key]
    observed = [place for place, prior in enumerate(at) if prior == OBSERVED]
    given = [prior for prior in at if isinstance(prior, float)]
    if not observed or not given:
        return measured
    place = pl.int_range(pl.len()) % len(of_key)
    own = pl.col("positives") / (pl.col("positives") + pl.col("negatives"))
    return measured.filter(~(place.is_in(observed) & is_among(own, given)))


def _prior_of_row(measure: Measure, prior: float | None) -> float | str | None:
    """The prior of a row of `measures_by_row`, ``"observed"``, or None for a measure without."""
    if measure.many is not None:
        return OBSERVED if prior is None else prior
    return OBSERVED if isinstance(measure.prior, pl.Expr) else measure.prior


def _interpolated(
    rows: pl.LazyFrame, keys: Sequence[str], nodes: Sequence[Measure], many: ManyPriors, place: int
) -> list[pl.LazyFrame]:
    """The rows of many priors, from `place` on, that are interpolated from these nodes."""
    parts = []
    for i, (first, end) in enumerate(pairwise(many.firsts)):
        own = np.flatnonzero(many.piece_of == i)
        priors = pl.Series("prior", [many.priors[j] for j in own], pl.Float64)
        weights = {f"{SHARE}{j}": many.basis[own, j] for j in range(1, end - first)}
        grid = pl.LazyFrame({PLACE: place + own, "prior": priors, **weights})
        # Weighted differences of a constant are exactly zero, weighted sums are rounded.
        start, *others = (node.estimate for node in nodes[first:end])
        moved = {f"{VALUE}{j}": other - start for j, other in enumerate(others, 1)}
        area = pl.col(VALUE)
        for j in range(1, end - first):
            area = area + pl.col(f"{SHARE}{j}") * pl.col(f"{VALUE}{j}")
        skewed = None if nodes[0].bias_skew is None else skew(pl.col("prior"))
        at_priors = replace(
            nodes[0], prior=pl.col("prior"), estimate=area.clip(*nodes[0].bounds), bias_skew=skewed
        )
        warned = _warning(nodes[0]).alias(WARNING)
        warning = pl.col(WARNING) if nodes[0].warnings else None
        kept = [ROW, *keys, "positives", "negatives", EFFECTIVE, "note"]
        crossed = rows.select(*kept, warned, start.alias(VALUE), **moved).join(grid, how="cross")
        parts.append(crossed.select(_shown(at_priors, keys, pl.col(PLACE), warning)))
    own_prior = [j for j, prior in enumerate(many.priors) if prior is None]
    return parts + [rows.select(_shown(nodes[-1], keys, place + j)) for j in own_prior]


def _shown(
    measure: Measure, keys: Sequence[str], place: int | pl.Expr, warning: pl.Expr | None = None
) -> list[pl.Expr]:
    """The columns of the rows of a measure, and their place among those of a key."""
    positives, negatives = pl.col("positives"), pl.col("negatives")
    both = (positives > 0) & (negatives > 0)
    notes = [pl.col("note"), one_class_note(positives, negatives)]
    if measure.bias_skew is not None:
        ratio = measure.bias_skew / pl.col(EFFECTIVE)
        # Formatting numbers is slow: null where there is no warning.
        shown = pl.when(both & (ratio > MAX_BIAS_RATIO * (1 + ROUNDING))).then(ratio)
        # Rounded twice, so that the last bit, in which sums differ, does not decide upon a half.
        notes.append(pl.format(BIASED, shown.round_sig_figs(12).round_sig_figs(2)))
    if measure.warnings:
        notes.append(pl.when(both).then(_warning(measure) if warning is None else warning))
    named = {"measure": measure.name, OVER: measure.over}
    return [
        pl.col(ROW, *keys, "positives", "negatives"),
        *(pl.lit(name, pl.String).alias(column) for column, name in named.items()),
        (
            measure.prior
            if isinstance(measure.prior, pl.Expr)
            else pl.lit(measure.prior, pl.Float64)
        ).alias("prior"),
        pl.when(both).then(measure.estimate.fill_nan(None)).alias("estimate"),
        joined_notes(*notes),
        (pl.lit(place, pl.Int64) if isinstance(place, int) else place).alias(PLACE),
    ]


def tidy_schema(
    keys: Mapping[str, pl.DataType], measures: Sequence[Measure], *, weighted: bool, limits: bool
) -> dict[str, pl.DataType]:
    """The columns of the tidy measures of keys of these types, with limits if there are some."""
    count: pl.DataType = pl.Float64() if weighted else pl.Int64()
    words = {name: pl.String() for name in ("measure", "note")}
    names: list[str] = [*(WITH_INTERVAL if limits else MEASURE_COLUMNS)]
    if limits:
        names.insert(names.index("upper") + 1, COVERAGE)
    if any(measure.over for measure in measures):
        names.append(OVER)
        words[OVER] = pl.String()
    kinds = words | dict.fromkeys(("positives", "negatives"), count)
    return {**keys, **{name: kinds.get(name, pl.Float64()) for name in names}}


def _warning(measure: Measure) -> pl.Expr:
    notes = [pl.when(condition).then(pl.lit(note)) for condition, note in measure.warnings]
    return pl.coalesce(*notes) if notes else pl.lit(None, pl.String)
