"""Measures of each key at its own estimated prior, whose uncertainty is in their limits."""

import polars as pl

from polaroc.base.columns import PRIOR_LIMITS, private
from polaroc.base.text import joined_notes
from polaroc.priors.in_use import AT_AN_END, NOT_ESTIMATED, with_estimates

LOW, HIGH = PRIOR_LIMITS
ENDS = ("prior", LOW, HIGH)
NO_LIMITS = "the estimated prior has no interval: none at it"
NO_LIMITS_AT_AN_END = "no interval at an end of that of the prior"


def priors_and_ends(estimates: pl.DataFrame) -> list[float]:
    """The priors at which measures are needed: estimates and the ends of their intervals."""
    columns = estimates.select("prior", "lower", "upper").iter_columns()
    needed = {value for column in columns for value in column if value is not None}
    return sorted(value for value in needed if 0 < value < 1) or [0.5]


def at_estimates(measures: pl.LazyFrame, estimates: pl.DataFrame) -> pl.LazyFrame:
    """Tidy measures at `priors_and_ends`, of those at a prior the ones at each key's estimate.

    Limits are the widest of those at the estimate and at the ends of its interval, as the errors
    of measure and estimate may come from the same cases. Where an end is 0 or 1, AUPREC may be
    anything beyond.
    """
    names = measures.collect_schema().names()
    keys = names[: names.index("measure")]
    order = private("order")
    ordered = measures.with_row_index(order).cache()
    at_prior = ordered.filter(pl.col("prior").is_not_null())
    others = ordered.filter(pl.col("prior").is_null())
    first = priors_and_ends(estimates)[0]
    each = [*keys, "measure"]
    values = [name for name in ("estimate", "lower", "upper", "std_error", "note") if name in names]
    rows = at_prior.filter(pl.col("prior") == first).drop("prior", *values)
    rows = with_estimates(rows, estimates, keys)
    for end in ENDS:
        at_end = at_prior.select(
            *each, pl.col("prior").alias(end), pl.col(*values).name.prefix(_prefix(end))
        )
        rows = rows.join(at_end, on=[*each, end], how="left", nulls_equal=True)
    own = [pl.col(_prefix("prior") + name).alias(name) for name in values]
    rows = rows.with_columns(own)
    if "lower" in names:
        rows = _with_limits(rows)
    prior = pl.col("prior")
    note = (
        pl.when(prior.is_null())
        .then(pl.lit(NOT_ESTIMATED))
        .when((prior <= 0) | (prior >= 1))
        .then(pl.lit(AT_AN_END))
        .otherwise("note")
    )
    return (
        pl.concat([others, rows.with_columns(note.alias("note")).select(order, *names)])
        .sort(order, maintain_order=True)
        .select(names)
    )


def _with_limits(rows: pl.LazyFrame) -> pl.LazyFrame:
    is_area = pl.col("measure").str.starts_with("auprec")
    beyond = [is_area & (pl.col(LOW) <= 0), is_area & (pl.col(HIGH) >= 1)]
    lowers, uppers = ([pl.col(_prefix(end) + name) for end in ENDS] for name in ("lower", "upper"))
    lowers[1] = pl.when(beyond[0]).then(0.0).otherwise(lowers[1])
    uppers[1] = pl.when(beyond[0]).then(uppers[0]).otherwise(uppers[1])
    lowers[2] = pl.when(beyond[1]).then(lowers[0]).otherwise(lowers[2])
    uppers[2] = pl.when(beyond[1]).then(1.0).otherwise(uppers[2])
    has_prior = pl.col(LOW).is_not_null() & pl.col(HIGH).is_not_null()
    has_limits = has_prior & pl.all_horizontal(one.is_not_null() for one in (*lowers, *uppers))
    lack = (
        pl.when(~has_prior & pl.col("prior").is_not_null())
        .then(pl.lit(NO_LIMITS))
        .when(~has_limits & pl.col("lower").is_not_null())
        .then(pl.lit(NO_LIMITS_AT_AN_END))
    )
    return rows.with_columns(
        pl.when(has_limits).then(pl.min_horizontal(lowers)).alias("lower"),
        pl.when(has_limits).then(pl.max_horizontal(uppers)).alias("upper"),
        # That of the test set alone would be too small.
        pl.lit(None, pl.Float64).alias("std_error"),
        joined_notes("note", lack),
    )


def _prefix(end: str) -> str:
    return private(f"at_{end}_")
