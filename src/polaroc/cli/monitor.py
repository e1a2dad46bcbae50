"""`polaroc monitor`: what deployed thresholds do, day by day, as an exit code and a table."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from polaroc.cli.keys import By, NoBy, keys_of
from polaroc.cli.options import Columns, Files, NullRows, Positive, Score, Truth
from polaroc.cli.outputs import Force, Output, write_measures
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import (
    exit_with,
    handle_errors,
    option,
    print_json,
    print_notes,
    progress,
    show_results,
)
from polaroc.cli.sources import Decimal, FileSource, Separator, Source, columns_of, opened
from polaroc.deployment.monitor import monitor as monitored
from polaroc.deployment.monitor_result import Monitor, alarms_now, monitor_parts
from polaroc.deployment.state_file import state_file
from polaroc.deployment.tables import INCLUSION
from polaroc.errors import InvalidArgument
from polaroc.files.read import scan
from polaroc.predictions.cases import keyed
from polaroc.predictions.usual_keys import usual_names
from polaroc.reports.report import report as write_report
from polaroc.thresholds.saved import SavedThresholds

ALARM = 1


@handle_errors
def monitor(
    reference: Annotated[Path, typer.Argument(help="Labelled predictions, as one file.")],
    files: Files,
    truth: Truth,
    score: Score,
    time: Annotated[str, typer.Option(help="Column of the day, or another time.")],
    threshold: Annotated[float | None, typer.Option(help="The threshold in use.")] = None,
    points: Annotated[
        Path | None,
        typer.Option(
            help="File of thresholds in use, instead of --threshold: what `polaroc threshold` "
            "wrote, or a table with columns threshold and the keys.",
        ),
    ] = None,
    reference_time: Annotated[
        str | None,
        typer.Option(
            help="Column of the day in the reference, to learn from it how much days differ. "
            "[default: days differ by chance alone]"
        ),
    ] = None,
    over: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Range of priors LO HI that the thresholds were chosen for. [default: that of a "
            "file of `polaroc threshold`]"
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Parquet file of what is known of earlier times; it is read, and replaced."
        ),
    ] = None,
    labelled: Annotated[
        Path | None,
        typer.Option(
            help=f"File of some cases in use with their truth and, in a column {INCLUSION!r}, the "
            "chance with which each was drawn.",
        ),
    ] = None,
    labelled_at_random: Annotated[
        bool,
        typer.Option(
            "--labelled-at-random",
            help="The labelled cases were drawn at random among those of their time.",
        ),
    ] = False,
    cost_fn: Annotated[float, typer.Option(help="Cost of a missed positive.")] = 1.0,
    cost_fp: Annotated[float, typer.Option(help="Cost of a false alarm.")] = 1.0,
    level: Annotated[
        float, typer.Option(help="Chance that all limits of all keys and times hold.")
    ] = 0.95,
    by: By = None,
    no_by: NoBy = False,
    positive: Positive = None,
    nulls: NullRows = "raise",
    separator: Separator = None,
    decimal: Decimal = ".",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Table of the results, such as watched.parquet: all known times."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="HTML page with the alarms in plain words and a chart, such as watched.html; an "
            "earlier one is replaced.",
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Watch deployed thresholds, for what should change.

    Exit code 0: no alarm at the times given, and none that holds now; 1: an alarm.

    Example: polaroc monitor reference.parquet today.parquet --truth label --score p --time day
    --threshold 0.31 --over 0.05 0.20 --state watched.parquet
    """
    output = None if out is None else Output(out, force)
    if output is not None:
        output.check()
    with (
        progress() as say,
        opened([str(reference)], None, separator, decimal) as known,
        opened(files, None, separator, decimal) as used,
        nullcontext() if state is None else state_file(state) as kept,
    ):
        say("reading")
        columns = columns_of(known, truth, score, None, positive, nulls)
        keys = keys_of(known, by, no_by, columns)
        notes = keys.notes
        model = None if columns.is_wide else next(iter(usual_names(keys.all).models), None)
        # Weights stand for no cases in use.
        roles = columns.arguments(keys.all) | {"weight": None, "model": model}
        before = None if kept is None else kept.state
        if kept is not None and before is None:
            notes = [*notes, f"Note: there is no {str(state)!r} yet: this is its first time."]
        thresholds, saved_over = _points(threshold, points, known, columns, keys.all)
        if saved_over is not None and saved_over != over:
            word = "taken" if over is None else "not what is asked"
            notes = [*notes, f"Note: {points} is for {option('over', saved_over)}: it is {word}."]
        over = saved_over if over is None else over
        of_days = [] if reference_time is None else [reference_time]
        of_reference = known.predictions(columns, [*keys.all, *of_days])
        in_use = roles | {"truth": None, "positive": None, "time": time}
        of_labels = None if labelled is None else scan([str(labelled)], keys.all)
        say("counting")
        result = monitored(
            keyed(of_reference, **roles, time=reference_time),
            keyed(_rows(used, columns, keys.all), **in_use),
            points=thresholds, over=over, cost_fn=cost_fn, cost_fp=cost_fp, level=level,
            state=before, labelled_at_random=labelled_at_random,
            labelled=None if of_labels is None else keyed(of_labels, **roles, time=time),
        )  # fmt: skip
        known.check_unchanged()
        used.check_unchanged()
        if output is not None:
            with output.staging() as where:
                write_measures(result.history, where)
        if report is not None:
            write_report(result, path=report)
        if kept is not None:
            # Last, so that times whose results were not written are given again.
            kept.replace(result.state)
    print_notes(notes)
    _show(result, as_json, out)


def _points(
    threshold: float | None, points: Path | None, known: Source, columns: Columns, keys: list[str]
) -> tuple[pl.LazyFrame | float, tuple[float, float] | None]:
    """The thresholds in use, in one of two ways, and the range that they were saved with."""
    if points is not None and threshold is None:
        if points.suffix == ".json":
            saved = SavedThresholds.read(points)
            curves, _ = known.curves(columns, keys)
            saved.check(curves.collect(), keys, columns.score)
            table = saved.table(known.schema()).lazy()
            over = None if saved.over is None else (saved.over[0], saved.over[1])
            return table.select(*saved.keys, "prior", "threshold", "share"), over
        return scan([str(points)], keys), None
    if threshold is not None and points is None:
        return threshold, None
    raise InvalidArgument(
        "needed is one of --threshold and --points.", hint="for example --threshold 0.5."
    )


def _rows(source: Source, columns: Columns, keys: list[str]) -> pl.LazyFrame:
    """The scores in use, which need no truth."""
    if isinstance(source, FileSource):
        return source.rows(keys)
    return source.predictions(columns, keys)


def _show(result: Monitor, as_json: bool, out: Path | None) -> None:
    # A day that comes late does not hide an alarm that holds.
    with exit_with(ALARM if result.alarms.height or alarms_now(result).height else 0):
        if as_json:
            tables = {"alarms": result.alarms, "table": result.table}
            print_json({"answer": result.answer, **tables}, result.notes)
        else:
            show_results(monitor_parts(result), out)
