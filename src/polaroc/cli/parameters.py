"""Options made from parameters of functions: their types, defaults and documentation."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import polars as pl
import typer

from polaroc.base.docstrings import parameter_texts
from polaroc.cli.texts import text_of
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import CATALOG
from polaroc.predictions.roles import FOUND, OTHER_OPTIONS, ROLES
from polaroc.priors.grids import OBSERVED, prior_hint
from polaroc.typing import Prior

# Parameters whose option has another name: on a command line each of several values is given by
# itself.
RENAMED = {"constraints": "constraint", "measures": "measure", "priors": "prior"}
# Words for values that the type does not tell.
METAVARS = {
    "challenger": "MODEL", "champion": "MODEL", "confidence": "SHARE",
    "cost_fn": "COST", "cost_fp": "COST", "level": "SHARE", "memory": "SIZE", "positive": "LABEL",
    "priors": "PRIOR", "score": "[MODEL=]COLUMN", "test_train_ratio": "RATIO",
}  # fmt: skip
# Choices that take more room are not shown in the place of a value.
WIDTH = 60
COMPLETED = {"measure": tuple(CATALOG), "measures": tuple(CATALOG)}
# What is said of None, which the command line has no word for.
OF_NONE = re.compile(r"[;:,]? ``None``[^.;]*|``None``[^.;]*; ")
SENTENCE = re.compile(r".*?\.(?= [A-Z`\"]|$)")


@dataclass(frozen=True)
class Kind:
    """How values of a type are written on the command line."""

    words: Any  # the type that the command line parses
    metavar: str | None = None
    # The value that the words mean, of the option and the words.
    parse: Callable[[str, Any], Any] = lambda _, words: words
    is_table: bool = False  # the words are files that hold one
    choices: tuple[str, ...] = ()


def prior_of(option: str, word: str) -> Prior:
    """The prior that a word means."""
    if word == OBSERVED:
        return "observed"
    try:
        return float(word)
    except ValueError:
        raise InvalidArgument(
            f"{option} is {word!r}, allowed are 0 < prior < 1 and 'observed'.",
            hint=prior_hint(word),
        ) from None


def limits_of(option: str, words: Sequence[str]) -> dict[str, float]:
    """The limits of words such as precision=0.8."""
    limits: dict[str, float] = {}
    for word in words:
        name, mark, value = word.partition("=")
        try:
            limit = float(value) if mark else None
        except ValueError:
            limit = None
        if limit is None or name in limits:
            problem = "is given twice" if limit is not None else "is no RATE=LIMIT"
            raise InvalidArgument(
                f"{option} {word!r} {problem}.", hint=f"for example {option} specificity=0.9."
            )
        limits[name] = limit
    return limits


def kind_of(name: str, annotation: Any) -> Kind:
    """How a parameter is written on the command line, by its type."""
    is_union = get_origin(annotation) in (Union, UnionType)
    kinds = get_args(annotation) if is_union else [annotation]
    choices = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    origins = {get_origin(kind) for kind in kinds}
    several = Sequence in origins
    if bool in kinds:
        return Kind(bool)
    if tuple in origins or name == "over":
        return Kind(tuple[float, float], "LO HI")
    if OBSERVED in choices and several:
        return Kind(list[str], "PRIOR", lambda option, words: [prior_of(option, w) for w in words])
    if OBSERVED in choices:
        return Kind(str, "PRIOR", prior_of)
    if pl.DataFrame in kinds:
        return Kind(list[str], "PATH", is_table=True)
    if Mapping in origins:
        return Kind(list[str], "RATE=LIMIT", limits_of)
    if choices and not {str, int} & {*kinds}:
        return Kind(str, choices=tuple(map(str, choices)))
    if several:
        is_number = any(float in get_args(kind) for kind in kinds)
        return Kind(list[float] if is_number else list[str])
    if any(origin is PathLike for origin in origins) or Path in kinds:
        return Kind(Path, "PATH")
    number = next((kind for kind in (float, int) if kind in kinds and str not in kinds), None)
    return Kind(str, "TEXT") if number is None else Kind(number, "N" if number is int else "NUMBER")


def option_name(parameter: str) -> str:
    """The option of a parameter.

    Examples
    --------
    >>> option_name("priors"), option_name("cost_fn")
    ('--prior', '--cost-fn')
    """
    return "--" + RENAMED.get(parameter, parameter).replace("_", "-")


def other_names(option: str) -> list[str]:
    """The names that other libraries have for an option.

    Examples
    --------
    >>> other_names("--weight")
    ['--sample-weight', '--weights']
    """
    word = option.removeprefix("--").replace("-", "_")
    others = ROLES[word].others if word in ROLES else OTHER_OPTIONS.get(word, ())
    return [option_name(other) for other in others]


def in_words(text: str, names: Iterable[str], *, whole: bool = False) -> str:
    """Documentation as the command line says it: its first sentence, or the `whole`."""
    text = OF_NONE.sub("", text).replace("..", ".")
    first = SENTENCE.match(text)
    text = text if whole or first is None else first[0]
    for name in names:
        text = text.replace(f"`{name}`", option_name(name))
    return re.sub(r"[`*]+", "", text).replace('"', "'")


def beginnings(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Shell completions of a partial word."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def role_options(
    functions: Sequence[Callable[..., Any]], more: Sequence[Callable[..., Any]] = ()
) -> list[Parameter]:
    """The roles that functions take, as options.

    Those without bearing on their results, and on those of `more` functions, are not shown.
    """
    takers = {
        name: [function for function in functions if name in signature(function).parameters]
        for name in ROLES
    }
    options = []
    for name, of in takers.items():
        if not of:
            continue
        role, taken = ROLES[name], signature(of[0]).parameters
        kind = kind_of(name, taken[name].annotation)
        if role.names_columns or role.several:
            kind = Kind(list[str] if role.several else str, "COLUMN")
        text = role.in_words or in_words(role.text, taken, whole=True)
        if is_needed(functions, name):
            text += " [required]"
        bearings = {getattr(one, "bearings", {}).get(name) for one in (*of, *more)}
        hidden = bearings - {None} == {"no bearing"}
        options.append(_option(name, kind, text, hidden))
        if name in FOUND:
            none = f"There is no column of {name}s."
            options.append(_option(f"no_{name}", Kind(bool), none, hidden))
    return options


def is_given(value: Any) -> bool:
    """Whether an option was given; 0 is a value."""
    return value is not None and value is not False and value != []


def is_needed(functions: Sequence[Callable[..., Any]], name: str) -> bool:
    """Whether all functions need a parameter."""
    taken = [signature(function).parameters.get(name) for function in functions]
    return all(one is not None and one.default is Parameter.empty for one in taken)


def own_options(
    function: Callable[..., Any], left_out: Collection[str], command: str
) -> dict[str, Parameter]:
    """The parameters of a function, after the first, that are no roles, as options of a command."""
    _, *taken = signature(function).parameters.values()
    texts = parameter_texts(function.__doc__)
    options = {}
    for one in taken:
        if one.name in (*ROLES, *left_out):
            continue
        kind = kind_of(one.name, one.annotation)
        # Its own name there is that of a function.
        others = [other.name for other in taken if other is not one]
        text = text_of(command, one.name)
        if text is None:
            text = in_words(texts[one.name], others, whole=bool(kind.choices))
        options[one.name] = _option(one.name, kind, text + _default(one))
    return options


def _default(parameter: Parameter) -> str:
    """What a parameter is by default, where that can be shown."""
    value = parameter.default
    if value is Parameter.empty:
        return " [required]"
    shown = value if isinstance(value, tuple) else (value,)
    if not shown or not all(type(one) in (str, int, float) for one in shown):
        return ""
    return f" [default: {' '.join(map(str, shown))}]"


def _option(name: str, kind: Kind, text: str, hidden: bool = False) -> Parameter:
    """An option that is None, or a flag that is False, where it is not given."""
    choices = kind.choices or COMPLETED.get(name)
    metavar = METAVARS.get(name, kind.metavar)
    if choices:
        shown = "|".join(choices)
        metavar = f"[{shown}]" if len(shown) < WIDTH else name.upper().removesuffix("S")
        if kind.choices and len(shown) >= WIDTH:
            text = f"One of {', '.join(choices)}: {text}"
    if get_origin(kind.words) is list and not kind.is_table:
        told, mark, more = text.partition(" [")
        text = f"{told} Repeat it for several.{mark}{more}"
    info = typer.Option(
        option_name(name), help=text, metavar=metavar, hidden=hidden,
        autocompletion=None if choices is None else beginnings(choices),
    )  # fmt: skip
    flag = kind.words is bool
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=False if flag else None,
        annotation=Annotated[bool if flag else kind.words | None, info],
    )  # fmt: skip
