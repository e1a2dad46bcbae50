"""The tidy measure table: what every measure returns."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import polars as pl

from polaroc.base.columns import COVERAGE, MEASURE_COLUMNS, OVER, WITH_INTERVAL
from polaroc.base.lazy import np
from polaroc.base.private_columns import COUNT, PLACE, PRIVATE, ROW, SHARE, VALUE
from polaroc.curves.segments import with_segments
from polaroc.measures.spec import Measure, ingredients, runs
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import one_class_note
from polaroc.priors.grids import skew
from polaroc.typing import Quantity

BIAS_RATIO = PRIVATE + "bias_ratio"
WARNING = PRIVATE + "warning"
SKEW = PRIVATE + "skew"
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
    kept = [*keys, "positives", "negatives"]
    if any(measure.every_cell for measure in measures):
        kept += [SCORE, "pos", "neg"]
    return (
        with_segments(segments, kept)
        .with_columns(**columns)
        .select(*kept, **sums, **least)
        .group_by(keys)
        .agg(
            pl.len().alias(COUNT),
            pl.col("positives", "negatives").max(),
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
    ordered = wide.sort(keys, nulls_last=True) if keys else wide
    rows = ordered.with_row_index(ROW).with_columns(pl.col(ROW).cast(pl.Int64)).cache()
    parts, place = [], 0
    for run in runs(measures):
        parts += _shown(rows, keys, run, place)
        place += 1 if run[0].many is None else len(run[0].many.priors)
    positives, negatives = pl.col("positives"), pl.col("negatives")
    both = (positives > 0) & (negatives > 0)
    # Formatting numbers is slow: null where there is no warning.
    bias_ratio = pl.when(pl.col(BIAS_RATIO) > MAX_BIAS_RATIO).then(BIAS_RATIO)
    # Rounded twice, so that the last bit, in which sums differ, does not decide upon a half.
    biased = pl.format(BIASED, bias_ratio.round_sig_figs(12).round_sig_figs(2))
    note = pl.concat_str(
        "note",
        one_class_note(positives, negatives),
        biased,
        WARNING,
        separator="; ",
        ignore_nulls=True,
    ).replace("", None)
    shown = [*keys, *MEASURE_COLUMNS]
    if any(measure.over for measure in measures):
        shown.append(OVER)
    defined = [pl.when(both).then(name).alias(name) for name in ("estimate", BIAS_RATIO, WARNING)]
    return (
        pl.concat(parts)
        .sort(pl.col(ROW) * place + pl.col(PLACE))
        .with_columns(*defined)
        .with_columns(note.alias("note"))
        .select(shown)
    )


def _shown(
    rows: pl.LazyFrame, keys: Sequence[str], run: Sequence[Measure], place: int
) -> list[pl.LazyFrame]:
    """The rows of a measure, or of the priors that are interpolated from its nodes."""
    measure, many = run[0], run[0].many
    kept = [ROW, *keys, "positives", "negatives", "note"]
    named = [
        pl.lit(measure.name).alias("measure"),
        pl.lit(measure.over, pl.String).alias(OVER),
        _warning(measure).alias(WARNING),
    ]

    def at_once(one: Measure, place: int) -> pl.LazyFrame:
        return rows.select(
            *kept, *named, pl.lit(place).cast(pl.Int64).alias(PLACE),
            _as_float(one.prior).alias("prior"), one.estimate.fill_nan(None).alias("estimate"),
            (_as_float(one.bias_skew) / pl.col("negatives")).alias(BIAS_RATIO),
        )  # fmt: skip

    if many is None:
        return [at_once(measure, place)]
    skewed = pl.col(SKEW) if measure.bias_skew is not None else pl.lit(None, pl.Float64)
    parts = []
    for i, (first, end) in enumerate(pairwise(many.firsts)):
        own = np.flatnonzero(many.piece_of == i)
        priors = pl.Series("prior", [many.priors[j] for j in own], pl.Float64)
        weights = {f"{SHARE}{j}": many.basis[own, j] for j in range(1, end - first)}
        grid = pl.LazyFrame({PLACE: place + own, "prior": priors, **weights})
        # Weighted differences of a constant are exactly zero, weighted sums are rounded.
        start, *others = (node.estimate for node in run[first:end])
        moved = {f"{VALUE}{j}": other - start for j, other in enumerate(others, 1)}
        area = pl.col(VALUE)
        for j in range(1, end - first):
            area = area + pl.col(f"{SHARE}{j}") * pl.col(f"{VALUE}{j}")
        parts.append(
            rows.select(*kept, *named, start.alias(VALUE), **moved)
            .join(grid.with_columns(skew(pl.col("prior")).alias(SKEW)), how="cross")
            .select(
                *kept, "measure", OVER, WARNING, PLACE, "prior",
                area.fill_nan(None).clip(*measure.bounds).alias("estimate"),
                (skewed / pl.col("negatives")).alias(BIAS_RATIO),
            )
        )  # fmt: skip
    return parts + [at_once(run[-1], place + i) for i, p in enumerate(many.priors) if p is None]


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


def _as_float(value: Quantity | None) -> pl.Expr:
    if isinstance(value, pl.Expr):
        return value
    return pl.lit(value, pl.Float64)


def _warning(measure: Measure) -> pl.Expr:
    warnings = [measure.warning, measure.second_warning]
    notes = [pl.when(one[0]).then(pl.lit(one[1])) for one in warnings if one is not None]
    return pl.coalesce(*notes) if notes else pl.lit(None, pl.String)
