"""The options that commands share, and how their words become arguments of functions."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import polars as pl
import typer

from polaroc.cli import screen
from polaroc.errors import InvalidArgument
from polaroc.measures.catalog import CATALOG
from polaroc.priors.grids import OBSERVED
from polaroc.typing import Label, Nulls, Prior

# In place of a file.
STDOUT = "-"
# Longer texts of the help.
FILES = "Parquet, CSV, TSV, IPC/Arrow or NDJSON files, glob patterns, hive folders; - is stdin."
SEPARATOR = "Separator of CSV and TSV, such as ';' or tab. [default: a comma, in .tsv a tab]"
SCORE = (
    "Scores; higher is more likely positive. May be repeated: a column for each model. [default: "
    "score]"
)
RATIO = "Of folds: test cases per training case, 0.25 in five-fold cross-validation."
PRIOR = "Share of positives in (0, 1), or 'observed', that in the data"
MEASURES = "Such as auc or brier; may be repeated. [default: all that the options allow]"
TUNING = "Files of other cases of the same models, on which thresholds are set; may be repeated."
FORCE = "Replace what is there; in a folder with other files, those of the same names."
QUIET = "Print no notes, no progress and no result that goes to a file."


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


def column(text: str, default: str | None = None) -> Any:
    """An option that names a column; by default a column of this name is used."""
    more = f" '' for none. [default: {default}, if it is there]" if default else ""
    return typer.Option(help=text + more, metavar="COLUMN")


def share(text: str) -> Any:
    """An option that is a share in (0, 1)."""
    return typer.Option(help=text, metavar="SHARE")


def path(text: str, *names: str) -> Any:
    """An option that is a file or a folder."""
    return typer.Option(*names, help=text, metavar="PATH")


def out(text: str) -> Any:
    """The option --out."""
    return path(text, "--out", "-o")


def _measure(text: str) -> Any:
    return typer.Option(
        "--measure", help=text, metavar="MEASURE",
        autocompletion=lambda incomplete: [one for one in CATALOG if one.startswith(incomplete)],
    )  # fmt: skip


Strings: TypeAlias = list[str] | None
Number: TypeAlias = float | None
Files = Annotated[list[str], typer.Argument(help=FILES, metavar="FILES", show_default=False)]
Separator = Annotated[str | None, typer.Option(help=SEPARATOR, metavar="MARK")]
Decimal = Annotated[Literal[".", ","], typer.Option(help="Decimal mark of CSV and TSV files.")]

Truth = Annotated[
    str | None, column("Labels: true and false, 1 and 0, or by --positive. [default: truth]")
]
Score = Annotated[Strings, typer.Option(help=SCORE, metavar="COLUMN")]
Positive = Annotated[
    Strings, typer.Option(help="Positive label; may be repeated.", metavar="LABEL")
]
HowNulls = Annotated[Nulls, typer.Option(help="Rows without truth or score: refused or left out.")]
Model = Annotated[str | None, column("Models.", "model")]
Fold = Annotated[Strings, column("Folds; may be repeated.", "fold")]
Case = Annotated[str | None, column("Cases that models share.", "case")]
Cluster = Annotated[str | None, column("Rows with the same value are dependent.")]
Count = Annotated[str | None, column("How many equal cases a row stands for.")]
Weight = Annotated[str | None, column("Sampling weight of a row.")]
By = Annotated[Strings, column("Further key, such as sex; may be repeated.")]
Ratio = Annotated[Number, typer.Option(help=RATIO, metavar="RATIO")]

Over = Annotated[
    tuple[float, float] | None,
    typer.Option(help="Range of priors, such as 0.05 0.20.", metavar="LO HI"),
]
Priors = Annotated[
    list[Any] | None,
    typer.Option(help=f"{PRIOR}; may be repeated.", metavar="PRIOR", parser=prior),
]
OnePrior = Annotated[
    Any, typer.Option(help=f"{PRIOR}; not with --over.", metavar="PRIOR", parser=prior)
]
Measure = Annotated[str | None, _measure("Such as iauprec, auprec, auc, accsens or brier.")]
Measures = Annotated[Strings, _measure(MEASURES)]
CostFn = Annotated[Number, typer.Option(help="Cost of a missed positive.", metavar="COST")]
CostFp = Annotated[Number, typer.Option(help="Cost of a false alarm.", metavar="COST")]
MinRecall = Annotated[Number, share("Least share of positives to find.")]
MinPrecision = Annotated[Number, share("Least share of alarms that are right.")]
MaxPosfrac = Annotated[Number, share("Greatest share of cases with an alarm.")]
Confidence = Annotated[Number, share("Probability that the true rates keep the limits.")]
Level = Annotated[float, share("Coverage of intervals.")]
Tuning = Annotated[Strings, typer.Option(help=TUNING, metavar="FILE")]

Force = Annotated[bool, typer.Option("--force", help=FORCE)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, with all digits.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help=QUIET, callback=screen.set_quiet)]


def given(**options: Any) -> dict[str, Any]:
    """The options that were given; a function has defaults for the others."""
    return {
        name: value
        for name, value in options.items()
        if not (value is None or (isinstance(value, list) and not value))
    }


def roles(schema: Mapping[str, pl.DataType], **words: Any) -> dict[str, Any]:
    """The roles of columns as functions take them, of a table with these columns.

    Examples
    --------
    >>> roles({"p": pl.Float64()}, truth="y", score=["p"], model="", fold=None)
    {'truth': 'y', 'score': 'p', 'model': None}
    """
    found = given(**words)
    for role in {"model", "fold", "case"} & found.keys():
        if found[role] in ("", [""]):
            found[role] = None
    if len(found.get("score", ())) == 1:
        (found["score"],) = found["score"]
    if "positive" in found:
        truth = found.get("truth", "truth")
        found["positive"] = labels(found["positive"], schema.get(truth), truth, "--positive")
    return found


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
