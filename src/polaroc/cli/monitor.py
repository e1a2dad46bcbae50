"""`polaroc monitor`: watch thresholds in use."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

import polaroc as pr
from polaroc.cli import options as opt
from polaroc.cli.results import Output, Rows, deliver
from polaroc.cli.screen import progress
from polaroc.cli.sources import further_table, opened
from polaroc.cli.thresholds import in_use, read_thresholds
from polaroc.files.read import scan
from polaroc.predictions.cases import Cases

ALARM = 1
THRESHOLD = (
    "The threshold in use; or a file: what `polaroc threshold --out` wrote, or a table with the "
    "columns threshold and the keys."
)
OVER = "Range of priors that the threshold was chosen for. [default: as its file says]"
LABELLED = (
    "File of cases in use with their truth: all cases of a period, or a random sample; may be "
    "repeated."
)
LOOKS = "Number of periods that will be looked at: limits allow for as many."


def monitor(
    reference: Annotated[
        str, typer.Argument(help="Labelled predictions, as one file.", metavar="REFERENCE")
    ],
    files: opt.Files,
    time: Annotated[str, opt.option("COLUMN", "Time in FILES, such as the day.")],
    threshold: Annotated[str, opt.option("NUMBER|FILE", THRESHOLD)],
    truth: opt.Truth = None,
    score: opt.Score = None,
    positive: opt.Positive = None,
    nulls: opt.HowNulls = "raise",
    model: opt.Model = None,
    fold: opt.Fold = None,
    cluster: opt.Cluster = None,
    by: opt.By = None,
    over: Annotated[opt.Range, opt.option("LO HI", OVER)] = None,
    every: Annotated[opt.Text, opt.option("TEXT", "Length of a period, such as 1d or 1w.")] = None,
    batch: Annotated[
        opt.Text, opt.option("COLUMN", "Days, or other batches, of REFERENCE.")
    ] = None,
    labelled: Annotated[opt.Texts, opt.option("FILE", LABELLED)] = None,
    looks: Annotated[int, opt.option("N", LOOKS)] = 365,
    cost_fn: opt.CostFn = None,
    cost_fp: opt.CostFp = None,
    level: Annotated[float, opt.option("SHARE", "Probability of no false alarm.")] = 0.95,
    out: Annotated[Path | None, opt.out("Table of all periods.")] = None,
    report: Annotated[Path | None, opt.option("PATH", "HTML page with the alarms.")] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    decimal: opt.Decimal = ".",
) -> None:
    """Watch thresholds in use, and say what should change.

    FILES are scores in use, without labels: those of one period, or of several.

    Exit code 0: no alarm; 1: an alarm in one of the periods given.

    Example: polaroc monitor reference.parquet today.parquet --truth label --score p --time day
    --threshold 0.31 --over 0.05 0.20
    """
    output = Output.checked(out, force)
    with opened([reference], decimal) as known, progress("counting"):
        cases = known.cases(
            truth=truth, score=score, positive=positive, nulls=nulls, model=model, fold=fold,
            cluster=cluster, by=by,
        ).collect()  # fmt: skip
        given = opt.given(over=over, every=every, batch=batch, cost_fn=cost_fn, cost_fp=cost_fp)
        with (
            further_table(files, cases, decimal) as used,
            further_table(labelled, cases, decimal) as labels,
        ):
            assert used is not None
            result = pr.monitor(
                cases, used, points=_points(threshold, cases), time=time, labelled=labels,
                looks=looks, level=level, **given,
            )  # fmt: skip
    if output is not None:
        output.write(Rows("monitor", result.table, []))
    if report is not None:
        pr.report(result, path=report)
    deliver(result, as_json, out, code=ALARM if result.alarms.height else 0)


def _points(threshold: str, cases: Cases[pl.DataFrame]) -> pl.DataFrame | float:
    """The thresholds in use, as `monitor` takes them."""
    points = in_use(threshold, "--threshold")
    if not isinstance(points, Path):
        return points
    if points.suffix.lower() == ".json":
        saved = read_thresholds(points, cases, pr.curve(cases))
        return saved.table(cases.rows.schema)
    return scan([str(points)], cases.keys).collect()
