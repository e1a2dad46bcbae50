"""The inputs of a report: what is asked, and the rows of predictions that it is asked of."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import column_name
from polaroc.base.private_columns import TRUTH
from polaroc.comparison.compared import Compared, valid_rows
from polaroc.comparison.design import Incomplete
from polaroc.errors import InvalidArgument, quoted
from polaroc.predictions.cases import Cases, refuse_crossed
from polaroc.predictions.resolved import alike
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.wide import MODEL
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.in_use import check_level
from polaroc.reports.needs import Needs
from polaroc.thresholds.saved import refuse_tuning_rows
from polaroc.typing import Paths, Table

NAMELESS = "the model"


@dataclass(frozen=True)
class Question:
    """The arguments of `report` of the same names, and the columns of models and folds."""

    compared: Compared  # of predictions: `ranked_rows`
    over: tuple[float, float] | Belief | None
    test_train_ratio: float | None
    level: float
    confidence: float
    needs: Needs
    incomplete: Incomplete
    tuning: Cases[pl.DataFrame] | None = None
    estimate: pl.DataFrame | None = None  # whose belief `over` is
    found: str = ""  # which columns were found by their names, in words
    remarks: tuple[str, ...] = ()  # on rows that were left out, or are not independent

    def __post_init__(self) -> None:
        check_share("level", self.level)
        if self.estimate is not None:
            check_level(self.estimate, self.level)
        check_share("confidence", self.confidence)
        if self.over is not None:
            resolve_belief(self.over)

    @property
    def model(self) -> str:
        """The column that tells the models apart."""
        return self.compared.model

    @property
    def folds(self) -> list[str]:
        """The columns that tell the folds apart."""
        return [*self.compared.folds]

    @property
    def keys(self) -> list[str]:
        """The columns that identify the rows of one measure."""
        return self.compared.keys

    @property
    def ends(self) -> tuple[float, float] | None:
        """The range of priors, None where it is a belief or not given."""
        return None if self.over is None or isinstance(self.over, Belief) else self.over

    @property
    def estimated(self) -> Belief | None:
        """What is believed about the prior, where it is an estimate."""
        over = self.over
        return over if isinstance(over, Belief) and over.ends is not None else None

    @property
    def by_cost(self) -> bool:
        """Whether models are ranked by what they cost, at thresholds from other cases or folds."""
        return self.needs.has_costs and (self.tuning is not None or bool(self.folds))


def with_model(cases: Cases[Any]) -> Cases[Any]:
    """The cases, with a column that names the only model where none tells models apart."""
    if cases.model is not None or cases.scores:
        return cases
    present = cases.table.lazy().collect_schema().names()
    names = (MODEL, *(f"{MODEL}_{i}" for i in range(1, len(present) + 1)))
    name = next(name for name in names if name not in present)
    named = cases.table.with_columns(pl.lit(NAMELESS).alias(name))
    return replace(cases, table=named, model=name)


def tuning_rows(
    tuning: Table | Paths | Cases[Any], cases: Cases[Any], judged: Compared
) -> Cases[pl.DataFrame]:
    """Predictions of the same models on other cases; refuse folds, and cases that are judged."""
    other = with_model(alike(cases, tuning, but=("time",), find=("fold",), name="tuning")).collect()
    folds = [column_name(fold, "fold") for fold in other.fold]
    if judged.folds or any(other.table[fold].n_unique() > 1 for fold in folds):
        raise InvalidArgument(
            f"tuning is given, and there are folds ({quoted(judged.folds or folds)}), whose models "
            "are fitted anew: their thresholds promise nothing.",
            hint="leave it out, or give predictions of fitted models on one test set.",
        )
    refuse_crossed(other)
    rows, _ = valid_rows(replace(other, fold=()), judged)
    of_case = judged.cases.case
    if isinstance(of_case, str) and rows.case is not None:
        parts = [TRUTH, SCORE, judged.model]
        refuse_tuning_rows(judged.table.lazy(), rows.table.lazy(), of_case, parts)
    return rows
