"""A table of predictions and what its columns mean: said once, taken by every function."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from inspect import signature
from itertools import combinations
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, Unpack, cast, overload

import polars as pl

from polaroc.base.checks import check_ratio
from polaroc.base.columns import (
    key_columns,
    key_expressions,
    key_names,
    refuse_repeated,
    single_column,
)
from polaroc.base.private_columns import ROW_ERROR, TRUTH
from polaroc.base.tables import as_polars
from polaroc.errors import (
    Hint,
    InvalidArgument,
    InvalidTable,
    quoted,
    spelling,
)
from polaroc.files.read import given_paths, scan
from polaroc.files.text_files import separator_hint, separator_in
from polaroc.predictions.column_checks import refuse_index, refuse_objects
from polaroc.predictions.engines import engine_of
from polaroc.predictions.first_attempts import refuse_by_place
from polaroc.predictions.roles import (
    APART,
    COLUMN_ROLES,
    FOUND,
    NEEDED,
    OF_MEASURES,
    OTHER_OPTIONS,
    ROLES,
    Columns,
    documented,
    parameters,
)
from polaroc.predictions.row_checks import check_nulls, truth_column
from polaroc.predictions.usual_keys import (
    column_names_of,
    found_by_name,
    usual_case,
    usual_columns,
    usual_names,
    usual_units,
)
from polaroc.predictions.wide import MODEL, refuse_turned, score_columns
from polaroc.priors.grids import check_prior_or_observed
from polaroc.typing import (
    Cost,
    EagerTable,
    Held,
    IntoExpr,
    InWarehouse,
    Label,
    Nulls,
    Paths,
    Prior,
    Score,
    Table,
    WarehouseTable,
)

_R = TypeVar("_R")
_P = ParamSpec("_P")
CHECK_NAMES = Hint(
    "check the spelling of the columns; the index of a pandas table becomes one by reset_index().",
    command_line="check the spelling of the columns.",
)
# Roles that may have several columns.
SEVERAL = ("fold", "cluster", "subgroup", "by")
# Clusterings that may cross.
MAX_CROSSED = 2
# Roles whose columns may also tell models, folds or cases apart.
SHARED = ("cluster", "subgroup", "time")
# Roles that are counted in what is printed of a table in memory.
COUNTED = ("model", "fold", "case", "cluster", "subgroup", "by")


@dataclass(frozen=True, eq=False, repr=False)
class Cases(Generic[Held]):
    """A table of predictions and the roles of its columns, as `cases` returns it.

    Attributes
    ----------
    table
        The table, untouched: a Polars frame, or that of a warehouse.
    truth, score, positive, nulls, model, fold, case, cluster, subgroup, time, count, weight, by, \
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
    cluster: tuple[IntoExpr, ...] = ()
    subgroup: tuple[IntoExpr, ...] = ()
    time: IntoExpr | None = None
    count: IntoExpr | None = None
    weight: IntoExpr | None = None
    by: tuple[IntoExpr, ...] = ()
    score_prior: Prior = "observed"
    test_train_ratio: float | None = None
    costs: tuple[Cost, Cost] | None = None
    found: frozenset[str] = field(default=frozenset())
    absent: frozenset[str] = field(default=frozenset())

    @property
    def scores(self) -> dict[str, IntoExpr]:
        """The column of scores of each model; none where one column has all."""
        return score_columns(self.score)

    @property
    def in_clusters(self) -> bool:
        """Whether errors come from sums by cluster: a row with a sampling weight is one."""
        return bool(self.cluster) or self.weight is not None

    @property
    def counted_by(self) -> tuple[str, IntoExpr] | None:
        """The role by which rows count more or less than once, and its column, if any."""
        if self.count is not None:
            return "count", self.count
        return None if self.weight is None else ("weight", self.weight)

    @property
    def cost_columns(self) -> list[IntoExpr]:
        """The columns that have what each case costs."""
        return [one for one in self.costs or () if isinstance(one, str | pl.Expr)]

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
        return {name: value for name, value in roles.items() if value is not defaults[name]}

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
        others = [columns for role, columns in self.columns.items() if role not in roles]
        others.append(self.cost_columns)
        return column_names_of(one for columns in others for one in columns)

    def collect(self) -> "Cases[pl.DataFrame]":
        """The same of a table in memory.

        Of predictions that are not, the columns in use are read, and those whose names say that
        rows may not be independent.
        """
        table: Any = self.table
        engine = engine_of(table)
        if self.truth is not None and not isinstance(table, pl.DataFrame):
            names = table.collect_schema().names() if engine is None else table.columns
            usual = [*usual_names(names).keys, *usual_units(names), usual_case(names)]
            table = table.select([name for name in names if name in (*self.used, *usual)])
        rows = table.lazy().collect() if engine is None else engine.collected(table)
        return replace(cast(Any, self), table=rows)

    def pipe(
        self, function: Callable[Concatenate["Cases[Held]", _P], _R], /,
        *args: _P.args, **kwargs: _P.kwargs,
    ) -> _R:  # fmt: skip
        """The result of a function of these cases."""
        return function(self, *args, **kwargs)

    def __repr__(self) -> str:
        return "\n".join(_lines(self))


@overload
def cases(
    frame: pl.LazyFrame | Paths | Cases[pl.LazyFrame], **columns: Unpack[Columns]
) -> Cases[pl.LazyFrame]: ...


@overload
def cases(
    frame: InWarehouse | Cases[InWarehouse], **columns: Unpack[Columns]
) -> Cases[InWarehouse]: ...


@overload
def cases(
    frame: EagerTable | Cases[pl.DataFrame], **columns: Unpack[Columns]
) -> Cases[pl.DataFrame]: ...


def cases(
    frame: Table | Paths | WarehouseTable | Cases[Any],
    *by_place: object,
    **columns: Unpack[Columns],
) -> Cases[Any]:
    """What the columns of a table of predictions mean, said once for all functions.

    Every function that takes predictions takes the result in place of a table and its roles.
    Scores in use need no truth. Nothing is computed: the table stays as it is, and a lazy one is
    not collected.

    Parameters
    ----------
    frame
        Predictions: a Polars frame; a table of pandas, PyArrow, DuckDB or another library with
        Arrow streams; a mapping of column names to arrays; files, as a path, a pattern, a folder
        or a list of these, which become a lazy frame; a table of ibis, which stays where it is;
        or cases, of which the roles that are said change.
    **columns

    Returns
    -------
    Cases
        The table with its roles. Printed, it shows them, which of them were found by name, and
        the columns that have none; of a table in memory also how many rows, positives, models,
        folds, cases and clusters there are.

    Raises
    ------
    InvalidArgument
        For columns that are not there, or with two roles that exclude each other: truth, score,
        count and weight have no other, and a model is neither fold nor case. Where neither truth
        nor score is given; what a function needs it asks for. For files that are not there or
        cannot be read.

    Examples
    --------
    >>> import polaroc as pr
    >>> table = pr.datasets.sonar_predictions()
    >>> print(pr.cases(table, truth="truth", score="score"))
    5,040 rows, 2,640 positives
    truth  'truth'
    score  'score'
    model  'model' (found by its name): 4
    fold   'fold' (found by its name): 30
    case   'case' (found by its name): 208
    """
    refuse_by_place("cases", [frame, *by_place], ["frame"])
    if not isinstance(frame, Cases):
        return _of_table(frame, columns)
    if not columns:
        return frame
    before = {role: one for role, one in frame.said.items() if role not in frame.found}
    return _of_table(frame.table, {**dict.fromkeys(frame.absent), **before, **columns})


def _of_table(table: Any, said: Mapping[str, Any]) -> Cases[Any]:
    engine = engine_of(table)
    # Scores in use have no truth, and several classes no single score.
    needed = () if any(said.get(role) is not None for role in NEEDED) else NEEDED
    describe = resolved if engine is None else engine.describe
    described: Cases[Any] = describe(table, said, needed=needed)
    return described


cast(Any, cases).__signature__ = signature(cases).replace(
    parameters=[
        next(iter(signature(cases).parameters.values())).replace(annotation=Table | Cases),
        *parameters(ROLES, needed=()),
    ]
)
cases.__doc__ = documented(cases.__doc__, ROLES)


@overload
def keyed(frame: pl.LazyFrame, **columns: Unpack[Columns]) -> Cases[pl.LazyFrame]: ...


@overload
def keyed(frame: EagerTable, **columns: Unpack[Columns]) -> Cases[pl.DataFrame]: ...


@overload
def keyed(frame: Table, **columns: Unpack[Columns]) -> Cases[Any]: ...


def keyed(frame: Table, **columns: Unpack[Columns]) -> Cases[Any]:
    """Cases of which nothing is found by name: for callers that know what they hold."""
    return resolved(frame, columns, needed=(), find=())


def opened(frame: object, words: Sequence[str] = ()) -> pl.DataFrame | pl.LazyFrame:
    """Any table as a Polars frame; of files a lazy one, columns of `words` as they are written."""
    paths = given_paths(frame)
    return as_polars(frame) if paths is None else scan(paths, words)


def resolved(
    frame: Table | Paths,
    said: Mapping[str, Any],
    *,
    needed: Collection[str] = NEEDED,
    find: Collection[str] = FOUND,
) -> Cases[Any]:
    """The roles of a table as said, and of those to `find` the ones that usual names tell."""
    table = opened(frame)
    schema = table.lazy().collect_schema()
    refuse_unknown_names(said)
    said = {role: one for role, one in said.items() if one is not ...}
    require_roles(said, needed, schema)
    refuse_index(frame)
    # A list that is changed later changes no cases.
    roles: dict[str, Any] = {
        role: copy(one) if isinstance(one, list | dict) else one for role, one in said.items()
    }
    for role in COLUMN_ROLES:
        one = roles.get(role)
        if role not in (*SEVERAL, "score") and isinstance(one, list | tuple | dict):
            single_column(one, role, table.lazy())
    for role in SEVERAL:
        if role in roles:
            columns = key_columns(roles[role], role)
            roles[role] = tuple(
                name for one in columns for name in _selected(one, role, table.lazy())
            )
    for role in COLUMN_ROLES:
        if isinstance(roles.get(role), pl.Expr):
            names = _selected(roles[role], role, table.lazy())
            roles[role] = names[0] if len(names) == 1 else roles[role]
    check_nulls(roles.get("nulls", "raise"))
    check_prior_or_observed(roles.get("score_prior", "observed"), "score_prior")
    if roles.get("test_train_ratio") is not None:
        check_ratio(roles["test_train_ratio"])
    scores = score_columns(roles.get("score"))
    refuse_turned(scores, schema.names())
    described: Cases[Any] = Cases(cast(Any, table), **roles)
    for role, columns in described.columns.items():
        check_columns(table.lazy(), columns)
        if role in SEVERAL:
            refuse_repeated(key_names(key_expressions(columns, role), table.lazy()), role)
            continue
        # Several columns may be one selector.
        for column in columns:
            single_column(column, role, table.lazy())
    if len(described.cluster) > MAX_CROSSED:
        raise InvalidArgument(
            f"cluster has {len(described.cluster)} columns, allowed are up to {MAX_CROSSED} that "
            "cross each other.",
            hint="name those by which rows are most alike.",
        )
    for role in COUNTED:
        refuse_objects(described.columns.get(role, ()), table.lazy())
    if find:
        # A month may well be a fold, too, and a device a model.
        taken = [
            name
            for role, columns in described.columns.items()
            for name in columns
            if role not in SHARED and isinstance(name, str)
        ]
        free = {name: kind for name, kind in schema.items() if name not in taken}
        wanted = {*find} - {*said} - ({"model"} if scores else set())
        found = found_by_name(free, wanted)
        described = replace(described, **found, found=frozenset(found))
    none = frozenset(role for role, one in said.items() if one is None)
    described = replace(described, absent=none)
    _refuse_shared(described)
    if scores:
        _refuse_second_model(described, schema.names())
    if given_paths(frame) is None:
        return described
    return replace(described, table=cast(Any, opened(frame, words_of(described))))


def with_clusters(cases: Cases[Any]) -> tuple[Cases[Any], list[str]]:
    """The cases with their clusters in columns that have no other role, and the names of these."""
    if not cases.cluster:
        return cases, []
    table = cases.table
    present = table.lazy().collect_schema().names()
    names = ["cluster", *(f"cluster_{i}" for i in range(1, len(present) + MAX_CROSSED))]
    free = [name for name in names if name not in present][: len(cases.cluster)]
    columns = [
        single_column(one, "cluster", table.lazy()).alias(name)
        for one, name in zip(cases.cluster, free, strict=True)
    ]
    return replace(cases, table=table.with_columns(columns), cluster=tuple(free)), free


def refuse_crossed(cases: Cases[Any]) -> None:
    """Refuse two clusterings where sums by cluster do not tell how sure a number is."""
    names = [str(one) for one in cases.cluster]
    if len(names) > 1:
        raise InvalidArgument(
            f"cluster is {quoted(names)}. Limits and tests of measures know two clusterings; "
            "promises, limits of rates and costs, bootstrap and periods need one, whose clusters "
            "are independent.",
            hint=Hint("name the one by which rows are more alike, {cluster}.", cluster=names[0]),
        )


def words_of(described: Cases[Any]) -> list[str]:
    """The columns that text files may not read as numbers: 1.1 and 1.10 are two folds."""
    return column_names_of(one for role in COUNTED for one in described.columns.get(role, ()))


def of_measures(frame: Table | Paths, said: Mapping[str, Any]) -> Cases[Any]:
    """A table of measures with its models and folds, as said or found by name; it has no scores."""
    table = opened(frame)
    names = table.lazy().collect_schema().names()
    if not {"measure", "estimate"} <= set(names):
        usual = usual_columns(names) or (None, None)
        raise InvalidTable(
            f"the table holds no measures; it has {quoted(names) or 'no columns'}.",
            hint=Hint(
                "name the columns of predictions, {truth} and {score}, or pass the result of "
                "evaluate(...).",
                command_line="name the columns of predictions, {truth} and {score}, or give the "
                "folder that `polaroc evaluate --out` writes.",
                truth=usual[0],
                score=usual[1],
            ),
        )
    others = [role for role in said if role in ROLES and role not in OF_MEASURES]
    if others:
        raise InvalidArgument(
            f"{quoted(others)} {'is' if len(others) == 1 else 'are'} for predictions, and the "
            "table holds measures.",
            hint="leave it out, or give predictions."
            if len(others) == 1
            else "leave them out, or give predictions.",
        )
    # Files are read once their keys are known, and some tables only once.
    source = table if given_paths(frame) is None else frame
    return resolved(source, said, needed=(), find=("model", "fold"))


def alike(
    cases: Cases[Any],
    other: Table | Paths | Cases[Any],
    *,
    but: Collection[str] = (),
    find: Collection[str] = (),
    name: str = "the table",
) -> Cases[Any]:
    """A further table of a function of cases: with roles of its own, or else with the same.

    It has none of the roles in `but`, less those to `find` by their names, and may lack the columns
    of models, folds and cases: where these are needed, more is said. By its `name` a table that
    lacks columns of costs is told from the first.
    """
    if isinstance(other, Cases):
        return other if other.costs else replace(other, costs=cases.costs)
    rows = opened(other)
    names = {*rows.lazy().collect_schema().names()}
    said = {role: one for role, one in cases.said.items() if role not in (*but, *find)}
    for role in FOUND:
        if not names.issuperset(column_names_of(cases.columns.get(role, ()))):
            said.pop(role, None)
    # Files are read once their keys are known, and some tables only once.
    source = rows if given_paths(other) is None else other
    further = resolved(
        source, said, needed=(), find=[role for role in find if role not in cases.absent]
    )
    check_columns(rows.lazy(), cases.cost_columns, name)
    return replace(further, costs=cases.costs)


def found_in_words(cases: Cases[Any], roles: Collection[str] = FOUND) -> str:
    """Which columns were found by their names, of some roles; empty where none was."""
    found = [
        f"{role} {quoted([str(one) for one in columns])}"
        for role, columns in cases.columns.items()
        if role in cases.found and role in roles
    ]
    return f"Found by name: {', '.join(found)}." if found else ""


def _selected(column: IntoExpr, role: str, table: pl.LazyFrame) -> list[IntoExpr]:
    """The names of the columns of a selector; any other expression as it is."""
    if isinstance(column, str) or not column.meta.is_column_selection():
        return [column]
    if column.meta.has_multiple_outputs():
        try:
            names = table.select(column).collect_schema().names()
        except pl.exceptions.ColumnNotFoundError:
            names = []
        if not names:
            raise InvalidArgument(
                f"{role} is an expression of no column; the table has "
                f"{quoted([*table.collect_schema()]) or 'no columns'}.",
                hint=CHECK_NAMES,
            )
        return [*names]
    # It may lack, which is said later.
    return [*column.meta.root_names()]


def columns_of(value: object) -> list[IntoExpr]:
    """The columns that a role names."""
    if isinstance(value, Mapping):
        return list(value.values())
    return [*value] if isinstance(value, list | tuple) else [cast(IntoExpr, value)]


def check_columns(frame: pl.LazyFrame, wanted: Sequence[object], name: str = "the table") -> None:
    """Refuse names that are no columns of the table."""
    present = frame.collect_schema().names()
    unknown = [name for name in column_names_of(wanted) if name not in present]
    if not unknown:
        return
    hint = spelling(unknown, present, CHECK_NAMES)
    mark = separator_in(present, unknown[0])
    if mark is not None:
        hint = separator_hint(mark)
    raise InvalidArgument(
        f"there is no column {quoted(unknown)}; {name} has {quoted(present) or 'no columns'}.",
        hint=hint,
    )


def refuse_unknown_names(
    said: Iterable[str], roles: Sequence[str] = (*ROLES,), others: Sequence[str] = ()
) -> None:
    """Refuse names that are neither roles nor `others`, arguments of a function with `roles`."""
    unknown = [name for name in said if name not in (*ROLES, *others)]
    if unknown:
        allowed = [*others, *roles]
        elsewhere = {name: role.others for name, role in ROLES.items()} | OTHER_OPTIONS
        raise InvalidArgument(
            f"there is no argument {quoted(unknown)}; allowed are {', '.join(allowed)}.",
            hint=spelling(
                unknown,
                [*allowed, *(role for role in ROLES if role not in roles)],
                "see help(pr.cases) for the roles of columns.",
                elsewhere,
            ),
        )


def refuse_beside(said: Collection[str]) -> None:
    """Refuse roles beside cases that have theirs."""
    if said:
        raise InvalidArgument(
            f"{', '.join(said)} {'is' if len(said) == 1 else 'are'} given beside cases, which have "
            "their roles.",
            hint=f"change them, pr.cases(cases, {next(iter(said))}=...), or give the table itself.",
        )


def _refuse_second_model(described: Cases[Any], names: Sequence[str]) -> None:
    """Refuse what else tells models apart in a wide table."""
    if described.model is not None:
        raise InvalidArgument(
            f"score has one column per model, and model is {described.model!r}, too.",
            hint="leave model out, or give one column of scores.",
        )
    keys = [
        key if isinstance(key, str) else key.meta.output_name()
        for key in described.keys
        if isinstance(key, str) or not key.meta.has_multiple_outputs()
    ]
    if MODEL in (*keys, *names):
        holder = "by" if MODEL in keys else "the table"
        raise InvalidArgument(
            f"score has one column per model: their key is {MODEL!r}, and {holder} has one, too.",
            hint="drop or rename that column; where it tells the models apart, "
            "give one column of scores.",
        )


def require_roles(said: Mapping[str, Any], needed: Collection[str], names: Collection[str]) -> None:
    """Refuse to go on without a role that is needed, of a table with these columns."""
    for role in needed:
        if said.get(role) is not None:
            continue
        found: dict[str, str] = dict(zip(NEEDED, usual_columns(names) or (), strict=False))
        if {"threshold", "tp", "fp"} <= set(names):
            raise InvalidArgument(
                f"{role} is not given, and the table is a curve, to whose rows roles do not "
                f"apply: {quoted(sorted(said))}.",
                hint="give the predictions, with truth and score, or the curve alone.",
            )
        raise InvalidArgument(
            f"{role} is not given, allowed are column names and Polars expressions; the table has "
            f"{quoted([*names]) or 'no columns'}.",
            hint=Hint(
                f"name its column, for example {{{role}}}.",
                **{role: found.get(role) or ROLES[role].example},
            ),
        )


def _refuse_shared(described: Cases[Any]) -> None:
    """Refuse columns with two roles that exclude each other, and roles that do."""
    if described.count is not None and described.weight is not None:
        raise InvalidArgument(
            "count and weight are both given: a row either stands for equal cases or has a weight.",
            hint="repeat the rows as often as their count says, and keep weight.",
        )
    for (one, its), (other, theirs) in combinations(described.columns.items(), 2):
        apart = {one, other} in map(set, APART) or ROLES[one].only or ROLES[other].only
        others = {name for name in theirs if isinstance(name, str)}
        shared = [name for name in its if isinstance(name, str) and name in others]
        if apart and shared:
            raise InvalidArgument(
                f"the column {shared[0]!r} is {one} and {other}, which are different things.",
                hint=Hint(
                    f"name another column, or none: {{{other}}}.", **{other: ROLES[other].example}
                ),
            )


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
    label, errors = truth_column(named.schema[TRUTH], described.truth, described.positive)
    wrong = pl.any_horizontal(is_so for _, is_so in errors)
    positives, unclear = named.select(label.sum(), wrong.sum().alias(ROW_ERROR)).row(0)
    return f"{rows}, {positives:,} positives" + (
        f", {unclear:,} without a clear truth" if unclear else ""
    )
