"""`polaroc evaluate`: files of predictions in, measures and charts out."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import polars as pl
import typer

from polaroc import charts
from polaroc.base.columns import PRIVATE, within
from polaroc.base.private_columns import KEY_INDEX, SORT_CODE
from polaroc.base.text import escape_control, escape_spreadsheet
from polaroc.cli.engines import measured_there, one_address
from polaroc.cli.inputs import (
    BetweenPoints,
    Files,
    NullRows,
    Over,
    Positive,
    PriorWords,
    Score,
    Truth,
    Weight,
    labels,
    negatives,
    priors_in_words,
)
from polaroc.cli.keys import By, NoBy, keys_of, tell
from polaroc.cli.overview import doubts, summary
from polaroc.cli.pipes import AsJson, print_json
from polaroc.cli.screen import handle_errors, out, progress, stderr_console
from polaroc.curves.surface import surface
from polaroc.errors import InvalidArgument, InvalidPredictions
from polaroc.evaluation.sums import CurveSums
from polaroc.files.atomic import atomic_folder, check_replaceable
from polaroc.files.fingerprints import Stamps
from polaroc.files.memory import resolve_memory
from polaroc.files.read import batches
from polaroc.measures.catalog import DEFAULT_PRIORS, SelectedMeasures, select_measures
from polaroc.measures.spec import tidy
from polaroc.predictions.audit import notes_on_labels
from polaroc.predictions.balance import balance_note
from polaroc.predictions.table import read
from polaroc.priors.grids import check_range, prior_grid, resolve_priors
from polaroc.typing import Interpolation, Prior
from polaroc.warehouse.ranges import Ranges

CHART_PRIORS = 25


class MemoryBudget(NamedTuple):
    """How much memory may be used, and where rows go that do not fit."""

    memory: str = "auto"
    scratch: Path | None = None


AUTOMATIC = MemoryBudget()


@handle_errors
def evaluate(
    files: Files,
    truth: Truth,
    score: Score,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Folder for measures and charts: new, empty, or an earlier output."
        ),
    ] = None,
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
            show_default=False,
        ),
    ] = None,
    interpolation: BetweenPoints = "exact",
    no_charts: Annotated[bool, typer.Option("--no-charts", help="Write measures only.")] = False,
    memory: Annotated[
        str, typer.Option(help="Memory to use, such as 4GB; 'auto' is 60 % of what is free.")
    ] = "auto",
    scratch: Annotated[
        Path | None,
        typer.Option(
            help="Folder for rows that do not fit in memory; by default the system's.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--table",
            help="Table, schema.table or catalog.schema.table, where the predictions are not in "
            "files but at an address: duckdb://FILE, postgres://USER:PASSWORD@HOST:PORT/DATABASE, "
            "sc://HOST:PORT for Spark Connect (there also a path of Parquet, with a / in it).",
            show_default=False,
        ),
    ] = None,
    ranges: Annotated[
        str | None,
        typer.Option(
            help="At an address: ranges of the score that each key is cut into, where keys are too "
            "large for one worker; 'auto' is one for each million rows of the largest.",
            show_default=False,
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
    priors = priors_in_words(prior) or list(DEFAULT_PRIORS)
    between = _grid(grid, over)
    address = one_address(files)
    if address is not None:
        there = {
            "truth": truth, "score": score, "by": by, "weight": weight,
            "positive": positive, "nulls": nulls, "ranges": _ranges(ranges),
        }  # fmt: skip
        everywhere = list(dict.fromkeys([*priors, *between]))
        measures, keys = measured_there(
            address, name, there, everywhere, over, interpolation, folder, no_by
        )
        _show(measures, keys.all, resolve_priors(priors), _written(folder), as_json)
        tell(keys.notes)
        return
    if ranges is not None:
        raise InvalidArgument(
            f"--ranges is {ranges}, which is for a table at an address.",
            hint="for files give --memory: ranges are then made where they are needed.",
        )
    stamps = Stamps(files)
    # Files are smaller than the rows that are ranked: about 8 bytes become 40.
    keys = keys_of(files, by, no_by, [truth, score, weight])
    frames = batches(files, keys.all, resolve_memory(memory) // 10)
    frame = frames[0] if len(frames) == 1 else pl.concat(frames)
    asked = {
        "truth": truth, "score": score, "by": keys.all, "weight": weight,
        "positive": labels(frame, truth, positive), "nulls": nulls,
    }  # fmt: skip
    room = MemoryBudget(memory, scratch)
    run(
        frames, asked, priors, over, interpolation, folder, not no_charts, room, stamps, as_json,
        between,
    )  # fmt: skip
    tell(keys.notes)


def run(
    frames: Sequence[pl.LazyFrame],
    asked: dict[str, Any],
    priors: Sequence[Prior],
    over: tuple[float, float] | None,
    interpolation: Interpolation,
    folder: Path | None,
    with_charts: bool = True,
    room: MemoryBudget = AUTOMATIC,
    stamps: Stamps | None = None,
    as_json: bool = False,
    between: Sequence[float] = (),
) -> pl.DataFrame:
    """Measure, print, and write where a folder is given; returns the measures.

    Frames are taken one after the other: they share no key. AUPREC at the priors `between`
    is written, not printed.
    """
    if over is not None:
        check_range(*over)
    printed = resolve_priors(list(priors))
    asked_priors = resolve_priors([*priors, *between])
    if folder is not None:
        check_replaceable(folder)
    drawn = with_charts and folder is not None
    said: list[str] = []
    with progress() as say:
        say("auditing the rows")
        audited = [read(frame, **asked, audited=True) for frame in frames]
        keys = audited[0].keys
        said += [line for table in audited for line in notes_on_labels(table)]
        said += negatives(pl.concat(frames), asked["truth"], asked.get("positive"))
        say("measuring")
        grid = _chart_priors(asked_priors, over) if drawn else []
        wanted = select_measures(None, [*priors, *between, *grid], over, interpolation)
        seen_at = asked_priors if drawn else None
        found = [_found(frame, asked, wanted, seen_at, room, say) for frame in frames]
        everything, curves = (_together(tables, keys) for tables in zip(*found, strict=True))
        if everything.is_empty():
            raise InvalidPredictions("the files hold no rows.", hint="check the files.")
        if stamps is not None:
            stamps.check()
        measures = _first_priors(everything, keys, len(asked_priors))
        if folder is not None:
            with atomic_folder(folder) as staging:
                measures.write_parquet(staging / "measures.parquet")
                escape_spreadsheet(measures).write_csv(staging / "measures.csv")
                if drawn:
                    for name, chart in _charts(curves.lazy(), priors, everything).items():
                        say(f"drawing {name}")
                        said += _draw(name, chart, staging)
            said += _written(folder)
    _show(measures, keys, printed, said, as_json)
    return measures


def _grid(count: int | None, over: tuple[float, float] | None) -> list[float]:
    """So many priors over the range."""
    if count is None:
        return []
    if over is None:
        raise InvalidArgument(
            f"--grid is {count}, and there is no range of priors.", hint="give --over 0.05 0.20."
        )
    return prior_grid(*over, count)["prior"].to_list()


def _ranges(word: str | None) -> Ranges:
    """A number of ranges, or 'auto'; anything else is refused where ranges are made."""
    return int(word) if word is not None and word.isdigit() else word  # type: ignore[return-value]


def _written(folder: Path | None) -> list[str]:
    return [] if folder is None else [f"Written to {folder}."]


def _show(
    measures: pl.DataFrame,
    keys: Sequence[str],
    priors: Sequence[float | None],
    said: Sequence[str],
    as_json: bool,
) -> None:
    if as_json:
        print_json(measures)
    else:
        out().print(summary(_first_priors(measures, keys, len(priors)), keys, priors))
    # A result for another program has the standard output for itself.
    console = stderr_console() if as_json else out()
    totals = measures.unique([*keys, "positives", "negatives"], maintain_order=True)
    uneven = totals.with_columns(balance_note(keys).alias("note"))
    for line in [*doubts(measures), *doubts(uneven, "key"), *said]:
        console.print(escape_control(line))


def _found(
    frame: pl.LazyFrame,
    asked: dict[str, Any],
    wanted: SelectedMeasures,
    seen_at: Sequence[float | None] | None,
    room: MemoryBudget,
    say: Callable[[str], None],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The measures and, where they will be seen, the outlines of the curves."""
    # `Stamps` tells whether a file has changed between two readings.
    predictions = replace(read(frame, **asked), repeatable=True)
    summed = CurveSums(predictions, *wanted.parted, seen_at=seen_at)
    found = summed.out_of_core(room.memory, room.scratch, lambda *done: say(_share(*done)))
    tables = [tidy(found.wide, predictions.keys, wanted.measures)]
    if found.curves is not None:
        tables.append(found.curves.drop(KEY_INDEX, SORT_CODE))
    collected = pl.collect_all(tables)
    return collected[0], collected[-1]


def _together(tables: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    if len(tables) == 1 or not keys:
        return tables[0]
    return pl.concat(tables).sort(keys, nulls_last=True, maintain_order=True)


def _share(done: int, rows: int) -> str:
    return f"measuring, {done / rows:.0%} of {rows:,} rows"


def _first_priors(measures: pl.DataFrame, keys: Sequence[str], count: int) -> pl.DataFrame:
    """The measures without AUPREC at priors after the first `count`."""
    at = PRIVATE + "at"
    is_auprec = pl.col("measure") == "auprec"
    placed = measures.with_columns(within(is_auprec.cum_sum(), keys).alias(at))
    return placed.filter(~is_auprec | (pl.col(at) <= count)).drop(at)


def _charts(
    curves: pl.LazyFrame, priors: Sequence[Prior], measures: pl.DataFrame
) -> dict[str, Callable[[], Any]]:
    return {
        "roc": lambda: charts.roc(curves),
        "pr": lambda: charts.pr(surface(curves, list(priors))),
        "auprec_by_prior": lambda: charts.auprec_by_prior(measures),
    }


def _draw(name: str, chart: Callable[[], Any], folder: Path) -> list[str]:
    """Write a chart; returns what is to be said where it has too many lines to be drawn."""
    try:
        charts.export(chart(), folder, name)
    except InvalidArgument as error:
        return [f"Chart {name} left out: {error.found}"]
    return []


def _chart_priors(priors: Sequence[float | None], over: tuple[float, float] | None) -> list[float]:
    """A grid that spans the priors asked for, to draw AUPREC as a line."""
    numbers = [prior for prior in priors if prior is not None] + list(over or ())
    lo, hi = min([*numbers, 0.01]), max([*numbers, 0.5])
    return prior_grid(lo, hi, CHART_PRIORS, "log")["prior"].to_list()
