"""Confidence limits of measures from their estimates and variances, by key, and beside these."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from polaroc.base.columns import INTERVAL, OVER, WITH_INTERVAL, with_level, within
from polaroc.base.private_columns import LIMITS_NOTE, PLACE
from polaroc.base.statistics import ROUNDING
from polaroc.base.text import joined_notes
from polaroc.inference.evidence import FEWEST_CLUSTERS
from polaroc.inference.spread import Spread
from polaroc.inference.terms import perfect_lower_limit
from polaroc.inference.units import NO_VARIANCE, Units
from polaroc.measures.scoring import ON_THE_HULL, case_loss
from polaroc.measures.spec import Measure
from polaroc.typing import Array

PERFECT = "perfect score: lower limit from the numbers of cases"
NO_DERIVATIVE = "no derivative here: no interval"
COLUMNS = {**dict.fromkeys(INTERVAL, pl.Float64()), LIMITS_NOTE: pl.String()}
FEW_CLUSTERS = f"fewer than {FEWEST_CLUSTERS} clusters have {{}}: no interval"
FEW_EFFECTIVE = (
    f"because of their weights, the effective number of clusters with {{}} is below "
    f"{FEWEST_CLUSTERS}: no interval"
)
NO_SPREAD = "no spread among the cases: no interval"


class Limits(NamedTuple):
    """Limits and standard errors of a row, by key, NaN where there are none, and notes on it."""

    lower: "Array"
    upper: "Array"
    std_error: "Array"
    note: "Array"


@dataclass(frozen=True, eq=False)
class Sureness:
    """How limits follow from variances."""

    level: float
    units: Units  # what is independent

    @property
    def both(self) -> "Array":
        """Whether a key has cases of both classes."""
        has_both: Array = np.minimum(self.units.positives, self.units.negatives) > 0
        return has_both

    @property
    def quantile(self) -> "Array":
        """Student's, at one degree of freedom less than units of the rarer class."""
        from scipy.special import stdtrit

        freedom = np.minimum(self.units.positives, self.units.negatives) - 1
        quantiles: Array = stdtrit(freedom, (1 + self.level) / 2)
        return quantiles

    def error(self, variances: "Array") -> "Array":
        """The standard error; NaN where units are too few, zero for a rounding error."""
        large = np.where(variances > NO_VARIANCE, variances, 0 * variances)
        return np.where(self.units.enough, np.sqrt(large), np.nan)

    def note(self, error: "Array", missing: "Array") -> "Array":
        """Why there are no limits where they are `missing`."""
        units = self.units
        in_clusters = units.least > 2
        too_few = FEW_EFFECTIVE if units.weighted else FEW_CLUSTERS
        reasons = [
            (in_clusters & (units.positives < units.least), too_few.format("positives")),
            (in_clusters & (units.negatives < units.least), too_few.format("negatives")),
            (units.positives <= 1, "one positive: no standard error"),
            (units.negatives <= 1, "one negative: no standard error"),
            (np.isnan(error), NO_DERIVATIVE),
            (np.ones(len(error), bool), NO_SPREAD),
        ]
        note = np.full(len(error), None, dtype=object)
        for holds, reason in reversed(reasons):
            note[missing & holds] = reason
        return note


def limits_by_measure(
    measures: Sequence[Measure],
    spread: Spread,
    sureness: Sureness,
    limits: "Callable[[Measure, Array, Array, Sureness], Limits]",
) -> Iterator[Limits]:
    """The limits of each measure by key: the widest of those without and with pseudo-cases."""
    by_measure = (own.swapaxes(0, 1) for own in spread)
    for measure, estimates, variances in zip(measures, *by_measure, strict=True):
        with np.errstate(all="ignore"):
            yield limits(measure, estimates, variances, sureness)


def area_limits(
    measure: Measure,
    estimates: "Array",
    variances: "Array",
    sureness: Sureness,
) -> Limits:
    """The limits of an area, or of a point of a curve."""
    units = sureness.units
    estimates = np.where(sureness.both, estimates, np.nan)
    error = sureness.error(variances)
    has_limits = (error > 0) & (estimates > 0) & (estimates < 1)
    odds = estimates / (1 - estimates)
    factor = np.exp(sureness.quantile * error / (estimates * (1 - estimates)))
    lower, upper = 1 / (1 + factor / odds), 1 / (1 + 1 / (odds * factor))
    lower, upper = (np.where(has_limits, end, np.nan) for end in (lower, upper))
    note = sureness.note(error[0], ~has_limits[0] & ~np.isnan(estimates[0]))
    least = perfect_lower_limit(
        measure, (1 - sureness.level) / 2, units.positives, units.negatives
    )  # fmt: skip
    if least is not None:
        perfect = (estimates >= 1 - ROUNDING) & (error == 0)
        lower, upper = np.where(perfect, least, lower), np.where(perfect, 1.0, upper)
        note[perfect[0]] = PERFECT
    widened = ~np.isnan(lower[0]) & (estimates[0] < 1 - ROUNDING)
    least, greatest = (np.where(np.isnan(end), estimates, end) for end in (lower, upper))
    return Limits(
        np.where(widened, np.fmin.reduce(least), lower[0]),
        np.where(widened, np.fmax.reduce(greatest), upper[0]),
        np.where(np.isnan(estimates[0]), np.nan, error[0]),
        note,
    )


def loss_limits(
    measure: Measure,
    estimates: "Array",
    variances: "Array",
    sureness: Sureness,
) -> Limits:
    """The limits of a loss, or of 1 less a skill, on the logarithmic scale of the loss."""
    defined = ~np.isnan(estimates[0]) & sureness.both
    if case_loss(measure) is None:
        nothing = np.full(len(defined), np.nan)
        note = np.full(len(defined), None, dtype=object)
        note[defined] = ON_THE_HULL
        return Limits(nothing, nothing, nothing, note)
    error = np.where(sureness.units.enough & defined, np.sqrt(variances), np.nan)
    falls = measure.bounds[0] is None
    loss = 1 - estimates if falls else estimates
    factor = np.exp(sureness.quantile * error / loss)
    ends = [loss / factor, loss * factor]
    lower, upper = (1 - end for end in reversed(ends)) if falls else ends
    has_limits = (error > 0) & (loss > 0)
    least, greatest = (
        np.where(has_limits, np.clip(end, *measure.bounds), np.nan) for end in (lower, upper)
    )
    return Limits(
        np.where(has_limits[0], np.fmin.reduce(least), np.nan),
        np.where(has_limits[0], np.fmax.reduce(greatest), np.nan),
        error[0],
        sureness.note(error[0], ~has_limits[0] & defined),
    )


def columns_of_limits(rows: Sequence[Limits], keys: "Array") -> pl.DataFrame:
    """The limits of these keys, in this order, a row per key and row of it."""
    columns = [
        pl.Series(name, np.stack([getattr(row, name) for row in rows], axis=1)[keys].ravel())
        for name in INTERVAL
    ]
    notes = [note for row in zip(*(row.note[keys] for row in rows), strict=True) for note in row]
    return pl.DataFrame([one.fill_nan(None) for one in columns]).with_columns(
        pl.Series(LIMITS_NOTE, notes, pl.String)
    )


def beside(
    measured: pl.LazyFrame,
    source: pl.LazyFrame,
    keys: Sequence[str],
    limits_of: Callable[[pl.DataFrame], pl.DataFrame],
    level: float,
) -> pl.LazyFrame:
    """Tidy measures with the limits that a function makes of the rows of `source`, by key.

    It gives the keys, the `PLACE` of a row in its key, limits, and a `LIMITS_NOTE`.
    """
    input_schema = source.collect_schema()
    schema = {key: input_schema[key] for key in keys} | {PLACE: pl.Int64(), **COLUMNS}
    columns = [pl.col(name).cast(kind) for name, kind in schema.items()]
    made = source.map_batches(lambda frame: limits_of(frame).select(columns), schema=schema)
    place = within(pl.int_range(pl.len(), dtype=pl.Int64), keys).alias(PLACE)
    joined = measured.with_columns(place).join(
        made, on=[*keys, PLACE], how="left", nulls_equal=True, maintain_order="left"
    )
    return merged(joined, keys, level)


def merged(rows: pl.LazyFrame, keys: Sequence[str], level: float) -> pl.LazyFrame:
    """Tidy measures from rows that have limits at a level and a `LIMITS_NOTE` too."""
    # Limits are made of valid rows, also where a key has invalid ones.
    limits = pl.when(pl.col("estimate").is_not_null()).then(pl.col(*INTERVAL)).name.keep()
    own = pl.when(pl.col("estimate").is_not_null()).then(LIMITS_NOTE)
    ranged = [OVER] if OVER in rows.collect_schema() else []
    noted = rows.with_columns(limits, joined_notes("note", own))
    return with_level(noted.select(*keys, *WITH_INTERVAL, *ranged), level)
