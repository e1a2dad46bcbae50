"""The roles of a table, as they are said or found by the names of its columns."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from inspect import signature
from itertools import combinations
from typing import Any, Unpack, cast, get_args, overload

import polars as pl

from polaroc.base.checks import check_ratio
from polaroc.base.columns import (
    key_columns,
    key_expressions,
    key_names,
    refuse_repeated,
    single_column,
)
from polaroc.base.tables import as_polars
from polaroc.errors import Hint, InvalidArgument, InvalidTable, check_choice, quoted
from polaroc.files.read import given_paths, scan
from polaroc.predictions.cases import COUNTED, SEVERAL, Cases, check_folds
from polaroc.predictions.column_checks import (
    CHECK_NAMES,
    check_columns,
    refuse_index,
    refuse_objects,
    refuse_unknown_names,
    require_roles,
)
from polaroc.predictions.engines import engine_of
from polaroc.predictions.first_attempts import refuse_by_place
from polaroc.predictions.roles import (
    APART,
    COLUMN_ROLES,
    FOUND,
    NEEDED,
    OF_MEASURES,
    ROLES,
    Columns,
    documented,
    parameters,
)
from polaroc.predictions.usual_keys import column_names_of, found_by_name, usual_columns
from polaroc.predictions.wide import MODEL, score_columns
from polaroc.priors.grids import check_prior_or_observed
from polaroc.typing import EagerTable, IntoExpr, InWarehouse, Nulls, Paths, Table, WarehouseTable

# Roles whose columns may also tell models, folds or cases apart.
SHARED = ("cluster", "time")


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
    return overridden(frame, columns)


def overridden(cases: Cases[Any], said: Mapping[str, Any]) -> Cases[Any]:
    """The cases with other roles and facts, where any are said."""
    if not said:
        return cases
    before = {role: one for role, one in cases.said.items() if role not in cases.found}
    roles = {**dict.fromkeys(cases.absent), **before, **said}
    return _of_table(cases.table, roles)


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
    roles = _named(said, table.lazy())
    check_choice("nulls", roles.get("nulls", "raise"), get_args(Nulls))
    check_prior_or_observed(roles.get("score_prior", "observed"), "score_prior")
    if roles.get("test_train_ratio") is not None:
        check_ratio(roles["test_train_ratio"])
    scores = score_columns(roles.get("score"))
    described: Cases[Any] = Cases(cast(Any, table), **roles)
    for role, columns in described.columns.items():
        check_columns(table.lazy(), columns)
        if role in SEVERAL:
            refuse_repeated(key_names(key_expressions(columns, role), table.lazy()), role)
            continue
        # Several columns may be one selector.
        for column in columns:
            single_column(column, role, table.lazy())
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
    if isinstance(table, pl.DataFrame):
        check_folds(described, table)
    if scores:
        _refuse_second_model(described, schema.names())
    if given_paths(frame) is None:
        return described
    return replace(described, table=cast(Any, opened(frame, words_of(described))))


def _named(said: Mapping[str, Any], table: pl.LazyFrame) -> dict[str, Any]:
    """The roles with names of columns in the place of selectors."""
    # A list that is changed later changes no cases.
    roles = {role: copy(one) if isinstance(one, list | dict) else one for role, one in said.items()}
    for role in (role for role in COLUMN_ROLES if role in roles):
        one = roles[role]
        if role in SEVERAL:
            columns = key_columns(one, role)
            roles[role] = tuple(name for own in columns for name in _selected(own, role, table))
        elif role != "score" and isinstance(one, list | tuple | dict):
            single_column(one, role, table)
        elif isinstance(one, pl.Expr):
            names = _selected(one, role, table)
            roles[role] = names[0] if len(names) == 1 else one
    return roles


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
) -> Cases[Any]:
    """A further table of a function of cases: with roles of its own, or else with the same.

    It has none of the roles in `but`, less those to `find` by their names, and may lack the columns
    of models, folds and cases: where these are needed, more is said.
    """
    if isinstance(other, Cases):
        return other
    rows = opened(other)
    names = {*rows.lazy().collect_schema().names()}
    said = {role: one for role, one in cases.said.items() if role not in (*but, *find)}
    for role in FOUND:
        if not names.issuperset(column_names_of(cases.columns.get(role, ()))):
            said.pop(role, None)
    # Files are read once their keys are known, and some tables only once.
    source = rows if given_paths(other) is None else other
    return resolved(
        source, said, needed=(), find=[role for role in find if role not in cases.absent]
    )


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
