"""The predictions of a report: their valid rows, and the curves of each model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import polars as pl

from polaroc.base.columns import as_lazy, collect_like, column_name
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument
from polaroc.predictions.audit import check
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import read
from polaroc.reports.question import NAMELESS
from polaroc.typing import Frame, IntoExpr, Label, Nulls

MODEL = "model"


@dataclass(frozen=True, eq=False)
class ReportPredictions:
    """Predictions that can be ranked.

    Attributes
    ----------
    valid_rows
        The keys, the case where one is named, and score, truth and weight in our
        own columns.
    keys
        The key columns.
    weighted
        Whether rows have weights.
    dropped
        How many rows were left out for want of a score, truth or weight.
    """

    valid_rows: pl.LazyFrame
    keys: tuple[str, ...]
    weighted: bool
    dropped: int

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that name the columns."""
        return {"truth": TRUTH, "score": SCORE, "weight": WEIGHT if self.weighted else None}

    def audit(self) -> pl.DataFrame:
        """What each key holds, as `check` has it."""
        return check(self.valid_rows, by=list(self.keys), **self.arguments)

    def within(self, keys: pl.DataFrame) -> "ReportPredictions":
        """The same of some blocks, or models, only."""
        return replace(self, valid_rows=within(self.valid_rows, keys))

    def curves(self, by: Sequence[str]) -> pl.DataFrame:
        """The curves of all rows that share a key."""
        return curve(self.valid_rows, by=list(by), **self.arguments).collect()


def read_predictions(
    frame: pl.LazyFrame | pl.DataFrame,
    *,
    truth: IntoExpr,
    score: IntoExpr,
    by: Sequence[str],
    weight: IntoExpr | None,
    positive: Label | Sequence[Label] | None,
    nulls: Nulls,
    case: str | None,
) -> ReportPredictions:
    """The predictions, audited; a table without keys gets one that names its only model."""
    keys = list(by)
    table = as_lazy(frame)
    if not keys:
        table, key = with_one_model(table)
        keys = [key]
    if case is not None and column_name(case, "case") in keys:
        raise InvalidArgument(
            f"case is {case!r}, also a key of by.",
            hint="the case is the row of the raw table that models are paired by; it is no key.",
        )
    named = [*keys, *([] if case is None else [case])]
    ranked = read(
        table, truth=truth, score=score, by=named, weight=weight, positive=positive, nulls=nulls,
        collected=True,
    )  # fmt: skip
    rows = ranked.valid_rows.collect().lazy()
    return ReportPredictions(rows, tuple(keys), ranked.weighted, ranked.count_invalid())


def with_one_model(table: pl.LazyFrame) -> tuple[pl.LazyFrame, str]:
    """The table with a key that names its only model, and the name of that column."""
    present = table.collect_schema().names()
    others = (f"{MODEL}_{i}" for i in range(1, len(present) + 1))
    key = next(name for name in chain([MODEL], others) if name not in present)
    return table.with_columns(pl.lit(NAMELESS).alias(key)), key


def within(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = rows.lazy().join(
        keys.lazy(), on=keys.columns, how="semi", nulls_equal=True, maintain_order="left"
    )
    return collect_like(rows, kept)


def one_of(predictions: ReportPredictions, between: str, model: pl.Series) -> pl.LazyFrame:
    """The rows of one model, given as a series of its name."""
    return within(predictions.valid_rows, model.alias(between).to_frame())
