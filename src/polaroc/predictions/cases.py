"""A table of predictions and what its columns mean, as functions take it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

import polars as pl

from polaroc.base.columns import free_name
from polaroc.base.private_columns import ROW_ERROR, TRUTH
from polaroc.errors import InvalidPredictions, quoted, warn
from polaroc.predictions.engines import engine_of
from polaroc.predictions.roles import COLUMN_ROLES, ROLES
from polaroc.predictions.row_checks import truth_column
from polaroc.typing import Held, Label, Nulls, Prior, Score

_R = TypeVar("_R")
_P = ParamSpec("_P")
# Roles that may have several columns.
SEVERAL = ("fold", "by")
# Values by which a column divides the data, such as "train" and "test_set", and not into folds.
PART = re.compile(
    r"(train|test|val|valid|dev|holdout|hold[-_ ]out|tune|training|testing|tuning|validation)"
    r"([-_ ]?(set|data))?",
    re.IGNORECASE,
)
# Roles that are counted in what is printed of a table in memory.
COUNTED = ("model", "fold", "case", "cluster", "by")


@dataclass(frozen=True, eq=False, repr=False)
class Cases(Generic[Held]):
    """A table of predictions and the roles of its columns, as `cases` returns it.

    Attributes
    ----------
    table
        The table, untouched: a Polars frame, or that of a warehouse.
    truth, score, positive, nulls, model, fold, case, cluster, count, weight, by, \
score_prior, test_train_ratio
        The roles and facts, as in `cases`; those that may be several columns are tuples.
    found, absent
        The roles that have the column of their name by default, and those that are None.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.cases(pr.datasets.twenty_scores(), truth="truth", score="score")
    >>> print(table)
    20 rows, 10 positives
    truth  'truth'
    score  'score'
    >>> table.pipe(pr.evaluate, measures="auc")["estimate"].item()
    0.68
    """

    table: Held
    _: KW_ONLY
    truth: str | None = None
    score: Score | None = None
    positive: Label | Sequence[Label] | None = None
    nulls: Nulls = "raise"
    model: str | None = None
    fold: tuple[str, ...] = ()
    case: str | None = None
    cluster: str | None = None
    count: str | None = None
    weight: str | None = None
    by: tuple[str, ...] = ()
    score_prior: Prior = "observed"
    test_train_ratio: float | None = None
    found: frozenset[str] = field(default=frozenset())
    absent: frozenset[str] = field(default=frozenset())

    @property
    def scores(self) -> list[str]:
        """The columns of scores of a wide table, one per model; none where one column has all."""
        return [] if self.score is None or isinstance(self.score, str) else [*self.score]

    @property
    def in_clusters(self) -> bool:
        """Whether errors come from sums by cluster: a row with a sampling weight is one."""
        return self.cluster is not None or self.weight is not None

    @property
    def counted_by(self) -> tuple[str, str] | None:
        """The role by which rows count more or less than once, and its column, if any."""
        if self.count is not None:
            return "count", self.count
        return None if self.weight is None else ("weight", self.weight)

    @property
    def keys(self) -> list[str]:
        """The columns that tell answers apart, in order; that of a wide table's models left out."""
        # Two roles may share a column, which is then one key.
        model = [] if self.model is None else [self.model]
        return list(dict.fromkeys([*self.by, *model, *self.fold]))

    @property
    def said(self) -> dict[str, Any]:
        """The roles and facts that are not as they are by default."""
        defaults = {name: one.default for name, one in type(self).__dataclass_fields__.items()}
        roles = {name: getattr(self, name) for name in ROLES}
        # What was read from a file equals a word of ours, and arrays of labels equal nothing.
        return {
            name: value
            for name, value in roles.items()
            if not (value is defaults[name] or (isinstance(value, str) and value == defaults[name]))
        }

    @property
    def columns(self) -> dict[str, list[str]]:
        """The columns of each role that has any."""
        return {name: columns_of(self.said[name]) for name in COLUMN_ROLES if name in self.said}

    @property
    def used(self) -> list[str]:
        """The names of the columns that have a role."""
        return [name for columns in self.columns.values() for name in columns]

    def collect(self) -> "Cases[pl.DataFrame]":
        """The same of a table in memory; of predictions elsewhere the columns in use are read."""
        table: Any = self.table
        engine = engine_of(table)
        if self.truth is not None and not isinstance(table, pl.DataFrame):
            names = table.collect_schema().names() if engine is None else table.columns
            table = table.select([name for name in names if name in self.used])
        rows = table.lazy().collect() if engine is None else engine.collected(table)
        if rows is not table:
            check_folds(self, rows)
        return replace(cast(Any, self), table=rows)

    def pipe(
        self, function: Callable[Concatenate["Cases[Held]", _P], _R], /,
        *args: _P.args, **kwargs: _P.kwargs,
    ) -> _R:  # fmt: skip
        """The result of a function of these cases."""
        return function(self, *args, **kwargs)

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


def check_folds(cases: Cases[Any], rows: pl.DataFrame) -> None:
    """Warn if the values of a fold say that it divides the data into training and test cases."""
    for name in cases.fold:
        kind = rows.schema.get(name)
        if kind is None or not (kind == pl.String or kind == pl.Categorical or kind == pl.Enum):
            continue
        values = rows[name].drop_nulls().unique().cast(pl.String).sort().to_list()
        if len(values) > 1 and any(PART.fullmatch(value.strip()) for value in values):
            warn(
                f"The column {name!r} has the values {quoted(values, 5)}, which are parts of data, "
                "not folds, as it seems: if so, keep the rows of one part."
            )


def with_cluster(cases: Cases[Any]) -> tuple[Cases[Any], list[str]]:
    """The cases with their cluster in a column that has no other role, and its name, if any.

    A NaN is as missing as a null: its rows have no more in common.
    """
    if cases.cluster is None:
        return cases, []
    table = cases.table
    free = free_name("cluster", table.collect_schema())
    value = pl.col(cases.cluster).alias(free)
    is_float = table.collect_schema()[cases.cluster].is_float()
    table = table.with_columns(value.fill_nan(None) if is_float else value)
    return replace(cases, table=table, cluster=free), [free]


def columns_of(value: object) -> list[str]:
    """The columns that a role names."""
    return [*value] if isinstance(value, list | tuple) else [cast(str, value)]


def _lines(described: Cases[Any]) -> Iterator[str]:
    """The printed lines: size, roles, columns without a role."""
    table, columns = described.table, described.columns
    counts: dict[str, int] = {}
    if isinstance(table, pl.DataFrame):
        yield _size(described)
        counts = {
            role: table.select(columns[role]).n_unique() for role in COUNTED if role in columns
        }
        if described.scores:
            counts["score"] = len(described.scores)
    else:
        engine = engine_of(table)
        yield "a lazy table" if engine is None else engine.title
    width = max(map(len, described.said))
    for role, value in described.said.items():
        words = quoted(columns[role]) if role in columns else repr(value)
        if role in described.found:
            words += " (by default)"
        if role in counts:
            words += f": {counts[role]:,}{' models' if role == 'score' else ''}"
        yield f"{role:<{width}}  {words}"
    is_frame = isinstance(table, pl.DataFrame | pl.LazyFrame)
    names = table.collect_schema().names() if is_frame else table.columns
    unused = [name for name in names if name not in described.used]
    if unused:
        yield f"not used: {quoted(unused)}"


def _size(described: Cases[Any]) -> str:
    """The rows of a table in memory, and its positives where all labels are clear."""
    table = described.table
    rows = f"{table.height:,} rows"
    if described.truth is None:
        return rows
    named = table.select(pl.col(described.truth).alias(TRUTH))
    try:
        label, errors = truth_column(named.schema[TRUTH], described.truth, described.positive)
    except InvalidPredictions:
        # What cannot be a truth is refused where it is used.
        return rows
    wrong = pl.any_horizontal(is_so for _, is_so in errors)
    positives, unclear = named.select(label.sum(), wrong.sum().alias(ROW_ERROR)).row(0)
    return f"{rows}, {positives:,} positives" + (
        f", {unclear:,} without a clear truth" if unclear else ""
    )
