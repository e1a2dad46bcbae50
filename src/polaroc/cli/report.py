"""`polaroc report`: one HTML page that says which model, how sure, at which threshold."""

from pathlib import Path
from typing import Annotated

import typer

from polaroc.cli.keys import By, Keys, NoBy, keys_of
from polaroc.cli.measures_or_predictions import (
    Files,
    IncompleteBlocks,
    Ratio,
    Score,
    Truth,
    columns_of,
    predictions_or_measures,
    refuse_grid,
    tuning_of,
)
from polaroc.cli.options import (
    GRID,
    Grid,
    NullRows,
    Positive,
    ScorePrior,
    Weight,
    prior_in_words,
)
from polaroc.cli.outputs import Force, replaced
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import handle_errors, notes_console, print_notes, progress, show
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.predictions.usual_keys import usual_case
from polaroc.reports.inputs import with_one_model
from polaroc.reports.report import TITLE
from polaroc.reports.report import report as written


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
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    by: By = None,
    no_by: NoBy = False,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Range of priors LO HI, LO LO for a single one; needed for predictions. "
            "[default: of measures their priors, equally likely]",
        ),
    ] = None,
    grid: Grid = None,
    prior: Annotated[
        list[float] | None,
        typer.Option(help="A further prior to take AUPREC at; repeat it."),
    ] = None,
    between: Annotated[
        str | None,
        typer.Option(help="Key that tells the models apart. [default: model, else the first]"),
    ] = None,
    block: Annotated[
        list[str] | None,
        typer.Option(help="Key of the folds; repeat it. [default: all others]"),
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            help="Column that tells the cases apart: to compare fitted models on one test set, and "
            "to judge thresholds on cases they were not set on where folds share cases.",
        ),
    ] = None,
    test_train_ratio: Ratio = None,
    level: Annotated[float, typer.Option(help="Coverage of each model's interval.")] = 0.95,
    recall: Annotated[
        float | None,
        typer.Option(help="Share of positives that the threshold has to find, such as 0.9."),
    ] = None,
    precision: Annotated[
        float | None, typer.Option(help="Share of alarms that have to be right, such as 0.5.")
    ] = None,
    capacity: Annotated[
        float | None, typer.Option(help="Cases of 1,000 that can be looked at, such as 50.")
    ] = None,
    cost_fn: Annotated[float | None, typer.Option(help="Cost of a missed positive.")] = None,
    cost_fp: Annotated[float | None, typer.Option(help="Cost of a false alarm.")] = None,
    tuning: Annotated[
        list[str] | None,
        typer.Option(
            help="Of one test set: predictions of the same models on other cases, on which the "
            "threshold is set, with a promise.",
        ),
    ] = None,
    incomplete: IncompleteBlocks = "raise",
    title: Annotated[str, typer.Option(help="Heading of the page.")] = TITLE,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    score_prior: ScorePrior = None,
) -> None:
    """Write one page: which model, how sure, which threshold.

    Example: polaroc report 'predictions/*.parquet' --truth label --score p --by model --by fold
    --over 0.05 0.20 --test-train-ratio 0.25 --out report.html
    """
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("reading")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        if columns is None:
            refuse_grid(grid)
        key_names = Keys([], [], [])
        if columns is not None:
            key_names = keys_of(source, by, no_by, columns, case)
            print_notes(source.notes(columns))
        roles = [*([between] if between else []), *(block or ())]
        keys = key_names.all if by or no_by else list(dict.fromkeys([*roles, *key_names.all]))
        # A column that may be that of the cases is read to be named.
        others = [name for name in source.schema() if columns and name not in columns.names]
        cases = case or usual_case(name for name in others if name not in keys)
        frame = predictions_or_measures(source, columns, [*keys, *([cases] if cases else [])])
        if key_names.blocks and not key_names.models and not between:
            frame, model = with_one_model(frame)
            keys = [model, *keys]
        tuned = tuning_of(tuning, columns, keys, table, separator, decimal)
        say("measuring, choosing, drawing")
        notes: list[str] = []

        def keep(sentence: str) -> None:
            notes.append(sentence)
            # The page is not written yet.
            source.check_unchanged()

        with or_stdout(path, "report.html") as file, replaced(file, force) as page:
            written(
                frame, path=page, **({} if columns is None else columns.arguments(keys)),
                over=over, priors=prior or (), grid=grid or GRID, between=between, block=block,
                case=case,
                test_train_ratio=test_train_ratio, alpha=1 - level, level=level, recall=recall,
                precision=precision, capacity=capacity, cost_fn=cost_fn, cost_fp=cost_fp,
                tuning=tuned, incomplete=incomplete, title=title, tell=keep,
                score_prior=prior_in_words(score_prior, "score-prior"),
            )  # fmt: skip
    screen = notes_console(file == path)
    print_notes(key_names.notes)
    answer, *others = notes
    show([answer, "", *("Note: " + sentence for sentence in others)], screen)
    if file == path:
        screen.print(f"Written to {file}: open it in a browser.")
