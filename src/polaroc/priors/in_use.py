"""Estimated priors, joined to the keys of other tables."""

from collections.abc import Sequence

import polars as pl

from polaroc.base.columns import (
    COVERAGE,
    PRIOR_LIMITS,
    as_lazy,
    check_shared_keys,
    join_by_key,
    require,
    with_key_types,
)
from polaroc.errors import InvalidArgument, InvalidTable, quoted
from polaroc.priors.grids import PRIOR_AND_LIMITS, skew
from polaroc.typing import PolarsFrame

# Columns of `estimate_prior` that are no keys.
ESTIMATE = (
    "prior", "lower", "upper", "level", "assumes", "reference_prior", "deployed",
    "shift_p", "note",
)  # fmt: skip
NOT_ESTIMATED = "the prior was not estimated"
NO_INTERVAL = "the estimated prior has no interval"
AT_AN_END = "the estimated prior is 0 or 1"
# Keeps odds finite where an estimate is 0 or 1.
MIN_PRIOR = 1e-12


def with_estimates(
    rows: pl.LazyFrame, estimates: PolarsFrame, keys: Sequence[str] | None = None
) -> pl.LazyFrame:
    """The rows with the estimate of their key: `prior`, its limits, and `skew`, null at 0 and 1.

    Keys that only the estimates have multiply the rows; if `keys` are named, all are among these.
    """
    schema = rows.collect_schema()
    named = [name for name in estimates.collect_schema() if name not in ESTIMATE]
    shared = [name for name in named if name in schema]
    table = with_key_types(_checked(estimates).lazy(), schema, shared).collect()
    if keys is not None:
        one_each = "name it in by, or filter the estimates to one row for each key."
        check_shared_keys(named, keys, "the estimated priors", one_each)
    if table.height > (table.select(named).n_unique() if named else 1):
        raise InvalidTable(
            "there are several estimated priors for one key, needed is one.",
            hint="filter the estimates, or name what tells them apart.",
        )
    estimate = pl.col("prior")
    placed = (
        table.select(*named, pl.col(PRIOR_AND_LIMITS).cast(pl.Float64))
        .rename(dict(zip(PRIOR_AND_LIMITS, ("prior", *PRIOR_LIMITS), strict=True)))
        .with_columns(skew=pl.when((estimate > 0) & (estimate < 1)).then(skew(estimate)))
    )
    return join_by_key(rows, placed.lazy(), shared, "left" if shared == named else "inner")


def single_estimate(estimates: PolarsFrame) -> tuple[float, float, float]:
    """The only estimate with its limits, of one prior in use for all."""
    table = _checked(estimates)
    if table.height != 1:
        keys = [name for name in table.columns if name not in ESTIMATE]
        raise InvalidTable(
            f"there are {table.height:,} estimated priors, needed is one: that in use.",
            hint="keep one row of the estimates"
            + (f", such as that of one {keys[0]}." if keys else "."),
        )
    prior, lower, upper = table.select(PRIOR_AND_LIMITS).row(0)
    note = table["note"].item() if "note" in table.columns else None
    if None in (prior, lower, upper):
        lack = NOT_ESTIMATED if prior is None else NO_INTERVAL
        raise InvalidTable(
            f"{lack}{'' if note is None else ': ' + note}.",
            hint="give a range that is thought possible: over=(0.05, 0.20).",
        )
    return prior, lower, upper


def _checked(estimates: PolarsFrame) -> pl.DataFrame:
    """The estimates in memory; raise for what are no shares, or limits in reverse."""
    table, values = as_lazy(estimates), pl.col(PRIOR_AND_LIMITS).cast(pl.Float64)
    require(table, PRIOR_AND_LIMITS, source="estimate_prior(...)")
    checked = table.collect()
    are_shares = pl.all_horizontal(values.is_between(0, 1).all())
    if not checked.select(are_shares & (pl.col("lower") <= pl.col("upper")).all()).item():
        raise InvalidTable(
            "an estimated prior or one of its limits is not from 0 to 1, or they are reversed.",
            hint="a prior is a share, 5 % positives is 0.05, with lower ≤ prior ≤ upper.",
        )
    return checked


def level_of(estimates: PolarsFrame) -> float | None:
    """The level of the intervals of estimated priors, None where a table does not say it."""
    if COVERAGE not in estimates.collect_schema():
        return None
    levels = as_lazy(estimates).select(pl.col(COVERAGE).drop_nulls().unique().sort()).collect()
    if levels.height > 1:
        raise InvalidTable(
            f"the estimated priors have intervals at {quoted(levels[COVERAGE].to_list())}, "
            "needed is one level.",
            hint="estimate all of them with the same level.",
        )
    return float(levels.item()) if levels.height else None


def check_level(estimates: PolarsFrame, level: float) -> None:
    """Refuse estimated priors whose intervals are of another level than the limits asked for."""
    estimated = level_of(estimates)
    if estimated is not None and estimated != level:
        raise InvalidArgument(
            f"level is {level:g}, and the interval of the estimated prior is at {estimated:g}.",
            hint=f"estimate it again with level={level}, or take its own level here.",
        )


def within_unit(lower: float, upper: float) -> tuple[float, float]:
    """An interval without 0 and 1, at which there are no odds."""
    return max(lower, MIN_PRIOR), min(upper, 1 - MIN_PRIOR)


def widest(
    tables: Sequence[pl.DataFrame], keys: Sequence[str], interval: tuple[float, float]
) -> pl.DataFrame:
    """The widest of limits of an area at priors of an interval; at 0 or 1 it may be anything.

    `tables` have one row per key with `lower` and `upper`, null where one of them has none.

    Examples
    --------
    >>> at = [pl.DataFrame({"of": ["A"], "lower": [i / 10], "upper": [i / 5]}) for i in (1, 2)]
    >>> widest(at, ["of"], (0.0, 0.2)).row(0)
    ('A', 0.0, 0.4)
    """
    ends = pl.col("lower"), pl.col("upper")
    known = pl.all_horizontal(end.is_not_null().all() for end in ends)
    least, most = ends[0].min(), ends[1].max()
    return (
        pl.concat(tables)
        .group_by(keys, maintain_order=True)
        .agg(
            lower=pl.when(known).then(pl.lit(0.0) if interval[0] <= 0 else least),
            upper=pl.when(known).then(pl.lit(1.0) if interval[1] >= 1 else most),
        )
    )
