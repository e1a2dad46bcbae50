"""Thresholds that are given as numbers, and not as points of a curve."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TypeGuard

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.columns import with_key_types
from polaroc.base.joins import attach
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.predictions.usual_keys import usual_names
from polaroc.thresholds.operating_points import POINTS
from polaroc.typing import Table

Numbers = float | Mapping[str, float]


def are_numbers(points: Table | Numbers) -> TypeGuard[Numbers]:
    """Whether thresholds are one number, or one per model."""
    if isinstance(points, Mapping):
        return bool(points) and all(map(is_number, points.values()))
    return is_number(points)


def threshold_table(points: Numbers, keys: Sequence[str]) -> pl.DataFrame:
    """The thresholds with the key of the models, where there is one per model.

    Examples
    --------
    >>> threshold_table(0.3, ["model"]).row(0, named=True)
    {'threshold': 0.3}
    >>> threshold_table({"tree": 0.3}, ["fold", "model"]).row(0, named=True)
    {'model': 'tree', 'threshold': 0.3}
    """
    by_model = points if isinstance(points, Mapping) else {None: points}
    if any(isnan(value) for value in by_model.values()):
        raise InvalidArgument("points is nan, allowed are numbers.", hint="give a threshold.")
    table = pl.DataFrame({"threshold": [float(value) for value in by_model.values()]})
    if not isinstance(points, Mapping):
        return table
    return table.select(pl.Series(_model_key(points, keys), [*points]), "threshold")


def _model_key(points: Mapping[str, float], keys: Sequence[str]) -> str:
    models = usual_names(keys).models or (keys if len(keys) == 1 else [])
    if not models:
        raise InvalidArgument(
            f"points has thresholds of {quoted([*points])}, and no key tells models apart: keys "
            f"are {quoted(keys) or 'none'}.",
            hint=Hint("give its number, {points}.", points=next(iter(points.values())))
            if len(points) == 1
            else Hint("name the column of the models, {model}, or give one number.", model="model"),
        )
    return models[0]


def points_of_numbers(points: Numbers, totals: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Thresholds as points, at the share of positives of each key, given the totals of the keys.

    Their rates on a tuning table are null, since there is none.
    """
    table = threshold_table(points, keys).lazy()
    shared = [name for name in table.collect_schema() if name in keys]
    table = with_key_types(
        table, totals.collect_schema(), shared, ("the predictions", "the points")
    )
    positives, negatives = pl.col("positives"), pl.col("negatives")
    of_keys = attach(totals.select(*keys, positives, negatives), table, shared)
    return as_points(
        of_keys, keys, rule=pl.lit("threshold"), prior=positives / (positives + negatives)
    )


def as_points(table: pl.LazyFrame, keys: Sequence[str], **own: pl.Expr) -> pl.LazyFrame:
    """A table of thresholds with the columns of points: null rates and notes but its `own`."""
    none = dict.fromkeys(("tpr", "fpr", "precision"), pl.lit(None, pl.Float64))
    usual = {"share": pl.lit(1.0), "note": pl.lit(None, pl.String)} | none | own
    return table.select(*keys, **{name: usual.get(name, pl.col(name)) for name in POINTS})
