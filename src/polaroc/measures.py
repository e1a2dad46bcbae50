"""The tidy measure table: what every measure returns."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.columns import MEASURES, PRIVATE
from polaroc.predictions import one_class_note

WHICH = PRIVATE + "which"
DOUBT = PRIVATE + "doubt"
# λ/N above which AUPREC is biased upward for want of negatives.
DOUBTFUL = 0.02


@dataclass(frozen=True)
class Measure:
    """One number per key, as a sum over the segments of its curve.

    Attributes
    ----------
    name
        Its name in the column `measure`.
    segment
        What one segment (a row of the curve with positives) adds to it.
    prior
        The prior it is taken at, null where it has none.
    doubt
        Skew by which its λ/N is judged, null where it does not depend on one.
    """

    name: str
    segment: pl.Expr
    prior: pl.Expr
    doubt: pl.Expr


def no_prior() -> pl.Expr:
    """The null of a measure that has no prior."""
    return pl.lit(None, pl.Float64)


def per_key(
    segments: pl.LazyFrame, keys: Sequence[str], measures: dict[str, Measure]
) -> pl.LazyFrame:
    """Per key: its totals, its note and the sum of every measure over its segments.

    Parameters
    ----------
    segments
        Rows of a curve with `note`; those without positives carry no area, but
        a key that has only such rows keeps its place.
    keys
        The key columns.
    measures
        The measures by the name of their column.
    """
    # One column per measure, then one grouping: a row per segment and prior is
    # never made, which took twice as long.
    area = pl.col("pos") > 0
    added = [pl.when(area).then(m.segment).alias(name) for name, m in measures.items()]
    return (
        segments.select(*keys, "positives", "negatives", "note", *added)
        .group_by(keys)
        .agg(
            pl.len().alias(WHICH),
            pl.col("positives", "negatives").max(),
            pl.col("note").first(),
            pl.col(list(measures)).sum(),
        )
        .filter(pl.col(WHICH) > 0)
        .drop(WHICH)
    )


def tidy(wide: pl.LazyFrame, keys: Sequence[str], measures: dict[str, Measure]) -> pl.LazyFrame:
    """One row per key as the tidy measure table, sorted by key and in the order asked.

    Parameters
    ----------
    wide
        One row per key: `positives`, `negatives`, `note`, a column per measure.
    keys
        The key columns.
    measures
        The measures by the name of their column.
    """
    both = (pl.col("positives") > 0) & (pl.col("negatives") > 0)
    rows = [
        pl.struct(
            pl.lit(measure.name).alias("measure"),
            measure.prior.alias("prior"),
            pl.when(both).then(pl.col(name)).alias("estimate"),
            pl.when(both).then(measure.doubt / pl.col("negatives")).alias(DOUBT),
        )
        for name, measure in measures.items()
    ]
    doubt = pl.col(DOUBT)
    biased = pl.when(doubt > DOUBTFUL).then(
        pl.format("λ/N = {}: biased upward", doubt.round_sig_figs(2))
    )
    note = pl.concat_str(
        "note",
        one_class_note(pl.col("positives"), pl.col("negatives")),
        biased,
        separator="; ",
        ignore_nulls=True,
    ).replace("", None)
    ordered = wide.sort(keys, nulls_last=True) if keys else wide
    return (
        ordered.select(*keys, "positives", "negatives", "note", pl.concat_list(rows).alias(WHICH))
        .explode(WHICH)
        .unnest(WHICH)
        .with_columns(note.alias("note"))
        .select(*keys, *MEASURES)
    )
