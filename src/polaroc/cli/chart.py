"""`polaroc chart`: one chart of predictions or measures, in one file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polaroc.charts.saving import check_formats, save
from polaroc.cli.drawings import DRAWINGS, ChartInputs, notes_of
from polaroc.cli.keys import Keys, NoBy, keys_of
from polaroc.cli.measures_or_predictions import Files, Ratio, Score, Truth, columns_of
from polaroc.cli.options import GRID, NullRows, Positive, Weight, beginnings, priors_in_words
from polaroc.cli.outputs import Force
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import handle_errors, notes_console, print_notes, progress, show
from polaroc.cli.sources import Decimal, Separator, TableName, opened
from polaroc.comparison.design import Target
from polaroc.errors import InvalidArgument, check_choice
from polaroc.files.atomic import atomic_file, check_new


@handle_errors
def chart(
    name: Annotated[
        str,
        typer.Argument(
            help=f"Which: {', '.join(DRAWINGS)}.",
            autocompletion=beginnings(DRAWINGS),
        ),
    ],
    files: Files,
    file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write; its suffix json, html, svg, png or pdf gives the format; "
            "- prints JSON, in Vega-Lite. [default: NAME.html]",
        ),
    ] = None,
    force: Force = False,
    title: Annotated[str | None, typer.Option(help="Heading of the chart.")] = None,
    truth: Truth = None,
    score: Score = None,
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="Key column, repeated for several: first the models, which give the colours, then "
            "folds. [default: of predictions the columns with usual names of "
            "models and folds, which a note names; of measures all]",
        ),
    ] = None,
    no_by: NoBy = False,
    prior: Annotated[
        list[str] | None,
        typer.Option(help="Prior, or 'observed'; repeat it for several."),
    ] = None,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Range of priors LO HI. [default: 0.01 0.5 where it may be left out]"),
    ] = None,
    grid: Annotated[
        int | None,
        typer.Option(help=f"Number of priors over the range. [default: {GRID}]", min=2),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="What pairs compares. [default: iauprec]"),
    ] = None,
    target: Annotated[
        Target | None,
        typer.Option(help="What pairs are compared for, as in compare."),
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            help="Of predictions on one test set, for pairs with --target trained, winner_map and "
            "regret: column that tells the cases apart. [default: of pairs id; the rows where "
            "each model has a column of scores]",
        ),
    ] = None,
    test_train_ratio: Ratio = None,
    level: Annotated[
        float | None,
        typer.Option(help="Confidence of the intervals and of the tests. [default: 0.95]"),
    ] = None,
    band: Annotated[
        float | None,
        typer.Option(
            help="Of roc and pr, on one test set: with bands that hold the whole true curve with "
            "this probability, such as 0.95.",
        ),
    ] = None,
    brier: Annotated[
        bool,
        typer.Option(
            "--brier",
            help="Of cost_curves: also the cost of acting on scores as if they were probabilities.",
        ),
    ] = False,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
) -> None:
    """Draw one chart.

    Example: polaroc chart winner_map 'predictions/*.parquet' --truth label --score p
    --by model --by fold --over 0.05 0.20 --out best.svg
    """
    check_choice("NAME", name, tuple(DRAWINGS))
    drawing = DRAWINGS[name]
    options: dict[str, Any] = {
        "prior": priors_in_words(prior) or None, "over": over, "grid": grid,
        "measure": measure, "target": target, "case": case, "test_train_ratio": test_train_ratio,
        "level": level, "band": band, "brier": brier or None,
    }  # fmt: skip
    given: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if unused := [key for key in given if key not in drawing.options]:
        names, taken = (
            ", ".join(f"--{option.replace('_', '-')}" for option in options)
            for options in (unused, drawing.options)
        )
        raise InvalidArgument(
            f"{names} does not change the chart {name!r}; it takes {taken or 'none'}.",
            hint="leave it out.",
        )
    destination = file or Path(f"{name}.html")
    with or_stdout(destination, f"{name}.json") as where:
        check_formats([where.suffix[1:].lower()])
        check_new(where, force)
        with progress() as say, opened(files, table, separator, decimal) as source:
            say("measuring")
            columns = columns_of(source, truth, score, weight, positive, nulls)
            keys = Keys(by or [], [], [])
            if columns is not None:
                keys = keys_of(source, by, no_by, columns, case)
            elif case is not None:
                raise InvalidArgument(
                    "--case is for predictions, and the files hold measures.",
                    hint="leave it out, or give --truth and --score.",
                )
            wanted = ChartInputs(source, columns, keys.all, **given)
            drawn_from = drawing.table(wanted)
            say("drawing")
            drawn = drawing.draw(drawn_from, **({} if title is None else {"title": title}))
            notes = [*wanted.dropped(), *notes_of(drawn_from)]
            source.check_unchanged()
            with atomic_file(where, force) as staging:
                save(drawn, staging)
    print_notes(keys.notes)
    # Notes that a chart does not show.
    to_file = where == destination
    # Those of a table's own column begin with the word.
    notes = [line if line.startswith("Note ") else "Note: " + line for line in notes]
    show(notes, notes_console(to_file))
    if to_file:
        notes_console(True).print(f"Written to {where}.")
