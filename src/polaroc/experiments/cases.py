"""Labelled cases with features: what models are trained on."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polaroc.base.columns import as_lazy, column_name
from polaroc.base.private_columns import TRUTH
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, InvalidTable, quoted
from polaroc.predictions.row_checks import ROW_ERRORS, truth_column
from polaroc.typing import Array, Label


@dataclass(frozen=True)
class LabelledCases:
    """Cases as scikit-learn takes them."""

    features: "Array"  # Float64, cases × features; a null is NaN
    labels: "Array"  # Int64, 1 for a positive and 0 for a negative

    def check_least(self, least: int) -> None:
        """Refuse classes of fewer than `least` cases."""
        positives = int(self.labels.sum())
        negatives = len(self.labels) - positives
        if min(positives, negatives) < least:
            raise InvalidPredictions(
                f"there are {positives} positives and {negatives} negatives, needed are {least} "
                "of each.",
                hint="take fewer folds, or check truth and positive.",
            )


def read_cases(
    data: pl.DataFrame | pl.LazyFrame, truth: str, positive: Label | Sequence[Label] | None
) -> LabelledCases:
    """The cases of a table, refused where labels or features cannot be used."""
    table = as_lazy(data).collect()
    if column_name(truth, "truth") not in table.columns:
        raise InvalidArgument(
            f"there is no column {truth!r}; the table has {quoted(table.columns)}.",
            hint=Hint("name the column of the labels with {truth}", truth=...),
        )
    features = table.drop(truth)
    unusable = [
        name
        for name, kind in features.schema.items()
        if not (kind.is_numeric() or kind == pl.Boolean)
    ]
    if unusable or not features.width:
        shown = quoted(unusable[:5]) or "none"
        raise InvalidTable(
            f"features must be numbers; these columns are not: {shown}.",
            hint="drop or encode them first, for example with to_dummies.",
        )
    return LabelledCases(
        features.cast(pl.Float64).to_numpy().copy(), _labels(table[truth], truth, positive)
    )


def _labels(labels: pl.Series, truth: str, positive: Label | Sequence[Label] | None) -> "Array":
    value, troubles = truth_column(labels.dtype, truth, positive)
    read = labels.alias(TRUTH).to_frame()
    for code, is_so in troubles:
        count = read.select(is_so.cast(pl.Int64).sum()).item()
        if count:
            raise InvalidPredictions(
                f"{count} {ROW_ERRORS[code]}{'' if count == 1 else 's'} in {truth!r}.",
                hint=Hint(
                    "drop such rows, or name the positive label(s) with {positive}", positive=...
                ),
            )
    return read.select(value.cast(pl.Int64)).to_series().to_numpy()
