"""Thresholds that are given as numbers, and not as points of a curve."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeGuard

import polars as pl

from polaroc.base.checks import is_number
from polaroc.errors import InvalidArgument, quoted
from polaroc.thresholds.operating_points import POINTS
from polaroc.typing import Table

Numbers = float | Mapping[str, float]


def are_numbers(points: Table | Numbers) -> TypeGuard[Numbers]:
    """Whether thresholds are one number, or one per model."""
    if isinstance(points, Mapping):
        # The columns of a table have lengths.
        are_columns = (
            hasattr(one, "__len__") and not isinstance(one, str) for one in points.values()
        )
        return bool(points) and not any(are_columns)
    if points is None or isinstance(points, str | list | tuple | Decimal):
        raise InvalidArgument(
            f"points is {quoted([points])}, allowed are a number, one for each model, and a table.",
            hint="give a threshold, points=0.5, a mapping such as {'A': 0.5}, or the result of "
            "operating_points(...) on other cases.",
        )
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
    for model, value in by_model.items():
        if not is_number(value) or value != value:
            of_model = "" if model is None else f" for {quoted([model])}"
            raise InvalidArgument(
                f"points is {quoted([value])}{of_model}, allowed are numbers.",
                hint="give a threshold.",
            )
    table = pl.DataFrame({"threshold": [float(value) for value in by_model.values()]})
    if not isinstance(points, Mapping):
        return table
    return table.select(pl.Series(model_key(points, keys), [*points]), "threshold")


def points_of_numbers(points: Numbers, keys: Sequence[str]) -> pl.DataFrame:
    """Thresholds with the columns of points; there is no tuning table, so that others are null."""
    unknown = [pl.lit(None, pl.Float64).alias(name) for name in POINTS if name != "threshold"]
    return (
        threshold_table(points, keys)
        .with_columns(unknown)
        .with_columns(rule=pl.lit("threshold"), note=pl.lit(None, pl.String))
    )


def model_key(points: Mapping[str, float], keys: Sequence[str]) -> str:
    """The key that tells the models of thresholds apart."""
    models = ["model"] if "model" in keys else keys if len(keys) == 1 else []
    if not models:
        raise InvalidArgument(
            f"points has thresholds of {quoted([*points])}, and no key tells models apart: keys "
            f"are {quoted(keys) or 'none'}.",
            hint=f"give its number, points={next(iter(points.values()))}."
            if len(points) == 1
            else "name the column of the models, model='model', or give one number.",
        )
    return models[0]


def refuse_unknown_models(named: Sequence[object], present: Sequence[object]) -> None:
    """Refuse thresholds of models that a table does not have."""
    unknown = [model for model in named if model not in present]
    if unknown and present:
        raise InvalidArgument(
            f"points has thresholds of {quoted(unknown)}, and the models are {quoted(present)}.",
            hint="leave them out.",
        )
