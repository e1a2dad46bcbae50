"""`polaroc report`: one HTML page that says which model, how sure, at which threshold."""

from pathlib import Path
from typing import Annotated, Any

import typer

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
from polaroc.predictions.usual_keys import column_names_of, found_by_name
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
    model: Annotated[
        str | None,
        typer.Option(help="Column that tells the models apart. [default: by its usual name]"),
    ] = None,
    fold: Annotated[
        list[str] | None,
        typer.Option(help="Column of the folds; repeat it. [default: by their usual names]"),
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            help="Column that tells the cases apart: to compare fitted models on one test set, and "
            "to judge thresholds on cases they were not set on where folds share cases. [default: "
            "by its usual name]",
        ),
    ] = None,
    test_train_ratio: Ratio = None,
    level: Annotated[
        float, typer.Option(help="Coverage of intervals; tests are made at 1 - level.")
    ] = 0.95,
    confidence: Annotated[float, typer.Option(help="Confidence of promises.")] = 0.95,
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

    Example: polaroc report 'predictions/*.parquet' --truth label --score p --over 0.05 0.20
    --test-train-ratio 0.25 --out report.html
    """
    with progress() as say, opened(files, table, separator, decimal) as source:
        say("reading")
        columns = columns_of(source, truth, score, weight, positive, nulls)
        if columns is None:
            refuse_grid(grid)
        given = {"model": model, "fold": fold, "case": case, "test_train_ratio": test_train_ratio}
        roles: dict[str, Any] = {
            role: value for role, value in given.items() if value not in (None, [])
        }
        keys = [name for name in (model, *(fold or ()), case) if name]
        if columns is not None:
            print_notes(source.notes(columns))
            own = columns.arguments(())
            roles |= {role: value for role, value in own.items() if role != "by"}
            schema, taken = source.schema(), (*columns.names, *keys)
            found = found_by_name({name: schema[name] for name in schema if name not in taken})
            keys += column_names_of([found.get("model"), *found.get("fold", ()), found.get("case")])
        if score_prior is not None:
            roles["score_prior"] = prior_in_words(score_prior, "score-prior")
        frame = predictions_or_measures(source, columns, keys)
        tuned = tuning_of(tuning, columns, keys, table, separator, decimal)
        say("measuring, choosing, drawing")
        notes: list[str] = []

        def keep(sentence: str) -> None:
            notes.append(sentence)
            # The page is not written yet.
            source.check_unchanged()

        with or_stdout(path, "report.html") as file, replaced(file, force) as page:
            written(
                frame, path=page, **roles, over=over, priors=prior or (), grid=grid or GRID,
                level=level, confidence=confidence, recall=recall, precision=precision,
                capacity=capacity, cost_fn=cost_fn, cost_fp=cost_fp, tuning=tuned,
                incomplete=incomplete, title=title, tell=keep,
            )  # fmt: skip
    screen = notes_console(file == path)
    answer, *others = notes
    show([answer, "", *("Note: " + sentence for sentence in others)], screen)
    if file == path:
        screen.print(f"Written to {file}: open it in a browser.")
