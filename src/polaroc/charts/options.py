"""Options of charts: what several mean is said once, and their types are checked."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

import polars as pl

from polaroc.base.checks import is_number
from polaroc.errors import InvalidArgument, example, quoted
from polaroc.predictions.columns import KEYWORDS

_P = ParamSpec("_P")
_R = TypeVar("_R")


class Kind(NamedTuple):
    """Allowed values of an option: a test, a description and an example."""

    fits: Callable[[Any], bool]
    allowed: str
    example: object


def checked(chart: Callable[_P, _R]) -> Callable[_P, _R]:
    """Check the types of options before drawing a chart; document those that charts share."""
    chart_signature = signature(chart)

    @wraps(chart)
    def checked_chart(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        _refuse_predictions(kwargs)
        try:
            given = chart_signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise InvalidArgument(
                f"charts.{chart.__name__} {error}.",
                hint=f"its arguments are {quoted([*chart_signature.parameters])}.",
            ) from None
        for name, value in given.items():
            kind = KINDS.get(name)
            if kind is not None and not kind.fits(value):
                raise InvalidArgument(
                    f"{name} is {quoted([value])}, allowed is {kind.allowed}.",
                    hint=example(name, kind.example),
                )
        from altair.utils.schemapi import debug_mode

        # Altair checks every part of a chart when it is made, with all its points each time, and
        # the whole once more when it is written.
        with debug_mode(False):
            return chart(*args, **kwargs)

    return checked_chart


def _refuse_predictions(kwargs: Mapping[str, object]) -> None:
    """Refuse columns of predictions: charts show tables of results."""
    roles = [name for name in kwargs if name in KEYWORDS]
    if roles:
        raise InvalidArgument(
            f"a chart shows a table of results, and is given {quoted(roles)}.",
            hint="pass the result of curve(...), or of the function that is named after the chart.",
        )


def _is_names(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, Sequence) and all(isinstance(name, str) for name in value)
    )


def _is_band(value: Any) -> bool:
    return value is None or _is_names(value) or isinstance(value, pl.DataFrame | pl.LazyFrame)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and all(map(is_number, value))


def _is_colours(value: Any) -> bool:
    if value is None:
        return True
    return isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values())


KINDS = {
    "title": Kind(lambda value: isinstance(value, str), "a text", "ROC curves"),
    "colours": Kind(_is_colours, "a mapping from name to colour, or None", {"logistic": "#0072b2"}),
    "band": Kind(_is_band, "a key, several, a table or None", "fold"),
    "weights": Kind(_is_pair, "two numbers", (1, 1)),
    "over": Kind(_is_pair, "two numbers lo and hi", (0.05, 0.20)),
    "prior": Kind(is_number, "a number", 0.1),
}
