"""The inputs of a report: the question with its columns, and the predictions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import polars as pl

from polaroc.base.checks import check_ratio, check_share
from polaroc.base.columns import as_lazy, collect_like, column_name, column_names
from polaroc.base.joins import join_on
from polaroc.base.private_columns import TRUTH, WEIGHT
from polaroc.comparison.design import Incomplete
from polaroc.curves.curve import curve
from polaroc.curves.hull import hulls
from polaroc.errors import InvalidArgument, spelling
from polaroc.measures.scoring import check_score_prior
from polaroc.predictions.audit import check
from polaroc.predictions.balance import model_key
from polaroc.predictions.cases import Cases, keyed
from polaroc.predictions.row_checks import SCORE
from polaroc.predictions.table import read
from polaroc.predictions.wide import score_columns
from polaroc.priors.beliefs import Belief, resolve_belief
from polaroc.reports.needs import Needs
from polaroc.typing import Frame, IntoExpr, Label, Nulls, Prior, Score

MODEL = "model"
NAMELESS = "the model"


@dataclass(frozen=True, eq=False)
class ReportPredictions:
    """Predictions that can be ranked."""

    valid_rows: pl.DataFrame  # keys, case, and our own columns
    keys: tuple[str, ...]
    weighted: bool
    dropped: int  # rows that cannot be ranked
    remarks: tuple[str, ...] = ()  # on cases that not all models scored, or not independent
    _curves: dict[tuple[str, ...], pl.DataFrame] = field(default_factory=dict, repr=False)

    def cases(self, by: Sequence[str]) -> Cases[pl.DataFrame]:
        """All rows, with an answer for each value of these keys."""
        weight = WEIGHT if self.weighted else None
        return keyed(self.valid_rows, truth=TRUTH, score=SCORE, weight=weight, by=[*by])

    def audit(self) -> pl.DataFrame:
        """The totals of each key, as in the result of `check`."""
        return check(self.cases(self.keys))

    def within(self, keys: pl.DataFrame) -> "ReportPredictions":
        """The predictions of some blocks or models."""
        return replace(self, valid_rows=within(self.valid_rows, keys), _curves={})

    def curves(self, by: Sequence[str]) -> pl.DataFrame:
        """The curves of all rows that share a key."""
        if tuple(by) not in self._curves:
            self._curves[tuple(by)] = curve(self.cases(by))
        return self._curves[tuple(by)]

    def hulls(self, by: Sequence[str]) -> pl.DataFrame:
        """Their upper convex hulls."""
        return hulls(self.curves(by).lazy()).collect()


def read_predictions(
    frame: pl.LazyFrame | pl.DataFrame,
    *,
    truth: IntoExpr,
    score: Score,
    by: Sequence[str],
    weight: IntoExpr | None,
    positive: Label | Sequence[Label] | None,
    nulls: Nulls,
    case: str | None,
) -> ReportPredictions:
    """The predictions, audited; a table without keys gets one that names its only model."""
    keys = list(by)
    table = as_lazy(frame)
    if not keys and not score_columns(score):
        table, key = with_one_model(table)
        keys = [key]
    if case is not None and column_name(case, "case") in keys:
        raise InvalidArgument(
            f"case is {case!r}, also a key of by.",
            hint="the case is the row of the raw table that models are paired by; it is no key.",
        )
    ranked = read(
        keyed(
            table, truth=truth, score=score, by=keys, weight=weight, positive=positive, nulls=nulls
        ),
        also=[] if case is None else [case],
        collected=True,
    )
    rows = ranked.valid_rows.collect()
    keys = [key for key in ranked.keys if key != case]
    return ReportPredictions(rows, tuple(keys), ranked.weighted, ranked.count_invalid())


def with_one_model(table: pl.LazyFrame) -> tuple[pl.LazyFrame, str]:
    """The table with a key that names its only model, and the name of that column."""
    present = table.collect_schema().names()
    others = (f"{MODEL}_{i}" for i in range(1, len(present) + 1))
    key = next(name for name in chain([MODEL], others) if name not in present)
    return table.with_columns(pl.lit(NAMELESS).alias(key)), key


def within(rows: Frame, keys: pl.DataFrame) -> Frame:
    """The rows whose keys are among `keys`."""
    kept = join_on(rows.lazy(), keys.lazy(), keys.columns, "semi", order="left")
    return collect_like(rows, kept)


@dataclass(frozen=True)
class Question:
    """The arguments of `report` of the same names."""

    between: str
    blocks: tuple[str, ...]
    over: tuple[float, float] | Belief | None
    test_train_ratio: float | None
    alpha: float
    level: float
    needs: Needs
    incomplete: Incomplete
    case: str | None
    tuning: ReportPredictions | None = None
    score_prior: Prior = "observed"
    columns: Sequence[str] = ()  # of the table given
    estimate: pl.DataFrame | None = None  # whose belief `over` is

    def __post_init__(self) -> None:
        check_score_prior(self.score_prior)
        check_share("alpha", self.alpha)
        check_share("level", self.level)
        if self.test_train_ratio is not None:
            check_ratio(self.test_train_ratio)
        if self.over is not None:
            resolve_belief(self.over)

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

    @property
    def keys(self) -> list[str]:
        """The columns that identify the rows of one measure."""
        return [self.between, *self.blocks]


def roles(
    keys: Sequence[str], between: str | None, block: str | Sequence[str] | None
) -> tuple[str, tuple[str, ...]]:
    """The column of the models and those of the blocks among the keys.

    Examples
    --------
    >>> roles(["model", "fold"], None, None)
    ('model', ('fold',))
    """
    models = model_key(keys) if between is None else column_name(between, "between")
    blocks = [key for key in keys if key != models] if block is None else block
    chosen = tuple(column_names(blocks, "block"))
    unknown = [name for name in (models, *chosen) if name not in keys]
    if unknown or models in chosen:
        different = "name different keys for between and block, all of them among by."
        raise InvalidArgument(
            f"between is {models!r} and block is {list(chosen)!r}; the keys are "
            f"{', '.join(map(repr, keys))}.",
            hint=spelling(unknown, keys, different),
        )
    return models, chosen
