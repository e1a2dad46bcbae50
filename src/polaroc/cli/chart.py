"""`polaroc chart`: one chart of predictions or measures, in one file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from polaroc.charts.saving import check_formats, save
from polaroc.cli.commands import Call, command
from polaroc.cli.drawings import DRAWINGS, ChartInputs, notes_of
from polaroc.cli.evaluate import GRID
from polaroc.cli.outputs import Force, out_option
from polaroc.cli.parameters import beginnings, is_given, option_name, prior_of
from polaroc.cli.pipes import or_stdout
from polaroc.cli.screen import notes_console, progress, show
from polaroc.comparison.choose import choose
from polaroc.comparison.compare import compare
from polaroc.curves.curve import curve
from polaroc.errors import InvalidArgument, check_choice
from polaroc.files.atomic import atomic_file, check_new
from polaroc.predictions.roles import ROLES


# A chart shows what is found with certainty, not what would be promised.
@command(compare, choose, roles=[curve, compare, choose], left_out=["prior"])
def chart(
    call: Call,
    name: Annotated[
        str,
        typer.Argument(
            help=f"Which: {', '.join(DRAWINGS)}.",
            autocompletion=beginnings(DRAWINGS),
        ),
    ],
    file: Annotated[
        Path | None,
        out_option(
            "File to write; its suffix json, html, svg, png or pdf gives the format; "
            "- prints JSON, in Vega-Lite. [default: NAME.html]"
        ),
    ] = None,
    force: Force = False,
    title: Annotated[str | None, typer.Option(help="Heading of the chart.", metavar="TEXT")] = None,
    priors: Annotated[
        list[str] | None,
        typer.Option(
            "--prior", help="Prior, or 'observed'; repeat it for several.", metavar="PRIOR"
        ),
    ] = None,
    grid: Annotated[
        int | None,
        typer.Option(
            help=f"Number of priors over the range. [default: {GRID}]", min=2, metavar="N"
        ),
    ] = None,
    band: Annotated[
        float | None,
        typer.Option(
            help="Of roc, pr and decision_curves, on one test set: with bands that hold the whole "
            "true curve with this probability, such as 0.95.",
            metavar="SHARE",
        ),
    ] = None,
    brier: Annotated[
        bool,
        typer.Option(
            "--brier",
            help="Of cost_curves: also the cost of acting on scores as if they were probabilities.",
        ),
    ] = False,
) -> None:
    """Draw one chart.

    Example: polaroc chart winner_map 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out best.svg
    """
    check_choice("NAME", name, tuple(DRAWINGS))
    drawing = DRAWINGS[name]
    own: dict[str, Any] = {"priors": priors, "grid": grid, "band": band, "brier": brier}
    own = {key: value for key, value in own.items() if is_given(value)}
    if unused := [key for key in (*own, *call.given) if key not in drawing.options]:
        taken = ", ".join(option_name(one) for one in drawing.options if one not in ROLES)
        raise InvalidArgument(
            f"{', '.join(map(option_name, unused))} does not change the chart {name!r}; it takes "
            f"{taken or 'none'}.",
            hint="leave it out.",
        )
    if band is None and "band" in drawing.options and "cluster" in call.given:
        raise InvalidArgument(
            f"--cluster does not change the chart {name!r} without --band.", hint="leave it out."
        )
    if priors:
        own["priors"] = [prior_of("--prior", word) for word in priors]
    destination = file or Path(f"{name}.html")
    with or_stdout(destination, f"{name}.json") as where:
        check_formats([where.suffix[1:].lower()])
        check_new(where, force)
        wanted = ChartInputs(call, **own)
        _ = call.cases
        with progress() as say:
            say("measuring")
            drawn_from = drawing.table(wanted)
            say("drawing")
            drawn = drawing.draw(drawn_from, **({} if title is None else {"title": title}))
            notes = [*wanted.dropped(), *notes_of(drawn_from)]
            call.check_unchanged()
            with atomic_file(where, force) as staging:
                save(drawn, staging)
    # Notes that a chart does not show.
    to_file = where == destination
    # Those of a table's own column begin with the word.
    notes = [line if line.startswith("Note ") else "Note: " + line for line in notes]
    show(notes, notes_console(to_file))
    if to_file:
        notes_console(True).print(f"Written to {where}.")
