"""A table of predictions and what its columns mean, as functions take it."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast

import polars as pl

from polaroc.base.columns import free_name, key_expressions, single_column
from polaroc.base.private_columns import ROW_ERROR, TRUTH
from polaroc.errors import Hint, InvalidArgument, InvalidPredictions, quoted, warn
from polaroc.predictions.engines import engine_of
from polaroc.predictions.roles import COLUMN_ROLES, FOUND, ROLES
from polaroc.predictions.row_checks import truth_column
from polaroc.predictions.usual_keys import column_names_of, usual_case, usual_names, usual_units
from polaroc.predictions.wide import score_columns
from polaroc.typing import Held, IntoExpr, Label, Nulls, Prior, Score

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
    truth, score, positive, nulls, model, fold, case, cluster, time, count, weight, by, \
score_prior, test_train_ratio
        The roles and facts, as in `cases`; those that may be several columns are tuples.
    costs
        What a missed positive and a false alarm cost, where a function was given a column of these.
    found, absent
        The roles that were found by the names of columns, and those that were said to be None.

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
    truth: IntoExpr | None = None
    score: Score | None = None
    positive: Label | Sequence[Label] | None = None
    nulls: Nulls = "raise"
    model: IntoExpr | None = None
    fold: tuple[IntoExpr, ...] = ()
    case: IntoExpr | None = None
    cluster: IntoExpr | None = None
    time: IntoExpr | None = None
    count: IntoExpr | None = None
    weight: IntoExpr | None = None
    by: tuple[IntoExpr, ...] = ()
    score_prior: Prior = "observed"
    test_train_ratio: float | None = None
    found: frozenset[str] = field(default=frozenset())
    absent: frozenset[str] = field(default=frozenset())

    @property
    def scores(self) -> dict[str, IntoExpr]:
        """The column of scores of each model; none where one column has all."""
        return score_columns(self.score)

    @property
    def in_clusters(self) -> bool:
        """Whether errors come from sums by cluster: a row with a sampling weight is one."""
        return self.cluster is not None or self.weight is not None

    @property
    def counted_by(self) -> tuple[str, IntoExpr] | None:
        """The role by which rows count more or less than once, and its column, if any."""
        if self.count is not None:
            return "count", self.count
        return None if self.weight is None else ("weight", self.weight)

    @property
    def keys(self) -> list[IntoExpr]:
        """The columns that tell answers apart, in order; that of a wide table's models left out."""
        # Two roles may share a column, which is then one key.
        named: set[str] = {key for key in self.by if isinstance(key, str)}
        others: list[IntoExpr] = [*([] if self.model is None else [self.model]), *self.fold]
        return [*self.by, *(key for key in others if not isinstance(key, str) or key not in named)]

    @property
    def said(self) -> dict[str, Any]:
        """The roles and facts that are not as they are by default."""
        defaults = {name: one.default for name, one in type(self).__dataclass_fields__.items()}
        roles = {name: getattr(self, name) for name in ROLES}
        # An expression equals nothing, and what was read from a file equals a word of ours.
        return {
            name: value
            for name, value in roles.items()
            if not (value is defaults[name] or (isinstance(value, str) and value == defaults[name]))
        }

    @property
    def columns(self) -> dict[str, list[IntoExpr]]:
        """The columns of each role that has any."""
        given = {name: self.said[name] for name in COLUMN_ROLES if name in self.said}
        # What is no list of columns is refused as a whole.
        if isinstance(self.score, list | tuple) and not self.scores:
            given["score"] = [self.score]
        return {name: columns_of(value) for name, value in given.items()}

    @property
    def used(self) -> list[str]:
        """The names of the columns that have a role, or are read by an expression that has one."""
        return self.used_but()

    def used_but(self, *roles: str) -> list[str]:
        """The names of the columns that have another role than these."""
        return column_names_of(self._columns_but(*roles))

    def _columns_but(self, *roles: str) -> list[IntoExpr]:
        """The columns of other roles than these."""
        return [one for role, own in self.columns.items() if role not in roles for one in own]

    def collect(self) -> "Cases[pl.DataFrame]":
        """The same of a table in memory.

        Of predictions that are not, the columns in use are read, and those whose names say that
        rows may not be independent.
        """
        table: Any = self.table
        engine = engine_of(table)
        # Only the whole table tells which columns a selector within an expression reads.
        has_selector = any(
            isinstance(one, pl.Expr) and one.meta.has_multiple_outputs()
            for one in self._columns_but()
        )
        if self.truth is not None and not (isinstance(table, pl.DataFrame) or has_selector):
            names = table.collect_schema().names() if engine is None else table.columns
            usual = [*usual_names(names).keys, *usual_units(names), usual_case(names)]
            table = table.select([name for name in names if name in (*self.used, *usual)])
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
    """Refuse a column of folds found by its name, or warn of a named one, that has no folds.

    Its values say that it divides the data into training and test cases or the like.
    """
    for name in column_names_of(cases.fold):
        kind = rows.schema.get(name)
        if kind is None or not (kind == pl.String or kind == pl.Categorical or kind == pl.Enum):
            continue
        values = rows[name].drop_nulls().unique().cast(pl.String).sort().to_list()
        if len(values) < 2 or not any(PART.fullmatch(value.strip()) for value in values):
            continue
        found = f"{name!r} has the values {quoted(values, 5)}, which are parts of data, not folds"
        if "fold" in cases.found:
            raise InvalidArgument(
                f"the column {found}; it was found by its name.",
                hint=Hint(
                    "keep the rows of one part, such as the test cases; if these are folds, say "
                    "{fold}.",
                    fold=name,
                ),
            )
        warn(f"The column {found}, as it seems: if so, keep the rows of one part.")


def with_cluster(cases: Cases[Any]) -> tuple[Cases[Any], list[str]]:
    """The cases with their cluster in a column that has no other role, and its name, if any.

    A NaN is as missing as a null: its rows have no more in common.
    """
    if cases.cluster is None:
        return cases, []
    table = cases.table
    free = free_name("cluster", table.collect_schema())
    value = single_column(cases.cluster, "cluster", table.lazy()).alias(free)
    is_float = table.lazy().select(value).collect_schema()[free].is_float()
    table = table.with_columns(value.fill_nan(None) if is_float else value)
    return replace(cases, table=table, cluster=free), [free]


def found_in_words(cases: Cases[Any], roles: Collection[str] = FOUND) -> str:
    """Which columns were found by their names, of some roles; empty where none was."""
    found = [
        f"{role} {quoted([str(one) for one in columns])}"
        for role, columns in cases.columns.items()
        if role in cases.found and role in roles
    ]
    return f"Found by name: {', '.join(found)}." if found else ""


def columns_of(value: object) -> list[IntoExpr]:
    """The columns that a role names."""
    if isinstance(value, Mapping):
        return list(value.values())
    return [*value] if isinstance(value, list | tuple) else [cast(IntoExpr, value)]


def _lines(described: Cases[Any]) -> Iterator[str]:
    """What is printed: size, roles, columns without one."""
    table, columns = described.table, described.columns
    counts: dict[str, int] = {}
    if isinstance(table, pl.DataFrame):
        yield _size(described)
        counts = {
            role: table.select(*key_expressions(columns[role])).n_unique()
            for role in COUNTED
            if role in columns
        }
        if described.scores:
            counts["score"] = len(described.scores)
    else:
        engine = engine_of(table)
        yield "a lazy table" if engine is None else engine.title
    width = max(map(len, described.said))
    for role, value in described.said.items():
        words = quoted(columns[role]) if role in columns else repr(value)
        if isinstance(value, Mapping):
            words = ", ".join(f"{model}={one!r}" for model, one in value.items())
        if role in described.found:
            words += " (found by its name)"
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
    named = table.select(single_column(described.truth, "truth", table.lazy()).alias(TRUTH))
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
