"""`polaroc report`: one HTML page that says which model, how sure, at which threshold."""

from pathlib import Path
from typing import Annotated

import typer

from polaroc.cli.inputs import NullRows, Positive, Weight, labels
from polaroc.cli.keys import By, Keys, NoBy, keys_of, tell
from polaroc.cli.measured import (
    Alpha,
    Files,
    IncompleteBlocks,
    Ratio,
    Score,
    Truth,
    predictions_or_measures,
    show,
)
from polaroc.cli.outputs import Force, replaced
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import handle_errors, notes_console, progress
from polaroc.files.read import Stamps
from polaroc.reports import TITLE
from polaroc.reports import report as written
from polaroc.reports.inputs import with_one_model


@handle_errors
def report(
    files: Files,
    path: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="The page: a new file, or an earlier report; - prints it."
        ),
    ] = Path("report.html"),
    force: Force = False,
    truth: Truth = None,
    score: Score = None,
    by: By = None,
    no_by: NoBy = False,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Range of priors LO HI; needed for predictions. [default: of measures their "
            "priors, equally likely]",
            show_default=False,
        ),
    ] = None,
    prior: Annotated[
        list[float] | None,
        typer.Option(help="A further prior to take AUPREC at; repeat it.", show_default=False),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(
            help="Key that tells the models apart. [default: model, else the first]",
            show_default=False,
        ),
    ] = None,
    block: Annotated[
        list[str] | None,
        typer.Option(
            help="Key of the folds; repeat it. [default: all others]",
            show_default=False,
        ),
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            help="Column that tells the cases apart: to compare fitted models on one test set, and "
            "to judge thresholds on cases they were not set on where folds share cases.",
            show_default=False,
        ),
    ] = None,
    test_train_ratio: Ratio = None,
    alpha: Alpha = 0.005,
    level: Annotated[float, typer.Option(help="Coverage of each model's interval.")] = 0.95,
    cost_fn: Annotated[float, typer.Option(help="Cost of a missed positive.")] = 1,
    cost_fp: Annotated[float, typer.Option(help="Cost of a false alarm.")] = 1,
    incomplete: IncompleteBlocks = "raise",
    title: Annotated[str, typer.Option(help="Heading of the page.")] = TITLE,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
) -> None:
    """Write one page: which model, how sure, which threshold.

    Example: polaroc report 'predictions/*.parquet' --truth label --score p --by model --by fold
    --over 0.05 0.20 --test-train-ratio 0.25 --out report.html
    """
    with progress() as say:
        say("reading")
        stamps = Stamps(files)
        key_names = Keys([], [], [])
        if truth is not None:
            key_names = keys_of(files, by, no_by, [truth, score, weight, case])
        roles = [*([between] if between else []), *(block or ())]
        keys = key_names.all if by or no_by else list(dict.fromkeys([*roles, *key_names.all]))
        frame = predictions_or_measures(
            files,
            [*keys, *([case] if case else [])],
            truth=truth,
            score=score,
            weight=weight,
            positive=positive,
        )
        if key_names.blocks and not key_names.models and not between:
            frame, model = with_one_model(frame)
            keys = [model, *keys]
        say("measuring, choosing, drawing")
        notes: list[str] = []

        def keep(sentence: str) -> None:
            notes.append(sentence)
            # The page is not written yet.
            stamps.check()

        with or_stdout(path, "report.html") as file, replaced(file, force) as page:
            written(
                frame, path=page, truth=truth, score=score,
                by=None if truth is None else keys, over=over,
                priors=prior or (), between=between, block=block, case=case, weight=weight,
                positive=None if truth is None else labels(frame, truth, positive), nulls=nulls,
                test_train_ratio=test_train_ratio, alpha=alpha, level=level, cost_fn=cost_fn,
                cost_fp=cost_fp, incomplete=incomplete, title=title, tell=keep,
            )  # fmt: skip
    screen = notes_console(file == path)
    tell(key_names.notes)
    show([f"Note: {sentence}" for sentence in notes], screen)
    if file == path:
        screen.print(f"Written to {file}: open it in a browser.")
