"""`polaroc evaluate`: files of predictions in, measures and charts out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from polaroc import charts
from polaroc.base.text import escape_control
from polaroc.charts.lines import refuse_many
from polaroc.charts.saving import save
from polaroc.cli.commands import Call, command
from polaroc.cli.engines import TableSource
from polaroc.cli.measures_table import commonest_notes, measures_table
from polaroc.cli.outputs import Force, Output, out_option, write_measures
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import QUIET, notes_console, out, print_json, progress
from polaroc.curves.surface import surface
from polaroc.errors import InvalidArgument
from polaroc.evaluation.evaluate import evaluate as function
from polaroc.evaluation.pipeline import Result, run
from polaroc.evaluation.request import Request
from polaroc.predictions.audit import balance_note
from polaroc.priors.grids import prior_grid, resolve_priors
from polaroc.typing import Prior

GRID = 25


@command(function, left_out=["progress"])
def evaluate(
    call: Call,
    folder: Annotated[
        Path | None,
        out_option(
            "Folder for measures and charts: new, empty, or an earlier output; or a file for "
            "measures that ends as a table, such as .csv."
        ),
    ] = None,
    force: Force = False,
    grid: Annotated[
        int | None,
        typer.Option(
            help="Also take AUPREC at so many priors over the range, both ends included: 16 do for "
            "choose and report.",
            metavar="N",
        ),
    ] = None,
    no_charts: Annotated[bool, typer.Option("--no-charts", help="Write measures only.")] = False,
    ranges: Annotated[
        str | None,
        typer.Option(
            help="At an address: ranges of the score that each key is cut into, where keys are too "
            "large for one worker; 'auto' is one for each million rows of the largest.",
            metavar="N",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure every key of a table, at the priors you expect.

    Example: polaroc evaluate 'predictions/*.parquet' --truth label --score p
    --over 0.05 0.20 --out results

    In a pipe: cat p.csv | polaroc evaluate - --truth label --score p --json | jq '.[].estimate'

    At an address the measures are taken where the table is, and there are no charts.
    """
    output = Output.checked(folder, force)
    priors, over = list(call.value("priors")), call.value("over")
    if grid is not None:
        if over is None:
            raise InvalidArgument(
                f"--grid is {grid}, and there is no range of priors.",
                hint="give --over 0.05 0.20.",
            )
        call.options["priors"] = [*dict.fromkeys([*priors, *grid_of(over, grid)])]
    cases = call.cases
    drawn = output is not None and not (output.is_table or no_charts)
    with progress() as say:
        say("measuring")
        if isinstance(call.source, TableSource):
            options = call.options | {"ranges": _ranges(ranges)}
            result = Result(call.source.measures(cases, **options).lazy(), None, None)
        else:
            if ranges is not None:
                raise InvalidArgument(
                    f"--ranges is {ranges}, which is for a table at an address.",
                    hint="for files give --memory: ranges are then made where they are needed.",
                )
            result = measured(
                cases, call.options, priors if drawn else None,
                progress=lambda done, rows: say(f"measuring, {done / rows:.0%} of {rows:,} rows"),
            )  # fmt: skip
        measures = result.measures.collect()
        call.refuse_unranked(measures)
        call.check_unchanged()
        warnings = [] if output is None else _written(output, result, measures, priors, say)
    show(measures, priors, output, warnings, as_json, call.options.get("measures"))


def measured(
    cases: Any, options: dict[str, Any], drawn_at: Sequence[Prior] | None = None, **more: Any
) -> Result:
    """The measures, and what charts at some priors need beside them in the same pass."""
    if drawn_at is None:
        return Result(function(cases, **options, **more).lazy(), None, None)
    score_prior = {"score_prior": cases.score_prior}
    beside = _for_charts(drawn_at, options.get("over"))
    return run(cases, Request(**(options | more | score_prior | beside)))


def grid_of(over: tuple[float, float], count: int | None, spacing: Any = "linear") -> list[float]:
    """`count` priors over the range."""
    return prior_grid(*over, GRID if count is None else count, spacing)["prior"].to_list()


def _ranges(word: str | None) -> Any:
    """A number of ranges, or 'auto'; anything else is refused where ranges are made."""
    return int(word) if word is not None and word.isdecimal() else word


def _written(
    output: Output,
    result: Result,
    measures: pl.DataFrame,
    priors: Sequence[Prior],
    say: Callable[[str], None],
) -> list[str]:
    """Write measures and charts; returns warnings on charts that were left out."""
    warnings = []
    with output.staging() as staging:
        write_measures(measures, staging)
        for name, chart in _charts(result, measures, priors).items():
            say(f"drawing {name}")
            warnings += _draw(name, chart, staging)
    return warnings


def show(
    measures: pl.DataFrame,
    priors: Sequence[Prior],
    output: Output | None,
    warnings: Sequence[str],
    as_json: bool,
    named: Sequence[str] | None = None,
) -> None:
    """Print measures, with notes on them."""
    keys = measures.columns[: measures.columns.index("measure")]
    written = [] if output is None else [f"Written to {output.path}."]
    totals = measures.unique([*keys, "positives", "negatives"], maintain_order=True)
    uneven = totals.with_columns(balance_note(keys).alias("note"))
    lines = [*commonest_notes(measures), *commonest_notes(uneven, "key"), *warnings, *written]
    if as_json:
        print_json(measures, lines)
        return
    if output is None or not QUIET.get():
        out().print(measures_table(measures, keys, priors, named))
    for line in lines:
        notes_console(True).print(escape_control(line))


def _for_charts(priors: Sequence[Prior], over: tuple[float, float] | None) -> dict[str, Any]:
    """The further results that charts need: AUPREC on a grid that spans the priors, and curves."""
    numbers = [prior for prior in resolve_priors(list(priors)) if prior is not None]
    numbers += over or ()
    lo, hi = min([*numbers, 0.01]), max([*numbers, 0.5])
    return {"extra_priors": grid_of((lo, hi), None, "log"), "curve_priors": priors}


def _charts(
    result: Result, measures: pl.DataFrame, priors: Sequence[Prior]
) -> dict[str, Callable[[], Any]]:
    if result.curves is None or result.extra is None:
        return {}
    curves, extra = pl.collect_all([result.curves, result.extra])

    def precisions() -> pl.DataFrame:
        refuse_many(curves, panels=len(priors))
        # Prior by prior, the points of a line are in order already.
        return pl.concat([surface(curves, prior) for prior in priors])

    return {
        "roc": lambda: charts.roc(curves),
        "pr": lambda: charts.pr(precisions()),
        "auprec_by_prior": lambda: charts.auprec_by_prior(
            pl.concat([measures, extra], how="diagonal")
        ),
    }


def _draw(name: str, chart: Callable[[], Any], folder: Path) -> list[str]:
    """Write a chart; returns a warning where it has too many lines to be drawn."""
    try:
        made = chart()
    except InvalidArgument as error:
        return [f"Chart {name} left out: {error.found}"]
    for kind in ("json", "html", "svg", "png"):
        save(made, folder / f"{name}.{kind}")
    return []
