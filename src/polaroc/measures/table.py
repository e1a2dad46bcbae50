"""The tidy measure table: what every measure returns."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from polaroc.base.columns import (
    COUNT,
    COVERAGE,
    EFFECTIVE,
    HAS_BOTH,
    MEASURE_COLUMNS,
    OVER,
    PLACE,
    SHARE,
    VALUE,
    WITH_INTERVAL,
    effective_column,
    private,
)
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.measures.spec import Measure
from polaroc.predictions.table import one_class_note
from polaroc.priors.grids import is_among

# λ/N above which too few negatives bias AUPREC upward, and the note on it.
MAX_BIAS_RATIO = 0.02
BIASED = "too few negatives, biased upward"
RATIO, WARNING = private("ratio"), private("warning")


def expressions_of(measures: Sequence[Measure], *fields: str) -> list[dict[str, pl.Expr]]:
    """The expressions of measures in each of these fields, such as "sums", by their names."""
    return [
        {name: one for measure in measures for name, one in getattr(measure, field).items()}
        for field in fields
    ]


def per_key(
    rows: pl.LazyFrame,
    keys: Sequence[str],
    sums: Mapping[str, pl.Expr],
    least: Mapping[str, pl.Expr],
) -> pl.LazyFrame:
    """Per key its totals, and the sums and minima over rows of segments or curves."""
    totals = ["positives", "negatives", *effective_column(rows)]
    # One column per sum streams, and took half the time of one row per segment and prior.
    aggregates = [pl.col(*sums).sum()] if sums else []
    aggregates += [pl.col(*least).min()] if least else []
    return (
        rows.select(*keys, *totals, **sums, **least)
        .group_by(keys)
        .agg(pl.len().alias(COUNT), pl.col(totals).max(), *aggregates)
        .filter(pl.col(COUNT) > 0)
        .drop(COUNT)
    )


def tidy(wide: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]) -> pl.LazyFrame:
    """The tidy measure table, sorted by key, of a row per key with its totals, sums and `note`."""
    return without_repeats(all_rows(wide, keys, measures), measures)


def all_rows(wide: pl.LazyFrame, keys: Sequence[str], measures: Sequence[Measure]) -> pl.LazyFrame:
    """The `tidy` table with a row for each measure of each key."""
    # Rows with unequal sampling weights count as fewer rows of equal weight (Kish).
    effective = pl.col(EFFECTIVE if effective_column(wide) else "negatives")
    values = {}
    for place, measure in enumerate(measures):
        warned = (pl.when(condition).then(pl.lit(text)) for condition, text in measure.warnings)
        skew = measure.bias_skew
        if not isinstance(skew, pl.Expr):
            skew = pl.lit(skew, pl.Float64)
        fields: dict[str, Any] = {
            "measure": pl.lit(measure.name),
            "estimate": pl.when(HAS_BOTH).then(measure.estimate.fill_nan(None)),
            OVER: pl.lit(measure.over, pl.String),
            # The bias ratio λ/N, and the first warning that applies.
            RATIO: skew / pl.col(EFFECTIVE),
            WARNING: pl.when(HAS_BOTH).then(pl.coalesce(pl.lit(None, pl.String), *warned)),
        }
        if isinstance(measure.prior, str):
            fields["prior"] = pl.when(HAS_BOTH).then(SHARE)
        elif not isinstance(measure.prior, pl.Expr):
            fields["prior"] = pl.lit(measure.prior, pl.Float64)
        values[f"{VALUE}{place}"] = pl.struct(**fields)
    beside = [*keys, "positives", "negatives", "note"]
    rows = (
        wide.with_columns(effective.alias(EFFECTIVE), joined_notes("note", one_class_note()))
        .select(*beside, **values)
        .unpivot([*values], index=beside, variable_name=PLACE, value_name=VALUE)
        .unnest(VALUE)
    )
    is_biased = HAS_BOTH & (pl.col(RATIO) > MAX_BIAS_RATIO * (1 + ROUNDING))
    biased = pl.when(is_biased).then(pl.lit(BIASED))
    table = rows.with_columns(joined_notes("note", biased, WARNING))
    # The measures of a key stay in their order.
    ordered = table.sort(keys, nulls_last=True, maintain_order=True)
    shown = [*(key for key in keys if key != "prior"), *MEASURE_COLUMNS]
    return ordered.select(*shown, *([OVER] if any(measure.over for measure in measures) else []))


def without_repeats(rows: pl.LazyFrame, measures: Sequence[Measure]) -> pl.LazyFrame:
    """`all_rows` without those at the observed prior where this is also one of the given ones."""
    fixed = [measure.prior for measure in measures if isinstance(measure.prior, float)]
    observed = [i for i, measure in enumerate(measures) if isinstance(measure.prior, str)]
    if not fixed or not observed:
        return rows
    place = pl.int_range(pl.len()) % len(measures)
    return rows.filter(~(place.is_in(observed) & is_among(SHARE, fixed)))


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
