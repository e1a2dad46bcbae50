"""Measures for the commands that compare: read from files, or evaluated from predictions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer
from rich.console import Console

from polaroc.base.columns import RESERVED
from polaroc.base.text import escape_control
from polaroc.cli.inputs import labels
from polaroc.cli.keys import tell
from polaroc.cli.screen import QUIET, out, with_options
from polaroc.comparison.design import Incomplete
from polaroc.errors import InvalidArgument, quoted
from polaroc.evaluation.pipeline import run_all
from polaroc.evaluation.request import Request
from polaroc.files.read import scan

Files = Annotated[
    list[str],
    typer.Argument(
        help="Measures as `polaroc evaluate --out` writes them, or predictions with --truth and "
        "--score; patterns and folders too; - reads one of them from the standard input.",
        show_default=False,
    ),
]
Truth = Annotated[
    str | None, typer.Option(help="Column of the labels, of predictions.", show_default=False)
]
Score = Annotated[
    str | None, typer.Option(help="Column of the scores, of predictions.", show_default=False)
]
Between = Annotated[
    str | None,
    typer.Option(
        help="Column that tells the models apart. [default: model, or the one with another usual "
        "name of models]",
        show_default=False,
    ),
]
Block = Annotated[
    list[str] | None,
    typer.Option(
        help="Column of the folds; repeat it for several. [default: fold, and "
        "others with a usual name of folds; of measures all other keys]",
        show_default=False,
    ),
]
Ratio = Annotated[
    float | None,
    typer.Option(
        "--test-train-ratio",
        help="Test over training cases of a fold: 0.25 for 80/20, 1/(k-1) for k folds.",
        show_default=False,
    ),
]
IncompleteBlocks = Annotated[
    Incomplete, typer.Option(help="What to do with folds that not every model has.")
]
Alpha = Annotated[float, typer.Option(help="Accepted chance of a false difference.")]


def measures_of(
    files: list[str],
    predictions: dict[str, Any],
    keys: Sequence[str],
    **options: Any,
) -> pl.LazyFrame:
    """The measures, evaluated here of predictions; without truth the files hold measures."""
    truth = predictions["truth"]
    frame = predictions_or_measures(
        files, keys, truth=truth, score=predictions["score"], weight=predictions["weight"],
        positive=predictions["positive"],
    )  # fmt: skip
    if truth is None:
        if options.get("over") is not None:
            raise InvalidArgument(
                "--over is for predictions, and the files hold measures.", hint="leave it out."
            )
        return frame
    positive = labels(frame, truth, predictions["positive"])
    request = Request(**predictions | options | {"by": keys, "positive": positive})
    result = run_all([frame], request)
    tell(result.notes)
    return result.measures


def predictions_or_measures(
    files: list[str],
    keys: Sequence[str],
    *,
    truth: str | None,
    score: str | None,
    **of_predictions: Any,
) -> pl.LazyFrame:
    """What the files hold: predictions where truth and score are given, else measures."""
    frame = scan(files, keys)
    if (truth is None) != (score is None):
        raise InvalidArgument(
            "only one of --truth and --score is given, needed are both or none.",
            hint="give both for predictions, none for measures.",
        )
    if truth is not None:
        return frame
    _refuse_what_is_for_predictions(frame, of_predictions)
    return scan(files, [name for name in frame.collect_schema() if name not in RESERVED])


def _refuse_what_is_for_predictions(frame: pl.LazyFrame, predictions: dict[str, Any]) -> None:
    present = frame.collect_schema().names()
    if not {"measure", "estimate"} <= set(present):
        raise InvalidArgument(
            f"the files hold no measures; they have {quoted(present)}.",
            hint="give --truth and --score for predictions, or the measures.parquet that "
            "`polaroc evaluate --out` writes.",
        )
    given = [f"--{name}" for name in ("weight", "positive") if predictions[name]]
    if given:
        raise InvalidArgument(
            f"{', '.join(given)} is for predictions, and the files hold measures.",
            hint="leave it out, or give --truth and --score.",
        )


def show_results(parts: Sequence[Any], folder: Path | None = None) -> None:
    """Print the parts of a result; with --quiet no notes, and nothing that was written."""
    if folder is not None:
        parts = [*parts, f"Written to {folder}."]
    if not QUIET.get():
        show(parts)
    elif folder is None:
        show([part for part in parts if not str(part).startswith("Note: ")])


def show(parts: Sequence[Any], on: Console | None = None) -> None:
    """Print sentences and tables, by default where results go."""
    console = on or out()
    for part in parts:
        console.print(escape_control(with_options(part)) if isinstance(part, str) else part)
