"""Shared arguments of commands."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Annotated

import polars as pl
import typer

from polaroc.errors import InvalidArgument, quoted
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Interpolation, Label, Nulls, Prior

Files = Annotated[
    list[str],
    typer.Argument(
        help="Parquet, CSV, TSV, IPC/Arrow or NDJSON files, glob patterns, hive folders; - reads "
        "one of them from the standard input.",
        show_default=False,
    ),
]
Truth = Annotated[str, typer.Option(help="Column of the labels.", show_default=False)]
Score = Annotated[
    str, typer.Option(help="Column of the scores; higher is more positive.", show_default=False)
]
Weight = Annotated[str | None, typer.Option(help="Column of case weights.", show_default=False)]
Positive = Annotated[
    list[str] | None,
    typer.Option(help="Label that counts as positive; repeat it for several.", show_default=False),
]
NullRows = Annotated[Nulls, typer.Option(help="What to do with null or NaN rows.")]
PriorWords = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        help="Prior at which AUPREC is taken, or 'observed'; repeat it for several. "
        f"[default: {' '.join(map(str, DEFAULT_PRIORS))}]",
        show_default=False,
    ),
]
Over = Annotated[
    tuple[float, float] | None,
    typer.Option(help="Range of priors LO HI for IAUPREC.", show_default=False),
]
BetweenPoints = Annotated[
    Interpolation, typer.Option("--interpolation", help="Between ROC points.")
]


def beginnings(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Shell completions of a partial word."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def labels(frame: pl.LazyFrame, truth: str, positive: list[str] | None) -> list[Label] | None:
    """The positive labels in the type of the truth column."""
    if not positive:
        return None
    dtype = frame.collect_schema().get(truth)
    if dtype is None or not (dtype.is_numeric() or dtype == pl.Boolean):
        return list(positive)
    if dtype == pl.Boolean:
        words = {"true": True, "1": True, "false": False, "0": False}
        if all(word.lower() in words for word in positive):
            return [words[word.lower()] for word in positive]
    else:
        number = int if dtype.is_integer() else float
        with suppress(ValueError):
            return [number(word) for word in positive]
    raise InvalidArgument(
        f"--positive is {', '.join(positive)}, but {truth!r} is {dtype}.",
        hint="give the label as it stands in the column.",
    )


def negatives(frame: pl.LazyFrame, truth: str, positive: list[Label] | None) -> list[str]:
    """Note where several labels count as negative."""
    if positive is None:
        return []
    seen = frame.select(pl.col(truth).drop_nulls().unique().sort()).collect()[truth].to_list()
    others = [label for label in seen if label not in positive]
    if len(others) < 2:
        return []
    return [f"Note: {len(others)} labels of {truth!r} count as negative: {quoted(others)}."]


def priors_in_words(words: list[str] | None) -> list[Prior]:
    """The priors given on the command line, none where the option was left out."""
    return [prior_in_words(word) for word in words or ()]


def prior_in_words(word: str) -> Prior:
    """Parse a prior of the command line."""
    if word == OBSERVED:
        return "observed"
    try:
        return float(word)
    except ValueError:
        raise InvalidArgument(
            f"--prior is {word!r}, allowed are 0 < prior < 1 and 'observed'.",
            hint="5 % positives is prior 0.05.",
        ) from None
