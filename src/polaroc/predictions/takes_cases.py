"""Functions of cases: they take `Cases`, or a table with the roles of its columns as keywords."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Number
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, cast, overload

import polars as pl

from polaroc.base.columns import collect_like
from polaroc.base.docstrings import filled
from polaroc.base.lazy import np
from polaroc.base.tables import as_polars, is_stream
from polaroc.errors import Hint, InvalidArgument, quoted
from polaroc.files.read import given_paths
from polaroc.predictions.cases import Cases
from polaroc.predictions.column_checks import refuse_unknown_names, require_roles
from polaroc.predictions.engines import engine_of
from polaroc.predictions.resolved import columns_in, of_measures, overridden, resolved
from polaroc.predictions.roles import FOUND, NEEDED, ROLES, RoleName, documented, parameters
from polaroc.typing import EagerTable, InWarehouse, Paths, Table, WarehouseTable

_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)
_K = TypeVar("_K", contravariant=True)


# What functions of cases take and refuse.
OF_CASES = """
    Parameters
    ----------
    cases
        Predictions, one row per case: the result of `cases`, or any table that it takes.

    level
        Coverage of the limits, in (0, 1).
    cost_fn, cost_fp
        Costs > 0 of a missed positive and of a false alarm.
    same_table
        Whether the very table the thresholds were chosen on is meant.

    Raises
    ------
    InvalidPredictions, InvalidArgument
        As in `curve`; for an argument outside what is allowed.
"""


# What to do where a role is refused.
ELSEWHERE = {
    "by": "models and folds are named by model= and fold=; of other columns take the rows of each "
    "value on their own.",
    "cluster": "take one row of each cluster, else results are too sure; evaluate(intervals=True) "
    "gives measures limits that hold.",
    "weight": "if weights count equal rows, name them as count.",
}


# The columns by which a table of measures is known.
OF_ESTIMATES = ("measure", "estimate")
# Examples of arguments without a default.
USUAL: dict[str, Any] = {"time": "day", "over": (0.05, 0.20), "priors": [0.01, 0.1]}


class OfCasesOr(Protocol[_K, _P, _R]):
    """Like `OfCases`, of a function that takes results of one more kind."""

    def __call__(
        self,
        frame: Table | Paths | WarehouseTable | Cases[Any] | _K,
        /,
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> _R:
        """The result of the function."""
        ...


# A function of cases, or of a table with the roles of its columns.
OfCases: TypeAlias = OfCasesOr[Cases[Any], _P, _R]


class FrameOfCases(Protocol[_P]):
    """Like `OfCases`; of a LazyFrame it returns one, of any other table a DataFrame.

    Of a table of a warehouse it returns one.
    """

    @overload
    def __call__(
        self, frame: pl.LazyFrame | Cases[pl.LazyFrame], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> pl.LazyFrame: ...

    @overload
    def __call__(
        self, frame: InWarehouse | Cases[InWarehouse], /, *args: _P.args, **kwargs: _P.kwargs
    ) -> InWarehouse: ...

    @overload
    def __call__(
        self,
        frame: EagerTable | Paths | Cases[pl.DataFrame],
        /,
        *args: _P.args,
        **kwargs: _P.kwargs,
    ) -> pl.DataFrame: ...


def takes_cases(
    uses: Sequence[RoleName],
    *,
    no_bearing: Sequence[RoleName] = (),
    needed: Sequence[str] = NEEDED,
    describe: Callable[..., Cases[Any]] | None = None,
    or_measures: bool = False,
) -> Callable[[Callable[Concatenate[Cases[Any], _P], _R]], OfCases[_P, _R]]:
    """Let a function of cases take any table with the roles of its columns as keywords.

    Roles that it neither `uses` nor declares to have `no_bearing` on the result are refused. Tables
    that are no frames `describe` makes cases of; without it the counterpart of the function runs
    where they are. With `or_measures` the table may hold measures; the function then gets cases
    without truth and score.
    """
    takes: Any = _Takes(uses, no_bearing, needed, describe=describe, or_measures=or_measures)
    return cast(Callable[..., OfCases[_P, _R]], takes)


def takes_cases_or(
    kind: type[_K], uses: Sequence[RoleName]
) -> Callable[[Callable[Concatenate[Cases[Any] | _K, _P], _R]], OfCasesOr[_K, _P, _R]]:
    """Like `takes_cases` with `or_measures`; a result of this kind is handed on as it is."""
    takes: Any = _Takes(uses, or_measures=True, or_kind=kind)
    return cast(Callable[..., OfCasesOr[_K, _P, _R]], takes)


def frame_of_cases(
    uses: Sequence[RoleName],
    *,
    no_bearing: Sequence[RoleName] = (),
    needed: Sequence[str] = NEEDED,
    or_table: bool = False,
    whole: bool = False,
    reads: bool = False,
    as_options: Sequence[RoleName] = (),
) -> Callable[[Callable[Concatenate[Any, _P], Any]], FrameOfCases[_P]]:
    """Like `takes_cases`, of a function that returns the kind of frame it was given.

    With `or_table` a table of which no role is given, and which has no truth and score, is
    something else, such as a curve. The `whole` of files is read where all of their columns are in
    the result. A function that `reads` files itself is given the plan of them. Roles that are
    options of the function as well, since other tables need them, are handed to it `as_options`.
    """
    takes: Any = _Takes(
        uses, no_bearing, needed, collects=True, or_table=or_table, whole=whole, reads=reads,
        as_options=as_options,
    )  # fmt: skip
    return cast(Callable[..., FrameOfCases[_P]], takes)


def makes_cases(
    uses: Sequence[RoleName], *, no_bearing: Sequence[RoleName], needed: Sequence[str]
) -> Callable[[Callable[Concatenate[Any, _P], Cases[Any]]], OfCases[_P, Cases[Any]]]:
    """Like `takes_cases`, of a function that makes cases of another table, of the kind given.

    Files are read as a whole.
    """
    takes: Any = _Takes(uses, no_bearing, needed, whole=True)
    return cast(Callable[..., OfCases[_P, Cases[Any]]], takes)


@dataclass(frozen=True)
class _Takes:
    """The decorator of a function of cases: what it takes in their place, as said above."""

    uses: Sequence[str]
    no_bearing: Sequence[str] = ()
    needed: Sequence[str] = NEEDED
    collects: bool = False
    or_table: bool = False
    whole: bool = False
    reads: bool = False
    or_measures: bool = False
    or_kind: type[Any] | None = None
    as_options: Sequence[str] = ()
    describe: Callable[..., Cases[Any]] | None = None

    @property
    def taken(self) -> list[str]:
        """The roles that may be said."""
        return [role for role in ROLES if role in (*self.uses, *self.no_bearing)]

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, of any table with the roles of its columns as keywords."""
        first, *others = _parameters(signature(function))
        names = [one.name for one in others]

        def result_of(*args: Any, **kwargs: Any) -> Any:
            kwargs = {name: _plain(one) for name, one in kwargs.items()}
            if not args and first.name not in kwargs:
                return function(**kwargs)
            frame, *rest = map(_plain, args or (kwargs.pop(first.name),))
            if self.or_kind is not None and isinstance(frame, self.or_kind):
                refuse_unknown_names(kwargs, self.taken, names)
                return function(frame, *rest, **kwargs)
            given: Any = frame.table if isinstance(frame, Cases) else frame
            engine = engine_of(given) if self.describe is None else None
            roles = ROLES.keys() - self.as_options
            is_table = has_measures = False
            if not isinstance(frame, Cases) and (self.or_table or self.or_measures):
                present = {*columns_in(frame)}
                is_table = self.or_table and roles.isdisjoint(kwargs) and not present >= {*NEEDED}
                is_said = any(kwargs.get(role) is not None for role in NEEDED)
                has_measures = self.or_measures and not is_said and present >= {*OF_ESTIMATES}
            if engine is not None and not (is_table or has_measures):
                return engine.counterpart(function.__name__)(frame, *rest, **kwargs)
            _refuse_missing(function, others, len(rest), kwargs)
            said = {name: kwargs.pop(name) for name in [*kwargs] if name in roles}
            refuse_unknown_names(kwargs, self.taken, names)
            if is_table and given_paths(frame) is None:
                return collect_like(given, function(as_polars(given), *rest, **kwargs))
            if has_measures:
                return function(of_measures(given, said), *rest, **kwargs)
            described = self._described(frame, said)
            refuse_roles(described, function.__name__, self.taken)
            result = function(described, *rest, **kwargs)
            if isinstance(result, Cases):
                return replace(result, table=collect_like(given, result.table))
            return collect_like(given, result) if self.collects else result

        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            # Weights and likelihoods underflow to 0, as they should, whatever `np.seterr` says.
            with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
                return result_of(*args, **kwargs)

        self._show(wrapper, first, others)
        return wrapper

    def _described(self, frame: Any, said: Mapping[str, Any]) -> Cases[Any]:
        """The cases; files and datasets are read for them, the columns in use."""
        if self.describe is not None:
            return self.describe(frame, said, self.needed)
        if isinstance(frame, Cases):
            cases = overridden(frame, said)
            # Measures have neither truth nor score.
            if not self.or_measures or cases.truth is not None or cases.score is not None:
                require_roles(cases.said, self.needed, cases.table.lazy().collect_schema())
            return cases
        described = resolved(frame, said, needed=self.needed, find=(*self.needed, *FOUND))
        table = described.table
        if isinstance(frame, pl.LazyFrame) or isinstance(table, pl.DataFrame) or self.reads:
            return described
        return replace(described, table=table.collect()) if self.whole else described.collect()

    def _show(self, wrapper: Any, first: Parameter, others: Sequence[Parameter]) -> None:
        """Say of the function that users call what it takes."""
        own = signature(wrapper)
        # For the table of the reference: roles that are not there are refused.
        wrapper.bearings = dict.fromkeys(self.no_bearing, "no bearing")
        wrapper.bearings |= dict.fromkeys(self.uses, "used")
        roles = [role for role in self.taken if role not in self.as_options]
        kinds = Table | Cases if self.or_kind is None else Table | Cases | self.or_kind
        beside = [*parameters(roles, self.needed), *others]
        wrapper.__signature__ = own.replace(
            parameters=[first.replace(annotation=kinds), *sorted(beside, key=lambda one: one.kind)],
            return_annotation=pl.LazyFrame | pl.DataFrame
            if self.collects
            else own.return_annotation,
        )
        wrapper.__doc__ = documented(wrapper.__doc__, self.taken, self.no_bearing)
        if self.describe is None:
            wrapper.__doc__ = filled(wrapper, OF_CASES)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of Python, with which alone Polars computes; a stream as a table."""
    if is_stream(value):
        return as_polars(value)
    item = getattr(value, "item", None)
    return item() if isinstance(value, Number) and item is not None else value


def _parameters(own: Signature) -> list[Parameter]:
    """All parameters of a function but keywords of any name."""
    return [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]


def _refuse_missing(
    function: Callable[..., Any], others: Sequence[Parameter], by_place: int, given: Collection[str]
) -> None:
    """Refuse a call that lacks an argument without a default."""
    lacking = [
        one.name
        for one in others[by_place:]
        if one.default is Parameter.empty and one.name not in given
    ]
    if lacking:
        raise InvalidArgument(
            f"{quoted(lacking)} {'is' if len(lacking) == 1 else 'are'} not given, which "
            f"{function.__name__} needs.",
            hint=Hint(
                f"give {', '.join(f'{{{name}}}' for name in lacking)}: see help("
                f"pr.{function.__name__}).",
                command_line=f"give {', '.join(f'{{{name}}}' for name in lacking)}: see --help.",
                **{name: USUAL.get(name, ...) for name in lacking},
            ),
        )


def refuse_roles(described: Cases[Any], function: str, taken: Collection[str]) -> None:
    """Refuse roles that would change the result of a function, and which it cannot honour."""
    refused = [role for role in described.said if role not in taken and role not in described.found]
    if refused:
        else_to_do = [
            words
            for role, words in ELSEWHERE.items()
            if role in refused and (role != "weight" or "count" in taken)
        ]
        leave = f"Leave {'it' if len(refused) == 1 else 'them'} out; it takes {', '.join(taken)}."
        raise InvalidArgument(
            f"{function} does not honour {quoted(refused)} yet, which would change its result.",
            hint=" ".join([*else_to_do, leave]),
        )
