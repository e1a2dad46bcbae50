"""The inputs of a report: what is asked, what thresholds are to achieve, and the rows."""

from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from polaroc.base.checks import check_factors, check_share
from polaroc.errors import InvalidArgument, quoted
from polaroc.models.inputs import Inputs, with_model
from polaroc.models.paired_cases import without_errors
from polaroc.predictions.cases import Cases, same_columns
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.priors.in_use import check_level
from polaroc.thresholds.need import Need
from polaroc.thresholds.tuning_cases import shared_with_tuning, with_model_type
from polaroc.typing import Table

# Least recalls of the thresholds that are shown where nobody said what is needed.
TYPICAL_RECALLS = (0.8, 0.9, 0.95)


# Rates that a threshold of a report may be limited by.
LIMITED = ("recall", "precision", "posfrac")


@dataclass(frozen=True)
class Needs:
    """The goal of the thresholds of a report: limits as in its `constraints`, or costs."""

    recall: float | None = None
    precision: float | None = None
    posfrac: float | None = None
    cost_fn: float | None = None
    cost_fp: float | None = None

    def __post_init__(self) -> None:
        for name in LIMITED:
            if getattr(self, name) is not None:
                check_share(name, getattr(self, name))
        costs = {"cost_fn": self.cost_fn, "cost_fp": self.cost_fp}
        check_factors(**{name: cost for name, cost in costs.items() if cost is not None})
        given = [name for name in LIMITED if getattr(self, name) is not None]
        given += ["costs"] if self.has_costs else []
        if len(given) > 1:
            raise InvalidArgument(
                f"{' and '.join(given)} are given, and a threshold can meet one need.",
                hint="give one of them or costs, and read off the page what the threshold does to "
                "the others.",
            )

    @property
    def has_costs(self) -> bool:
        """Whether a cost is given; the other is then 1."""
        return self.cost_fn is not None or self.cost_fp is not None

    @property
    def costs(self) -> tuple[float, float]:
        """The costs of a missed positive and of a false alarm."""
        return (1 if self.cost_fn is None else self.cost_fn), (self.cost_fp or 1)

    @property
    def is_given(self) -> bool:
        """Whether anything is said to be needed."""
        return self != Needs()

    def at(self, priors: tuple[float, ...]) -> list[Need]:
        """The needs, one per threshold; the one that the report acts on is in the middle."""
        if self.has_costs:
            return [Need("cost", (prior,), 0, *self.costs) for prior in priors]
        if self.precision is not None:
            return [Need("precision", priors, self.precision)]
        if self.posfrac is not None:
            return [Need("capacity", priors, self.posfrac)]
        recalls = TYPICAL_RECALLS if self.recall is None else (self.recall,)
        return [Need("recall", priors, recall) for recall in recalls]


@dataclass(frozen=True)
class Question:
    """The arguments of `report` of the same names, and the columns of models and folds."""

    compared: Inputs  # of predictions: `ranked_rows`
    over: tuple[float, float] | Belief | None
    test_train_ratio: float | None
    level: float
    confidence: float
    needs: Needs
    tuning: Cases[pl.DataFrame] | None = None
    shared: tuple[str, ...] = ()  # warnings of cases and clusters that tuning and test share
    estimate: pl.DataFrame | None = None  # whose belief `over` is
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
        return "model"

    @property
    def folds(self) -> list[str]:
        """The columns that tell the folds apart."""
        return [*self.compared.folds]

    @property
    def keys(self) -> list[str]:
        """The columns that identify the rows of one measure."""
        return self.compared.keys

    @property
    def cluster(self) -> str | None:
        """The column of clusters, as the table names it."""
        return next(iter(self.compared.cases.names.get("cluster", ())), None)

    @property
    def ends(self) -> tuple[float, float] | None:
        """The range of priors, None where it is a belief or not given."""
        return None if self.over is None or isinstance(self.over, Belief) else self.over

    @property
    def estimated(self) -> Belief | None:
        """The belief about the prior, if it is an estimate."""
        over = self.over
        return over if isinstance(over, Belief) and over.is_estimate else None

    @property
    def by_cost(self) -> bool:
        """Whether models are ranked by what they cost, at thresholds from other cases or folds."""
        return self.needs.has_costs and (self.tuning is not None or bool(self.folds))


def tuning_rows(
    tuning: Table | Cases[Any], cases: Cases[Any], judged: Inputs
) -> tuple[Cases[pl.DataFrame], list[str]]:
    """Predictions of the same models on other cases, and warnings of cases that are judged, too.

    Folds are refused.
    """
    judging = with_model(cases).collect()
    other = with_model_type(with_model(same_columns(cases, tuning)).collect(), judging)
    folds = [*other.fold]
    if judged.folds or any(other.rows[fold].n_unique() > 1 for fold in folds):
        raise InvalidArgument(
            f"tuning is given, and there are folds ({quoted(judged.folds or folds)}), whose models "
            "are fitted anew: their thresholds promise nothing.",
            hint="leave it out, or give predictions of fitted models on one test set.",
        )
    rows = without_errors(replace(other, fold=()))
    return rows, shared_with_tuning(judging, other)
