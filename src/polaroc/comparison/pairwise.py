"""The table of every two models: how far they differ, and whether they are told apart."""

import polars as pl

from polaroc.base.columns import with_level
from polaroc.typing import Array
from polaroc.uncertainty.adjusted import Adjusted
from polaroc.uncertainty.evidence import Contrasts


def pair_frame(
    pairs: Contrasts, adjusted: Adjusted, models: pl.Series, level: float
) -> pl.DataFrame:
    """The pairs as a table, its first columns named after the models' column."""
    (lower, upper), (least, most) = pairs.limits(level), pairs.limits(adjusted.level)
    numbers: dict[str, Array] = {
        "difference": pairs.difference, "std_error": pairs.std_error, "lower": lower,
        "upper": upper, "adjusted_lower": least, "adjusted_upper": most,
        "statistic": pairs.statistic, "p_value": pairs.p_value, "p_adjusted": adjusted.p_value,
    }  # fmt: skip
    named = {f"{models.name}_a": models[pairs.first], f"{models.name}_b": models[pairs.second]}
    return with_level(pl.DataFrame(named | numbers), level)
