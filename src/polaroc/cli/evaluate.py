"""`polaroc evaluate`: files of predictions in, measures and charts out."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from polaroc import charts
from polaroc.base.text import escape_control
from polaroc.cli.engines import TableSource
from polaroc.cli.keys import By, NoBy, keys_of
from polaroc.cli.measures_table import commonest_notes, measures_table
from polaroc.cli.options import (
    BetweenPoints,
    Columns,
    Files,
    NullRows,
    Over,
    Positive,
    PriorWords,
    Score,
    ScorePrior,
    Truth,
    Weight,
    beginnings,
    grid_of,
    negatives,
    prior_in_words,
    priors_in_words,
)
from polaroc.cli.outputs import Force, Output, write_measures
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import (
    QUIET,
    handle_errors,
    notes_console,
    out,
    print_json,
    print_notes,
    progress,
)
from polaroc.cli.sources import Decimal, FileSource, Separator, TableName, columns_of, opened
from polaroc.curves.surface import surface
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.evaluation.pipeline import Result, run_all
from polaroc.evaluation.request import Request
from polaroc.files.memory import resolve_memory
from polaroc.measures.catalog import CATALOG, DEFAULT_PRIORS
from polaroc.predictions.balance import balance_note
from polaroc.priors.grids import resolve_priors
from polaroc.typing import Prior
from polaroc.warehouse.score_ranges import Ranges


@handle_errors
def evaluate(
    files: Files,
    truth: Truth,
    score: Score,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder for measures and charts: new, empty, or an earlier output; or a file for "
            "measures that ends as a table, such as .csv.",
        ),
    ] = None,
    force: Force = False,
    by: By = None,
    no_by: NoBy = False,
    weight: Weight = None,
    positive: Positive = None,
    nulls: NullRows = "raise",
    prior: PriorWords = None,
    over: Over = None,
    grid: Annotated[
        int | None,
        typer.Option(
            help="Also take AUPREC at so many priors over the range, both ends included: 16 do for "
            "choose and report.",
            min=2,
        ),
    ] = None,
    interpolation: BetweenPoints = "exact",
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure, such as brier or log_loss; repeat it for several. [default: areas and "
            "balanced points]",
            autocompletion=beginnings(tuple(CATALOG)),
        ),
    ] = None,
    score_prior: ScorePrior = None,
    no_charts: Annotated[bool, typer.Option("--no-charts", help="Write measures only.")] = False,
    memory: Annotated[
        str, typer.Option(help="Memory to use, such as 4GB; 'auto' is 60 % of what is free.")
    ] = "auto",
    scratch: Annotated[
        Path | None,
        typer.Option(help="Folder for rows that do not fit in memory; by default the system's."),
    ] = None,
    table: TableName = None,
    separator: Separator = None,
    decimal: Decimal = ".",
    ranges: Annotated[
        str | None,
        typer.Option(
            help="At an address: ranges of the score that each key is cut into, where keys are too "
            "large for one worker; 'auto' is one for each million rows of the largest.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure every key of a table, at the priors you expect.

    Example: polaroc evaluate 'predictions/*.parquet' --truth label --score p
    --by model --by fold --over 0.05 0.20 --out results

    In a pipe: cat p.csv | polaroc evaluate - --truth label --score p --json | jq '.[].estimate'

    At an address the measures are taken where the table is, and there are no charts.
    """
    output = None if folder is None else Output(folder, force)
    priors = priors_in_words(prior) or list(DEFAULT_PRIORS)
    between = _grid(grid, over)
    with opened(files, table, separator, decimal) as source:
        columns = columns_of(source, truth, score, weight, positive, nulls)
        keys = keys_of(source, by, no_by, columns)
        options: dict[str, Any] = {
            "priors": list(dict.fromkeys([*priors, *between])), "over": over,
            "interpolation": interpolation, "measures": measure,
            "score_prior": prior_in_words(score_prior, "score-prior"),
        }  # fmt: skip
        if isinstance(source, TableSource):
            options["ranges"] = _ranges(ranges)
            _evaluate_there(source, columns, keys.all, output, priors, options, as_json)
        else:
            if ranges is not None:
                raise InvalidArgument(
                    f"--ranges is {ranges}, which is for a table at an address.",
                    hint="for files give --memory: ranges are then made where they are needed.",
                )
            # Files are smaller than the rows that are ranked: about 8 bytes become 40.
            frames = source.batches(columns.arguments(keys.all)["by"], resolve_memory(memory) // 10)
            evaluate_frames(
                frames, columns, keys.all, options | {"memory": memory, "scratch": scratch},
                output, priors, charts_wanted=not no_charts, source=source, as_json=as_json,
            )  # fmt: skip
    print_notes(keys.notes)


def _evaluate_there(
    source: TableSource,
    columns: Columns,
    keys: Sequence[str],
    output: Output | None,
    shown: Sequence[Prior],
    options: dict[str, Any],
    as_json: bool,
) -> None:
    """Measure a table of an engine, print, and write where a folder is given."""
    if output is not None:
        output.check()
    with progress() as say:
        say("measuring there")
        lazy, warnings = source.measures(columns, keys, **options)
    measures = lazy.collect()
    if output is not None:
        with output.staging() as staging:
            write_measures(measures, staging)
    _show(measures, keys, shown, output, warnings, as_json, options["measures"])


def evaluate_frames(
    frames: Sequence[pl.LazyFrame],
    columns: Columns,
    keys: Sequence[str],
    options: dict[str, Any],
    output: Output | None,
    shown: Sequence[Prior],
    *,
    charts_wanted: bool = True,
    source: FileSource | None = None,
    as_json: bool = False,
) -> pl.DataFrame:
    """Measure, print, and write where a folder is given; returns the measures."""
    if output is not None:
        output.check()
    drawn = charts_wanted and output is not None and not output.is_table
    with progress() as say:
        request = Request(
            **options,
            progress=lambda done, rows: say(f"measuring, {done / rows:.0%} of {rows:,} rows"),
            **(_for_charts(options["priors"], options["over"]) if drawn else {}),
        )  # fmt: skip
        say("auditing and measuring")
        result = run_all([columns.cases(frame, keys) for frame in frames], request)
        warnings = negatives(pl.concat(frames), columns.truth, columns.positive)
        measures = result.measures.collect()
        if measures.is_empty():
            raise InvalidPredictions("the files hold no rows.", hint="check the files.")
        if source is not None:
            source.check_unchanged()
        if output is not None:
            with output.staging() as staging:
                write_measures(measures, staging)
                for name, chart in _charts(result, measures, shown).items():
                    say(f"drawing {name}")
                    warnings += _draw(name, chart, staging)
    _show(
        measures, keys, shown, output, warnings, as_json, options.get("measures"),
    )  # fmt: skip
    return measures


def _grid(count: int | None, over: tuple[float, float] | None) -> list[float]:
    """`count` priors over the range."""
    if count is None:
        return []
    if over is None:
        raise InvalidArgument(
            f"--grid is {count}, and there is no range of priors.", hint="give --over 0.05 0.20."
        )
    return grid_of(over, count)


def _ranges(word: str | None) -> Ranges:
    """A number of ranges, or 'auto'; anything else is refused where ranges are made."""
    return int(word) if word is not None and word.isdigit() else word  # type: ignore[return-value]


def _show(
    measures: pl.DataFrame,
    keys: Sequence[str],
    priors: Sequence[Prior],
    output: Output | None,
    warnings: Sequence[str],
    as_json: bool,
    named: Sequence[str] | None = None,
) -> None:
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
    return {
        "roc": lambda: charts.roc(curves),
        # Prior by prior, the points of a line are in order already.
        "pr": lambda: charts.pr(pl.concat([surface(curves, prior) for prior in priors])),
        "auprec_by_prior": lambda: charts.auprec_by_prior(
            pl.concat([measures, extra], how="diagonal")
        ),
    }


def _draw(name: str, chart: Callable[[], Any], folder: Path) -> list[str]:
    """Write a chart; returns a warning where it has too many lines to be drawn."""
    try:
        charts.export(chart(), folder, name)
    except InvalidArgument as error:
        return [f"Chart {name} left out: {error.found}"]
    return []
