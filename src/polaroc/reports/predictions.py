"""Predictions as they are given to a report: their keys, their cases, and those for tuning."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from polaroc.base.columns import as_lazy, collect_like, column_name, column_names
from polaroc.base.tables import as_polars
from polaroc.base.text import capitalised
from polaroc.comparison.checks import refuse_empty, refuse_pooled_folds
from polaroc.comparison.layout import ratio_of
from polaroc.comparison.paired_cases import common_cases
from polaroc.errors import InvalidArgument
from polaroc.predictions.cases import keyed
from polaroc.predictions.dependence import dependence
from polaroc.predictions.usual_keys import (
    column_names_of,
    may_be_keys,
    usual_keys,
    usual_name,
    usual_names,
    usual_units,
)
from polaroc.predictions.wide import MODEL, score_columns, with_row_cases
from polaroc.reports.inputs import ReportPredictions, read_predictions, with_one_model
from polaroc.thresholds.tuning_cases import refuse_tuning_rows
from polaroc.typing import IntoExpr, Label, Nulls, Score, Table


@dataclass(frozen=True, eq=False)
class GivenPredictions:
    """A table, and the arguments of `report` that say what its columns hold."""

    frame: pl.LazyFrame | pl.DataFrame
    truth: IntoExpr
    score: Score
    case: str | None
    weight: IntoExpr | None
    positive: Label | Sequence[Label] | None
    nulls: Nulls
    keys: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()  # warnings on columns that may be keys but are not used
    remarks: tuple[str, ...] = ()  # on cases that not all models scored

    def with_keys(self, by: str | Sequence[str] | None) -> "GivenPredictions":
        """The keys of `by`, or those with usual names; each row a case where nothing says else."""
        scores = score_columns(self.score)
        frame, keys, unused = _keyed(self.frame, by, self._columns(), one_model=not scores)
        keyed = replace(self, frame=frame, keys=tuple(keys), unused=tuple(unused))
        if not scores or self.case is not None or self.weight is not None or set(keys) - {MODEL}:
            return keyed
        frame, case = with_row_cases(frame)
        return replace(keyed, frame=frame, case=case)

    def _columns(self) -> list[object]:
        """The columns that are no keys; one for cases with the name of a key is refused as one."""
        case = None if isinstance(self.case, str) and usual_name(self.case) else self.case
        scores = score_columns(self.score)
        return [self.truth, self.weight, case, *(scores.values() if scores else [self.score])]

    def with_common_cases(self, between: str | None) -> "GivenPredictions":
        """The cases that all models of one test set scored, where others are dropped."""
        model_key = None if between is None else column_name(between, "between")
        folds = [key for key in self.keys if key != model_key and usual_name(key) != "model"]
        if self.nulls != "drop" or self.weight is not None or folds:
            return self
        frame, of_others = common_cases(
            as_lazy(self.frame).collect(), truth=self.truth, score=self.score,
            between=self.keys[0] if self.keys else MODEL, case=self.case,
        )  # fmt: skip
        return replace(self, frame=frame, remarks=() if of_others is None else (of_others,))

    def read(self) -> ReportPredictions:
        """The predictions, audited."""
        predictions = read_predictions(
            self.frame, truth=self.truth, score=self.score, by=self.keys, weight=self.weight,
            positive=self.positive, nulls=self.nulls, case=self.case,
        )  # fmt: skip
        refuse_empty(predictions.valid_rows)
        return replace(predictions, remarks=self.remarks)

    def doubted(self, predictions: ReportPredictions, blocks: Sequence[str]) -> ReportPredictions:
        """The predictions, with a remark where those of one test set are not independent."""
        if blocks:
            return predictions
        frame = self.frame
        names = as_lazy(frame).collect_schema().names()
        keys = [name for name in predictions.keys if name in names]
        if isinstance(frame, pl.LazyFrame) and (units := usual_units(names)):
            # Its rows are collected in any case, and so may these columns be.
            frame = frame.select({*keys, *units, *usual_names(names).keys}).collect()
        doubt = dependence(keyed(frame, by=keys))
        if doubt is None:
            return predictions
        return replace(predictions, remarks=(*predictions.remarks, f"{capitalised(doubt)}."))

    def ratio(
        self, predictions: ReportPredictions, models: str, blocks: Sequence[str]
    ) -> float | None:
        """Test over training cases, as folds and cases tell; refuse folds that are no keys."""
        refuse_pooled_folds(as_lazy(self.frame), [models, *blocks], self._columns())
        if not blocks or self.case is None:
            return None
        return ratio_of(predictions.valid_rows, [models, *blocks], self.case)

    def read_tuning(
        self, tuning: Table, predictions: ReportPredictions, models: str, blocks: Sequence[str]
    ) -> ReportPredictions:
        """Predictions of the same models on other cases; refuse folds, and the same cases."""
        if predictions.valid_rows.select(blocks).n_unique() > 1:
            raise InvalidArgument(
                f"tuning is given, and there are folds ({', '.join(blocks)}), whose models are "
                "fitted anew: their thresholds promise nothing.",
                hint="leave it out, or give predictions of fitted models on one test set.",
            )
        frame, scores = as_polars(tuning), score_columns(self.score)
        if self.case is not None:
            parts = [self.truth, *(scores.values() or [self.score])]
            refuse_tuning_rows(as_lazy(self.frame), as_lazy(frame), self.case, parts)
        named = models in as_lazy(frame).collect_schema() and not scores
        keys = (models,) if named else ()
        return replace(self, frame=frame, keys=keys, case=None, remarks=()).read()


def _keyed(
    frame: pl.LazyFrame | pl.DataFrame,
    by: str | Sequence[str] | None,
    taken: Sequence[object],
    *,
    one_model: bool,
) -> tuple[pl.LazyFrame | pl.DataFrame, list[str], list[str]]:
    """The table, its keys, and warnings on columns that may be keys but are not used."""
    if by is not None:
        return frame, column_names(by, "by"), []
    used = column_names_of(taken)
    if isinstance(frame, pl.LazyFrame):
        # Cache: a source may give other rows when it is read again.
        schema = frame.collect_schema()
        needed = {*used, *may_be_keys(schema, used)}
        frame = frame.select(name for name in schema if name in needed).collect()
    lazy = as_lazy(frame)
    usual = usual_keys(lazy, used)
    keys = usual.keys
    if usual.blocks and not usual.models and one_model:
        lazy, model = with_one_model(lazy)
        frame, keys = collect_like(frame, lazy), [model, *keys]
    if not usual.unused:
        return frame, keys, []
    all_keys = [*usual.keys, next(iter(usual.unused))]
    return (
        frame,
        keys,
        [
            f"Not used, so that their rows are taken together: {usual.unused_in_words}; if one "
            f"tells models or folds apart: by={all_keys!r}."
        ],
    )
