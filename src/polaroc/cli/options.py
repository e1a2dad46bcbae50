"""Options that commands share, and the values that their words stand for."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

import polars as pl
import typer

from polaroc.errors import InvalidArgument, quoted
from polaroc.measures.catalog import DEFAULT_PRIORS
from polaroc.predictions.cases import Cases, keyed
from polaroc.predictions.wide import MODEL
from polaroc.priors.grids import OBSERVED, prior_grid, prior_hint
from polaroc.typing import Frame, Interpolation, Label, Nulls, Prior

Files = Annotated[
    list[str],
    typer.Argument(
        help="Parquet, CSV, TSV, IPC/Arrow or NDJSON files, glob patterns, hive folders; - reads "
        "one of them from the standard input; or an address, with --table.",
    ),
]
Truth = Annotated[str, typer.Option(help="Column of the labels.")]
SCORE_HELP = (
    "Column of the scores, higher is more positive; repeated for models with a column each, as "
    "COLUMN or MODEL=COLUMN."
)
Score = Annotated[list[str], typer.Option(help=SCORE_HELP)]
Weight = Annotated[str | None, typer.Option(help="Column of case weights.")]
Positive = Annotated[
    list[str] | None,
    typer.Option(help="Label that counts as positive; repeat it for several."),
]
NullRows = Annotated[Nulls, typer.Option(help="What to do with null or NaN rows.")]
PriorWords = Annotated[
    list[str] | None,
    typer.Option(
        "--prior",
        help="Prior at which AUPREC is taken, or 'observed'; repeat it for several. "
        f"[default: {' '.join(map(str, DEFAULT_PRIORS))}]",
    ),
]
ScorePrior = Annotated[
    str | None,
    typer.Option(
        help="Prior at which scores are right as probabilities, for brier and log_loss. "
        "[default: the share of positives of each key]",
    ),
]
Over = Annotated[
    tuple[float, float] | None,
    typer.Option(help="Range of priors LO HI for IAUPREC."),
]
GRID = 25
Grid = Annotated[
    int | None,
    typer.Option(
        help="Of predictions: number of priors over the range that AUPREC is taken at, both ends "
        f"included. [default: {GRID}]",
        min=2,
    ),
]
BetweenPoints = Annotated[
    Interpolation, typer.Option("--interpolation", help="Between ROC points.")
]


@dataclass(frozen=True)
class Columns:
    """The columns of predictions, with the labels that count as positive."""

    truth: str
    score: str | dict[str, str]  # one column, or one per model
    weight: str | None = None
    positive: list[Label] | None = None
    nulls: Nulls = "raise"

    @property
    def scores(self) -> list[str]:
        """The columns of scores."""
        return [self.score] if isinstance(self.score, str) else list(self.score.values())

    @property
    def is_wide(self) -> bool:
        """Whether each model has a column of scores."""
        return not isinstance(self.score, str)

    @property
    def names(self) -> list[str]:
        """All columns."""
        return [self.truth, *self.scores, *([self.weight] if self.weight else [])]

    def arguments(self, keys: Sequence[str]) -> dict[str, Any]:
        """The arguments of a function of predictions; of a wide table it makes the key itself."""
        by = [key for key in keys if not (self.is_wide and key == MODEL)]
        return {
            "truth": self.truth, "score": self.score, "by": by, "weight": self.weight,
            "positive": self.positive, "nulls": self.nulls,
        }  # fmt: skip

    def cases(self, frame: Frame, keys: Sequence[str], **roles: Any) -> Cases[Frame]:
        """Rows with these keys as cases, of which nothing more is found by name."""
        return cast(Cases[Frame], keyed(frame, **(self.arguments(keys) | roles)))


def score_columns(words: Sequence[str], present: Collection[str] = ()) -> str | dict[str, str]:
    """The column of the scores, or of several or named ones that of each model.

    Examples
    --------
    >>> score_columns(["p"]), score_columns(["p_tree", "forest=p_forest"])
    ('p', {'p_tree': 'p_tree', 'forest': 'p_forest'})
    """
    columns: dict[str, str] = {}
    for word in words:
        # A name of a column may have the mark, too.
        model, mark, column = (word, "", "") if word in present else word.partition("=")
        if not mark:
            column = word
        elif not (model and column):
            raise InvalidArgument(
                f"--score is {word!r}, allowed are COLUMN and MODEL=COLUMN.",
                hint="for example --score forest=p_forest.",
            )
        if model in columns:
            raise InvalidArgument(
                f"--score gives the model {model!r} twice, needed is one column per model.",
                hint="give it once; --score forest=p_forest names the model.",
            )
        columns[model] = column
    return words[0] if columns == {words[0]: words[0]} else columns


def grid_of(
    over: tuple[float, float], count: int | None, spacing: Literal["linear", "log"] = "linear"
) -> list[float]:
    """`count` priors over the range."""
    return prior_grid(*over, GRID if count is None else count, spacing)["prior"].to_list()


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


def prior_in_words(word: str | None, option: str = "prior") -> Prior:
    """Parse a prior of the command line; left out, it is that of each key."""
    if word is None or word == OBSERVED:
        return "observed"
    try:
        return float(word)
    except ValueError:
        raise InvalidArgument(
            f"--{option} is {word!r}, allowed are 0 < prior < 1 and 'observed'.",
            hint=prior_hint(word),
        ) from None


def limits_of(words: list[str] | None) -> dict[str, float] | None:
    """The constraints of words such as precision=0.8."""
    if not words:
        return None
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
                f"--constraint {word!r} {problem}.",
                hint="for example --constraint specificity=0.9.",
            )
        limits[name] = limit
    return limits
