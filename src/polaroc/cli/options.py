"""The options that commands share, and how their words become arguments of functions."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import polars as pl
import typer

from polaroc.cli import screen
from polaroc.errors import InvalidArgument
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Label, Nulls, Prior

# In place of a file.
STDOUT = "-"


def prior(word: str) -> Prior:
    """The prior that a word means."""
    if word == OBSERVED:
        return "observed"
    try:
        return float(word)
    except ValueError:
        raise typer.BadParameter(
            f"{word!r} is neither a share of positives, such as 0.05, nor 'observed'."
        ) from None


def option(metavar: str, text: str, *names: str, **more: Any) -> Any:
    """An option with a value, by default under the name of its parameter."""
    return typer.Option(*names, help=text, metavar=metavar, **more)


def out(text: str) -> Any:
    """The option --out."""
    return option("PATH", text, "--out", "-o")


Text: TypeAlias = str | None
Texts: TypeAlias = list[str] | None
Number: TypeAlias = float | None
Range: TypeAlias = tuple[float, float] | None
Files = Annotated[
    list[str],
    typer.Argument(
        help="Parquet, CSV, TSV, IPC/Arrow or NDJSON files, patterns, hive folders; - is stdin.",
        metavar="FILES",
        show_default=False,
    ),
]
Decimal = Annotated[Literal[".", ","], typer.Option(help="Decimal mark of CSV and TSV files.")]

Truth = Annotated[
    Text, option("COLUMN", "Labels: true, false, 1, 0, or by --positive. [default: truth]")
]
Score = Annotated[
    Texts,
    option("COLUMN", "Scores, higher if positive; repeated, one per model. [default: score]"),
]
Positive = Annotated[Texts, option("LABEL", "Positive label; may be repeated.")]
HowNulls = Annotated[Nulls, typer.Option(help="Rows without truth or score: refused or left out.")]
Model = Annotated[Text, option("COLUMN", "Models; '' for none. [default: model, if it is there]")]
Fold = Annotated[
    Texts,
    option("COLUMN", "Folds; may be repeated; '' for none. [default: fold, if it is there]"),
]
Case = Annotated[
    Text, option("COLUMN", "Cases that models share; '' for none. [default: case, if it is there]")
]
Cluster = Annotated[Text, option("COLUMN", "Rows with the same value are dependent.")]
Count = Annotated[Text, option("COLUMN", "How many equal cases a row stands for.")]
Weight = Annotated[Text, option("COLUMN", "Sampling weight of a row.")]
By = Annotated[
    Texts, option("COLUMN", "Groups, such as sex, each with its own result; may be repeated.")
]
Ratio = Annotated[
    Number,
    option("RATIO", "Of folds: test cases per training case, 0.25 in five-fold cross-validation."),
]

Over = Annotated[Range, option("LO HI", "Range of priors, such as 0.05 0.20.")]
Priors = Annotated[
    list[Any] | None,
    option("PRIOR", "Prior, or 'observed' for that of the data; may be repeated.", parser=prior),
]
OnePrior = Annotated[Any, option("PRIOR", "Prior, or 'observed'; not with --over.", parser=prior)]
Measure = Annotated[Text, option("MEASURE", "Such as iauprec, auprec, auc or brier.")]
Measures = Annotated[Texts, option("MEASURE", "Such as auc; may be repeated. [default: all]")]
CostFn = Annotated[Number, option("COST", "Cost of a missed positive.")]
CostFp = Annotated[Number, option("COST", "Cost of a false alarm.")]
MinRecall = Annotated[Number, option("SHARE", "Least share of positives to find.")]
MinPrecision = Annotated[Number, option("SHARE", "Least share of alarms that are right.")]
MaxPosfrac = Annotated[Number, option("SHARE", "Greatest share of cases with an alarm.")]
Confidence = Annotated[
    Number, option("SHARE", "Promise the limits for the true rates, with this probability.")
]
Level = Annotated[float, option("SHARE", "Coverage of intervals.")]
Tuning = Annotated[
    Texts, option("FILE", "Other cases of the same models, to set thresholds; may be repeated.")
]

Force = Annotated[
    bool, typer.Option("--force", help="Replace files; of a folder, those of the same names.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, with all digits.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="Print no notes, and with --out no results.",
        callback=screen.set_quiet,
    ),
]  # fmt: skip


# The options that say what the columns of a table mean.
ROLES = (
    "truth", "score", "positive", "nulls", "model", "fold", "case", "cluster", "count", "weight",
    "by",
)  # fmt: skip


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; a function has defaults for the others."""
    return {
        name: value
        for name, value in options.items()
        if not (value is None or (isinstance(value, list) and not value))
    }


def roles(schema: Mapping[str, pl.DataType], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command, its locals(), that say what the columns of a table mean.

    Examples
    --------
    >>> roles({"p": pl.Float64()}, {"truth": "y", "score": ["p"], "model": "", "fold": None})
    {'truth': 'y', 'score': 'p', 'model': None}
    """
    named = given(**{role: options[role] for role in ROLES if role in options})
    for role in {"model", "fold", "case"} & named.keys():
        if named[role] in ("", [""]):
            named[role] = None
    if len(named.get("score", ())) == 1:
        (named["score"],) = named["score"]
    if "positive" in named:
        truth = named.get("truth", "truth")
        named["positive"] = labels(named["positive"], schema.get(truth), truth, "--positive")
    return named


def labels(
    words: Sequence[str], dtype: pl.DataType | None, column: str, option: str
) -> list[Label]:
    """Values of a column that were given in words, in its type.

    Examples
    --------
    >>> labels(["1"], pl.Int64(), "y", "--positive"), labels(["1"], pl.String(), "y", "--positive")
    ([1], ['1'])
    """
    if dtype is None or not (dtype.is_numeric() or dtype == pl.Boolean):
        return list(words)
    booleans = {"true": True, "1": True, "false": False, "0": False}
    value = booleans.__getitem__ if dtype == pl.Boolean else int if dtype.is_integer() else float
    try:
        return [value(word.lower()) for word in words]
    except (KeyError, ValueError):
        raise InvalidArgument(
            f"{option} is {', '.join(words)}, but {column!r} is {dtype}.",
            hint="give the label as it stands in the column.",
        ) from None


def limits(
    recall: float | None, precision: float | None, posfrac: float | None
) -> dict[str, float] | None:
    """The limits of rates as `constraints`; None without any."""
    return given(recall=recall, precision=precision, posfrac=posfrac) or None
