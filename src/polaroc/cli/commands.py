"""Commands made from public functions: their options are its parameters."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from typing import Any, cast, get_args

import polars as pl
import typer
from typer.models import ArgumentInfo

from polaroc.base.columns import RESERVED
from polaroc.cli.engines import TableSource
from polaroc.cli.inputs import (
    Decimal,
    FilesWords,
    Separator,
    Source,
    TableName,
    notes_of,
    opened,
    roles_of,
)
from polaroc.cli.parameters import (
    is_given,
    is_needed,
    kind_of,
    option_name,
    own_options,
    role_options,
)
from polaroc.cli.screen import handle_errors, print_notes, say_settings
from polaroc.cli.settings import OF_MEASURES, SETTINGS, Settings
from polaroc.curves.curve import curve
from polaroc.curves.keys import totals
from polaroc.errors import InvalidArgument, InvalidPredictions, PolarocError, quoted
from polaroc.files.text_files import TextFormat
from polaroc.predictions.audit import label_notes
from polaroc.predictions.cases import Cases
from polaroc.predictions.resolved import of_measures, words_of
from polaroc.predictions.roles import NEEDED, ROLES
from polaroc.predictions.table import read
from polaroc.warehouse.connections import is_address

Function = Callable[..., Any]
OF_FILES = (("table", TableName, None), ("separator", Separator, None), ("decimal", Decimal, "."))


@dataclass(frozen=True)
class Made:
    """Of which functions a command is made, the main one first."""

    functions: tuple[Function, ...]
    roles: tuple[Function, ...]  # those whose roles are options
    left_out: frozenset[str]  # parameters of the functions that are no options
    own: frozenset[str]  # options of the command line alone


def command(
    *functions: Function,
    roles: Sequence[Function] = (),
    left_out: Sequence[str] = (),
    reads: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command made of public functions, of which the body shows what they return.

    Options are the parameters of the functions, less those `left_out`, and the roles of the first
    or of other functions. The first argument of the body is the `Call`; its others are options of
    the command line alone.
    """

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        _, *own = signature(body).parameters.values()
        names = [one.name for one in own]
        made = Made(functions, tuple(roles) or functions[:1], frozenset(left_out), frozenset(names))
        beside = [*names, *left_out]
        parameters: dict[str, Parameter] = {}
        for function in functions:
            parameters = own_options(function, beside, body.__name__) | parameters
        shown = [
            _parameter("context", typer.Context),
            *(one for one in own if _is_argument(one)),
            *([_parameter("files", FilesWords)] if reads else []),
            *(one for one in role_options(made.roles, functions) if one.name not in beside),
            *parameters.values(),
            *(one for one in own if not _is_argument(one)),
            *([_parameter(*one) for one in OF_FILES] if reads else []),
        ]

        @wraps(body)
        def run(context: typer.Context, **words: Any) -> None:
            mine = {name: words.pop(name) for name in names}
            with _called(made, context, words) as call:
                body(call, **mine)

        run.__annotations__ = {one.name: one.annotation for one in shown}
        shown = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in shown]
        vars(run).update(__signature__=Signature(shown), made=made)
        return handle_errors(run)

    return decorate


def _is_argument(parameter: Parameter) -> bool:
    """Whether a parameter of a body has no name on the command line."""
    return any(isinstance(one, ArgumentInfo) for one in get_args(parameter.annotation))


def _parameter(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@dataclass
class Call:
    """What a command was given, and its functions to call with it."""

    made: Made
    source: Source | None  # None where the command reads none
    words: dict[str, Any]  # the roles, as they were given
    given: dict[str, Any]  # what else was given, by parameter, in words
    text: TextFormat
    table: str | None  # at an address

    @cached_property
    def roles(self) -> dict[str, Any]:
        """The roles, as functions take them."""
        return roles_of(self.words, {} if self.source is None else self.source.schema())

    @cached_property
    def cases(self) -> Cases[Any]:
        """What is read, with the roles of its columns; what was found is said."""
        assert self.source is not None
        said = any(self.roles.get(role) is not None for role in NEEDED)
        if said or is_needed(self.made.roles, NEEDED[0]):
            cases = self.source.described(self.roles)
        else:
            keys = [name for name in self.source.schema() if name not in RESERVED]
            cases = of_measures(self.source.written(keys), self.roles)
        used = {
            role
            for function in self.made.roles
            for role, bearing in getattr(function, "bearings", {}).items()
            if bearing == "used"
        }
        print_notes(notes_of(self.source, cases, used))
        return cases

    @cached_property
    def in_memory(self) -> Cases[pl.DataFrame]:
        """The cases, with the columns in use read."""
        assert self.source is not None
        if self.cases.truth is None:
            return self.cases.collect()
        return self.source.in_memory(self.cases)

    @cached_property
    def curves(self) -> pl.DataFrame:
        """The curve of each key, made where the table is; what is to be said of labels is said."""
        if isinstance(self.source, TableSource):
            curves = self.source.curves(self.cases)
            self.refuse_unranked(curves)
            return curves
        predictions = read(self.in_memory)
        print_notes(label_notes(totals(predictions), predictions.keys))
        return curve(self.in_memory)

    @property
    def score(self) -> str | dict[str, str]:
        """The column of the scores, or that of each model."""
        return cast("str | dict[str, str]", self.cases.score)

    def refuse_unranked(self, results: pl.DataFrame) -> None:
        """Refuse predictions without rows, or with rows that cannot be ranked."""
        if results.is_empty():
            raise InvalidPredictions("there are no rows.", hint="check what is read.")
        if results["positives"].null_count():
            read(self.in_memory)

    def value(self, name: str) -> Any:
        """An option of the main function, or what it is by default."""
        default = signature(self.made.functions[0]).parameters[name].default
        return self.options.get(name, default)

    @cached_property
    def options(self) -> dict[str, Any]:
        """What was given beside roles, as functions take it."""
        kinds = {
            name: kind_of(name, one.annotation)
            for function in reversed(self.made.functions)
            for name, one in signature(function).parameters.items()
        }
        return {
            name: self.other(value)
            if kinds[name].is_table
            else kinds[name].parse(option_name(name), value)
            for name, value in self.given.items()
        }

    def other(self, files: Sequence[str]) -> pl.DataFrame:
        """Another table, its keys written as those of the cases."""
        table = self.table if is_address(files[0]) else None
        with opened(files, table, self.text) as source:
            return source.written(words_of(self.cases)).collect()

    def refuse_others(self, function: Function, why: str) -> None:
        """Refuse options that were given and a function does not have."""
        taken = signature(function).parameters
        others = [option_name(name) for name in self.given if name not in taken]
        if others:
            raise InvalidArgument(f"{', '.join(others)} {why}.", hint="leave it out.")

    def __call__(self, first: Any, function: Function | None = None, **more: Any) -> Any:
        """What a function returns, by default the main one, with the options that were given."""
        function = function or self.made.functions[0]
        self.refuse_others(function, f"is given, which {function.__name__} does not have")
        result = function(first, **(self.options | more))
        if isinstance(result, pl.LazyFrame):
            result = result.collect()
        self.check_unchanged()
        return result

    def check_unchanged(self) -> None:
        """Raise if what is read was written to since it was opened."""
        if self.source is not None:
            self.source.check_unchanged()


@contextmanager
def _called(made: Made, context: Any, words: dict[str, Any]) -> Iterator[Call]:
    """The call that the words mean, as long as what it reads is open."""
    text = TextFormat(words.pop("separator", None), words.pop("decimal", "."))
    files, table = words.pop("files", None), words.pop("table", None)
    with nullcontext() if files is None else opened(files, table, text) as source:
        settings = context and context.meta.get(SETTINGS)
        if settings is not None:
            _heed(settings, made, source, words)
        roles = {name: words.pop(name) for name in [*words] if name.removeprefix("no_") in ROLES}
        given = {name: value for name, value in words.items() if is_given(value)}
        try:
            yield Call(made, source, roles, given, text, table)
        except (PolarocError, OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
            # Where a file was written to meanwhile, what was found in it explains nothing.
            if source is not None:
                source.check_unchanged()
            raise


def _heed(settings: Settings, made: Made, source: Source | None, words: dict[str, Any]) -> None:
    """Take back settings that are not for what is read, and say which are used."""
    used, aside = dict(settings.values), settings.aside
    takes_measures = not is_needed(made.roles, "truth")
    if takes_measures and source is not None and {"measure", "estimate"} <= {*source.schema()}:
        used, aside = {name: one for name, one in used.items() if name in OF_MEASURES}, ()
    if aside:
        raise InvalidArgument(
            f"{str(settings.file)!r} says {quoted(aside)}, which this command does not honour yet, "
            "and which would change its result.",
            hint="take it out of the file, or give --no-config.",
        )
    for name in settings.values.keys() - used.keys():
        words[name] = None
    say_settings(Settings(settings.file, used))
