"""Put limits beside tidy measures."""

from collections.abc import Callable, Sequence

import polars as pl

from polaroc.base.columns import INTERVAL, OVER, WITH_INTERVAL, with_level, within
from polaroc.base.joins import join_on
from polaroc.base.private_columns import LIMITS_NOTE, PLACE
from polaroc.predictions.dependence import with_note

TAKEN_FOR_COUNTS = "weights taken for counts of cases"
COLUMNS = {**dict.fromkeys(INTERVAL, pl.Float64()), LIMITS_NOTE: pl.String()}


def beside(
    measured: pl.LazyFrame,
    source: pl.LazyFrame,
    keys: Sequence[str],
    limits_of: Callable[[pl.DataFrame], pl.DataFrame],
    level: float,
    *,
    counted: bool = True,
) -> pl.LazyFrame:
    """Tidy measures with the limits that a function makes of the rows of `source`, by key.

    It gives the keys, the `PLACE` of a row in its key, limits, and a `LIMITS_NOTE`. Weights are
    taken for counts of cases where they are `counted`.
    """
    input_schema = source.collect_schema()
    schema = {key: input_schema[key] for key in keys} | {PLACE: pl.Int64(), **COLUMNS}
    columns = [pl.col(name).cast(kind) for name, kind in schema.items()]
    made = source.map_batches(lambda frame: limits_of(frame).select(columns), schema=schema)
    place = within(pl.int_range(pl.len(), dtype=pl.Int64), keys).alias(PLACE)
    joined = join_on(measured.with_columns(place), made, [*keys, PLACE], "left", order="left")
    return merged(joined, keys, level, counted=counted)


def merged(
    rows: pl.LazyFrame, keys: Sequence[str], level: float, *, counted: bool = True
) -> pl.LazyFrame:
    """Tidy measures from rows that have limits at a level and a `LIMITS_NOTE` too."""
    # Limits are made of valid rows, also where a key has invalid ones.
    limits = pl.when(pl.col("estimate").is_not_null()).then(pl.col(*INTERVAL)).name.keep()
    own = pl.when(pl.col("estimate").is_not_null()).then(LIMITS_NOTE)
    notes = pl.concat_str("note", own, separator="; ", ignore_nulls=True)
    schema = rows.collect_schema()
    ranged = [OVER] if OVER in schema else []
    noted = rows.with_columns(limits, notes.replace("", None).alias("note"))
    chosen = with_level(noted.select(*keys, *WITH_INTERVAL, *ranged), level)
    if not (counted and schema["positives"].is_float()):
        return chosen
    return with_note(chosen, TAKEN_FOR_COUNTS, pl.col("lower").is_not_null())
