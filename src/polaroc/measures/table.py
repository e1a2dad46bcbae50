"""The tidy measure table: what every measure returns."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from polaroc.base.columns import COVERAGE, MEASURE_COLUMNS, OVER, WITH_INTERVAL
from polaroc.base.joins import attach, join_on
from polaroc.base.private_columns import COUNT, PRIVATE, ROW, private
from polaroc.curves.segments import with_segments
from polaroc.measures.interleaving import IS_MANY, PRIOR, SKEW, interleaved, interpolated
from polaroc.measures.spec import Measure, chunks, ingredients
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import one_class_note
from polaroc.typing import Quantity

BIAS_RATIO = PRIVATE + "bias_ratio"
WARNING = PRIVATE + "warning"
# The area of an interpolated row.
AREA = PRIVATE + "area"
# λ/N above which too few negatives bias AUPREC upward, and the note on it.
MAX_BIAS_RATIO = 0.02
BIASED = "λ/N = {}: biased upward"
# Cells that have area; an anchor beside them keeps a key without positives.
HAS_AREA = pl.col("pos") > 0
OR_ANCHOR = HAS_AREA | pl.col(SCORE).is_null()


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
    segments: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    extra: Mapping[str, pl.Expr] | None = None,
) -> pl.LazyFrame:
    """Per key: its totals, the sums and minima that the measures need, and `extra` aggregates.

    `segments` are rows of a curve; those without positives have no area, but keep a key in the
    result that has no others.
    """
    extra = extra or {}
    # One column per measure, then one grouping: a row per segment and prior took
    # twice as long.
    columns, sums, least = ingredients(measures)
    kept = [*keys, "positives", "negatives"]
    roots = _roots(extra.values())
    if any(measure.every_cell for measure in measures):
        roots |= {SCORE, "pos", "neg"}
    needed = sorted(roots.difference(kept))
    return (
        with_segments(segments, [*kept, *needed])
        .with_columns(**columns)
        .select(*kept, *needed, **sums, **least)
        .group_by(keys)
        .agg(
            pl.len().alias(COUNT),
            pl.col("positives", "negatives").max(),
            *(pl.col(name).sum() for name in sums),
            *(pl.col(name).min() for name in least),
            **extra,
        )
        .filter(pl.col(COUNT) > 0)
        .drop(COUNT)
    )


def curve_sums(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
    extra: Mapping[str, pl.Expr] | None = None,
    *,
    with_area: pl.Expr = HAS_AREA,
) -> pl.LazyFrame:
    """The result of `per_key` for all cells of curves, of which areas need few.

    `rows` need a score only where a measure is of every cell.
    """
    of_cells = [measure for measure in measures if measure.every_cell]
    areas = [measure for measure in measures if not measure.every_cell]
    if not of_cells:
        return per_key(rows.filter(with_area), keys, areas, extra)
    of_all = per_key(rows, keys, of_cells, extra)
    if not areas:
        return of_all
    of_areas = per_key(rows.filter(with_area), keys, areas)
    return attach(of_all, of_areas.drop("positives", "negatives"), keys, required=False)


def _roots(values: Iterable[pl.Expr]) -> set[str]:
    """The columns that expressions are written with."""
    return {root for value in values for root in value.meta.root_names()}


def tidy(
    wide: pl.LazyFrame,
    keys: Sequence[str],
    measures: Sequence[Measure],
) -> pl.LazyFrame:
    """The result of `per_key`, with `note`, as the tidy measure table, sorted by key."""
    if len(parts := chunks(measures)) > 1:
        return in_order_of_parts([tidy(wide, keys, part) for part in parts], keys)
    single = [measure for measure in measures if measure.many is None]
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    columns: dict[str, list[pl.Expr]] = {
        "estimate": [measure.estimate.fill_nan(None) for measure in single],
        BIAS_RATIO: [_as_float(measure.bias_skew) / pl.col("negatives") for measure in single],
        WARNING: [_warning(measure) for measure in single],
    }
    columns = {
        name: [pl.when(both).then(value) for value in values] for name, values in columns.items()
    }
    columns["prior"] = [_as_float(measure.prior) for measure in single]
    # Formatting numbers is slow: null where there is no warning.
    bias_ratio = pl.when(pl.col(BIAS_RATIO) > MAX_BIAS_RATIO).then(BIAS_RATIO)
    # Rounded twice, so that the last bit, in which sums differ, does not decide upon a half.
    biased = pl.format(BIASED, bias_ratio.round_sig_figs(12).round_sig_figs(2))
    note = pl.concat_str(
        "note",
        one_class_note(pl.col("positives"), pl.col("negatives")),
        biased,
        WARNING,
        separator="; ",
        ignore_nulls=True,
    ).replace("", None)
    shown = [*keys, *MEASURE_COLUMNS]
    values = [pl.Series("measure", [measure.name for measure in measures], pl.String)]
    if any(measure.over for measure in measures):
        values.append(pl.Series(OVER, [measure.over for measure in measures], pl.String))
        shown.append(OVER)
    ordered = wide.sort(keys, nulls_last=True) if keys else wide
    kept = [*keys, "positives", "negatives", "note"]
    if len(single) == len(measures):
        rows = interleaved(ordered, kept, columns, values)
    else:
        rows = _interpolated(ordered, kept, columns, measures)
    return rows.with_columns(note.alias("note")).select(shown)


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


def tidy_in_memory(
    wide: pl.DataFrame, keys: Sequence[str], measures: Sequence[Measure]
) -> pl.DataFrame:
    """The result of `tidy`, computed now: notes, which are slow, once for keys that share them."""
    warnings = {
        f"{WARNING}{i}": _warning(measure)
        for i, measure in enumerate(measures)
        if measure.warning is not None
    }
    rows = wide.sort(keys, nulls_last=True) if keys else wide
    rows = rows.with_columns(**warnings)
    causes = ["positives", "negatives", "note", *warnings]
    distinct = rows.unique(causes, keep="any").drop(keys).with_row_index(ROW)
    made = tidy(rows.lazy(), keys, measures)
    if 2 * distinct.height > rows.height:
        return made.collect(engine="in-memory")
    noted = tidy(distinct.lazy(), [ROW], measures).select("note").collect(engine="in-memory")
    measured = made.drop("note").collect(engine="in-memory")
    same = join_on(rows, distinct.select(ROW, *causes), causes, order="left")
    count = len(measured) // max(len(rows), 1)
    place = pl.int_range(pl.len(), dtype=pl.UInt32)
    noted_at = pl.lit(same[ROW]).gather(place // count) * count + place % count
    notes = pl.lit(noted.to_series()).gather(noted_at).alias("note")
    return measured.with_columns(notes).select(made.collect_schema().names())


def in_order_of_parts(parts: Sequence[pl.LazyFrame], keys: Sequence[str]) -> pl.LazyFrame:
    """Tidy measures from those of some measures each, sorted by key and in the order given."""
    place = private("part")
    rows = pl.concat(
        [part.with_columns(pl.lit(i).alias(place)) for i, part in enumerate(parts)], how="diagonal"
    )
    return rows.sort(*keys, place, nulls_last=True, maintain_order=True).drop(place)


def _interpolated(
    rows: pl.LazyFrame,
    kept: Sequence[str],
    columns: Mapping[str, Sequence[pl.Expr]],
    measures: Sequence[Measure],
) -> pl.LazyFrame:
    """The rows of `tidy` where some measures are nodes of many priors."""
    nodes = [measure for measure in measures if measure.many is not None]
    warning, kept = private("warning_of_nodes"), [*kept, private("warning_of_nodes")]
    rows = rows.with_columns(_warning(nodes[0]).alias(warning))
    values = {AREA: [node.estimate for node in nodes]}
    present = {name: exprs for name, exprs in columns.items() if exprs}
    empty = {
        name: pl.lit(None, pl.String if name == WARNING else pl.Float64)
        for name, exprs in columns.items()
        if not exprs
    }
    long = interpolated(rows, kept, present, values, measures).with_columns(**empty)
    positives, negatives = pl.col("positives"), pl.col("negatives")
    both = (positives > 0) & (negatives > 0)
    own_prior = pl.when(both).then(positives / (positives + negatives))

    def for_interpolated(**new: pl.Expr) -> dict[str, pl.Expr]:
        return {name: pl.when(IS_MANY).then(one).otherwise(name) for name, one in new.items()}

    long = long.with_columns(
        pl.when(both).then(pl.col(AREA).fill_nan(None).clip(*nodes[0].bounds)).alias(AREA),
        pl.coalesce(SKEW, negatives / positives).alias(SKEW),
        **for_interpolated(prior=pl.coalesce(PRIOR, own_prior)),
    )
    of_nodes = {WARNING: pl.when(both).then(pl.col(warning))}
    if nodes[0].bias_skew is not None:
        of_nodes[BIAS_RATIO] = pl.when(both).then(pl.col(SKEW) / negatives)
    return long.with_columns(**for_interpolated(estimate=pl.col(AREA), **of_nodes))


def _as_float(value: Quantity | None) -> pl.Expr:
    if isinstance(value, pl.Expr):
        return value
    return pl.lit(value, pl.Float64)


def _warning(measure: Measure) -> pl.Expr:
    warnings = [measure.warning, measure.second_warning]
    notes = [pl.when(one[0]).then(pl.lit(one[1])) for one in warnings if one is not None]
    return pl.coalesce(*notes) if notes else pl.lit(None, pl.String)
