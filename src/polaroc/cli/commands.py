"""Commands made from public functions: their options are its parameters."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from typing import Any

import polars as pl
import typer

from polaroc.cli.engines import TableSource
from polaroc.cli.inputs import (
    Decimal,
    FilesWords,
    Separator,
    Source,
    TableName,
    in_memory,
    notes_of,
    opened,
    roles_of,
    text_format,
)
from polaroc.cli.parameters import kind_of, option_name, own_options, role_options
from polaroc.cli.screen import handle_errors, print_notes, say_settings
from polaroc.cli.settings import OF_MEASURES, SETTINGS, Settings
from polaroc.curves.curve import curve
from polaroc.curves.keys import totals
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.files.text_files import TextFormat
from polaroc.predictions.audit import label_notes
from polaroc.predictions.cases import Cases
from polaroc.predictions.roles import ROLES
from polaroc.predictions.table import read
from polaroc.predictions.usual_keys import column_names_of
from polaroc.warehouse.connections import is_address

Function = Callable[..., Any]
OF_FILES = (("table", TableName, None), ("separator", Separator, None), ("decimal", Decimal, "."))


@dataclass(frozen=True)
class Made:
    """Of which functions a command is made.

    Attributes
    ----------
    functions
        The functions, the main one first.
    roles
        The function whose roles are options.
    left_out
        Parameters of the functions that are no options.
    own
        Options of the command line alone.
    """

    functions: tuple[Function, ...]
    roles: Function
    left_out: frozenset[str]
    own: frozenset[str]


def command(
    *functions: Function,
    roles: Function | None = None,
    left_out: Sequence[str] = (),
    reads: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command made of public functions, of which the body shows what they return.

    Options are the parameters of the functions, less those `left_out`, and the roles of the first
    or of another function. The first argument of the body is the `Call`; its others are options of
    the command line alone.
    """

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        _, *own = signature(body).parameters.values()
        names = [one.name for one in own]
        made = Made(functions, roles or functions[0], frozenset(left_out), frozenset(names))
        beside = [*names, *left_out]
        parameters: dict[str, Parameter] = {}
        for function in functions:
            parameters = own_options(function, beside) | parameters
        shown = [
            _parameter("context", typer.Context),
            *([_parameter("files", FilesWords)] if reads else []),
            *own,
            *(one for one in role_options(made.roles) if one.name not in beside),
            *parameters.values(),
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


def _parameter(name: str, kind: Any, default: Any = Parameter.empty) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


@dataclass
class Call:
    """What a command was given, and its functions to call with it.

    Attributes
    ----------
    made
        Of what the command is made.
    source
        The files or the table given; None where the command reads none.
    words
        The roles, as they were given.
    given
        What else was given, by parameter, in words.
    text
        How text files are written.
    table
        The name of the table at an address.
    """

    made: Made
    source: Source | None
    words: dict[str, Any]
    given: dict[str, Any]
    text: TextFormat
    table: str | None

    @cached_property
    def roles(self) -> dict[str, Any]:
        """The roles, as functions take them."""
        return roles_of(self.words, {} if self.source is None else self.source.schema())

    @cached_property
    def cases(self) -> Cases[Any]:
        """What is read, with the roles of its columns; what was found is said."""
        assert self.source is not None
        taken = signature(self.made.roles).parameters
        needed = [role for role in ROLES if role in taken and _is_needed(taken[role])]
        cases = self.source.described(self.roles, needed)
        print_notes(notes_of(self.source, cases, getattr(self.made.roles, "bearings", {})))
        return cases

    @cached_property
    def in_memory(self) -> Cases[pl.DataFrame]:
        """The cases, with the columns in use read."""
        assert self.source is not None
        return in_memory(self.source, self.cases)

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
            return source.written(column_names_of(self.cases.keys)).collect()

    def __call__(self, first: Any, function: Function | None = None, **more: Any) -> Any:
        """What a function returns, by default the main one, with the options that were given."""
        function = function or self.made.functions[0]
        taken = signature(function).parameters
        others = [option_name(name) for name in self.given if name not in taken]
        if others:
            raise InvalidArgument(
                f"{', '.join(others)} is given, which {function.__name__} does not have.",
                hint="leave it out.",
            )
        result = function(first, **(self.options | more))
        if isinstance(result, pl.LazyFrame):
            result = result.collect()
        if self.source is not None:
            self.source.check_unchanged()
        return result


def _is_needed(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


@contextmanager
def _called(made: Made, context: Any, words: dict[str, Any]) -> Iterator[Call]:
    """The call that the words mean, as long as what it reads is open."""
    text = text_format(words.pop("separator", None), words.pop("decimal", "."))
    with (
        nullcontext()
        if "files" not in words
        else opened(words.pop("files"), table := words.pop("table"), text) as source
    ):
        settings = context and context.meta.get(SETTINGS)
        if settings is not None:
            _heed(settings, made, source, words)
        roles = {name: words.pop(name) for name in [*words] if name.removeprefix("no_") in ROLES}
        given = {name: value for name, value in words.items() if value not in (None, False)}
        yield Call(made, source, roles, given, text, table)


def _heed(settings: Settings, made: Made, source: Source | None, words: dict[str, Any]) -> None:
    """Take back settings that are not for what is read, and say which are used."""
    used = dict(settings.values)
    truth = signature(made.roles).parameters.get("truth")
    takes_measures = truth is not None and not _is_needed(truth)
    if takes_measures and source is not None and {"measure", "estimate"} <= {*source.schema()}:
        used = {name: value for name, value in used.items() if name in OF_MEASURES}
    for name in settings.values.keys() - used.keys():
        words[name] = None
    if used:
        say_settings(Settings(settings.file, used))
