"""Thresholds that are given as numbers, and not as points of a curve."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import TypeGuard

import polars as pl

from polaroc.base.checks import is_number
from polaroc.base.columns import with_key_types
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
            hint=("give a threshold, points=0.5, a mapping such as {'A': 0.5}, or the result of "
                      "operating_points(...) on other cases."),
        )  # fmt: skip
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


def points_of_numbers(points: Numbers, totals: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Thresholds as points, at the share of positives of each key, given the totals of the keys.

    Their rates on a tuning table are null, since there is none.
    """
    table = threshold_table(points, keys).lazy()
    shared = [name for name in table.collect_schema() if name in keys]
    table = with_key_types(table, totals.collect_schema(), shared)
    positives, negatives = pl.col("positives"), pl.col("negatives")
    of_keys = totals.select(*keys, positives, negatives)
    if isinstance(points, Mapping):
        known = partial(_of_known_models, [*points], shared[0])
        of_keys = of_keys.map_batches(known, predicate_pushdown=False, projection_pushdown=False,
                                      slice_pushdown=False)  # fmt: skip
    of_keys = of_keys.join(table, on=shared or pl.lit(0), nulls_equal=True)
    return as_points(
        of_keys, keys, rule=pl.lit("threshold"), prior=positives / (positives + negatives)
    )


def _of_known_models(named: Sequence[object], model: str, totals: pl.DataFrame) -> pl.DataFrame:
    """The totals of the keys; raise where thresholds are named of models that have none."""
    refuse_unknown_models(named, totals[model].unique(maintain_order=True).to_list())
    return totals


def refuse_unknown_models(named: Sequence[object], present: Sequence[object]) -> None:
    """Refuse thresholds of models that a table does not have."""
    unknown = [model for model in named if model not in present]
    if unknown and present:
        raise InvalidArgument(
            f"points has thresholds of {quoted(unknown)}, and the models are {quoted(present)}.",
            hint="leave them out.",
        )


def as_points(table: pl.LazyFrame, keys: Sequence[str], **own: pl.Expr) -> pl.LazyFrame:
    """A table of thresholds with the columns of points: null rates and notes but its `own`."""
    none = dict.fromkeys(("tpr", "fpr", "precision"), pl.lit(None, pl.Float64))
    usual = {"share": pl.lit(1.0), "note": pl.lit(None, pl.String)} | none | own
    return table.select(*keys, **{name: usual.get(name, pl.col(name)) for name in POINTS})
