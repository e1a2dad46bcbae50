"""The inputs of a report: what is asked, and the rows of predictions that it is asked of."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.checks import check_share
from polaroc.base.columns import collect_like, column_name
from polaroc.base.joins import join_on
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.comparison.compared import Compared, doubted
from polaroc.comparison.design import Incomplete
from polaroc.errors import InvalidArgument, quoted
from polaroc.predictions.cases import Cases, alike, keyed, with_clusters
from polaroc.predictions.row_checks import SCORE, left_out
from polaroc.predictions.table import read
from polaroc.predictions.wide import MODEL
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.in_use import check_level
from polaroc.reports.needs import Needs
from polaroc.thresholds.tuning_cases import refuse_tuning_rows
from polaroc.typing import Frame, Paths, Table

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
        """Whether models are ranked by what they cost, at thresholds from cases of their own."""
        return self.needs.has_costs and self.tuning is not None


def with_model(cases: Cases[Any]) -> Cases[Any]:
    """The cases, with a column that names the only model where none tells models apart."""
    if cases.model is not None or cases.scores:
        return cases
    present = cases.table.lazy().collect_schema().names()
    names = (MODEL, *(f"{MODEL}_{i}" for i in range(1, len(present) + 1)))
    name = next(name for name in names if name not in present)
    named = cases.table.with_columns(pl.lit(NAMELESS).alias(name))
    return replace(cases, table=named, model=name)


def ranked_rows(given: Compared) -> tuple[Compared, tuple[str, ...]]:
    """The valid predictions, a row per case and model, and remarks on the rows."""
    rows, invalid = _rows(given.cases, given)
    # Folds share cases by design.
    doubts = [] if given.folds else doubted(given.cases)
    invalid_rows = [left_out(invalid)] if invalid else []
    return replace(given, cases=rows), (*given.left_out, *doubts, *invalid_rows)


def tuning_rows(
    tuning: Table | Paths | Cases[Any], cases: Cases[Any], judged: Compared
) -> Cases[pl.DataFrame]:
    """Predictions of the same models on other cases; refuse folds, and cases that are judged."""
    other = with_model(alike(cases, tuning, but=("time",), find=("fold",))).collect()
    folds = [column_name(fold, "fold") for fold in other.fold]
    if judged.folds or any(other.table[fold].n_unique() > 1 for fold in folds):
        raise InvalidArgument(
            f"tuning is given, and there are folds ({quoted(judged.folds or folds)}), whose models "
            "are fitted anew: their thresholds promise nothing.",
            hint="leave it out, or give predictions of fitted models on one test set.",
        )
    rows, _ = _rows(replace(other, fold=()), judged)
    of_case = judged.cases.case
    if isinstance(of_case, str) and rows.case is not None:
        parts = [TRUTH, SCORE, judged.model]
        refuse_tuning_rows(judged.table.lazy(), rows.table.lazy(), of_case, parts)
    return rows


def _rows(cases: Cases[Any], like: Compared) -> tuple[Cases[pl.DataFrame], int]:
    """The valid rows in private columns, named as in `like`, and how many others there are."""
    case = None if cases.case is None else column_name(cases.case, "case")
    cases, clusters = with_clusters(cases)
    subgroups = [*cases.table.lazy().select(*cases.subgroup).collect_schema()]
    also = [*([] if case is None else [case]), *clusters, *cases.subgroup]
    predictions = read(cases, also=also, collected=True)
    names = {predictions.keys[0]: like.model}
    if case is not None and like.cases.case is not None:
        names[case] = case = column_name(like.cases.case, "case")
    rows = keyed(
        predictions.valid_rows.collect().rename(names),
        truth=TRUTH, score=SCORE, model=like.model, fold=like.folds, case=case,
        cluster=cases.cluster, subgroup=subgroups,
        count=None if cases.count is None else WEIGHT,
        weight=None if cases.weight is None else WEIGHT, score_prior=cases.score_prior,
        test_train_ratio=cases.test_train_ratio,
    )  # fmt: skip
    return rows, predictions.count_invalid()


def pooled(cases: Cases[pl.DataFrame]) -> Cases[pl.DataFrame]:
    """The cases, with the rows of all folds of a model together."""
    return replace(cases, fold=())


def of_keys(cases: Cases[pl.DataFrame], keys: pl.DataFrame) -> Cases[pl.DataFrame]:
    """The cases of some models or folds."""
    return replace(cases, table=within(cases.table, keys))


def within(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = join_on(rows.lazy(), keys.lazy(), keys.columns, "semi", order="left")
    return collect_like(rows, kept)
