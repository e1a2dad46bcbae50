"""`polaroc monitor`: watch thresholds in use."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

import polaroc as pr
from polaroc.cli import options as opt
from polaroc.cli.output import Output, write_table
from polaroc.cli.screen import exit_with, print_json, print_notes, progress, show
from polaroc.cli.sources import further_table, opened
from polaroc.cli.thresholds import in_use, read_thresholds
from polaroc.deployment.monitor_result import alarms_now
from polaroc.deployment.state_file import state_file
from polaroc.files.read import scan
from polaroc.predictions.cases import Cases

ALARM = 1
THRESHOLD = (
    "The threshold in use; or a file: what `polaroc threshold --out` wrote, or a table with the "
    "columns threshold and the keys."
)
CLUSTER = "The day, or another batch, in the reference: limits have room for how days differ."
OVER = "Range of priors that the threshold was chosen for. [default: as its file says]"
EVERY = "Length of the periods to judge, such as 1d, 1w, 10i. [default: each value of --time]"
LABELLED = (
    "File of cases in use with their truth: all cases of a time, or a random sample; may be "
    "repeated."
)
STATE = "Parquet file of what is known of earlier times; it is read, and replaced."


def monitor(
    reference: Annotated[
        str, typer.Argument(help="Labelled predictions, as one file.", metavar="REFERENCE")
    ],
    files: opt.Files,
    time: Annotated[str, opt.column("Time in FILES, such as the day.")],
    threshold: Annotated[str, typer.Option(help=THRESHOLD, metavar="NUMBER|FILE")],
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: opt.Model = None,
    fold: opt.Fold = None,
    cluster: Annotated[str | None, opt.column(CLUSTER)] = None,
    count: opt.Count = None,
    by: opt.By = None,
    over: Annotated[tuple[float, float] | None, typer.Option(help=OVER, metavar="LO HI")] = None,
    every: Annotated[str | None, typer.Option(help=EVERY, metavar="TEXT")] = None,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    level: Annotated[float, opt.share("Probability that all limits hold.")] = 0.95,
    labelled: Annotated[list[str] | None, typer.Option(help=LABELLED, metavar="FILE")] = None,
    state: Annotated[Path | None, opt.path(STATE)] = None,
    out: Annotated[Path | None, opt.out("Table of all known times.")] = None,
    report: Annotated[Path | None, opt.path("HTML page with the alarms.")] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    sep: opt.Separator = None,
    decimal: opt.Decimal = ".",
) -> None:
    """Watch thresholds in use, and say what should change.

    FILES are scores in use, without labels.

    Exit code 0: no alarm at the times given, and none that holds now; 1: an alarm.

    Example: polaroc monitor reference.parquet today.parquet --truth label --score p --time day
    --threshold 0.31 --over 0.05 0.20 --state watched.parquet
    """
    output = Output.checked(out, force)
    with nullcontext() if state is None else state_file(state) as kept:
        before = None if kept is None else kept.state
        if kept is not None and before is None:
            print_notes([f"Note: there is no {str(state)!r} yet: this is its first time."])
        with opened([reference], sep, decimal) as known, progress("counting"):
            cases = known.cases(
                truth=truth, score=score, positive=positive, nulls=nulls, model=model, fold=fold,
                cluster=cluster, count=count, by=by,
            ).collect()  # fmt: skip
            asked = opt.given(
                over=over, every=every, cost_fn=cost_fn, cost_fp=cost_fp, state=before
            )
            with (
                further_table(files, cases, sep, decimal) as used,
                further_table(labelled, cases, sep, decimal) as labels,
            ):
                points = _points(threshold, cases)
                assert used is not None
                result = pr.monitor(
                    cases, used, points=points, time=time, labelled=labels, level=level, **asked
                )
        if output is not None:
            with output.staging() as where:
                write_table(result.history, where)
        if report is not None:
            pr.report(result, path=report)
        if kept is not None:
            # Last: times whose results could not be written are given again.
            kept.replace(result.state)
    # A day that comes late does not hide an alarm that holds.
    with exit_with(ALARM if result.alarms.height or alarms_now(result).height else 0):
        if as_json:
            names = ("answer", "alarms", "table", "labelled")
            print_json({name: getattr(result, name) for name in names}, result.notes)
        else:
            show(result.shown, out)


def _points(threshold: str, cases: Cases[pl.DataFrame]) -> pl.DataFrame | float:
    """The thresholds in use, as `monitor` takes them."""
    points = in_use(threshold, "--threshold")
    if not isinstance(points, Path):
        return points
    if points.suffix.lower() == ".json":
        saved = read_thresholds(points, cases, pr.curve(cases))
        return saved.table(cases.rows.schema)
    return scan([str(points)], cases.keys).collect()
