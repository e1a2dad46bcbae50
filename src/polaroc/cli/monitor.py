"""The command on cases in use: what thresholds do there."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

import polaroc as pr
from polaroc.cli.commands import Call, command
from polaroc.cli.inputs import Source, notes_of, opened, roles_of
from polaroc.cli.outputs import Force, Output, out_option, write_result
from polaroc.cli.pipes import AsJson
from polaroc.cli.screen import (
    exit_with,
    print_notes,
    progress,
    show_result,
)
from polaroc.cli.threshold import keys_of
from polaroc.curves.curve import curve
from polaroc.deployment.monitor_result import alarms_now
from polaroc.deployment.state_file import state_file
from polaroc.errors import InvalidArgument
from polaroc.files.read import scan
from polaroc.predictions.resolved import resolved
from polaroc.predictions.usual_keys import column_names_of
from polaroc.reports.report import report as write_report
from polaroc.thresholds.saved import SavedThresholds

ALARM = 1
# Roles that the scores in use have not.
OF_REFERENCE = "truth", "positive", "cluster"


ReferenceFile = Annotated[
    Path, typer.Argument(help="Labelled predictions, as one file.", metavar="REFERENCE")
]


def _score(text: str) -> float:
    """The threshold of an option; where it is a file, say which option takes that."""
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument(
            f"--threshold is {text!r}, allowed is a number.",
            hint="a file goes to --points, such as --points threshold.json.",
        ) from None


ThresholdInUse = Annotated[
    float | None,
    typer.Option("--threshold", help="The threshold in use.", metavar="SCORE", parser=_score),
]
PointsInUse = Annotated[
    Path | None,
    typer.Option(
        "--points",
        help="File of thresholds in use, instead of --threshold: what `polaroc threshold` "
        "wrote, or a table with columns threshold and the keys.",
        metavar="PATH",
    ),
]


# The cases in use are FILES; thresholds come as a number or a file, the state as a file.
@command(pr.monitor, left_out=["deployed"])
def monitor(
    call: Call,
    reference: ReferenceFile,
    threshold: ThresholdInUse = None,
    points: PointsInUse = None,
    reference_time: Annotated[
        str | None,
        typer.Option(
            help="Column of the day in the reference, to learn from it how much days differ; so "
            "does --cluster. [default: days differ by chance alone]",
            metavar="COLUMN",
        ),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Parquet file of what is known of earlier times; it is read, and replaced.",
            metavar="PATH",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        out_option("Table of the results, such as watched.parquet: all known times."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="HTML page with the alarms in plain words and a chart, such as watched.html; an "
            "earlier one is replaced.",
            metavar="PATH",
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
    with (
        opened([str(reference)], None, call.text) as known,
        nullcontext() if state is None else state_file(state) as kept,
    ):
        output = Output.checked(out, force)
        roles = read_reference(call, known, reference_time)
        before = None if kept is None else kept.state
        if kept is not None and before is None:
            print_notes([f"Note: there is no {str(state)!r} yet: this is its first time."])
        in_use = points_in_use(threshold, points, call)
        with progress() as say:
            say("counting")
            deployed = scores_in_use(call, roles)
            result = call(call.in_memory, deployed=deployed, points=in_use, state=before)
            known.check_unchanged()
            write_result(result.history, output)
            if report is not None:
                write_report(result, path=report)
            if kept is not None:
                # Last, so that times whose results were not written are given again.
                kept.replace(result.state)
    # A day that comes late does not hide an alarm that holds.
    with exit_with(ALARM if result.alarms.height or alarms_now(result).height else 0):
        show_result(result, ("answer", "alarms", "table", "labelled"), result.notes, as_json, out)


def read_reference(call: Call, known: Source, time: str | None) -> dict[str, Any]:
    """Read the reference of a call, with a time of its own, and return the roles as given."""
    roles = roles_of(call.words, known.schema())
    call.cases = known.described({**roles, "time": time})
    print_notes(notes_of(known, call.cases, ("model", "fold")))
    call.in_memory = known.in_memory(call.cases)
    return roles


def scores_in_use(call: Call, roles: dict[str, Any]) -> Any:
    """The scores in use, which need no truth, with the other roles of the reference."""
    assert call.source is not None
    own = {role: one for role, one in roles.items() if role not in OF_REFERENCE}
    named = {"model": call.cases.model, "fold": call.cases.fold}
    said = own | {role: one for role, one in named.items() if one}
    wanted = call.source.written(column_names_of(call.cases.keys))
    return resolved(wanted, said, needed=["score"]).collect()


def points_in_use(threshold: float | None, points: Path | None, call: Call) -> pl.DataFrame | float:
    """The thresholds in use, in one of two ways."""
    if points is not None and threshold is None:
        keys = column_names_of(call.cases.keys)
        if points.suffix == ".json":
            saved = SavedThresholds.read(points)
            curves = curve(call.in_memory)
            saved.check(curves, keys_of(curves), call.score)
            return saved.table(call.in_memory.table.schema)
        return scan([str(points)], keys).collect()
    if threshold is not None and points is None:
        return threshold
    raise InvalidArgument(
        "needed is one of --threshold and --points.", hint="for example --threshold 0.5."
    )
