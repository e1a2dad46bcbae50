"""What is compared: predictions of several models, or measures of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.checks import check_ratio
from polaroc.base.columns import as_lazy, column_name
from polaroc.comparison.checks import refuse_empty
from polaroc.comparison.layout import ratio_of
from polaroc.comparison.paired_cases import common_cases_of, model_column
from polaroc.predictions.cases import Cases, alike, of_measures
from polaroc.predictions.wide import with_row_cases
from polaroc.typing import Table


@dataclass(frozen=True, eq=False)
class Compared:
    """Predictions, or measures without truth and score, in memory, and the columns of their roles.

    The folds of predictions have several values. Each row of a wide table without folds is a case
    where no column tells cases apart.
    """

    cases: Cases[pl.DataFrame]
    model: str
    folds: tuple[str, ...]
    left_out: str | None = None  # what is to be said of cases that not all models scored

    @property
    def are_measures(self) -> bool:
        """Whether the table holds measures."""
        return self.cases.truth is None

    @property
    def on_cases(self) -> bool:
        """Whether these are predictions of fitted models on one test set."""
        return not (self.are_measures or self.folds)

    @property
    def table(self) -> pl.DataFrame:
        """The table."""
        return self.cases.table

    @property
    def keys(self) -> list[str]:
        """The column of the models, then those of the folds."""
        return [self.model, *self.folds]

    @property
    def test_train_ratio(self) -> float | None:
        """Test over training cases of a fold: as said, or of predictions as the cases tell."""
        cases = self.cases
        if cases.test_train_ratio is not None:
            check_ratio(cases.test_train_ratio)
            return cases.test_train_ratio
        if self.are_measures or cases.case is None or not self.folds:
            return None
        keys = [key for key in self.keys if key in self.table.columns]
        return ratio_of(self.table, keys, column_name(cases.case, "case"))


def compared(cases: Cases[Any]) -> Compared:
    """The table in memory, with the columns of its models and folds; raise where there is no model.

    Of one test set with ``nulls="drop"`` those cases are left that all models scored.
    """
    model = model_column(cases)
    if cases.truth is None:
        folds = tuple(column_name(fold, "fold") for fold in cases.fold)
        return Compared(cases.collect(), model, folds)
    own = cases.collect()
    refuse_empty(own.table)
    columns = [column_name(fold, "fold") for fold in own.fold]
    # A fold of one value, as of a table that was filtered, divides nothing.
    several = columns and own.table.select(columns).n_unique() > 1
    folds = tuple(columns) if several else ()
    own = replace(own, fold=folds)
    if folds or own.weight is not None:
        return Compared(own, model, folds)
    if own.scores and own.case is None:
        numbered, case = with_row_cases(own.table)
        own = replace(own, table=numbered.lazy().collect(), case=case)
    left_out = None
    if own.nulls == "drop":
        own, left_out = common_cases_of(own, model)
    return Compared(own, model, folds, left_out)


def measured_halves(
    halves: Table | Cases[Any] | None,
    cases: Cases[Any],
    measured: Callable[[Cases[Any]], pl.DataFrame],
) -> pl.DataFrame | None:
    """The measures in halves, which are measures already, or predictions with the same roles."""
    if halves is None:
        return None
    if not isinstance(halves, Cases):
        table = as_lazy(halves).collect()
        if cases.truth is None or {"measure", "estimate"} <= set(table.columns):
            return of_measures(table, {}).collect().table
        halves = table
    return measured(alike(cases, halves).collect())
