"""The roles of a table, as they are given or by default."""

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from inspect import signature
from itertools import combinations
from typing import Any, Unpack, cast, get_args, overload

import polars as pl

from polaroc.base.checks import check_ratio
from polaroc.base.columns import column_name, column_names
from polaroc.base.tables import as_polars
from polaroc.errors import Hint, InvalidArgument, check_choice, quoted
from polaroc.files.read import given_paths, scan
from polaroc.predictions.cases import COUNTED, SEVERAL, Cases, check_folds
from polaroc.predictions.column_checks import (
    check_columns,
    refuse_objects,
    refuse_unknown_names,
    require_roles,
)
from polaroc.predictions.engines import engine_of
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
from polaroc.predictions.wide import MODEL
from polaroc.priors.grids import check_prior_or_observed
from polaroc.typing import EagerTable, InWarehouse, Nulls, Paths, Table, WarehouseTable

# A role whose columns may also be those of models, folds or cases.
SHARED = ("cluster",)


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
    frame: Table | Paths | WarehouseTable | Cases[Any], **columns: Unpack[Columns]
) -> Cases[Any]:
    """Describe the columns of a table of predictions, once for all functions.

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
        The table with its roles. Printed, it shows them, which of them are by default, and the
        columns that have none; of a table in memory also how many rows, positives, models,
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
    >>> print(pr.cases(table))
    5,040 rows, 2,640 positives
    truth  'truth' (by default)
    score  'score' (by default)
    model  'model' (by default): 4
    fold   'fold' (by default): 30
    case   'case' (by default): 208
    """
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
    describe = resolved if engine is None else engine.describe
    described: Cases[Any] = describe(table, said, needed=())
    # Scores in use have no truth, and several classes no single score.
    if described.truth is None and described.score is None:
        require_roles(described.said, NEEDED, columns_in(table))
    return described


cast(Any, cases).__signature__ = signature(cases).replace(
    parameters=[
        next(iter(signature(cases).parameters.values())).replace(annotation=Table | Cases),
        *parameters(ROLES),
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
    """Cases without default roles: for callers that know what they hold."""
    return resolved(frame, columns, needed=(), find=())


def opened(frame: object, words: Sequence[str] = ()) -> pl.DataFrame | pl.LazyFrame:
    """Any table as a Polars frame; of files a lazy one, columns of `words` as they are written."""
    paths = given_paths(frame)
    return as_polars(frame) if paths is None else scan(paths, words)


def columns_in(frame: Any) -> list[str]:
    """The names of the columns of any table."""
    if engine_of(frame) is not None:
        return [*frame.columns]
    return opened(frame).lazy().collect_schema().names()


def resolved(
    frame: Table | Paths,
    said: Mapping[str, Any],
    *,
    needed: Collection[str] = NEEDED,
    find: Collection[str] = (*NEEDED, *FOUND),
) -> Cases[Any]:
    """The roles of a table as given, and by default those to `find` that have their column."""
    table = opened(frame)
    schema = table.lazy().collect_schema()
    refuse_unknown_names(said)
    roles = {role: _named(role, one) for role, one in said.items() if one is not ...}
    check_choice("nulls", roles.get("nulls", "raise"), get_args(Nulls))
    check_prior_or_observed(roles.get("score_prior", "observed"), "score_prior")
    if roles.get("test_train_ratio") is not None:
        check_ratio(roles["test_train_ratio"])
    described: Cases[Any] = Cases(cast(Any, table), **roles)
    check_columns(schema, described.used)
    taken = {
        name for role, names in described.columns.items() if role not in SHARED for name in names
    }
    found: dict[str, Any] = {
        role: (role,) if role in SEVERAL else role
        for role in (*NEEDED, *FOUND)
        if role in find and role not in roles and role in schema and role not in taken
    }
    if described.scores:
        found.pop("model", None)
    absent = frozenset(role for role, one in said.items() if one is None)
    described = replace(described, **found, found=frozenset(found), absent=absent)
    require_roles(described.said, needed, schema)
    for role in COUNTED:
        refuse_objects(described.columns.get(role, ()), schema)
    _refuse_shared(described)
    if isinstance(table, pl.DataFrame):
        check_folds(described, table)
    if described.scores:
        _refuse_second_model(described, schema.names())
    if given_paths(frame) is None:
        return described
    return replace(described, table=cast(Any, opened(frame, words_of(described))))


def _named(role: str, value: Any) -> Any:
    """The value of a role or fact; raise where a role has no name of a column."""
    if role not in COLUMN_ROLES:
        # A list that is changed later changes no cases.
        return copy(value) if isinstance(value, list) else value
    if role in SEVERAL:
        return tuple(column_names(value, role))
    if value is None:
        return None
    if role == "score" and isinstance(value, list | tuple):
        if not value:
            raise InvalidArgument(
                "score has no column, needed is one, or one per model.", hint="name its column."
            )
        return column_names(value, role)
    return column_name(value, role)


def words_of(described: Cases[Any]) -> list[str]:
    """The columns that text files may not read as numbers: 1.1 and 1.10 are two folds."""
    return [name for role in COUNTED for name in described.columns.get(role, ())]


def of_measures(frame: Table | Paths, said: Mapping[str, Any]) -> Cases[Any]:
    """A table of measures with its models and folds; it has no scores."""
    others = [role for role in said if role in ROLES and role not in OF_MEASURES]
    if others:
        raise InvalidArgument(
            f"{quoted(others)} {'is' if len(others) == 1 else 'are'} for predictions, and the "
            "table holds measures.",
            hint="leave it out, or give predictions."
            if len(others) == 1
            else "leave them out, or give predictions.",
        )
    return resolved(frame, said, needed=(), find=("model", "fold"))


def alike(
    cases: Cases[Any],
    other: Table | Paths | Cases[Any],
    *,
    but: Collection[str] = (),
    find: Collection[str] = (),
) -> Cases[Any]:
    """A further table of a function of cases: with roles of its own, or else with the same.

    It has none of the roles in `but`; those to `find` are by default. It may lack the columns of
    models, folds and cases: where these are needed, more is said.
    """
    if isinstance(other, Cases):
        return other
    rows = opened(other)
    names = {*rows.lazy().collect_schema().names()}
    said = {role: one for role, one in cases.said.items() if role not in (*but, *find)}
    for role in FOUND:
        if not names.issuperset(cases.columns.get(role, ())):
            said.pop(role, None)
    # Files are read once their keys are known, and some tables only once.
    source = rows if given_paths(other) is None else other
    return resolved(
        source, said, needed=(), find=[role for role in find if role not in cases.absent]
    )


def _refuse_second_model(described: Cases[Any], names: Sequence[str]) -> None:
    """Refuse what else tells models apart in a wide table."""
    if described.model is not None:
        raise InvalidArgument(
            f"score has one column per model, and model is {described.model!r}, too.",
            hint="leave model out, or give one column of scores.",
        )
    if MODEL in (*described.keys, *names):
        holder = "by" if MODEL in described.keys else "the table"
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
        shared = [name for name in its if name in theirs]
        if apart and shared:
            raise InvalidArgument(
                f"the column {shared[0]!r} is {one} and {other}, which are different things.",
                hint=Hint(
                    f"name another column, or none: {{{other}}}.", **{other: ROLES[other].example}
                ),
            )
